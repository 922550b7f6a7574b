"""Whoever reads a stream when it has grown, or follows the feeds, gets everything once and in order."""

import asyncio
import os
import random
import signal
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar, cast

import pytest
from redis.asyncio import Redis

from service import feeds
from service.appending import Appended
from service.embedded import Embedded
from service.feeds import BELLS, HINTS, RUNG, Hint, ring
from service.ids import new_id, partition
from service.log import Log
from service.streams import Shorter, Stored, keys_of, table_stream
from tests.following import follow
from tests.logs import logged
from tests.stores import asking
from tests.wire import Wire

pytestmark = pytest.mark.anyio

T = TypeVar("T")

HEAD = bytes(32)


async def take(source: AsyncIterator[T], count: int) -> list[T]:
    """Take so many from a source, and leave it; fail rather than wait for ever."""
    taken: list[T] = []
    async with asyncio.timeout(20), aclosing(cast("AsyncGenerator[T]", source)) as items:
        async for item in items:
            taken.append(item)
            if len(taken) == count:
                break
    return taken


async def fill(log: Log, stream: str, first: int, last: int) -> None:
    for version in range(first, last + 1):
        assert await log.append(stream, version - 1, b"e%d" % version, HEAD) == Appended(version)


def versions(entries: list[Stored]) -> list[int]:
    assert [entry.e for entry in entries] == [b"e%d" % entry.version for entry in entries]
    return [entry.version for entry in entries]


async def test_a_follower_gets_what_was_there_and_what_comes(log: Log, stream: str) -> None:
    await fill(log, stream, 1, 3)
    following = asyncio.create_task(take(follow(log, stream, 1), 4))
    await fill(log, stream, 4, 5)
    assert versions(await following) == [2, 3, 4, 5]


async def test_a_follower_may_be_there_before_the_stream(log: Log, stream: str) -> None:
    following = asyncio.create_task(take(follow(log, stream), 2))
    await asyncio.sleep(0)
    await fill(log, stream, 1, 2)
    assert versions(await following) == [1, 2]


async def test_a_thousand_events_arrive_once_and_in_order_at_followers_who_come_and_go(log: Log, stream: str) -> None:
    chance = random.Random(11)

    async def come_and_go(seed: int) -> list[int]:
        moment = random.Random(seed)
        got: list[int] = []
        while len(got) < 1000:
            got += versions(await take(follow(log, stream, len(got)), min(moment.randint(1, 60), 1000 - len(got))))
        return got

    followers = [asyncio.create_task(come_and_go(seed)) for seed in range(20)]
    for version in range(1, 1001):
        await fill(log, stream, version, version)
        for _ in range(chance.choice([0, 0, 1, 3, 10])):
            await asyncio.sleep(0)
    for got in await asyncio.gather(*followers):
        assert got == list(range(1, 1001))


async def test_an_event_is_not_lost_at_the_moment_a_follower_opens(log: Log) -> None:
    async def race(turns: int) -> None:
        name = table_stream(new_id())
        await fill(log, name, 1, 1)
        following = asyncio.create_task(take(follow(log, name, 1), 1))
        for _ in range(turns):
            await asyncio.sleep(0)
        await fill(log, name, 2, 2)
        assert versions(await following) == [2]

    for _ in range(20):
        await asyncio.gather(*(race(turns) for turns in range(50)))


async def test_followers_outlast_broken_connections(valkey_url: str, log: Log, stream: str, tmp_path: Path) -> None:
    async with Wire(valkey_url, tmp_path / "w") as wire, logged(wire.url) as reader:
        chance = random.Random(3)
        following = asyncio.create_task(take(follow(reader, stream), 300))
        hinted = asyncio.create_task(hints_through_breaks(reader, 300))
        for version in range(1, 301):
            await fill(log, stream, version, version)
            if version % 30 == 0:
                wire.cut("reply", chance.randrange(40))
            await asyncio.sleep(0)
        assert versions(await following) == list(range(1, 301))
        assert [hint.version for hint in await hinted] == list(range(1, 301))
        assert wire.cuts


def beginnings() -> dict[int, str]:
    """Return from where every feed is read as a whole."""
    return dict.fromkeys(range(64), "0-0")


async def hints_through_breaks(log: Log, count: int) -> list[Hint]:
    """Return so many hints, each time going on from those that came before the connection broke."""
    hints: list[Hint] = []
    cursors = beginnings()
    while len(hints) < count:
        async for hint in log.feeds(cursors):
            hints.append(hint)
            if len(hints) == count:
                break
    return hints


async def test_followers_outlast_a_store_that_is_killed(own_store: Callable[..., Embedded], stream: str) -> None:
    embedded = own_store()
    async with logged(embedded.url, settle_ms=60_000) as log:
        following = asyncio.create_task(take(follow(log, stream), 100))
        await fill(log, stream, 1, 50)
        assert embedded.pid
        os.kill(embedded.pid, signal.SIGKILL)
        await asyncio.to_thread(embedded.restart)
        await fill(log, stream, 51, 100)
        assert versions(await following) == list(range(1, 101))


async def test_after_a_long_pause_followers_miss_no_hint_that_was_trimmed_meanwhile(
    log: Log, valkey_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(feeds, "GAP_S", 0.05)
    quiet = [table_stream(id_in(number)) for number in (7, 8)]
    async with asyncio.TaskGroup() as tasks:
        following = [tasks.create_task(take(follow(log, name), 1)) for name in quiet]
        await fill(log, table_stream(id_in(3)), 1, 1)
        await asyncio.sleep(1.1)  # They wait for what comes by now, longer than one call waits.
        with asking(valkey_url) as other:
            # While nothing here runs: the first hint answers the call, the second is gone when the next one is made.
            for name in quiet:
                other.xadd(keys_of(name).stream, {"e": "e1", "h": HEAD}, id="1-0")
                other.xadd(keys_of(name).feed, {"s": name, "v": 1})
            other.xtrim(keys_of(quiet[1]).feed, maxlen=0, approximate=False)
            time.sleep(0.1)  # noqa: ASYNC251 the whole process is paused
    assert [versions(task.result()) for task in following] == [[1], [1]]


async def test_a_follower_whose_stream_lost_entries_is_told(log: Log, store: Redis, stream: str) -> None:
    await fill(log, stream, 1, 2)
    with pytest.raises(Shorter):
        await take(follow(log, stream, 3), 1)
    assert await store.xlen(keys_of(stream).stream) == 2


async def test_the_feeds_hint_at_every_append_of_every_partition(log: Log) -> None:
    following = asyncio.create_task(take(log.feeds(beginnings()), 1000))
    streams = [table_stream(id_in(number % 64)) for number in range(500)]
    await asyncio.gather(*(fill(log, name, 1, 2) for name in streams))
    hints = await following
    assert sorted((hint.stream, hint.version) for hint in hints) == sorted(
        (name, v) for name in streams for v in (1, 2)
    )
    assert all(hint.partition == partition(hint.stream.removeprefix("table:")) for hint in hints)
    assert {hint.partition for hint in hints} == set(range(64))
    assert versions_by_stream(hints) == {name: [1, 2] for name in streams}


def id_in(number: int) -> str:
    """Return a new id of a partition."""
    return next(id_ for id_ in iter(new_id, "") if partition(id_) == number)


def versions_by_stream(hints: list[Hint]) -> Mapping[str, list[int]]:
    """Return the versions hinted at, in the order in which they came."""
    found: dict[str, list[int]] = {}
    for hint in hints:
        found.setdefault(hint.stream, []).append(hint.version)
    return found


async def test_who_resumes_from_cursors_misses_nothing_and_gets_nothing_twice(log: Log) -> None:
    chance = random.Random(5)
    streams = [table_stream(new_id()) for _ in range(200)]
    cursors = beginnings()
    seen: list[Hint] = []

    async def write() -> None:
        for version in range(1, 6):
            await asyncio.gather(*(fill(log, name, version, version) for name in streams))

    writing = asyncio.create_task(write())
    while len(seen) < 1000:
        hints = await take(log.feeds(cursors), min(chance.randint(1, 90), 1000 - len(seen)))
        seen += hints
    await writing
    assert len({(hint.partition, hint.feed_id) for hint in seen}) == 1000
    assert versions_by_stream(seen) == {name: [1, 2, 3, 4, 5] for name in streams}


async def test_long_feeds_are_read_page_by_page(log: Log, stream: str) -> None:
    await asyncio.gather(*(log.append(stream, version, b"e", HEAD) for version in range(1300)))
    assert [hint.version for hint in await take(log.feeds(beginnings()), 1300)] == list(range(1, 1301))


async def rung(store: Redis, *names: str) -> None:
    async with store.pipeline() as pipe:
        for name in names:
            ring(pipe, name)
        await pipe.execute()


async def listening(log: Log) -> None:
    """Return when the log hears of everything from now on: all bells ring then."""
    with log.bell("listening") as bell:
        async with asyncio.timeout(20):
            await bell.after(0)


async def test_a_bell_wakes_who_waits_for_it_and_nobody_else(log: Log, store: Redis) -> None:
    await listening(log)
    with log.bell("lobby") as lobby, log.bell("inbox:1") as inbox, log.bell("lobby") as again:
        assert lobby is again
        counts = lobby.count, inbox.count
        await rung(store, "lobby", "elsewhere")
        async with asyncio.timeout(20):
            await lobby.after(counts[0])
        assert inbox.count == counts[1]


async def test_a_bell_is_not_lost_at_the_moment_somebody_begins_to_listen(store: Redis) -> None:
    async def race(turns: int) -> None:
        log = Log(store)
        key = f"account:{turns}"

        async def change() -> None:
            for _ in range(turns):
                await asyncio.sleep(0)
            async with store.pipeline() as pipe:
                pipe.set(key, "there")
                ring(pipe, "something")
                await pipe.execute()

        with log.bell("something") as bell:
            changing = asyncio.create_task(change())
            async with asyncio.timeout(20):
                while True:
                    seen = bell.count
                    if await store.get(key):
                        break
                    await bell.after(seen)
        await changing
        await log.close()

    for first in range(0, 120, 20):
        await asyncio.gather(*(race(turns) for turns in range(first, first + 20)))


async def test_all_bells_ring_when_the_connection_was_broken_or_more_rang_than_are_kept(
    valkey_url: str, log: Log, store: Redis, tmp_path: Path
) -> None:
    await listening(log)
    with log.bell("lobby") as bell:
        seen = bell.count
        await rung(store, *["elsewhere"] * HINTS)
        async with asyncio.timeout(20):
            await bell.after(seen)
    async with Wire(valkey_url, tmp_path / "w") as wire, logged(wire.url) as reader:
        with reader.bell("lobby") as bell:
            await listening(reader)
            seen = bell.count
            wire.cut("reply", 0)
            async with asyncio.timeout(20):
                await bell.after(seen)


async def test_bells_that_nobody_hears_any_more_are_forgotten_and_those_that_rang_are_few(
    log: Log, store: Redis
) -> None:
    await listening(log)
    with log.bell("lobby"):
        pass
    await rung(store, *["lobby"] * (RUNG + 2_000))
    assert await store.xlen(BELLS) < RUNG + 500
    with log.bell("lobby") as bell:
        assert bell.count == 0


async def test_closing_the_log_ends_all_who_follow_the_feeds_and_leaves_no_task(store: Redis, stream: str) -> None:
    before = asyncio.all_tasks()
    log = Log(store)
    ended: list[int] = []

    async def hints() -> None:
        async for hint in log.feeds(beginnings()):
            assert hint.version == 1
        ended.append(1)

    following = [asyncio.create_task(hints()) for _ in range(100)]
    await fill(log, stream, 1, 1)
    await take(follow(log, stream), 1)
    await log.close()
    async with asyncio.timeout(5):
        await asyncio.gather(*following)
    assert len(ended) == 100
    assert asyncio.all_tasks() == before


async def test_a_log_that_nobody_follows_has_no_subscription(store: Redis, stream: str) -> None:
    clients = len(await store.client_list())
    log = Log(store)
    await fill(log, stream, 1, 1)
    assert len(await store.client_list()) == clients + 1
    await log.close()
