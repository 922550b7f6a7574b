"""Matches for the reactors' tests: a service on the tests' store, tables with bots, people who move silently."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from events.base import Entry
from service.clock import Sleep
from service.game import AnyTable
from service.parts import Service, service
from service.reactors.pursuit import Pursuit, Reactor
from service.reactors.sharing import pursue
from service.referee import Create, Sit, Start
from service.settings import Settings
from service.streams import Stored
from service.tables import Asked
from tests.following import follow

GAME = "chinkway"
HOST = "h" * 26
ADA = "a" * 26

Raw = msgspec.Raw
entry_of = msgspec.json.Decoder(Entry[Raw, Raw]).decode


@asynccontextmanager
async def connected(url: str) -> AsyncIterator[Service]:
    """Connect a process's parts to the store; its bots do not pause."""
    async with service(
        Settings(redis=url, keys=Path(), secret="00" * 32, signing_key="11" * 32, bot_pause_ms=0)
    ) as parts:
        yield parts


@asynccontextmanager
async def pursuing(
    parts: Service, *reactors: Reactor, sleep: Sleep = asyncio.sleep
) -> AsyncIterator[Sequence[Pursuit]]:
    """Run reactors; on leaving, end them and see that they ended because of that alone."""
    pursuits = [Pursuit(reactor, parts.log, sleep=sleep) for reactor in reactors]
    running = asyncio.ensure_future(pursue(parts.log, parts.redis, *pursuits))
    try:
        yield pursuits
    finally:
        running.cancel()
        await asyncio.wait([running])
        assert running.cancelled(), running.exception()


async def opened(parts: Service, *bots: str, start: str = "full", deals: int = 5) -> AnyTable:
    """Open a table with these bots (labels), for a short match or one of ten deals."""
    game = parts.games.named(GAME)
    assert game is not None
    options = {"deals": deals, "partners": "five" if deals == 5 else "switch"}
    stated = msgspec.to_builtins(msgspec.convert(options, game.projection.options))
    command = msgspec.convert(
        {"type": "table.create", "game": GAME, "ruleset": game.ruleset, "seats": 5, "options": stated}
        | {"start": start, "bots": bots},
        Create,
    )
    return (await parts.tables.create(HOST, game, command, None)).table


async def seated(parts: Service, table: AnyTable, *players: str) -> None:
    """Have these players sit down, in their order."""
    for player in players:
        await parts.tables.act(Asked(player, GAME, table.id), Sit())


async def started(parts: Service, table: AnyTable) -> None:
    """Start play as the host."""
    await parts.tables.act(Asked(HOST, GAME, table.id), Start())


async def move_silently(parts: Service, table: AnyTable, player: str) -> None:
    """Make the move that stands for a silent player whenever this one is prompted, until play ends."""
    async for _ in follow(parts.log, stream_of(table)):
        now = await parts.tables.look(Asked(player, GAME, table.id))
        if now.status == "ended":
            return
        seat = now.seat_of(player)
        if seat in now.to_act:
            assert seat is not None
            command = parts.tables.game_of(now).idle(now.play, seat)
            await parts.tables.act(Asked(player, GAME, table.id), command)


async def ended(parts: Service, table: AnyTable) -> list[Stored]:
    """Return the log of a table once play has ended."""
    log = []
    async for stored in follow(parts.log, stream_of(table)):
        log.append(stored)
        if b'"table.ended"' in stored.e:
            return log
    raise AssertionError("the log was closed before play ended")


async def grown(parts: Service, table: AnyTable, version: int) -> None:
    """Return once a table has reached a version."""
    async for stored in follow(parts.log, stream_of(table)):
        if stored.version >= version:
            return


async def no_sleep(_: float) -> None:
    """Let the others run, and no time pass."""
    await asyncio.sleep(0)


def stream_of(table: AnyTable) -> str:
    return f"table:{table.id}"
