"""Streams of a server as it runs, of several processes: they end with their token, and do not hold up its end."""

import resource
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from service.api.eventstream import EVENT_STREAM
from service.cli.processes import GRACE_S
from tests.raw import request
from tests.service.cli.processes import person, serving
from tests.streamed import BEGINNING, streamed

OPEN = 1_000
SLACK_S = 3.0
"""What a machine that does much else may add to what must come within two seconds."""


@pytest.fixture
def many_files() -> Iterator[None]:
    """Let this process have enough sockets open."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN + 512
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_files")
def test_a_server_with_a_thousand_open_streams_ends_within_its_grace_and_finishes_each(tmp_path: Path) -> None:
    with serving(tmp_path) as server, person(server.url) as ada:
        path = ada.post("/v1/chinkway/tables").headers["Location"]
        asked = request(f"{path}/events", f"Authorization: Bearer {ada.token}", f"Accept: {EVENT_STREAM}")
        at = httpx.URL(server.url)
        lines = [socket.create_connection((at.host, at.port or 0), timeout=30) for _ in range(OPEN)]
        for line in lines:
            line.sendall(asked)
        begun = [received(line, BEGINNING) for line in lines]
        assert all(b"200 OK" in head for head in begun)
        ada.http.close()
        asked_to = time.monotonic()
        assert server.end() == 0
        assert time.monotonic() - asked_to < GRACE_S
        for line in lines:
            with line:
                assert received(line).endswith(b"0\r\n\r\n")
        assert server.complaints() == ""


def received(line: socket.socket, end: bytes = b"") -> bytes:
    """Receive up to these bytes, or all that comes."""
    text = b""
    while (not end or end not in text) and (piece := line.recv(65_536)):
        text += piece
    return text


def test_the_streams_of_a_revoked_token_end_in_every_process(tmp_path: Path) -> None:
    with serving(tmp_path, "--workers", "2") as server, person(server.url) as ada:
        path = f"{ada.post('/v1/chinkway/tables').headers['Location']}/events"
        issued = ada.post("/v1/tokens", {"scopes": ["play"]}).json()
        # So many that both workers have some, as good as certainly.
        streams = [streamed(server.url, path, issued["token"]) for _ in range(24)]
        staying = [streamed(server.url, path, ada.token) for _ in range(4)]
        for stream in (*streams, *staying):
            stream.events(1)
        revoked = time.monotonic()
        assert ada.delete(f"/v1/tokens/{issued['id']}").status_code == 204
        for stream in streams:
            assert stream.rest() == []
            stream.close()
        assert time.monotonic() - revoked < 2 + SLACK_S
        # What happens goes on reaching the others, whichever process it happens in.
        for seat in range(3):
            assert ada.post(f"{path.removesuffix('events')}seats", {"seat": seat, "bot": "anyone"}).status_code == 201
        for stream in staying:
            assert [event.id for event in stream.events(3)] == [2, 3, 4]
            stream.close()
