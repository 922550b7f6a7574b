"""How a reading ends, what it is vouched for by, and where it is told to start from."""

import asyncio

import msgspec
import pytest

from service.audit.checkpoints import Checkpoint
from service.live import Besides
from service.referee import Abandon
from service.watched import Frame
from tests.service.live.conftest import (
    ONLOOKER,
    PEOPLE,
    SIGNER,
    Process,
    asked,
    happen,
    opened,
    shown,
    take,
    take_all,
    word,
)

pytestmark = pytest.mark.anyio


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
