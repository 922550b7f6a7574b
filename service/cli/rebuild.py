"""Everything derived, made anew from the streams, while the service runs or not."""

import asyncio
from collections.abc import Sequence

from redis.asyncio import Redis
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from service.archive import archived
from service.cli.opened import opened
from service.cli.sentences import Failed, Unusable, say, several
from service.errors import StoreDown
from service.log import Log
from service.reactors.rebuilding import DERIVED, Derived
from service.settings import Place
from service.walk import Walk

NAMED = 5
"""So many tables that can't be read are named."""


def rebuild(place: Place, only: Sequence[str]) -> None:
    """Make what is named anew, or everything, and say so on the error stream; raise Unusable or Failed."""
    names = [each.name for each in DERIVED]
    for name in only:
        if name not in names:
            raise Unusable(f"Nothing derived is named {name!r}; there are {', '.join(names)}")
    wanted = [each for each in DERIVED if not only or each.name in only]
    asyncio.run(_rebuilt(place, wanted))


async def _rebuilt(place: Place, wanted: Sequence[Derived]) -> None:
    async with opened(place, "evenfold rebuild") as redis:
        log = Log(redis, archive=archived(place.archive))
        try:
            tables, damaged = await _made_anew(redis, log, wanted)
        except* StoreDown:
            raise Failed("The store does not answer any more; say it again to make anew what is left") from None
        finally:
            await log.close()
    if damaged:
        some = ", ".join(sorted(damaged)[:NAMED])
        which = several(len(damaged), "table can't tell, whose log is", "tables can't tell, whose logs are")
        raise Failed(f"Made anew but for what {which} damaged or away: {some}")
    say(f"Made anew from {several(tables, 'table', 'tables')}: {_listed([each.name for each in wanted])}.")


async def _made_anew(redis: Redis, log: Log, wanted: Sequence[Derived]) -> tuple[int, set[str]]:
    """Make all of this anew; return how many tables there are, and the streams that can't be read."""
    damaged: set[str] = set()
    tables = len(await Walk(log).tables())
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bars = [progress.add_task(each.name.capitalize(), total=tables, start=False) for each in wanted]
        for bar, each in zip(bars, wanted, strict=True):
            progress.start_task(bar)
            walk = Walk(log, lambda bar=bar: progress.advance(bar))  # type: ignore[misc] # mypy types no defaults
            await each.rebuild(walk, redis)
            damaged |= walk.damaged
    return tables, damaged


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
