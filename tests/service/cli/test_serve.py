"""`evenfold serve`: all in one go, nothing lost and nothing left, whatever is killed."""

import contextlib
import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Collection, Iterator
from pathlib import Path

import hiredis
import httpx
import pytest

from service.cli.listening import listen
from service.cli.processes import READY
from service.settings import NO_LIMITS, Settings
from tests.served import Person
from tests.service.cli.processes import (
    CLEAN,
    Called,
    Server,
    command,
    one_line,
    person,
    processes,
    run,
    serving,
    starting,
    until,
)
from tests.sizes import CI, FULL
from tests.stores import BINARIES, DURABLE, free_port
from tests.stores import serving as store_serving

TWICE = [["valkey", "valkey"]]
ALONE = [["valkey"], [" api "], [" react "]]
"""Each part of a server by itself, to be killed."""


def table_of(person: Person, **wanted: object) -> str:
    """Open a table and return its path."""
    opened = person.post("/v1/chinkway/tables", wanted)
    assert opened.status_code == 201, opened.text
    return f"/v1/chinkway/tables/{opened.json()['table']}"


def test_a_signal_ends_everything_and_the_next_start_finds_the_tables(called: Called, tmp_path: Path) -> None:
    with serving(tmp_path) as server, person(server.url) as ada:
        path = table_of(ada)
        parts = server.parts()
        assert len(parts) == 3
        assert server.end(signal.SIGTERM) == 0
        assert not parts.keys() & processes().keys()
        assert server.complaints() == ""
        # Without a server too: the store is started for as long as it is read.
        assert "Ada opens a table" in called("replay", path.rpartition("/")[2], "--data", str(server.data)).printed
        with serving(tmp_path) as again:
            ada.http.base_url = httpx.URL(again.url)
            assert ada.get(path).json()["version"] == 1
            assert again.end(signal.SIGINT) == 0


def test_what_is_under_way_is_finished_and_nobody_else_is_let_in(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        port = httpx.URL(server.url).port or 0
        body = b'{"name": "Ada"}'
        with socket.create_connection(("127.0.0.1", port)) as line:
            begin_post(line, body[:5], len(body))
            assert server.is_ready()  # The worker has turned to others since, so it has read the beginning.
            server.process.terminate()
            until(lambda: is_closed(port))
            line.sendall(body[5:])
            answer = line.makefile("rb").readline()
        assert answer.startswith(b"HTTP/1.1 201 ")
        assert server.process.wait(30) == 0


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        port = httpx.URL(server.url).port or 0
        parts = server.parts()
        with socket.create_connection(("127.0.0.1", port)) as line:
            begin_post(line, b"{", 20)
            assert server.is_ready()
            server.process.send_signal(signal.SIGINT)
            until(lambda: is_closed(port))
            assert server.end(signal.SIGINT) == 128 + signal.SIGINT
        assert not parts.keys() & processes().keys()


def test_a_signal_during_the_start_ends_everything_too(tmp_path: Path) -> None:
    with starting(tmp_path) as server:
        until(lambda: server.part("valkey"))
        parts = server.parts()
        # On a machine that is slow to look, the start may be over by now; then it ends as after it.
        assert server.end() == 0
        assert server.complaints() == ""
        assert not parts.keys() & processes().keys()


@pytest.mark.parametrize("victims", [[" api ", " react "], *TWICE * CI, *ALONE * FULL])
def test_what_is_killed_right_after_its_start_is_started_again(tmp_path: Path, victims: list[str]) -> None:
    with starting(tmp_path) as server:
        killed: set[int] = set()
        for word in victims:
            killed.add(kill(server, word, killed))
        server.await_address()
        assert server.is_ready()
        assert len(server.parts().keys() - killed) == 3


@pytest.mark.parametrize("word", [" api ", " react "])
def test_a_store_that_is_killed_while_others_start_on_it_is_started_again(tmp_path: Path, word: str) -> None:
    with starting(tmp_path) as server:
        until(lambda: server.part(word))
        kill(server, "valkey")
        server.await_address()
        until(lambda: "The store ended; it was started again." in server.complaints())
        assert server.is_ready()


def kill(server: Server, word: str, spared: Collection[int] = ()) -> int:
    """Kill the process whose command line has this word as soon as there is one; return its id."""
    found = 0

    def is_there() -> bool:
        nonlocal found
        found = server.part(word)
        return found not in {0, *spared}

    until(is_there)
    os.kill(found, signal.SIGKILL)
    return found


def test_another_store_that_goes_away_during_the_start_is_told(tmp_path: Path) -> None:
    with contextlib.ExitStack() as store:
        (tmp_path / "store").mkdir()
        url = store.enter_context(store_serving(BINARIES["valkey"], tmp_path / "store", *DURABLE))
        with starting(tmp_path, EVENFOLD_REDIS_URL=url) as server:
            until(lambda: server.part(" api "))
            store.close()
            assert server.process.wait(30) == 2
            told = server.complaints().splitlines()
    assert told[-1].startswith(f"evenfold: The store at {url} ")


def test_a_supervised_server_ends_with_its_input(tmp_path: Path) -> None:
    with serving(tmp_path, "--supervised") as server:
        assert server.process.stdin
        server.process.stdin.close()
        assert server.process.wait(30) == 0


@pytest.mark.parametrize("first", ["signal", "input"])
def test_a_worker_whose_supervisor_tells_it_to_end_and_leaves_finishes_what_is_under_way(
    valkey_url: str, tmp_path: Path, first: str
) -> None:
    settings = Settings(redis=valkey_url, keys=tmp_path / "keys", limits=NO_LIMITS)
    body = b'{"name": "Ada"}'
    with (
        listen("127.0.0.1", 0).socket as listening,
        subprocess.Popen(
            command("api", "--fd", str(listening.fileno())),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=(listening.fileno(),),
            env={**CLEAN, **settings.environment()},
        ) as worker,
    ):
        assert worker.stdin
        assert worker.stdout
        assert worker.stderr
        assert worker.stdout.readline() == READY
        with socket.create_connection(listening.getsockname()) as line:
            begin_post(line, body[:5], len(body))
            ends = {"signal": worker.terminate, "input": worker.stdin.close}
            ends.pop(first)()
            (second,) = ends.values()
            second()
            time.sleep(0.5)  # Both have been noticed by then.
            line.sendall(body[5:])
            answer = line.makefile("rb").readline()
        assert answer.startswith(b"HTTP/1.1 201 ")
        assert worker.wait(30) == 0
        assert worker.stderr.read() == b""


def begin_post(line: socket.socket, beginning: bytes, length: int) -> None:
    head = f"POST /v1/players HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
    line.sendall(head.encode() + beginning)


def is_closed(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return True
    return False


def test_a_killed_server_leaves_no_process_and_the_next_takes_its_store_over(tmp_path: Path) -> None:
    port = str(free_port())
    with serving(tmp_path, "--port", port) as server, person(server.url) as ada:
        path = table_of(ada)
        store = server.part("valkey")
        others = server.parts().keys() - {store}
        server.process.kill()
        server.process.wait()
        with serving(tmp_path, "--port", port) as again:
            assert again.url == server.url
            assert ada.get(path).json()["version"] == 1
            until(lambda: not others & processes().keys())
            assert store not in processes()


def test_what_is_killed_is_started_again_and_service_goes_on(tmp_path: Path) -> None:
    words = {" api ": "API worker", " react ": "reactor", "valkey": "store"}
    with serving(tmp_path) as server, person(server.url) as ada:
        for word, name in words.items():
            killed = kill(server, word)
            until(lambda: server.part(word) not in {0, killed})  # noqa: B023 waited for within the loop
            until(server.is_ready)
            # Said when it runs again, which others may notice sooner.
            until(lambda: len(_restarts(server, name)) == 1)  # noqa: B023 the same
        # The bots' moves are the reactor's, and their decisions the store's.
        path = table_of(ada, bots=["anyone"] * 5)
        until(lambda: ada.get(path).json()["turn"] > 20)


def _restarts(server: Server, name: str) -> list[str]:
    """Return what was said of something of this name being started again."""
    return [line for line in server.complaints().splitlines() if name in line and "started again" in line]


def test_one_of_two_workers_may_end(server: Server) -> None:
    workers = [pid for pid, line in server.parts().items() if " api " in line]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)
    assert server.is_ready()


def test_a_second_server_on_the_folder_is_refused_and_the_first_goes_on(server: Server) -> None:
    refused = run("serve", "--port", "0", "--data", str(server.data))
    assert (refused.returncode, refused.stdout) == (2, "")
    assert f"is in use by evenfold serve (process {server.process.pid}, since" in one_line(refused.stderr)
    assert server.is_ready()


def test_the_answer_does_not_name_the_server(server: Server) -> None:
    assert "server" not in httpx.get(f"{server.url}/healthz").headers


def test_another_store_is_used_its_concern_told_and_sign_up_may_be_closed(tmp_path: Path) -> None:
    port = str(free_port())
    with (
        store_serving(BINARIES["valkey"], tmp_path, "--port", port, "--requirepass", "s3cret"),
        serving(tmp_path, EVENFOLD_REDIS_URL=f"redis://:s3cret@127.0.0.1:{port}", EVENFOLD_SIGN_UP="no") as server,
    ):
        assert server.process.stdout
        server.process.stdout.readline()
        assert server.process.stdout.readline() == f"Its metrics, for Prometheus: {server.url}/metrics\n"
        assert server.process.stdout.readline() == f"Its store is at redis://127.0.0.1:{port}. Ctrl-C stops it.\n"
        assert "WARNING: The store keeps no append-only file" in server.complaints()
        assert "Set appendonly yes and appendfsync always there.\n" in server.complaints()
        assert not server.part("valkey")
        assert httpx.post(f"{server.url}/v1/players", json={"name": "Ada"}).status_code == 403


def test_a_second_secret_on_one_store_is_told(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    with store_serving(BINARIES["valkey"], tmp_path / "store", *DURABLE) as url:
        for keys, warnings in (("one", 0), ("two", 1), ("one", 0)):
            with serving(tmp_path, "--keys", str(tmp_path / keys), EVENFOLD_REDIS_URL=url) as server:
                told = server.complaints().splitlines()
            assert len(told) == warnings, told
            assert all(line.startswith("WARNING: The store was first served with another secret") for line in told)
            assert all(str(tmp_path / keys) in line for line in told)


@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({"EVENFOLD_PORT": "eighty"}, "EVENFOLD_PORT"),
        ({"EVENFOLD_PORT": "65536"}, "EVENFOLD_PORT"),
        ({"EVENFOLD_WORKERS": "0"}, "EVENFOLD_WORKERS"),
        ({"EVENFOLD_BOT_PAUSE": "-1"}, "EVENFOLD_BOT_PAUSE"),
        ({"EVENFOLD_SIGN_UP": "maybe"}, "EVENFOLD_SIGN_UP"),
        ({"EVENFOLD_GAMES": "no.such.game"}, "EVENFOLD_GAMES"),
        ({"EVENFOLD_GAMES": "json"}, "the module json ends in no GAME"),
        ({"EVENFOLD_SECRET": "secret"}, "EVENFOLD_SECRET must hold 64 hex digits"),
        ({"EVENFOLD_SECRET": ""}, "EVENFOLD_SECRET must hold 64 hex digits"),
        ({"EVENFOLD_SIGNING_KEY": "zz"}, "EVENFOLD_SIGNING_KEY must hold 64 hex digits"),
        ({"EVENFOLD_SIGNING_KEY": ""}, "EVENFOLD_SIGNING_KEY must hold 64 hex digits"),
        ({"EVENFOLD_HOST": ""}, "Invalid value for '--host'"),
        ({"EVENFOLD_KEYS": "/dev/null/keys"}, "The keys' folder /dev/null/keys can't be used"),
        ({"EVENFOLD_HOST": "nowhere.invalid"}, "The host 'nowhere.invalid' is unknown"),
        ({"EVENFOLD_HOST": "192.0.2.1"}, "The host '192.0.2.1' is not an address of this machine"),
        ({"EVENFOLD_DATA": "/dev/null/data"}, "The embedded store can't use /dev/null/data: Not a directory"),
        ({"EVENFOLD_REDIS_URL": "http://localhost"}, "EVENFOLD_REDIS_URL"),
    ],
)
def test_what_can_not_be_meant_is_refused_in_a_sentence(
    called: Called, tmp_path: Path, variables: dict[str, str], words: str
) -> None:
    assert words in called("serve", **{"EVENFOLD_DATA": str(tmp_path), "EVENFOLD_PORT": "0", **variables}).refusal


def test_a_port_in_use_is_told(called: Called, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refusal = called("serve", "--port", str(port), "--data", str(tmp_path)).refusal
    assert f"Port {port} of 127.0.0.1 is in use" in refusal


def test_a_store_that_is_not_there_is_told(called: Called, tmp_path: Path) -> None:
    url = f"redis://127.0.0.1:{free_port()}"
    refusal = called("serve", "--port", "0", "--data", str(tmp_path), EVENFOLD_REDIS_URL=url).refusal
    assert refusal == f"evenfold: The store at {url} can't be reached: Connection refused."


def test_a_wrong_password_is_told_without_it(called: Called, tmp_path: Path) -> None:
    port = free_port()
    with store_serving(BINARIES["valkey"], tmp_path, "--requirepass", "right", "--port", str(port)):
        url = f"redis://:wr0ng@127.0.0.1:{port}"
        refusal = called("serve", "--port", "0", "--data", str(tmp_path), EVENFOLD_REDIS_URL=url).refusal
    assert "does not accept this user and password" in refusal
    assert "wr0ng" not in refusal


def test_a_store_that_is_too_old_is_told(called: Called, tmp_path: Path) -> None:
    with old_store() as port:
        url = f"redis://127.0.0.1:{port}"
        refusal = called("serve", "--port", "0", "--data", str(tmp_path), EVENFOLD_REDIS_URL=url).refusal
    assert "is version 6.2.14; Redis 7.0 or newer is needed" in refusal


@contextlib.contextmanager
def old_store() -> Iterator[int]:
    """Answer on a port of the loopback, once, as a Redis of long ago."""
    info = b"# Server\r\nredis_version:6.2.14\r\nredis_mode:standalone\r\n"

    def serve() -> None:
        line, _ = listening.accept()
        queries = hiredis.Reader()
        with line:
            while asked := line.recv(65_536):
                queries.feed(asked)
                while query := queries.gets():
                    line.sendall(b"$%d\r\n%s\r\n" % (len(info), info) if query == [b"INFO"] else b"+PONG\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield listening.getsockname()[1]
        thread.join()
