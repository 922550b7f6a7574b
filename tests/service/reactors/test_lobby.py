"""The lobby as the reactor keeps it from the streams."""

import asyncio
import random

import pytest
from redis.asyncio import Redis

from projections import lobby as summaries
from projections.lobby import Summary
from projections.table import SeatView
from service.app import Service
from service.game import AnyTable
from service.lobby import Filter
from service.reactors.bots import BotMoves, Pause
from service.reactors.lobby import LobbyKeeping, rebuild
from service.referee import Abandon, Leave, Resign
from service.tables import Asked
from tests.service.reactors.matches import (
    ADA,
    GAME,
    HOST,
    connected,
    ended,
    move_silently,
    no_sleep,
    opened,
    pursuing,
    seated,
    started,
    stream_of,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("store")]

ANYONE = "anyone/1"
PEOPLE = [letter * 26 for letter in "abcde"]


def keeping(parts: Service) -> LobbyKeeping:
    return LobbyKeeping(parts.log, parts.lobby)


async def folded(parts: Service) -> dict[str, Summary]:
    """Return what the lobby must hold, by folding every stream whole."""
    found = {}
    for partition in range(64):
        for stream in await parts.log.streams(partition):
            summary = summaries.add(None, [stored.e for stored in await parts.log.read_range(stream, 1, 10_000)])
            if summary is not None and summary.status != "ended":
                found[summary.table] = summary
    return found


async def until_listed(parts: Service, *expected: Summary) -> None:
    """Return once the lobby lists these, the newest first; it hangs if it never does."""
    async with asyncio.timeout(30):
        while (await parts.lobby.tables(Filter(), None, 100)).tables != expected:
            pass


async def kept(store: Redis) -> dict[bytes, object]:
    """Return everything that the store holds for the lobby."""
    found: dict[bytes, object] = {}
    keys: list[bytes] = await store.keys("lobby:*")  # type: ignore[assignment] # replies are not decoded
    for key in keys:
        is_index = key.startswith(b"lobby:index:")
        found[key] = await store.zrange(key, 0, -1) if is_index else await store.hgetall(key)
    return found


def seats(*players: str) -> tuple[SeatView, ...]:
    return tuple(
        SeatView(seat, players[seat] if seat < len(players) else None, None, resigned=False) for seat in range(5)
    )


async def test_a_table_opens_fills_starts_and_ends_in_the_lobby(valkey_url: str) -> None:
    async with connected(valkey_url) as parts, pursuing(parts, keeping(parts), sleep=no_sleep):
        table = await opened(parts, start="host")
        (expected,) = (await folded(parts)).values()
        assert (expected.status, expected.seats, expected.version) == ("open", seats(), 1)
        assert (expected.host, expected.start, expected.options["deals"]) == (HOST, "host", 5)
        await until_listed(parts, expected)
        await seated(parts, table, *PEOPLE)
        (expected,) = (await folded(parts)).values()
        assert (expected.status, expected.seats, expected.started_at) == ("open", seats(*PEOPLE), None)
        await until_listed(parts, expected)
        await started(parts, table)
        (expected,) = (await folded(parts)).values()
        assert (expected.status, expected.version) == ("playing", 7)
        assert expected.started_at is not None
        assert expected.started_at >= expected.created_at
        await until_listed(parts, expected)
        for player in PEOPLE[:4]:
            await parts.tables.act(Asked(player, GAME, table.id), Resign())
        await until_listed(parts)


async def test_who_leaves_and_who_resigns_is_seen_in_the_lobby(valkey_url: str) -> None:
    async with connected(valkey_url) as parts, pursuing(parts, keeping(parts), sleep=no_sleep):
        table = await opened(parts)
        await seated(parts, table, *PEOPLE[:2])
        await parts.tables.act(Asked(ADA, GAME, table.id), Leave())
        (expected,) = (await folded(parts)).values()
        assert [seat.player for seat in expected.seats[:2]] == [None, PEOPLE[1]]
        await until_listed(parts, expected)
        await seated(parts, table, ADA, *PEOPLE[2:])
        await parts.tables.act(Asked(ADA, GAME, table.id), Resign())
        (expected,) = (await folded(parts)).values()
        assert [seat.resigned for seat in expected.seats] == [True, False, False, False, False]
        await until_listed(parts, expected)


async def test_a_table_abandoned_before_play_leaves_the_lobby(valkey_url: str) -> None:
    async with connected(valkey_url) as parts, pursuing(parts, keeping(parts)):
        gone = await opened(parts)
        stays = await opened(parts)
        await parts.tables.act(Asked(HOST, GAME, gone.id), Abandon())
        expected = await folded(parts)
        assert set(expected) == {stays.id}
        await until_listed(parts, *expected.values())


async def test_kept_through_kills_or_rebuilt_the_lobby_is_the_same(store: Redis, valkey_url: str) -> None:
    chance = random.Random(11)
    async with connected(valkey_url) as acting:
        lives = 3 * ["open", "left", "abandoned", "playing", "resigned"] + ["bots", "mixed"]
        chance.shuffle(lives)
        while lives:
            async with connected(valkey_url) as parts:
                reactors = (keeping(parts), BotMoves(parts.tables, parts.bots, Pause(0)))
                async with pursuing(parts, *reactors, sleep=no_sleep):
                    await asyncio.gather(*(live(acting, lives.pop(), chance) for _ in range(min(4, len(lives)))))
        expected = await folded(acting)
        assert {summary.status for summary in expected.values()} == {"open", "playing"}
        async with pursuing(acting, keeping(acting), sleep=no_sleep):
            newest_first = sorted(expected.values(), key=lambda s: (s.created_at, s.table), reverse=True)
            await until_listed(acting, *newest_first)
        live_lobby = await kept(store)
        await rebuild(acting.log, acting.lobby)
        assert await kept(store) == live_lobby


async def test_what_a_killed_process_listed_by_halves_is_put_right(store: Redis, valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        async with pursuing(parts, keeping(parts)):
            await opened(parts)
            (expected,) = (await folded(parts)).values()
            await until_listed(parts, expected)
        whole = await kept(store)
        # It was killed after the first of its writes, and so before its cursor went on.
        for pattern in ("lobby:index:*", "*:cursor:lobby"):
            await store.delete(*await store.keys(pattern))
        async with pursuing(parts, keeping(parts)):
            await until_listed(parts, expected)
        assert await kept(store) == whole


async def live(parts: Service, point: str, chance: random.Random) -> None:
    """Have a table come to some point of its life."""
    bots = {"bots": 5, "mixed": 3}.get(point, 0)
    table = await opened(parts, *[ANYONE] * bots)
    people = {"bots": 0, "playing": 5, "resigned": 5, "open": chance.randint(0, 4)}.get(point, 2)
    await seated(parts, table, *PEOPLE[:people])
    await carry_on(parts, table, point)


async def carry_on(parts: Service, table: AnyTable, point: str) -> None:
    match point:
        case "left":
            await parts.tables.act(Asked(PEOPLE[1], GAME, table.id), Leave())
        case "abandoned":
            await parts.tables.act(Asked(HOST, GAME, table.id), Abandon())
        case "resigned":
            await parts.tables.act(Asked(PEOPLE[3], GAME, table.id), Resign())
        case "bots":
            await ended(parts, table)
        case "mixed":
            await asyncio.gather(*(move_silently(parts, table, player) for player in PEOPLE[:2]))
        case _:
            pass


async def test_a_table_in_play_is_looked_at_once_a_second_at_most(valkey_url: str) -> None:
    looks: list[str] = []
    seconds: list[float] = []

    class Counted(LobbyKeeping):
        async def look(self, stream: str, version: int):  # type: ignore[no-untyped-def] # noqa: ANN202 as it is there
            looks.append(stream)
            return await super().look(stream, version)

    async def sleep(delay_s: float) -> None:
        seconds.append(delay_s)
        await ending.wait()

    ending = asyncio.Event()
    async with connected(valkey_url) as parts:
        bots = BotMoves(parts.tables, parts.bots, Pause(0))
        async with pursuing(parts, Counted(parts.log, parts.lobby), bots, sleep=sleep):
            table = await opened(parts, *[ANYONE] * 5)
            log = await ended(parts, table)
            assert looks.count(stream_of(table)) <= 1
            ending.set()
            await until_listed(parts)
    assert len(log) > 250
    assert seconds == [1.0]
    assert looks.count(stream_of(table)) <= 3
