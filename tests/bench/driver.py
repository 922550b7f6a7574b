"""The load: connections that each send their requests one after the other, over loopback, as fast as they are answered.

It costs little, so that what is measured is the server: requests are made beforehand, answers are only counted.
"""

import asyncio
import http.client
import json
import random
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from events.base import By
from service.actions import legal_now
from service.game import AnyGame
from service.ids import derived
from service.referee import Create, Sit
from tests.bench.matches import Local
from tests.bench.server import SECRET

HOST = "127.0.0.1"


@dataclass(frozen=True)
class Load:
    """What a load came to: requests a second, the server's CPU time for each, and how long the answers took."""

    per_second: float
    cpu_us: float
    p50_ms: float
    p99_ms: float
    requests: int


class _Connection(asyncio.Protocol):
    """Sends its requests one by one, each when the one before is answered with 201."""

    def __init__(self, requests: list[bytes]) -> None:
        self.took: list[float] = []
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._requests = iter(requests)
        self._buffer = b""
        self._sent = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def begin(self) -> None:
        """Send the first request."""
        self._next()

    def _next(self) -> None:
        request = next(self._requests, None)
        if request is None:
            self.done.set_result(None)
            self._transport.close()
            return
        self._sent = time.perf_counter()
        self._transport.write(request)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        start = head.index(b"content-length: ") + 16
        length = int(head[start:].split(b"\r\n", 1)[0])
        if len(self._buffer) < end + 4 + length:
            return
        if b" 201 " not in head[:16]:
            self.done.set_exception(AssertionError(self._buffer.decode()))
            return
        self._buffer = b""
        self.took.append(time.perf_counter() - self._sent)
        self._next()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.done.set_exception(exc or ConnectionError("the server closed the connection"))


async def drive(port: int, pid: int, scripts: list[list[bytes]]) -> Load:
    """Run one connection per script, all at once, to their ends."""
    loop = asyncio.get_running_loop()
    connections = []
    for script in scripts:
        _, connection = await loop.create_connection(partial(_Connection, script), HOST, port)
        connections.append(connection)
    cpu, begun = _cpu_s(pid), time.perf_counter()
    for connection in connections:
        connection.begin()
    await asyncio.gather(*(connection.done for connection in connections))
    elapsed, cpu = time.perf_counter() - begun, _cpu_s(pid) - cpu
    took = sorted(took for connection in connections for took in connection.took)
    count = len(took)
    return Load(count / elapsed, cpu / count * 1e6, took[count // 2] * 1e3, took[count * 99 // 100] * 1e3, count)


def _cpu_s(pid: int) -> float:
    """Return the CPU seconds that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def request(path: str, body: bytes, *headers: str) -> bytes:
    """Write a POST."""
    lines = [f"POST {path} HTTP/1.1", f"Host: {HOST}", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + body


def bare_scripts(path: str, connections: int, requests: int) -> list[list[bytes]]:
    """Return scripts of equal requests for a floor."""
    one = request(path, b'{"type":"play","card":"SQ","turn":41}', "Authorization: Bearer evf_" + "a" * 43)
    return [[one] * requests for _ in range(connections)]


class Player:
    """An account at the server, for what comes before the measured part."""

    def __init__(self, port: int, name: str) -> None:
        self._http = http.client.HTTPConnection(HOST, port)
        welcome = self.post("/v1/players", {"name": name})
        self.id = welcome["player"]["id"]
        self.token = welcome["token"]

    def post(self, path: str, body: dict[str, object], key: str | None = None) -> dict[str, Any]:
        headers = {"Content-Type": "application/json"}
        if hasattr(self, "token"):
            headers["Authorization"] = f"Bearer {self.token}"
        if key is not None:
            headers["Idempotency-Key"] = key
        self._http.request("POST", path, json.dumps(body), headers)
        answer = self._http.getresponse()
        content = answer.read()
        assert answer.status == 201, content
        answered: dict[str, Any] = json.loads(content)
        return answered


def match_scripts(port: int, game: AnyGame, matches: int, rng: random.Random) -> list[list[bytes]]:
    """Open and fill tables of a game, and return a whole match of legal commands for each of them.

    The commands are known beforehand because the server draws `SEED` for every table and derives ids from `SECRET`.
    """
    seats = game.seats.usual
    players = [Player(port, f"Bench {number}") for number in range(seats)]
    return [_match_script(game, players, f"bench-{rng.random()}", rng) for _ in range(matches)]


def _match_script(game: AnyGame, players: list[Player], key: str, rng: random.Random) -> list[bytes]:
    path = f"/v1/{game.name}/tables"
    host = players[0]
    opened = host.post(path, {}, key)
    local = Local(game, derived(SECRET, host.id, f"POST {path}", key))
    assert local.table.id == opened["table"]
    options = msgspec.to_builtins(game.projection.options())
    local.create(
        host.id, Create(game=game.name, ruleset=game.ruleset, seats=len(players), options=options, start="full")
    )
    for seat, player in enumerate(players):
        player.post(f"{path}/{local.table.id}/seats", {"seat": seat})
        local.decide(By(player=player.id), Sit(seat=seat))
    script = []
    while local.table.to_act:
        seat = local.table.to_act[0]
        command = rng.choice(legal_now(game, local.table, seat))
        body = msgspec.json.encode(command)
        script.append(
            request(f"{path}/{local.table.id}/commands", body, f"Authorization: Bearer {players[seat].token}")
        )
        local.decide(By(seat=seat, player=players[seat].id), command)
    return script
