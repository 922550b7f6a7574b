"""Bots at real tables, moved by the reactor over a real store."""

import asyncio
import logging
import random
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from events.base import By
from service import disputes
from service.actions import legal_now
from service.bots import Bot, Bots
from service.chance import Draws
from service.game import AnyTable, AnyView, Command
from service.ids import new_id
from service.leases import PRESENT_KEY
from service.metrics import exposition
from service.parts import Service
from service.reactors.bots import BotMoves, Pause, bot_to_act, choice
from service.reactors.pursuit import TRIES, Pursuit
from service.reactors.run import run
from service.reactors.sharing import pursue
from service.referee import Resign
from service.streams import Stored
from service.tablefold import TableFold
from service.tables import Asked
from tests.service.reactors.matches import (
    ADA,
    GAME,
    connected,
    ended,
    entry_of,
    grown,
    move_silently,
    no_sleep,
    opened,
    pursuing,
    seated,
    stream_of,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("store")]

ANYONE = "anyone/1"
AT_ONCE = Pause(0)
PEOPLE = [ADA, "b" * 26]


def moves(parts: Service, pause: Pause = AT_ONCE, bots: Bots | None = None) -> BotMoves:
    return BotMoves(parts.tables, bots or parts.bots, pause)


def assert_each_chosen_once(parts: Service, table: AnyTable, log: Sequence[Stored]) -> None:
    """Fold the log anew, and ask each bot again what it chooses where it moved: what it chose then."""
    fold = TableFold(parts.games)
    state = fold.empty(stream_of(table))
    for version, stored in enumerate(log, 1):
        entry = entry_of(stored.e)
        assert entry.version == version
        seat = entry.by.seat
        if seat is not None and entry.by.player != ADA:
            assert entry.by == By(seat=seat, player=f"bot:{ANYONE}#{seat}")
            chosen = choice(parts.tables.game_of(table), state, seat, parts.bots)
            assert msgspec.json.encode(chosen) == bytes(entry.command)
        fold.read(state, stored)()
    assert state.status == "ended"


async def test_five_bots_play_a_match_to_its_end(valkey_url: str) -> None:
    async with connected(valkey_url) as parts, pursuing(parts, moves(parts)):
        table = await opened(parts, *[ANYONE] * 5, deals=10)
        log = await ended(parts, table)
    assert len(log) > 10 * 52
    assert_each_chosen_once(parts, table, log)


async def test_bots_sit_still_while_play_is_paused_and_go_on_when_it_is_resumed(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        paused = await opened(parts, *[ANYONE] * 5)
        arbiter = Asked("j" * 26, GAME, paused.id)
        at = (await parts.tables.act(arbiter, disputes.Pause())).decision.version
        async with pursuing(parts, moves(parts)):
            # Another table, of which the reactor hears later, is played to its end meanwhile.
            await ended(parts, await opened(parts, *[ANYONE] * 5))
            assert (await parts.tables.look(arbiter)).version == at
            await parts.tables.act(arbiter, disputes.Resume())
            log = await ended(parts, paused)
    assert_each_chosen_once(parts, paused, log)


async def test_a_person_plays_with_four_bots(valkey_url: str) -> None:
    async with connected(valkey_url) as parts, pursuing(parts, moves(parts)):
        table = await opened(parts, *[ANYONE] * 4)
        await seated(parts, table, ADA)
        _, log = await asyncio.gather(move_silently(parts, table, ADA), ended(parts, table))
    assert_each_chosen_once(parts, table, log)
    by = {entry_of(stored.e).by.player for stored in log[1:]}
    assert by == {ADA, *(f"bot:{ANYONE}#{seat}" for seat in range(1, 5))}


async def test_killed_at_any_point_bots_play_on_and_double_nothing(valkey_url: str) -> None:
    chance = random.Random(7)
    async with connected(valkey_url) as watching:
        table = await opened(watching, *[ANYONE] * 5)
        reading = asyncio.ensure_future(ended(watching, table))
        version = 1
        kills = 0
        while not reading.done():
            async with connected(valkey_url) as parts, pursuing(parts, moves(parts)):
                version += chance.randint(0, 40)
                reached = asyncio.ensure_future(grown(watching, table, version))
                await asyncio.wait([reached, reading], return_when=asyncio.FIRST_COMPLETED)
                reached.cancel()
            kills += 1
        log = await reading
    assert kills > 5
    assert_each_chosen_once(watching, table, log)


async def test_two_processes_at_once_do_no_harm(valkey_url: str) -> None:
    async with connected(valkey_url) as one, connected(valkey_url) as other:
        async with pursuing(one, moves(one)), pursuing(other, moves(other)):
            table = await opened(one, *[ANYONE] * 5)
            log = await ended(one, table)
        assert_each_chosen_once(one, table, log)


async def test_a_choice_is_taken_only_at_the_version_it_was_made_for(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        table = await opened(parts, *[ANYONE] * 3)
        await seated(parts, table, *PEOPLE)
        await until_a_bot_is_prompted(parts, table)
        reactor = moves(parts)
        seen = await reactor.look(stream_of(table), 0)
        assert seen.todo is not None
        # Nobody waits for this one, so the prompt stands, and its turn.
        done = await parts.tables.act(Asked(PEOPLE[0], GAME, table.id), Resign())
        turn = done.table.turn
        assert turn < done.decision.version == seen.version + 1
        assert await seen.todo() == seen.version + 1
        assert (await parts.tables.reached(stream_of(table), 0)).version == seen.version + 1
        seen = await reactor.look(stream_of(table), 0)
        assert seen.todo is not None
        assert await seen.todo() == seen.version + 1


async def until_a_bot_is_prompted(parts: Service, table: AnyTable) -> None:
    """Have people make their silent moves until a bot must act."""
    while True:
        now = await parts.tables.reached(stream_of(table), 0)
        if bot_to_act(now) is not None:
            return
        (seat,) = now.to_act
        command = parts.tables.game_of(now).idle(now.play, seat)
        await parts.tables.act(Asked(PEOPLE[seat], GAME, table.id), command)


async def test_what_a_process_had_begun_another_ends_from_its_cursors(valkey_url: str) -> None:
    never = asyncio.Event()

    async def for_ever(_: float) -> None:
        paused.set()
        await never.wait()

    paused = asyncio.Event()
    async with connected(valkey_url) as parts, pursuing(parts, moves(parts, Pause(400, for_ever, lambda: 0))):
        table = await opened(parts, *[ANYONE] * 5)
        await paused.wait()
        # Hints that are dealt with come after the one that is not.
        spare = await opened(parts)
        await seated(parts, spare, ADA)
    async with connected(valkey_url) as parts, pursuing(parts, moves(parts)):
        log = await ended(parts, table)
    assert_each_chosen_once(parts, table, log)


async def test_a_partition_that_is_taken_over_while_a_bot_pauses_is_played_on_and_nothing_doubled(
    store: Redis, valkey_url: str
) -> None:
    go_on = asyncio.Event()
    pausing = asyncio.Event()

    async def long(_: float) -> None:
        pausing.set()
        await go_on.wait()

    async with connected(valkey_url) as slow, connected(valkey_url) as parts:
        reactor = moves(slow, Pause(400, long, lambda: 0))
        running = asyncio.ensure_future(pursue(slow.log, slow.redis, Pursuit(reactor, slow.log)))
        table = await opened(parts, *[ANYONE] * 5)
        await pausing.wait()
        # It is taken for dead, and what it held is claimed by another.
        async with pursuing(parts, moves(parts)):
            await store.delete(PRESENT_KEY)
            await grown(parts, table, 20)
            go_on.set()
            log = await ended(parts, table)
        running.cancel()
        await asyncio.wait([running])
    assert_each_chosen_once(parts, table, log)


async def test_without_cursors_every_stream_is_looked_at(store: Redis, valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        tables = [await opened(parts, *[ANYONE] * 5) for _ in range(3)]
        for number in range(64):
            await store.delete(f"{{{number:02}}}:feed")
        async with pursuing(parts, moves(parts)):
            await asyncio.gather(*(ended(parts, table) for table in tables))


async def test_a_feed_trimmed_past_the_cursor_loses_nothing(store: Redis, valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        async with pursuing(parts, moves(parts)):
            await ended(parts, await opened(parts, *[ANYONE] * 5))
        table = await opened(parts, *[ANYONE] * 5)
        for number in range(64):
            await store.xtrim(f"{{{number:02}}}:feed", maxlen=0, approximate=False)
        async with pursuing(parts, moves(parts)):
            await ended(parts, table)


async def test_bots_pause_after_every_decision_whatever_they_hold(valkey_url: str) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with connected(valkey_url) as parts:
        pause = Pause(400, sleep, clock=lambda: 0)  # long before any decision was taken
        async with pursuing(parts, moves(parts, pause)):
            log = await ended(parts, await opened(parts, *[ANYONE] * 5))
    assert slept == [0.4] * (len(log) - 1)


async def test_the_pause_is_counted_from_the_decision() -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    pause = Pause(400, sleep, clock=lambda: 1_000_300)
    for at in (1_000_000, 999_800, 999_900, 1_000_300, 1_009_999):
        await pause.after(at)
    assert slept == [0.1, 0.4, 0.4]


async def test_a_retired_build_is_played_by_the_newest_and_a_retired_bot_silently(valkey_url: str) -> None:
    def last(_view: AnyView, legal: Sequence[Command], _draws: Draws) -> Command:
        return legal[-1]

    async with connected(valkey_url) as parts:
        for bots in (Bots(iter([Bot("anyone", 2, last)])), Bots(iter(()))):
            async with pursuing(parts, moves(parts, bots=bots)):
                table = await opened(parts, *[ANYONE] * 5)
                log = await ended(parts, table)
            fold = TableFold(parts.games)
            state = fold.empty(stream_of(table))
            fold.read(state, log[0])()
            for stored in log[1:]:
                seat = state.to_act[0]
                game = parts.tables.game_of(state)
                expected = legal_now(game, state, seat)[-1] if bots.named("anyone") else game.idle(state.play, seat)
                expected = msgspec.structs.replace(expected, turn=state.turn)
                assert bytes(entry_of(stored.e).command) == msgspec.json.encode(expected)
                fold.read(state, stored)()


class Moody:
    """A bot that fails at matches of five deals, until it is mended."""

    def __init__(self) -> None:
        self.mended = False

    def choose(self, view: AnyView, legal: Sequence[Command], _: Draws) -> Command:
        if view.options.deals != 5 or self.mended:
            return legal[0]
        raise RuntimeError(f"I hold {legal}")

    def bots(self) -> Bots:
        return Bots(iter([Bot("anyone", 1, self.choose)]))


async def test_a_bot_that_fails_at_one_table_is_set_aside_and_stops_no_other(
    store: Redis, valkey_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    moody = Moody()
    async with connected(valkey_url) as parts:
        async with pursuing(parts, moves(parts, bots=moody.bots()), sleep=no_sleep) as (pursuit,):
            table = await opened(parts, *[ANYONE] * 5)
            await ended(parts, await opened(parts, *[ANYONE] * 5, deals=10))
            while await aside(store) != {stream_of(table)}:
                pass
            assert pursuit.aside == {stream_of(table)}
            async with asyncio.timeout(20):
                while b'evenfold_reactor_streams_aside{reactor="bots"} 1.0' not in await exposition(None):
                    pass
        said = [record.getMessage() for record in caplog.records if record.levelno >= logging.ERROR]
        assert len(said) == TRIES + 1
        assert all(stream_of(table) in line and "chinkway." not in line for line in said)
        moody.mended = True
        # Nobody touches the table and no hint is open; the next start looks at what is aside.
        async with pursuing(parts, moves(parts, bots=moody.bots())):
            await ended(parts, table)
            while await aside(store):
                pass


async def aside(store: Redis) -> set[str]:
    keys = [f"{{{number:02}}}:aside:bots" for number in range(64)]
    # redis-py types the call for synchronous and asynchronous clients alike.
    members: list[set[bytes]] = [await store.smembers(key) for key in keys]  # type: ignore[misc]
    return {stream.decode() for streams in members for stream in streams}


async def test_a_bot_that_chooses_what_is_not_legal_is_set_aside(store: Redis, valkey_url: str) -> None:
    def choose(_view: AnyView, _legal: Sequence[Command], _draws: Draws) -> Command:
        return Resign(turn=0)

    async with connected(valkey_url) as parts:
        stream = stream_of(await opened(parts, *[ANYONE] * 5))
        reactor = moves(parts, bots=Bots(iter([Bot("anyone", 1, choose)])))
        async with pursuing(parts, reactor, sleep=no_sleep):
            while stream not in await aside(store):
                pass


async def test_only_tables_are_read_and_those_without_bots_until_play_begins(valkey_url: str) -> None:
    looks: list[str] = []

    class Counted(BotMoves):
        async def look(self, stream: str, version: int) -> Any:  # noqa: ANN401 what look returns
            looks.append(stream)
            return await super().look(stream, version)

    people = [letter * 26 for letter in "abcde"]
    tournament = f"tournament:{new_id()}"
    async with connected(valkey_url) as parts, pursuing(parts, Counted(parts.tables, parts.bots, AT_ONCE)):
        await parts.log.append(tournament, 0, b"{}", bytes(32))
        table = await opened(parts)
        await seated(parts, table, *people)
        await asyncio.gather(*(move_silently(parts, table, person) for person in people))
        # By the end of another match all hints of the first were heard.
        await ended(parts, await opened(parts, *[ANYONE] * 5))
    assert 0 < looks.count(stream_of(table)) <= 6
    assert tournament not in looks


async def test_stopped_reactors_leave_no_task(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        stop = asyncio.Event()
        before = asyncio.all_tasks()
        running = asyncio.ensure_future(run(parts, stop))
        await ended(parts, await opened(parts, *[ANYONE] * 5))
        followers = {task for task in asyncio.all_tasks() if "_subscribe" in str(task.get_coro())}
        stop.set()
        await running
        assert asyncio.all_tasks() - followers == before
