"""Inboxes as the reactor fills them from the streams: each decision told once, wherever somebody was killed."""

import asyncio
import random
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

import pytest

from projections.inbox import Company, add
from projections.notices import AnyNotice
from service.auth.accounts import Accounts
from service.errors import StoreDown
from service.game import AnyTable
from service.inbox import Inboxes, bell_of
from service.log import Log
from service.parts import Service
from service.reactors.bots import BotMoves, Pause
from service.reactors.inbox import InboxFilling, rebuild
from service.referee import Abandon, Leave, Resign
from service.store import dial
from service.tables import Asked
from service.walk import Walk
from tests.service.reactors.matches import (
    GAME,
    HOST,
    connected,
    ended,
    move_silently,
    no_sleep,
    opened,
    pursuing,
    seated,
    stream_of,
)
from tests.sizes import sized
from tests.wire import Direction, Wire

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("store")]

ANYONE = "anyone/1"
PEOPLE = [letter * 26 for letter in "abcde"]
EVERYBODY = [*PEOPLE, HOST]

STRIDE = {"request": sized(67, 29, 3), "reply": sized(23, 5, 1)}
"""Every which byte is cut after."""

WHOLE = {"request": 1_000, "reply": 100}
"""How long all requests of a look, and all replies to them, are at least."""


def filling(parts: Service) -> InboxFilling:
    return InboxFilling(parts.log, parts.inboxes)


async def inbox(parts: Service, account: str) -> list[AnyNotice]:
    """Return all that is in an inbox."""
    return list((await parts.inboxes.page(account, None, 2_000)).notices)


async def expected(log: Log) -> dict[str, list[AnyNotice]]:
    """Return what each account must have been told, in the order of tables and decisions, by folding all streams."""
    told: dict[str, list[AnyNotice]] = {account: [] for account in EVERYBODY}
    for partition in range(64):
        for stream in await log.streams(partition):
            company: Company | None = None
            for stored in await log.read_range(stream, 1, 10_000):
                company, new = add(company, stored.e)
                for account, notice in new:
                    told[account].append(notice)
    return told


def unnumbered(notices: Sequence[AnyNotice]) -> list[tuple[object, ...]]:
    """Return notices without their numbers, table by table, each table's in the order in which they are given."""
    plain = [
        (notice.table, *(getattr(notice, name) for name in notice.__struct_fields__ if name != "number"), type(notice))
        for notice in notices
    ]
    return sorted(plain, key=lambda notice: str(notice[0]))


async def assert_each_told_once(parts: Service) -> None:
    """Hold: every inbox holds what the streams say, by numbers without a gap."""
    for account, notices in (await expected(parts.log)).items():
        found = await inbox(parts, account)
        assert unnumbered(found) == unnumbered(notices)
        assert [notice.number for notice in found] == list(range(1, len(found) + 1))


async def until_told(parts: Service, stream: str) -> None:
    """Return once everything is told of a table that has ended."""
    async with asyncio.timeout(30):
        while True:
            (reached,) = await parts.inboxes.reached([stream.removeprefix("table:")])
            if reached.company is not None and reached.company.status == "ended":
                return


async def live(parts: Service, point: str, chance: random.Random) -> AnyTable:
    """Have a table come to its end, by one of several ways."""
    table = await opened(parts, *[ANYONE] * (3 if point == "played" else 0))
    await seated(parts, table, *PEOPLE[: {"played": 2, "resigned": 5}.get(point, chance.randint(1, 4))])
    match point:
        case "played":
            await asyncio.gather(*(move_silently(parts, table, player) for player in PEOPLE[:2]))
        case "resigned":
            for player in chance.sample(PEOPLE, 4):
                await parts.tables.act(Asked(player, GAME, table.id), Resign())
        case _:
            await parts.tables.act(Asked(PEOPLE[0], GAME, table.id), Leave())
            await parts.tables.act(Asked(HOST, GAME, table.id), Abandon())
    return table


async def test_two_people_and_three_bots_are_told_of_each_turn_once_in_order(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        bots = BotMoves(parts.tables, parts.bots, Pause(0))
        async with pursuing(parts, filling(parts), bots):
            table = await live(parts, "played", random.Random(3))
            await until_told(parts, stream_of(table))
        await assert_each_told_once(parts)
        for player in PEOPLE[:2]:
            notices = await inbox(parts, player)
            assert [notice.version for notice in notices] == sorted(notice.version for notice in notices)
            kinds = [str(notice.__struct_config__.tag) for notice in notices]
            assert kinds[:2] == ["seated", "table_started"]
            assert kinds[-1] == "table_ended"
            assert kinds.count("your_turn") > 50
        assert await parts.redis.keys("inbox:bot*") == []


async def test_killed_at_any_point_and_run_by_two_at_once_it_tells_each_decision_once(valkey_url: str) -> None:
    chance = random.Random(5)
    async with connected(valkey_url) as acting:
        lives = 3 * ["resigned", "abandoned"] + sized([], ["played"], 3 * ["played"])
        chance.shuffle(lives)
        tables: list[AnyTable] = []
        while lives:
            async with connected(valkey_url) as one, connected(valkey_url) as other:
                # Each moves the bots of the partitions that it holds.
                bots, others = (BotMoves(parts.tables, parts.bots, Pause(0)) for parts in (one, other))
                # They are killed as soon as the tables are through, and so before all of it is told.
                async with pursuing(one, filling(one), bots, sleep=no_sleep), pursuing(other, filling(other), others):
                    tables.append(await live(acting, lives.pop(), chance))
        async with connected(valkey_url) as parts, pursuing(parts, filling(parts)):
            for table in tables:
                await until_told(parts, stream_of(table))
        await assert_each_told_once(acting)


@pytest.fixture
async def wire(valkey_url: str, tmp_path: Path) -> AsyncIterator[Wire]:
    """Give a wire to the store."""
    async with Wire(valkey_url, tmp_path / "w") as wire:
        yield wire


@pytest.mark.parametrize("direction", ["request", "reply"])
async def test_killed_after_any_byte_it_has_told_all_of_a_decision_or_nothing(
    valkey_url: str, wire: Wire, direction: Direction
) -> None:
    async with connected(valkey_url) as parts:
        table = await opened(parts)
        await seated(parts, table, *PEOPLE)
        for position in count(step=STRIDE[direction]):
            version = await moved(parts, table)
            (before,) = await parts.inboxes.reached([table.id])
            client, cuts = dial(wire.url), wire.cuts
            wire.cut(direction, position)
            with suppress(StoreDown):
                await InboxFilling(parts.log, Inboxes(client)).look(stream_of(table), 0)
            wire.disarm()
            await client.aclose()
            (reached,) = await parts.inboxes.reached([table.id])
            assert reached.version in {before.version, version}
            if position % 3 == 0:  # else the next tells what this one has not
                await filling(parts).look(stream_of(table), 0)
                await assert_each_told_once(parts)
            if wire.cuts == cuts:
                break
        assert position > WHOLE[direction]
        await filling(parts).look(stream_of(table), 0)
        await assert_each_told_once(parts)


async def moved(parts: Service, table: AnyTable) -> int:
    """Have whoever must act make the move that stands for a silent player; return the version that this led to."""
    now = await parts.tables.reached(stream_of(table), 0)
    player = now.players[now.to_act[0]]
    assert player is not None
    command = parts.tables.game_of(now).idle(now.play, now.to_act[0])
    return (await parts.tables.act(Asked(player.id, GAME, table.id), command)).decision.version


async def test_of_several_at_the_same_moment_one_tells(valkey_url: str) -> None:
    chance = random.Random(2)
    async with connected(valkey_url) as one, connected(valkey_url) as other:
        table = await opened(one)
        await seated(one, table, *PEOPLE)
        reactors = [filling(one), filling(other), filling(one), filling(other)]
        for _ in range(sized(30, 60, 200)):
            for _ in range(chance.randint(1, 3)):
                await moved(one, table)
            # Some remember what was told long ago, some begin anew.
            looking = chance.sample(reactors, 3)
            await asyncio.gather(*(reactor.look(stream_of(table), 0) for reactor in looking))
            chance.choice(reactors).forget()
        await assert_each_told_once(one)


async def test_whose_erasing_has_begun_is_told_nothing_and_the_others_all(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        table = await opened(parts)
        await seated(parts, table, *PEOPLE)
        await filling(parts).look(stream_of(table), 0)
        erased = PEOPLE[0]
        await Accounts(parts.redis).condemn(erased)
        before = await inbox(parts, erased)
        for player in PEOPLE[1:]:
            await parts.tables.act(Asked(player, GAME, table.id), Resign())
        await filling(parts).look(stream_of(table), 0)
        assert await inbox(parts, erased) == before != []
        assert (await inbox(parts, PEOPLE[1]))[-1].version == (await inbox(parts, HOST))[-1].version
        await parts.erasing.erase(erased)
        await filling(parts).look(stream_of(table), 0)
        assert await parts.redis.keys(f"*{erased}*") == []


async def test_a_bell_rings_for_each_account_that_is_told(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        with parts.log.bell(bell_of(PEOPLE[0])) as ada, parts.log.bell(bell_of(PEOPLE[1])) as bob:
            await ada.after(0)
            counts = (ada.count, bob.count)
            table = await opened(parts)
            await seated(parts, table, PEOPLE[0])
            await filling(parts).look(stream_of(table), 0)
            async with asyncio.timeout(10):
                await ada.after(counts[0])
            assert bob.count == counts[1]


async def test_made_anew_inboxes_hold_the_same_by_numbers_that_were_never_given(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        points = ("resigned", "abandoned", "resigned")
        for table in [await live(parts, point, random.Random(7)) for point in points]:
            await filling(parts).look(stream_of(table), 0)
        before = {account: await inbox(parts, account) for account in EVERYBODY}
        for _ in range(2):
            last = {account: await parts.inboxes.newest(account) for account in EVERYBODY}
            await rebuild(Walk(parts.log), parts.inboxes)
            for account, notices in before.items():
                found = await inbox(parts, account)
                assert unnumbered(found) == unnumbered(notices)
                numbers = [notice.number for notice in found]
                assert numbers == list(range(numbers[0], numbers[0] + len(notices)))
                assert numbers[0] > last[account] + 1
                for old in (0, 1, last[account] - 1, last[account]):
                    page = await parts.inboxes.page(account, old, 5)
                    assert (page.reset, page.notices) == (numbers[0] - 1, tuple(found[:5]))
                assert [notice.at for notice in found] == sorted(notice.at for notice in found)


async def test_made_anew_by_halves_or_while_others_tell_nothing_is_told_twice(valkey_url: str) -> None:
    chance = random.Random(9)
    async with connected(valkey_url) as parts:
        for _ in range(4):
            await live(parts, chance.choice(["resigned", "abandoned"]), chance)
        playing = await opened(parts)
        await seated(parts, playing, *PEOPLE)
        async with connected(valkey_url) as other, pursuing(other, filling(other)):
            for _ in range(8):
                making = asyncio.ensure_future(rebuild(Walk(parts.log), parts.inboxes))
                for _ in range(chance.randrange(40)):
                    await parts.redis.ping()
                await moved(parts, playing)
                making.cancel()
                await asyncio.wait([making])
            await rebuild(Walk(parts.log), parts.inboxes)
        await filling(parts).look(stream_of(playing), 0)
        for account, notices in (await expected(parts.log)).items():
            found = await inbox(parts, account)
            assert unnumbered(found) == unnumbered(notices)
            assert [notice.number for notice in found] == list(range(found[0].number, found[0].number + len(found)))


async def test_a_table_that_nobody_sits_at_is_told_of_at_its_end(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        bots = BotMoves(parts.tables, parts.bots, Pause(0))
        async with pursuing(parts, filling(parts), bots, sleep=no_sleep):
            table = await opened(parts, *[ANYONE] * 5)
            await ended(parts, table)
            await until_told(parts, stream_of(table))
        assert [type(notice).__name__ for notice in await inbox(parts, HOST)] == ["StartedNotice", "EndedNotice"]


async def test_only_a_table_at_which_nobody_but_bots_will_act_is_left_for_a_while(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        reactor = filling(parts)
        delays = []
        for people, bots in ((0, 5), (0, 4), (1, 4)):
            table = await opened(parts, *[ANYONE] * bots)
            await seated(parts, table, *PEOPLE[:people])
            delays.append(reactor.delay_s(stream_of(table)))
            await reactor.look(stream_of(table), 0)
            delays.append(reactor.delay_s(stream_of(table)))
        assert delays == [0, 1, 0, 0, 0, 0]
