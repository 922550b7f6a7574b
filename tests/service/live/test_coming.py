"""Whoever reads a table gets each decision once and in order, whenever it was opened and whoever appends."""

import asyncio
from random import Random

import pytest

from service.live import PAGE, Reading
from tests.service.live.conftest import ONLOOKER, Process, asked, happen, opened, shown, take, word
from tests.sizes import sized

pytestmark = pytest.mark.anyio

KEPT = 100
"""So few decisions are kept where more must come than are."""
EVENTS = sized(1_000, 2_000, 10_000)


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
