"""Whoever reads a table gets each decision once and in order, as its player may see it today, whatever happens."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from random import Random
from typing import Any, NamedTuple

import msgspec
import pytest
from redis.asyncio import Redis

from service import bots, games
from service.audit.checkpoints import Checkpoint, vouched
from service.audit.signing import Signer
from service.clock import utc_ms
from service.embedded import Embedded
from service.errors import Damaged, NotFound
from service.live import PAGE, Besides, Live, Reading
from service.log import Log
from service.metrics import instruments
from service.referee import Abandon, Create, Leave, Resign, Sit
from service.store import connect
from service.streams import keys_of, table_stream
from service.tables import Asked, Tables
from service.watched import Frame
from tests.sizes import sized

pytestmark = pytest.mark.anyio

GAMES = games.find()
CHINKWAY = GAMES.ruled("chinkway/1")
PEOPLE = tuple(f"{name:0<26}" for name in "abcde")
ONLOOKER = f"{'z':0<26}"
SIGNER = Signer(bytes(32))
KEPT = 100
"""So few decisions are kept where more must come than are."""
EVENTS = sized(1_000, 2_000, 10_000)

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


# --- What comes ---


async def test_a_reader_gets_what_was_there_and_what_comes_as_a_page_shows_it(one: Process, other: Process) -> None:
    table = await opened(one)
    await happen(one, table, 5)
    reading = await one.live.open(asked(table), 2)
    taken = await take(reading, 4)
    coming = asyncio.create_task(take(reading, 6))
    await happen(one, table, 3)
    await happen(other, table, 3)
    taken += await coming
    await reading.aclose()
    assert taken == await shown(one, table, ONLOOKER, 2)
    assert [frame.version for frame in taken] == list(range(3, 13))


async def test_every_event_arrives_once_and_in_order_whenever_a_stream_is_opened_or_resumed(
    one: Process, other: Process
) -> None:
    """The moments at which readers come and go are drawn by turns of the loop, among those of the appends."""
    table = await opened(one)
    chance = Random(7)

    async def come_and_go(process: Process, seed: int) -> list[int]:
        moment, got = Random(seed), [1]
        while len(got) < EVENTS:
            for _ in range(moment.choice([0, 1, 2, 5, 20])):
                await asyncio.sleep(0)
            reading = await process.live.open(asked(table), len(got))
            frames = await take(reading, min(moment.randint(1, 60), EVENTS - len(got)))
            await reading.aclose()
            assert {frame.kind for frame in frames} == {"decision"}
            got += [frame.version for frame in frames]
        return got

    readers = [asyncio.create_task(come_and_go(process, seed)) for seed in range(8) for process in (one, other)]
    for number in range(1, EVENTS):
        await happen(other if number % 3 else one, table, 1)
        for _ in range(chance.choice([0, 0, 1, 3, 10])):
            await asyncio.sleep(0)
    for got in await asyncio.gather(*readers):
        assert got == list(range(1, EVENTS + 1))


async def test_an_event_is_not_lost_at_the_moment_a_stream_opens(one: Process, other: Process) -> None:
    async def race(turns: int) -> None:
        table = await opened(one)
        reading = asyncio.create_task(one.live.open(asked(table), 1))
        for _ in range(turns):
            await asyncio.sleep(0)
        await happen(other, table, 1)
        opening = await reading
        assert [frame.version for frame in await take(opening, 1)] == [2]
        await opening.aclose()

    for first in range(0, 100, 25):
        await asyncio.gather(*(race(turns) for turns in range(first, first + 25)))


async def test_what_was_answered_to_anyone_is_there_for_who_comes_then(one: Process, other: Process) -> None:
    table = await opened(one)
    early = await other.live.open(asked(table), 1)
    for version in range(2, 30):
        await happen(one, table, 1)
        reading = await other.live.open(asked(table), version - 1)
        assert [frame.version for frame in await take(reading, 1)] == [version]
        await reading.aclose()
    await early.aclose()


async def test_who_begins_far_back_reads_on_while_more_comes(
    one: Process, other: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.watched.KEPT", KEPT)
    table = await opened(one)
    await happen(one, table, KEPT + 2 * PAGE)
    reading = await other.live.open(asked(table), 0)
    frames = await take(reading, 3 * PAGE)
    await happen(one, table, 30)
    frames += await take(reading, KEPT - PAGE + 31)
    coming = asyncio.create_task(take(reading, 5))
    await happen(one, table, 5)
    assert [frame.version for frame in frames + await coming] == list(range(1, KEPT + 2 * PAGE + 37))
    await reading.aclose()


async def test_who_can_take_what_comes_is_called_and_who_can_not_is_left_to_itself(one: Process) -> None:
    table = await opened(one)
    got: dict[int, list[int]] = {number: [] for number in range(3)}

    async def read(number: int, reading: Reading, most: int) -> None:
        """Take as a stream does, but stop taking after so many, as if blocked."""

        def feed() -> bool:
            while len(got[number]) < most:
                frame = reading.take()
                if frame is None:
                    return reading.is_at_newest
                got[number].append(frame.version)
            return False

        while feed():
            await reading.feed(feed)

    readings = [await one.live.open(asked(table), 1) for _ in got]
    readers = [asyncio.create_task(read(*each)) for each in zip(got, readings, (50, 3, 50), strict=True)]
    await happen(one, table, 50)
    await asyncio.gather(*readers)
    assert got == {0: list(range(2, 52)), 1: [2, 3, 4], 2: list(range(2, 52))}
    for reading in readings:
        await reading.aclose()


async def test_who_was_called_already_is_called_again_for_what_came_meanwhile(
    one: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one reader called in a turn, a decision comes before all have been called for the one before it."""
    monkeypatch.setattr("service.watched.SLICE", 1)
    table = await opened(one)
    readings = [await one.live.open(asked(table), 1) for _ in range(1_000)]
    got: list[list[int]] = [[] for _ in readings]

    async def read(reading: Reading, own: list[int]) -> None:
        def feed() -> bool:
            while (frame := reading.take()) is not None:
                own.append(frame.version)
                sum(range(5_000))  # It takes its time, so that a round lasts longer than an append.
            return len(own) < 8

        while feed():
            await reading.feed(feed)

    readers = [asyncio.create_task(read(*each)) for each in zip(readings, got, strict=True)]
    await asyncio.sleep(0)
    await happen(one, table, 8)
    await asyncio.gather(*readers)
    assert got == [list(range(2, 10))] * 1_000
    for reading in readings:
        await reading.aclose()


# --- Who sees what ---


async def test_a_reader_sees_what_the_seat_of_today_may_see(one: Process) -> None:
    table = await opened(one, "full")
    readings = {player: await one.live.open(asked(table, player), 0) for player in (*PEOPLE, ONLOOKER)}
    rng = Random(5)
    for seat, person in enumerate(PEOPLE):
        await one.tables.act(asked(table, person), Sit(seat=seat))
    for _ in range(40):
        await play(one, table, rng)
    version = (await one.tables.look(asked(table))).version
    sent = {player: await take(reading, version) for player, reading in readings.items()}
    assert len({_encode([frame.data for frame in frames]) for frames in sent.values()}) == 6
    for player, frames in sent.items():
        assert frames == await shown(one, table, player)
    # Who gives the seat up looks on from then on, and what comes late is shown by the rights of now.
    await one.tables.act(asked(table, PEOPLE[2]), Resign())
    mover = (await one.tables.look(asked(table))).to_act[0]
    assert mover != 2
    while await play(one, table, rng):
        pass
    version_now = (await one.tables.look(asked(table))).version
    late = {player: await take(reading, version_now - version + 1) for player, reading in readings.items()}
    assert late[PEOPLE[2]] == late[ONLOOKER] != late[PEOPLE[0]]
    for player, frames in late.items():
        assert frames[:-1] == await shown(one, table, player, version)
        assert frames[-1] == word("ended", version_now)
    assert b"table.opened" in late[ONLOOKER][-2].data
    for reading in readings.values():
        await reading.aclose()


async def test_a_decision_is_written_once_for_all_who_see_the_same_and_read_for_none_of_them(one: Process) -> None:
    table = await opened(one, "full")
    for seat, person in enumerate(PEOPLE):
        await one.tables.act(asked(table, person), Sit(seat=seat))
    begun = (await one.tables.look(asked(table))).version
    players = (*PEOPLE, *(f"{number:0>26}" for number in range(50)))
    readings = [await one.live.open(asked(table, player), begun) for player in players]
    coming = [asyncio.create_task(take(reading, 20)) for reading in readings]
    rng = Random(3)
    await play(one, table, rng)
    reads, written = count_of("evenfold_decisions_read_total"), count_of("evenfold_live_decisions_total")
    for _ in range(19):
        await play(one, table, rng)
    await asyncio.gather(*coming)
    assert count_of("evenfold_live_decisions_total") - written <= 20 * (len(PEOPLE) + 1)
    # The looks of `play` itself, two for each; and one where a hint was quicker than the reply to the append.
    assert count_of("evenfold_decisions_read_total") - reads <= (2 + 2) * 19
    for reading in readings:
        await reading.aclose()


async def test_what_another_process_appends_is_read_once_for_all_readers(one: Process, other: Process) -> None:
    table = await opened(one)
    readings = [await other.live.open(asked(table), 1) for _ in range(50)]
    await happen(one, table, 1)
    await asyncio.gather(*(take(reading, 1) for reading in readings))
    reads = count_of("evenfold_decisions_read_total")
    coming = [asyncio.create_task(take(reading, 10)) for reading in readings]
    await happen(one, table, 10)
    await asyncio.gather(*coming)
    # A look reads what is known and what is new: those of `happen` itself, and one for each thing that happened.
    assert count_of("evenfold_decisions_read_total") - reads <= 10 + 2 * 10
    for reading in readings:
        await reading.aclose()


def count_of(name: str) -> float:
    """Return a counter's count."""
    return sum(number[0] for _, number in instruments[name].series().numbers)


async def test_a_table_that_one_may_not_know_of_is_not_found(one: Process) -> None:
    table = await opened(one)
    for wrong in (Asked(ONLOOKER, "kowah", table), asked("0" * 26), asked("A" * 26)):
        with pytest.raises(NotFound):
            await one.live.open(wrong, 0)


# --- How it ends, and begins anew ---


async def test_a_stream_says_that_play_has_ended_and_ends(one: Process) -> None:
    table = await opened(one)
    reading = asyncio.create_task(take_all(one, table, ONLOOKER))
    await happen(one, table, 2)
    await one.tables.act(asked(table, PEOPLE[0]), Abandon())
    *frames, last = await reading
    assert frames == await shown(one, table, ONLOOKER)
    assert last == word("ended", 4)
    assert await take_all(one, table, ONLOOKER, 4) == [last]
    assert await take_all(one, table, ONLOOKER, 3) == [frames[-1], last]


async def test_a_checkpoint_is_signed_once_for_all_who_read_and_not_for_each_version(
    one: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.watched.VOUCH_S", 3_600)
    table = await opened(one)
    besides = Besides(checkpoints=True)
    readings = [await one.live.open(asked(table, player), 0, besides) for player in (ONLOOKER, *PEOPLE)]
    taken = [await take(reading, 2) for reading in readings]
    assert {(first.kind, second.kind) for first, second in taken} == {("decision", "checkpoint")}
    assert len({second for _, second in taken}) == 1
    await happen(one, table, 20)
    for reading in readings:
        assert [frame.version for frame in await take(reading, 20)] == [*range(2, 22)]
        assert reading.take() is None
        await reading.aclose()


async def test_a_checkpoint_that_was_too_soon_comes_later_to_who_rests_and_who_waits_and_before_the_end(
    one: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.watched.VOUCH_S", 0.05)
    table = await opened(one)
    besides = Besides(checkpoints=True)
    waiting = await one.live.open(asked(table), 1, besides)
    resting = await one.live.open(asked(table), 1, besides)
    got: list[Frame] = []

    def feed() -> bool:
        while (frame := resting.take()) is not None:
            got.append(frame)
        return resting.is_at_newest

    assert feed()
    fed = asyncio.create_task(resting.feed(feed))
    await happen(one, table, 3)
    await one.tables.act(asked(table, PEOPLE[0]), Abandon())
    frames = [frame async for frame in waiting]
    await fed
    for told in (frames, got):
        assert [frame.version for frame in told if frame.kind == "decision"] == [2, 3, 4, 5]
        assert [(frame.kind, frame.version) for frame in told[-2:]] == [("checkpoint", 5), ("ended", 5)]
    checkpoint = msgspec.json.decode(frames[-2].data, type=Checkpoint)
    assert checkpoint.is_signed_by({SIGNER.id: SIGNER.public})
    assert checkpoint.head == msgspec.json.decode(frames[-3].data)["head"]
    await waiting.aclose()
    await resting.aclose()


async def test_who_wants_rulings_is_told_the_end_once_and_waits_on(one: Process) -> None:
    table = await opened(one)
    await one.tables.act(asked(table, PEOPLE[0]), Abandon())
    reading = await one.live.open(asked(table), 1, Besides(rulings=True))
    assert [frame.kind for frame in await take(reading, 2)] == ["decision", "ended"]
    assert (reading.take(), reading.is_over, reading.is_at_newest, reading.has_ended) == (None, False, True, False)
    await reading.aclose()


async def test_a_cursor_above_the_version_is_told_where_to_start_from(one: Process) -> None:
    table = await opened(one)
    reading = await one.live.open(asked(table), 7)
    assert await anext(reading) == word("reset", 1)
    await happen(one, table, 1)
    assert (await anext(reading)).version == 2
    await reading.aclose()
    reading = await one.live.open(asked(table), 2)
    assert reading.take() is None
    await reading.aclose()


async def test_who_falls_behind_more_than_is_kept_is_sent_away_and_comes_again(
    one: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.watched.KEPT", KEPT)
    table = await opened(one)
    reading = await one.live.open(asked(table), 0)
    assert (await anext(reading)).version == 1
    assert reading.take() is None
    await happen(one, table, KEPT)
    assert (await anext(reading)).version == 2
    await happen(one, table, 2)
    assert await anext(reading) == word("lagged", 2)
    with pytest.raises(StopAsyncIteration):
        await anext(reading)
    await reading.aclose()
    again = await one.live.open(asked(table), 2)
    assert [frame.version for frame in await take(again, KEPT + 1)] == list(range(3, KEPT + 4))
    await again.aclose()


async def rows_of(store: Redis, table: str) -> Any:  # noqa: ANN401 as redis-py has it
    """Return the entries of a table."""
    return await store.xrange(keys_of(table_stream(table)).stream)


async def put(store: Redis, table: str, rows: Any) -> None:  # noqa: ANN401 as redis-py has it
    """Have these be the entries of a table, all at once."""
    key = keys_of(table_stream(table)).stream
    async with store.pipeline() as pipe:
        pipe.delete(key)
        for id_, fields in rows:
            pipe.xadd(key, fields, id=id_)
        await pipe.execute()


async def cut(store: Redis, table: str, length: int) -> None:
    """Leave only the first entries of a table, as after a failover to a replica that had not got the rest."""
    await put(store, table, (await rows_of(store, table))[:length])


async def test_readers_begin_anew_where_the_store_has_lost_what_they_were_shown(one: Process, store: Redis) -> None:
    table = await opened(one)
    readings = [await one.live.open(asked(table), after) for after in (0, 1)]
    coming = [asyncio.create_task(take(reading, 6 - after)) for after, reading in enumerate(readings)]
    await happen(one, table, 5)
    await asyncio.gather(*coming)
    await cut(store, table, 3)
    # Another process, which has not known what was lost, goes on from what is left.
    async with started(store) as other:
        await happen(other, table, 1)
        assert [await anext(reading) for reading in readings] == [word("reset", 4)] * 2
        await happen(other, table, 1)
        frames = [await take(reading, 1) for reading in readings]
        assert frames == [await shown(other, table, ONLOOKER, 4)] * 2
    for reading in readings:
        await reading.aclose()


async def test_readers_begin_anew_where_others_stand_in_the_place_of_what_they_were_shown(
    one: Process, store: Redis
) -> None:
    table = await opened(one)
    reading = await one.live.open(asked(table), 0)
    coming = asyncio.create_task(take(reading, 6))
    await happen(one, table, 5)
    await coming
    await cut(store, table, 3)
    async with started(store) as other:
        await happen(other, table, 4)
        first = await anext(reading)
        assert first.kind == "reset"
        assert first.version in range(4, 8)
        rest = await take(reading, 7 - first.version)
        assert rest == await shown(other, table, ONLOOKER, first.version)
    await reading.aclose()


async def test_what_stands_in_the_place_of_what_was_vouched_for_is_vouched_for_anew(
    one: Process, store: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.watched.VOUCH_S", 0)
    table = await opened(one)
    await happen(one, table, 2)
    reading = await one.live.open(asked(table), 3, Besides(checkpoints=True))
    assert ((await anext(reading)).kind, reading.take()) == ("checkpoint", None)
    await cut(store, table, 2)
    async with started(store) as other:
        await happen(other, table, 1)
        told = await anext(reading)
        assert told.kind == "reset"
        while (told.kind, told.version) != ("checkpoint", 3):
            told = await anext(reading)
        head = (await other.tables.look(asked(table))).head.hex()
    assert msgspec.json.decode(told.data, type=Checkpoint).head == head
    await reading.aclose()


async def test_what_does_not_follow_on_what_was_shown_is_never_shown_as_if_it_did(store: Redis) -> None:
    """The store comes back with other entries, and one more: all that a process can go by is that it is not chained."""
    async with started(store) as one:
        table = await opened(one)
        await happen(one, table, 5)
    shown_first = await rows_of(store, table)
    await cut(store, table, 3)
    async with started(store) as other:
        await happen(other, table, 4)
    shown_then = await rows_of(store, table)
    await put(store, table, shown_first)
    async with started(store) as one:
        reading = await one.live.open(asked(table), 0)
        assert [frame.version for frame in await take(reading, 6)] == [1, 2, 3, 4, 5, 6]
        await put(store, table, shown_then)
        assert (await one.tables.look(asked(table))).version == 7
        assert await anext(reading) == word("reset", 7)
        await reading.aclose()


async def test_a_table_that_is_gone_ends_its_streams(one: Process, store: Redis) -> None:
    table = await opened(one)
    await happen(one, table, 1)
    reading = await one.live.open(asked(table), 2)
    coming = asyncio.create_task(take(reading, 1))
    await asyncio.sleep(0)
    await store.delete(keys_of(table_stream(table)).stream)
    # Somebody looks, and so the process learns of it.
    with pytest.raises((NotFound, Damaged)):
        await one.tables.look(asked(table))
    async with started(store) as other:
        with pytest.raises((NotFound, Damaged)):
            await other.tables.look(asked(table))
    one.live._watched[table_stream(table)]._growth.doubt()  # noqa: SLF001 as when the connection to the store was broken
    with pytest.raises((NotFound, Damaged)):
        await coming
    await reading.aclose()


# --- Nobody costs anybody else anything ---


async def test_who_takes_nothing_and_who_is_cancelled_hold_nobody_up(one: Process) -> None:
    table = await opened(one)
    idle = await one.live.open(asked(table), 1)
    cancelled = [asyncio.create_task(take_all(one, table, ONLOOKER)) for _ in range(50)]
    quick = asyncio.create_task(take(await one.live.open(asked(table), 1), 60))
    for number in range(60):
        await happen(one, table, 1)
        if number < len(cancelled):
            cancelled[number].cancel()
    assert [frame.version for frame in await quick] == list(range(2, 62))
    await asyncio.wait(cancelled)
    assert [frame.version for frame in await take(idle, 60)] == list(range(2, 62))
    await idle.aclose()


async def test_nothing_is_left_of_readers_who_have_gone(one: Process) -> None:
    tables = [await opened(one) for _ in range(5)]
    await asyncio.sleep(0)
    before = asyncio.all_tasks()
    for _ in range(sized(40, 100, 400)):
        readers = [asyncio.create_task(take_all(one, table, ONLOOKER)) for table in tables]
        await asyncio.sleep(0)
        for reader in readers:
            reader.cancel()
        await asyncio.wait(readers)
    for _ in range(5):
        await asyncio.sleep(0)
    # The subscription to the feeds, which is the process's, stays.
    assert len(asyncio.all_tasks() - before) <= 1
    assert one.live._watched == {}  # noqa: SLF001 nothing else shows it
    assert one.log._feeds._growths == {}  # noqa: SLF001 nothing else shows it


async def test_readers_outlast_a_store_that_is_killed(own_store: Callable[..., Embedded]) -> None:
    embedded = own_store()
    client = await connect(embedded.url)
    async with started(client) as one:
        table = await opened(one)
        coming = asyncio.create_task(take(await one.live.open(asked(table), 0), 11))
        await happen(one, table, 5)
        assert embedded.pid
        os.kill(embedded.pid, signal.SIGKILL)
        await asyncio.to_thread(embedded.restart)
        other = await connect(embedded.url)
        async with started(other) as second:
            await happen(second, table, 5)
        await other.aclose()
        assert [frame.version for frame in await coming] == list(range(1, 12))
    await client.aclose()
