"""The lobby as the reactor keeps it from the streams."""

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace
from redis.asyncio import Redis

from projections import lobby as summaries
from projections.lobby import Summary
from projections.table import SeatView
from service.game import AnyTable
from service.lobby import Filter
from service.parts import Service
from service.reactors.bots import BotMoves, Pause
from service.reactors.lobby import LobbyKeeping, rebuild
from service.referee import Abandon, Leave, Resign
from service.tables import Asked
from service.walk import Walk
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
    """Return everything that the store holds for the lobby as it is now."""
    found: dict[bytes, object] = {}
    keys: list[bytes] = await store.keys("{lobby}:*")  # type: ignore[assignment] # replies are not decoded
    for key in keys:
        kind = key.split(b":")[1]
        if kind in {b"tables", b"listed"}:
            found[key] = await store.hgetall(key)
        elif kind in {b"index", b"host", b"player"}:
            found[key] = await store.zrange(key, 0, -1)
    return found


class Stalling(LobbyKeeping):
    """Waits between what it has seen and listing that, as a process does that is slow, paused or cut off."""

    def __init__(self, parts: Service, stall: Callable[[], Awaitable[object]]) -> None:
        super().__init__(parts.log, parts.lobby)
        self._stall = stall

    async def _read(self, stream: str, summary: Summary | None, after: int) -> tuple[Summary | None, int]:
        found = await super()._read(stream, summary, after)
        await self._stall()
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
        await rebuild(Walk(acting.log), acting.lobby)
        assert await kept(store) == live_lobby


@pytest.mark.parametrize("then", ["abandoned", "left", "gone on"])
async def test_who_comes_late_with_what_it_saw_changes_nothing(valkey_url: str, then: str) -> None:
    async with connected(valkey_url) as parts:
        table = await opened(parts)
        await seated(parts, table, *PEOPLE[:2])
        has_seen, may_list = asyncio.Event(), asyncio.Event()

        async def stall() -> None:
            has_seen.set()
            await may_list.wait()

        late = asyncio.ensure_future(Stalling(parts, stall).show(stream_of(table)))
        await has_seen.wait()
        await (seated(parts, table, *PEOPLE[2:]) if then == "gone on" else carry_on(parts, table, then))
        await keeping(parts).show(stream_of(table))
        listed = (await parts.lobby.tables(Filter(), None, 100)).tables
        assert listed == tuple((await folded(parts)).values())
        change = await parts.lobby.newest_change()
        may_list.set()
        await late
        assert (await parts.lobby.tables(Filter(), None, 100)).tables == listed
        assert await parts.lobby.newest_change() == change


async def test_what_is_listed_of_a_table_that_has_lost_decisions_is_put_right(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        await opened(parts)
        (expected,) = (await folded(parts)).values()
        lost = replace(expected, version=3, status="playing")
        assert (await parts.lobby.put(lost, 0)).outcome == "put"
        await keeping(parts).show(f"table:{expected.table}")
        await until_listed(parts, expected)


async def test_several_who_keep_it_at_once_and_stall_anywhere_leave_it_right(store: Redis, valkey_url: str) -> None:
    chance = random.Random(12)

    async def stall() -> None:
        for _ in range(chance.choice([0, 0, 1, 3, 9])):
            await store.ping()

    async with connected(valkey_url) as parts, connected(valkey_url) as other:
        keepers = [Stalling(each, stall) for each in (parts, other, parts)]
        points = 3 * ["open", "left", "abandoned", "playing", "resigned"]

        async def lived(point: str) -> None:
            table = await opened(parts)
            looking = [asyncio.ensure_future(chance.choice(keepers).show(stream_of(table))) for _ in range(2)]
            for people in range(1, 3 if point in {"left", "open", "abandoned"} else 6):
                await seated(parts, table, PEOPLE[people - 1])
                looking.append(asyncio.ensure_future(chance.choice(keepers).show(stream_of(table))))
            await carry_on(parts, table, point)
            # One of them has looked since the last change; the others may come with what was before, or be killed.
            await chance.choice(keepers).show(stream_of(table))
            for look in looking:
                if chance.random() < 0.3:
                    look.cancel()
            await asyncio.wait(looking)

        async with asyncio.timeout(30):
            await asyncio.gather(*map(lived, points))
        newest_first = sorted((await folded(parts)).values(), key=lambda s: (s.created_at, s.table), reverse=True)
        assert (await parts.lobby.tables(Filter(), None, 100)).tables == tuple(newest_first)
        copy: dict[str, Summary] = {}
        place = "0-0"
        while changes := await parts.lobby.changes(place):
            for change in changes:
                place = change.place
                assert change.table is not None
                # Nothing is told twice, and nothing that is older than what was told.
                assert change.before == copy.pop(change.table, None)
                if change.now is not None:
                    assert change.before is None or change.before.version < change.now.version
                    copy[change.table] = change.now
        assert copy == {summary.table: summary for summary in newest_first}


async def test_made_anew_while_others_keep_it_the_lobby_is_right(store: Redis, valkey_url: str) -> None:
    async with connected(valkey_url) as parts, pursuing(parts, keeping(parts), sleep=no_sleep):
        for point in ("open", "left", "playing"):
            await live(parts, point, random.Random(13))
        known = keeping(parts)
        for table in await folded(parts):
            await known.show(f"table:{table}")
        await store.hset("{lobby}:tables", "0" * 26, "what is no table")
        await store.zadd("{lobby}:index:*:*", {f"{0:016}:" + "1" * 26: 0})
        await store.hset("{lobby}:ended:0", next(iter(await folded(parts))), 10_000)
        await asyncio.gather(rebuild(Walk(parts.log), parts.lobby), live(parts, "abandoned", random.Random(14)))
        newest_first = sorted((await folded(parts)).values(), key=lambda s: (s.created_at, s.table), reverse=True)
        await until_listed(parts, *newest_first)
        # Whoever knows the tables from before goes on: what it lists next is taken.
        (playing,) = [summary.table for summary in newest_first if summary.status == "playing"]
        await parts.tables.act(Asked(PEOPLE[0], GAME, playing), Resign())
        await known.show(f"table:{playing}")
        assert (await parts.lobby.find(playing)).summary == (await folded(parts))[playing]


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
