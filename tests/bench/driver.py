"""The load: clients that each send their requests one after the other, over loopback, as fast as they are answered.

It costs little, so that what is measured is the server: requests are made beforehand, answers are only counted. It
shares the machine's cores with the server all the same, so requests a second tell less than the server's CPU time.
"""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from tests.bench.servers import HOST, Process, cpu_s


class Sent(NamedTuple):
    """A request as it goes over the wire, and the seat whose player sends it."""

    seat: int
    request: bytes


Script = list[Sent]
"""What one table's players send, each request when the one before is answered."""

Route = Callable[[int, int], tuple[int, int]]
"""By which connection a request goes, from its script's number and its seat: the worker's number, and a name."""


class Load(NamedTuple):
    """What a load came to: requests a second, the servers' CPU time for each, and how long the answers took."""

    per_second: float
    cpu_us: float
    p50_ms: float
    p99_ms: float


def by_table(script: int, seat: int) -> tuple[int, int]:  # noqa: ARG001 a route takes both
    """Send all requests of a table over one connection."""
    return script, 0


def by_seat(script: int, seat: int) -> tuple[int, int]:
    """Give each seat a connection of its own, to any worker, as it comes; the same ones in every run."""
    return random.Random(f"{script} {seat}").getrandbits(16), seat


async def drive(servers: Sequence[Process], scripts: list[Script], route: Route = by_table) -> Load:
    """Play all scripts at once, to their ends."""
    lanes = [_Lane(script, partial(route, number)) for number, script in enumerate(scripts)]
    for lane in lanes:
        await lane.connect(servers)
    pids = [server.pid for server in servers]
    cpu, begun = cpu_s(pids), time.perf_counter()
    for lane in lanes:
        lane.go_on()
    try:
        await asyncio.gather(*(lane.done for lane in lanes))
    finally:
        for lane in lanes:
            lane.close()
    elapsed, cpu = time.perf_counter() - begun, cpu_s(pids) - cpu
    took = sorted(took for lane in lanes for took in lane.took)
    count = len(took)
    return Load(count / elapsed, cpu / count * 1e6, took[count // 2] * 1e3, took[count * 99 // 100] * 1e3)


class _Lane:
    """One script on its way, over as many connections as its route has."""

    def __init__(self, script: Script, route: Callable[[int], tuple[int, int]]) -> None:
        self.took: list[float] = []
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._script = script
        self._rest = iter(script)
        self._route = route
        self._connections: dict[int, _Connection] = {}  # by seat; seats may share one
        self._sent = 0.0

    async def connect(self, servers: Sequence[Process]) -> None:
        """Open the connections."""
        loop = asyncio.get_running_loop()
        named: dict[int, _Connection] = {}
        for seat in dict.fromkeys(sent.seat for sent in self._script):
            number, name = self._route(seat)
            if name not in named:
                port = servers[number % len(servers)].port
                _, named[name] = await loop.create_connection(partial(_Connection, self), HOST, port)
            self._connections[seat] = named[name]

    def go_on(self) -> None:
        """Send the next request, if there is one."""
        sent = next(self._rest, None)
        if sent is None:
            self.done.set_result(None)
            return
        self._sent = time.perf_counter()
        self._connections[sent.seat].transport.write(sent.request)

    def answered(self) -> None:
        """Count an answer and go on."""
        self.took.append(time.perf_counter() - self._sent)
        self.go_on()

    def fail(self, error: Exception) -> None:
        """End the script early."""
        if not self.done.done():
            self.done.set_exception(error)

    def close(self) -> None:
        """Close the connections."""
        for connection in self._connections.values():
            connection.transport.close()


class _Connection(asyncio.Protocol):
    """Tells its lane of each answer that has come whole."""

    transport: asyncio.Transport

    def __init__(self, lane: _Lane) -> None:
        self._lane = lane
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        _, named, value = self._buffer[:end].lower().partition(b"content-length: ")
        length = int(value.split(b"\r\n", 1)[0]) if named else 0
        if len(self._buffer) < end + 4 + length:
            return
        if self._buffer[9:12] not in {b"200", b"201", b"304"}:
            self._lane.fail(AssertionError(self._buffer.decode()))
            return
        self._buffer = b""
        self._lane.answered()

    def connection_lost(self, exc: Exception | None) -> None:
        self._lane.fail(exc or ConnectionError("the server closed the connection"))


def request(method: str, path: str, *headers: str, body: bytes | None = None) -> bytes:
    """Write a request."""
    lines = [f"{method} {path} HTTP/1.1", f"Host: {HOST}"]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + (body or b"")


def bare_scripts(path: str, clients: int, requests: int) -> list[Script]:
    """Return scripts of equal requests for a floor, which come to about so many."""
    body = b'{"type":"play","card":"SQ","turn":41}'
    one = Sent(0, request("POST", path, "Authorization: Bearer evf_" + "a" * 43, body=body))
    return [[one] * max(1, requests // clients) for _ in range(clients)]
