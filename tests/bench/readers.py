"""Readers of one table: every event to each of them, once and in order; how late, in how much memory, at what cost.

The readers are server-sent streams of as many accounts, held by a process of their own. The floor is a bare ASGI
application that writes events of the same length to as many connections.
"""

import asyncio
import random
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import count, islice
from typing import NamedTuple, TypeVar

import msgspec
import uvloop

from tests.bench import clients
from tests.bench.audience import Heard, Phase, Seating
from tests.bench.driver import request
from tests.bench.processes import ENDLESS
from tests.bench.report import Sheet
from tests.bench.servers import Process, cpu_s, memory_bytes
from tests.bench.size import Size
from tests.bench.tables import Company, Played, Player

T = TypeVar("T")

AT_PACE, FULL_SPEED = "at a fixed pace", "at full speed"
BARE, OURS, STALLED = "bare", "ours", "ours, one stalls"

MISSING, LATE = "missing", "twice or late"
"""Figures that count what must not be."""

CPU = "CPU µs an event"

SECONDS = 4
"""How long events go on at a fixed pace."""

BURST = 100_000
"""How many events come to at full speed, over all readers."""

CHUNK_BYTES = 7
"""What a chunk of HTTP/1.1 adds to a few hundred bytes."""


class Stretch(NamedTuple):
    """A stretch of a table's life: what everybody heard of it, and the server's CPU time."""

    heard: Heard
    cpu_s: float

    def figures(self) -> dict[str, float]:
        """Return what a sheet tells of it."""
        heard = self.heard
        return {
            "events": heard.events,
            MISSING: heard.missing,
            LATE: heard.late,
            "median ms": heard.p50_ms,
            "p99 ms": heard.p99_ms,
            CPU: self.cpu_s / max(1, heard.events) * 1e6,
            "bytes an event": heard.bytes / max(1, heard.events),
        }


class Audience:
    """A process that holds readers of a server's stream."""

    def __init__(self, server: Process, process: "subprocess.Popen[bytes]") -> None:
        self._server = server
        self._process = process

    def ask(self, line: Seating | Phase, answer: type[T]) -> T:
        """Send a line, and return what it is answered."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        asked.write(msgspec.json.encode(line) + b"\n")
        asked.flush()
        return msgspec.json.decode(answers.readline(), type=answer)

    def follow(self, script: Sequence[bytes], first: int, pace: float | None) -> Stretch:
        """Have requests answered one after the other, so many a second; return what the readers heard of that.

        The first of them makes the version `first`.
        """
        before = cpu_s([self._server.pid])
        sent = uvloop.run(_sent(self._server, script, pace))
        heard = self.ask(Phase(dict(enumerate(sent, first))), Heard)
        return Stretch(heard, cpu_s([self._server.pid]) - before)


@contextmanager
def audience(server: Process, seating: Seating) -> Iterator[Audience]:
    """Hold readers until the end of the block."""
    command = [sys.executable, "-m", "tests.bench.audience"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            held = Audience(server, process)
            held.ask(seating, dict)
            yield held
        finally:
            process.terminate()


async def _sent(server: Process, script: Sequence[bytes], pace: float | None) -> list[float]:
    """Send requests, and return when each was sent."""
    exchange = await clients.exchange(server)
    sent: list[float] = []
    begun = time.perf_counter()
    for number, wanted in enumerate(script):
        if pace is not None:
            await asyncio.sleep(max(0.0, begun + number / pace - time.perf_counter()))
        sent.append(time.perf_counter())
        await exchange.ask(wanted)
    exchange.close()
    return sent


class Readings(NamedTuple):
    """Stretches by their pace, and the bytes of memory that opening the streams took, for each reader."""

    stretches: dict[str, Stretch]
    reader_bytes: float


def sheet(company: Company, size: Size) -> Sheet:
    """Measure readers of one table, at a fixed pace and at full speed, without and with one that stalls."""
    found = Sheet(f"{size.readers:,} readers of one table, by streams of events; {size.pace:g} events a second")
    rng = random.Random(6)
    bearers = [Player(company.rig.workers[0]).bearer for _ in range(size.readers)]
    for turn in range(size.rounds):
        (table,) = company.aged(ENDLESS, 1, size.aged, rng)
        with company.rig.another() as worker:
            Player(worker).get(table.path)  # It folds the table before anything is counted.
            # They take turns at being first, for the second ones meet a process that is no longer new.
            order = (OURS, STALLED)[:: -1 if turn % 2 else 1]
            readings = {name: _ours(worker, table, bearers, size, stalled=name == STALLED) for name in order}
        event = readings[OURS].stretches[AT_PACE].heard
        with company.rig.fanout() as floor:
            bare = _bare(floor, bearers, size, event.bytes // max(1, event.events) - CHUNK_BYTES)
        for pace, floored in bare.stretches.items():
            for name in (BARE, OURS, STALLED):
                figures = {BARE: bare, **readings}[name].stretches[pace].figures()
                found.add(f"{pace}, {name}", figures | {"CPU to bare": figures[CPU] / floored.figures()[CPU]})
        found.add(f"{AT_PACE}, {BARE}", {"KiB a reader": bare.reader_bytes / 1024})
        found.add(f"{AT_PACE}, {OURS}", {"KiB a reader": readings[order[0]].reader_bytes / 1024})
    return found


def lost(found: Sheet) -> int:
    """Return how many events of a sheet somebody missed, or heard of again or too late."""
    return sum(int(sum(line.get(name, []))) for line in found.lines.values() for name in (MISSING, LATE))


def _ours(worker: Process, table: Played, bearers: list[str], size: Size, *, stalled: bool) -> Readings:
    """Play a table on before its readers."""
    rng = random.Random(7)

    def script(events: int) -> list[bytes]:
        return [sent.request for sent in table.script(events, rng)]

    seating = Seating(worker.port, f"{table.path}/events", table.version, bearers, int(stalled))
    return _read(worker, seating, size, script)


def _bare(floor: Process, bearers: list[str], size: Size, length: int) -> Readings:
    """Post events of a length to the floor."""
    versions = count(1)

    def script(events: int) -> list[bytes]:
        return [request("POST", "/", body=_event(version, length)) for version in islice(versions, events)]

    return _read(floor, Seating(floor.port, "/", 0, bearers), size, script)


def _event(version: int, length: int) -> bytes:
    return (b"id: %d\nevent: decision\ndata: " % version).ljust(length - 2, b"x") + b"\n\n"


def _read(server: Process, seating: Seating, size: Size, script: Callable[[int], list[bytes]]) -> Readings:
    """Have everybody read what so many requests make, first at a fixed pace, then at full speed."""
    paces = {AT_PACE: (int(size.pace * SECONDS), size.pace), FULL_SPEED: (BURST // size.readers, None)}
    before = memory_bytes(server.pid)
    with audience(server, seating) as held:
        reader_bytes = (memory_bytes(server.pid) - before) / size.readers
        stretches: dict[str, Stretch] = {}
        first = seating.after + 1
        for name, (events, pace) in paces.items():
            requests = script(min(size.commands, events))
            stretches[name] = held.follow(requests, first, pace)
            first += len(requests)
    return Readings(stretches, reader_bytes)
