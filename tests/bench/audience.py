"""The readers of one table, in a process of their own: `python -m tests.bench.audience`.

Lines of JSON on stdin and stdout: `Seating` first, answered when all streams are open; then a `Phase` for each stretch
of the table's life, answered by `Heard` when everybody has heard of its last version, or nobody hears more of it.
"""

import asyncio
import resource
import socket
import sys
import time
from collections.abc import Sequence

import msgspec
import uvloop
from msgspec import Struct

from tests.bench import clients
from tests.bench.clients import EventStream, Sent
from tests.bench.servers import HOST, Process

OTHER_FILES = 64
AT_ONCE = 50
"""How many streams are opened at once: fewer than the server lets wait to be accepted."""

LONGEST_LINE = 2**24

PATIENCE_S = 20.0
"""How long events are waited for."""


class Seating(Struct):
    """Who reads: one stream for each bearer, from a version on; `stalled` others take nothing, from version 0 on."""

    port: int
    path: str
    after: int
    bearers: list[str]
    stalled: int = 0


class Phase(Struct):
    """When each version was sent for, by the clock that all processes of a machine share, in seconds."""

    sent: dict[int, float]


class Heard(Struct):
    """What the readers heard since the last phase; of all events that are theirs, how many not, and how many wrongly.

    `late` is whatever came again, or before one that precedes it. CPU is that of this process.
    """

    events: int
    missing: int
    late: int
    bytes: int
    p50_ms: float
    p99_ms: float
    cpu_s: float


class Reader:
    """One reader: which versions it heard of, and when."""

    stream: EventStream

    def __init__(self, after: int) -> None:
        self.reached = after
        self.late = 0
        self.heard: dict[int, float] = {}

    def hear(self, sent: Sent) -> None:
        """Take an event."""
        if sent.event != "decision" or sent.id is None:
            raise clients.Unanswered(str(sent))
        version = int(sent.id)
        if version <= self.reached:
            self.late += 1
            return
        self.reached = version
        self.heard[version] = time.perf_counter()


class Audience:
    """All readers."""

    def __init__(self, readers: Sequence[Reader]) -> None:
        self._readers = readers
        self._bytes = sum(reader.stream.bytes for reader in readers)
        self._cpu = _cpu()

    async def heard(self, phase: Phase) -> Heard:
        """Wait until everybody has heard of the phase's last version; return what they heard of it."""
        last, until = max(phase.sent), time.perf_counter() + PATIENCE_S
        # A wake-up at each event would cost what is measured.
        while time.perf_counter() < until and min(reader.reached for reader in self._readers) < last:  # noqa: ASYNC110 see above
            await asyncio.sleep(0.05)
        delays = sorted(
            reader.heard[version] - sent
            for reader in self._readers
            for version, sent in phase.sent.items()
            if version in reader.heard
        )
        size, cpu = sum(reader.stream.bytes for reader in self._readers), _cpu()
        found = Heard(
            events=len(delays),
            missing=len(phase.sent) * len(self._readers) - len(delays),
            late=sum(reader.late for reader in self._readers),
            bytes=size - self._bytes,
            p50_ms=_quantile(delays, 50),
            p99_ms=_quantile(delays, 99),
            cpu_s=cpu - self._cpu,
        )
        self._bytes, self._cpu = size, cpu
        for reader in self._readers:
            reader.late = 0
            reader.heard.clear()
        return found


def _quantile(delays: list[float], percent: int) -> float:
    return delays[(len(delays) - 1) * percent // 100] * 1e3 if delays else 0.0


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def seated(seating: Seating) -> Audience:
    """Open all streams."""
    server = Process(seating.port, 0)
    path = f"{seating.path}?after={seating.after}"
    turn = asyncio.Semaphore(AT_ONCE)

    async def read(bearer: str) -> Reader:
        reader = Reader(seating.after)
        async with turn:
            reader.stream = await clients.event_stream(server, path, bearer, reader.hear)
        return reader

    readers = await asyncio.gather(*(read(bearer) for bearer in seating.bearers))
    for _ in range(seating.stalled):
        await _stall(server, seating.path, seating.bearers[0])
    return Audience(readers)


async def _stall(server: Process, path: str, bearer: str) -> None:
    """Open a stream from the beginning of the table, and take next to nothing of it."""
    stalled = socket.socket()
    # As little as the system has at this end, and by short segments at the server's too.
    stalled.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
    stalled.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, 536)
    stalled.setblocking(False)
    await asyncio.get_running_loop().sock_connect(stalled, (HOST, server.port))
    stream = await clients.event_stream(server, path, bearer, lambda _: None, stalled)
    stream.transport.pause_reading()


async def main() -> None:
    """Hold the readers until stdin ends."""
    lines = asyncio.StreamReader(limit=LONGEST_LINE)
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    seating = msgspec.json.decode(await lines.readline(), type=Seating)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = len(seating.bearers) + seating.stalled + OTHER_FILES
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    audience = await seated(seating)
    _answer({})
    while line := await lines.readline():
        _answer(await audience.heard(msgspec.json.decode(line, type=Phase)))


def _answer(answer: object) -> None:
    print(msgspec.json.encode(answer).decode(), flush=True)


if __name__ == "__main__":
    uvloop.run(main())
