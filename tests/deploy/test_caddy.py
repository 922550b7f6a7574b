"""Caddy, with deploy/Caddyfile before the service and before a stream."""

import contextlib
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Self

from tests.deploy.store import DEPLOY
from tests.served import Person, served
from tests.service.cli.processes import until
from tests.stores import free_port

CADDY = shutil.which("caddy")

PIECES = 3

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_ci_tries_the_caddyfile_with_a_caddy() -> None:
    assert CADDY or os.environ.get("CI") != "true", "CI needs caddy on PATH: apt-get install caddy"


@contextmanager
def proxied(upstream: str, folder: Path) -> Iterator[str]:
    """Run Caddy before an upstream, on a free port of the loopback and without TLS; yield the address."""
    url = f"http://127.0.0.1:{free_port()}"
    environment = {
        "EVENFOLD_SITE": url,
        "EVENFOLD_UPSTREAM": upstream.removeprefix("http://"),
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        # Caddy takes a unix socket for the address at which it is administered: no port to share.
        "CADDY_ADMIN": f"unix/{folder}/a",
        "PATH": os.defpath,
    }
    command = [str(CADDY), "run", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    with (folder / "says").open("wb") as says:
        process = subprocess.Popen(command, env=environment, stdout=says, stderr=says)
    try:
        until(lambda: process.poll() is not None or _listens(url))
        assert process.poll() is None, (folder / "says").read_text()
        yield url
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def asking(url: str, path: str, headers: dict[str, str]) -> Iterator[HTTPResponse]:
    """Get a path, not by the client whose answers the document judges: these are not the service's."""
    connection = HTTPConnection(url.removeprefix("http://"), timeout=20)
    connection.request("GET", path, headers=headers)
    with contextlib.closing(connection), connection.getresponse() as answer:
        yield answer


def _listens(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(url.rpartition(":")[2]))) == 0


def test_a_table_is_opened_and_watched_through_caddy(valkey_url: str, tmp_path: Path) -> None:
    if CADDY is None:
        return
    with served(valkey_url, tmp_path / "keys") as upstream, proxied(upstream, tmp_path) as url:
        ada = Person(url)
        with contextlib.closing(ada.http):
            _open_and_watch(ada)
        with asking(url, "/metrics", {}) as answer:
            assert answer.status == 404
    said = (tmp_path / "says").read_text()
    assert "/healthz?x=1" in said
    assert "tick-tock" not in said
    assert ada.token not in said


def _open_and_watch(ada: Person) -> None:
    opened = ada.post("/v1/chinkway/tables", {"bots": ["anyone"] * 4})
    assert opened.status_code == 201
    path = opened.headers["Location"]
    assert ada.get(path, If_None_Match=opened.headers["ETag"]).status_code == 304
    lines = ada.get(f"{path}/events", Accept="application/x-ndjson").text.splitlines()
    assert len(lines) == opened.json()["version"]
    too_large = ada.http.post("/v1/chinkway/tables", content=b" " * 70_000)
    assert (too_large.status_code, too_large.json()["code"]) == (413, "too_large")
    assert ada.get("/healthz?ticket=tick-tock&x=1").status_code == 400


class Drip:
    """A server that sends each piece of a stream only when it is told to, and notes what it was asked with."""

    def __init__(self) -> None:
        self.go = threading.Semaphore(0)
        self.asked = b""
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        for _piece in range(PIECES):
            self.go.release()
        # Whoever accepts still is woken by that.
        self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._thread.join()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            self._drip(self._listening.accept()[0])

    def _drip(self, line: socket.socket) -> None:
        with line:
            self.asked = line.recv(65_536)
            line.sendall(ANSWER)
            for number in range(PIECES):
                self.go.acquire()
                line.sendall(b"2\r\n%d\n\r\n" % number)
            line.sendall(b"0\r\n\r\n")


def test_each_piece_of_a_stream_passes_before_the_next_is_sent(tmp_path: Path) -> None:
    if CADDY is None:
        return
    claims = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "gopher", "Accept-Encoding": "gzip"}
    with Drip() as upstream, proxied(upstream.url, tmp_path) as url, asking(url, "/v1/me/events", claims) as answer:
        assert answer.getheader("Content-Encoding") is None
        for number in range(PIECES):
            upstream.go.release()
            assert answer.readline() == b"%d\n" % number
    asked = upstream.asked.lower()
    assert b"\r\nx-forwarded-for: 127.0.0.1\r\n" in asked
    assert b"\r\nx-forwarded-proto: http\r\n" in asked
