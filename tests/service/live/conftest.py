"""Processes of the service on one store, with tables at which things happen, and what their readers take."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from random import Random
from typing import NamedTuple

import msgspec
import pytest
from redis.asyncio import Redis

from service import bots, games
from service.audit.checkpoints import Checkpoint, vouched
from service.audit.signing import Signer
from service.clock import utc_ms
from service.live import Live, Reading
from service.log import Log
from service.referee import Create, Leave, Sit
from service.tables import Asked, Tables
from service.watched import Frame

GAMES = games.find()
CHINKWAY = GAMES.ruled("chinkway/1")
PEOPLE = tuple(f"{name:0<26}" for name in "abcde")
ONLOOKER = f"{'z':0<26}"
SIGNER = Signer(bytes(32))

_encode = msgspec.json.encode


class Process(NamedTuple):
    """What a process of the service has of tables."""

    log: Log
    tables: Tables
    live: Live


def vouch(stream: str, version: int, head: bytes) -> Checkpoint:
    return vouched(stream, version, head, utc_ms(), SIGNER)


@asynccontextmanager
async def started(store: Redis) -> AsyncIterator[Process]:
    """Give the tables of a process that has just started, and leave no task of it."""
    log = Log(store)
    tables = Tables(log, GAMES, bots.find(), secret=bytes(32), entropy=lambda count: bytes(range(count)))
    live = Live(log, tables, vouch)
    try:
        async with asyncio.timeout(60):
            yield Process(log, tables, live)
    finally:
        await live.close()
        await log.close()


@pytest.fixture
async def one(store: Redis) -> AsyncIterator[Process]:
    async with started(store) as process:
        yield process


@pytest.fixture
async def other(store: Redis) -> AsyncIterator[Process]:
    """Give another process on the same store."""
    async with started(store) as process:
        yield process


async def opened(process: Process, start: str = "host") -> str:
    """Open a table and return its id; it is at version 1."""
    command = Create(
        game="chinkway",
        ruleset="chinkway/1",
        seats=5,
        options=msgspec.to_builtins(CHINKWAY.projection.options(deals=5, partners="five")),
        start="full" if start == "full" else "host",
    )
    return (await process.tables.create(PEOPLE[0], CHINKWAY, command, None)).table.id


def asked(table: str, player: str = ONLOOKER) -> Asked:
    return Asked(player, "chinkway", table)


async def happen(process: Process, table: str, count: int) -> None:
    """Let so many things happen at an open table: somebody sits down, stands up, sits down again."""
    for _ in range(count):
        seated = (await process.tables.look(asked(table))).seat_of(PEOPLE[1]) is not None
        await process.tables.act(asked(table, PEOPLE[1]), Leave() if seated else Sit(seat=1))


async def play(process: Process, table: str, rng: Random) -> bool:
    """Let whoever must act do anything legal; return False when nobody must."""
    to_act = (await process.tables.look(asked(table))).to_act
    if not to_act:
        return False
    mover = asked(table, PEOPLE[to_act[0]])
    await process.tables.act(mover, rng.choice((await process.tables.actions(mover)).legal))
    return True


async def take(reading: Reading, count: int) -> list[Frame]:
    """Take so many frames, each when it is there."""
    return [await anext(reading) for _ in range(count)]


async def take_all(process: Process, table: str, player: str, after: int = 0) -> list[Frame]:
    """Take what comes to the end of a stream."""
    return [frame async for frame in process.live.frames(asked(table, player), after)]


async def shown(process: Process, table: str, player: str, after: int = 0) -> list[Frame]:
    """Return the frames of what a page shows."""
    frames: list[Frame] = []
    while (page := await process.tables.decisions(asked(table, player), after, 500)).decisions:
        frames += [Frame("decision", decision.version, _encode(decision)) for decision in page.decisions]
        after = page.decisions[-1].version
    return frames


def word(kind: str, version: int) -> tuple[str, int, bytes]:
    return kind, version, b'{"version":%d}' % version
