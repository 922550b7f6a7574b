"""Our side: all players of some tables of Trick, in this process, against one worker and its store."""

import asyncio
import contextlib
import random
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType

import uvloop

from tests.bench.peers.players import Clock, Players
from tests.bench.peers.round import Outcome, Round
from tests.bench.peers.transports import Socketed, Streamed, Table, Unheard, Unwatched
from tests.bench.processes import Serving
from tests.bench.servers import cpu_s

PATIENCE_S = 60
"""How long a round may take beyond the seconds it is played for."""

Kind = type[Unheard | Streamed | Unwatched | Socketed]

KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "HTTP, nobody told": Unheard,
        "HTTP, pushed to five": Streamed,
        "WebSocket, nobody told": Unwatched,
        "WebSocket, pushed to five": Socketed,
    }
)
"""How players may hear of moves, by what a sheet calls it."""


class Evenfold:
    """Our side: a worker, its store, and everybody who has an account there."""

    def __init__(self, serving: Serving) -> None:
        self._serving = serving
        self._players: list[Players] = []
        self._rng = random.Random(1)

    def playing(self, kind: Kind) -> Callable[[Round], Outcome]:
        """Return what plays rounds whose players hear of moves in this way."""
        return partial(self._played, kind)

    def _played(self, kind: Kind, wanted: Round) -> Outcome:
        missing = range(wanted.tables - len(self._players))
        self._players += [Players(self._serving.worker, self._rng) for _ in missing]
        return uvloop.run(self._play(kind, wanted))

    async def _play(self, kind: Kind, wanted: Round) -> Outcome:
        players = self._players[: wanted.tables]
        await asyncio.gather(*(each.connect() for each in players))
        try:
            return await self._round(kind, wanted, players)
        finally:
            for each in players:
                each.close()

    async def _round(self, kind: Kind, wanted: Round, players: list[Players]) -> Outcome:
        clock = Clock()
        tables: list[Table] = []
        if wanted.fresh:
            works = [_fresh(kind, each, clock) for each in players]
        else:
            tables = await asyncio.gather(*(_connected(kind, each, clock, 0) for each in players))
            works = [table.play() for table in tables]
        pids = (self._serving.worker.pid, self._serving.store_pid)
        begun, server, driver = time.perf_counter(), cpu_s(pids), time.process_time()
        asyncio.get_running_loop().call_later(wanted.seconds, clock.stop)
        async with asyncio.timeout(wanted.seconds + PATIENCE_S):
            await asyncio.gather(*works)
        seconds, server, driver = time.perf_counter() - begun, cpu_s(pids) - server, time.process_time() - driver
        for table in tables:
            table.close()
        took = sorted(clock.took)
        p50, p99 = (took[(len(took) - 1) * part // 100] * 1e3 for part in (50, 99))
        return Outcome(len(took), seconds, server, driver, p50, p99)


async def _connected(kind: Kind, players: Players, clock: Clock, deals: int) -> Table:
    table = await kind.opened(players, clock, deals)
    await table.connect()
    return table


async def _fresh(kind: Kind, players: Players, clock: Clock) -> None:
    """Play match after match, each at a table of its own, until the clock has stopped."""
    while not clock.stopped:
        with contextlib.closing(await _connected(kind, players, clock, 1)) as table:
            await table.play()
