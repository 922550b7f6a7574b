"""How processes share the partitions, on a real store; each beats when the test says so, and is paused in between."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from redis.asyncio import Redis

from service.feeds import Hint
from service.ids import PARTITIONS, new_id, partition
from service.leases import PRESENT_KEY, Leases
from service.log import Log
from service.reactors import sharing
from service.reactors.progress import aside_key, cursor_key
from service.reactors.pursuit import TRIES, Pursuit, Seen
from service.reactors.sharing import Share
from service.streams import feed_key, table_stream
from tests.service.reactors.matches import no_sleep

pytestmark = pytest.mark.anyio

HEAD = bytes(32)
COUNTS = "lobby:counts"


class Counting:
    """A reactor that counts its looks at each stream in the store, unless it is held up, or fails."""

    def __init__(self, store: Redis, name: str = "counting") -> None:
        self.name = name
        self.looks: list[str] = []
        self.parted: list[str] = []
        self.fails = False
        self.go_on = asyncio.Event()
        self.go_on.set()
        self._store = store

    def delay_s(self, _stream: str) -> float:
        return 0

    async def look(self, stream: str, version: int) -> Seen:
        self.looks.append(stream)
        await self.go_on.wait()
        if self.fails:
            raise ValueError(stream)
        await self._store.hincrby(COUNTS, stream)
        return Seen(version)

    def part_with(self, stream: str) -> None:
        self.parted.append(stream)

    def forget(self) -> None:
        pass


class Process:
    """A process that has one reactor, or several."""

    def __init__(self, store: Redis, log: Log, tasks: asyncio.TaskGroup, reactors: Sequence[Counting]) -> None:
        self.leases = Leases(store)
        self.pursuits = [Pursuit(reactor, log, sleep=no_sleep) for reactor in reactors]
        self.share = Share(self.leases, self.pursuits)
        self._log = log
        self._tasks = tasks

    @property
    def partitions(self) -> set[int]:
        """The partitions that it takes for its own."""
        return set(self.share.reading)

    async def beat(self) -> None:
        """Do what it does once a second."""
        await self.share.beat(self._tasks)

    async def follow(self) -> None:
        """Heed the hints of its partitions, for ever."""
        async for hint in self._log.feeds(self.share.reading):
            for pursuit in self.pursuits:
                pursuit.heed(hint)


@asynccontextmanager
async def process(store: Redis, *reactors: Counting) -> AsyncIterator[Process]:
    """Run a process, which ends in order when the block does."""
    log = Log(store)
    try:
        async with asyncio.TaskGroup() as tasks:
            one = Process(store, log, tasks, reactors or [Counting(store)])
            following = tasks.create_task(one.follow())
            try:
                yield one
            finally:
                following.cancel()
                await one.share.leave()
                await one.leases.close()
    finally:
        await log.close()


async def rest(*processes: Process) -> None:
    """Have all beat until each knows of all."""
    for _ in range(3):
        for one in processes:
            await one.beat()


async def declare_dead(store: Redis, one: Process) -> None:
    """Let the time of a process be over."""
    assert await store.zadd(PRESENT_KEY, {one.leases.holder: 1}, ch=True) == 1


PATIENCE = 2_000
"""How often anything is looked for that is waited for."""


async def until(fact: Callable[[], bool]) -> None:
    """Return once a fact holds."""
    for _ in range(PATIENCE):
        if fact():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(fact)


async def until_counted(store: Redis, *streams: str) -> None:
    """Return once these streams have been looked at."""
    for _ in range(PATIENCE):
        if all(await store.hmget(COUNTS, list(streams))):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(streams)


async def settle(store: Redis, one: Process) -> None:
    """Have a process beat until its reactors have looked at all that there was."""
    for _ in range(PATIENCE):
        await one.beat()
        keys = [cursor_key(place, pursuit.name) for place in one.partitions for pursuit in one.pursuits]
        if None not in await store.mget(keys):
            return
    raise AssertionError(one.partitions)


async def until_trimmed(store: Redis, one: Process, place: int, most: int = 200) -> None:
    """Have a process beat until a feed has no more than so many entries."""
    for _ in range(PATIENCE):
        if await feed_length(store, place) <= most:
            return
        await one.beat()
    raise AssertionError(await feed_length(store, place))


async def until_done(store: Redis, one: Process, place: int, reactor: str = "counting") -> None:
    """Have a process beat until the cursor of a reactor is at the end of its feed."""
    rows = await store.xrevrange(feed_key(place), count=1)
    assert rows
    await until_kept(store, one, place, str(rows[0][0], "ascii"), reactor)  # type: ignore[arg-type] # not decoded


async def until_kept(store: Redis, one: Process, place: int, cursor: str, reactor: str = "counting") -> None:
    """Have a process beat until this is the cursor of a reactor."""
    for _ in range(PATIENCE):
        if await store.get(cursor_key(place, reactor)) == cursor.encode():
            return
        await one.beat()
    raise AssertionError(await store.get(cursor_key(place, reactor)))


async def grown(store: Redis, place: int | None = None) -> str:
    """Append a first entry to a new stream of a partition; return its name."""
    log = Log(store)
    ids = iter(new_id, "")
    stream = table_stream(next(id_ for id_ in ids if place is None or partition(id_) == place))
    await log.append(stream, 0, b"e", HEAD)
    await log.close()
    return stream


async def test_processes_that_come_and_go_share_evenly_and_nothing_twice(store: Redis) -> None:
    chance = random.Random(4)
    async with AsyncExitStack() as running:
        processes: list[tuple[Process, AsyncExitStack]] = []
        for number in (1, 2, 3, 5, 7, 4, 2, 1, 6):
            while len(processes) < number:
                stack = await running.enter_async_context(AsyncExitStack())
                processes.append((await stack.enter_async_context(process(store)), stack))
            while len(processes) > number:
                one, stack = processes.pop(chance.randrange(len(processes)))
                if chance.random() < 0.5:
                    await declare_dead(store, one)
                await stack.aclose()
            alive = [one for one, _ in processes]
            await rest(*alive)
            sizes = [len(one.partitions) for one in alive]
            assert max(sizes) - min(sizes) <= 1
            assert sorted(place for one in alive for place in one.partitions) == list(range(PARTITIONS))


async def test_a_new_process_gets_no_more_than_its_share_moved(store: Redis) -> None:
    async with process(store) as one, process(store) as other:
        await rest(one, other)
        before = [one.partitions, other.partitions]
        async with process(store) as third:
            await rest(one, other, third)
            assert one.partitions < before[0]
            assert other.partitions < before[1]


async def test_who_ends_in_order_hands_over_at_once(store: Redis) -> None:
    async with process(store) as one:
        async with process(store) as other:
            await rest(one, other)
        await one.beat()
        assert one.partitions == set(range(PARTITIONS))


async def test_what_is_appended_while_shares_change_is_looked_at(store: Redis) -> None:
    chance = random.Random(5)
    streams: list[str] = []
    async with AsyncExitStack() as running:
        alive: list[Process] = []
        for _ in range(4):
            alive.append(await running.enter_async_context(process(store)))
            for one in chance.choices(alive, k=12):
                streams += [await grown(store) for _ in range(3)]
                await one.beat()
        await rest(*alive)
        await until_counted(store, *streams)


async def test_who_wakes_up_after_its_lease_ended_moves_no_cursor_back_and_frees_nothing(store: Redis) -> None:
    async with process(store) as paused:
        await settle(store, paused)
        # It is done with this, and has not kept that.
        await until_counted(store, await grown(store, 7))
        await declare_dead(store, paused)
        async with process(store) as other:
            await settle(store, other)
            assert other.partitions == set(range(PARTITIONS))
            await until_counted(store, await grown(store, 7))
            await until_done(store, other, 7)
            cursor = await store.get(cursor_key(7, "counting"))
            held = await other.leases.read()
            await paused.share.leave()
            assert paused.partitions == set()
            assert await store.get(cursor_key(7, "counting")) == cursor
            assert await other.leases.read() == held


async def test_who_wakes_up_after_its_lease_ended_sets_nothing_aside(store: Redis) -> None:
    failing = Counting(store)
    async with process(store, failing) as paused:
        await settle(store, paused)
        failing.fails = True
        failing.go_on.clear()
        stream = await grown(store, 7)
        await until(lambda: stream in failing.looks)
        await declare_dead(store, paused)
        async with process(store) as other:
            await other.beat()
            await until_counted(store, stream)
            failing.go_on.set()
            await until(lambda: failing.looks.count(stream) == TRIES)
            await paused.beat()
            assert stream in failing.parted
            assert await store.exists(aside_key(7, "counting")) == 0


async def test_what_a_process_had_under_way_ends_with_its_lease(store: Redis) -> None:
    slow = Counting(store)
    async with process(store, slow) as one:
        await settle(store, one)
        slow.go_on.clear()
        streams = [await grown(store) for _ in range(8)]
        await until(lambda: set(streams) <= set(slow.looks))
        async with process(store) as other:
            await rest(one, other)
            await until_counted(store, *(stream for stream in streams if stream in slow.parted))
            slow.go_on.set()
            await until_counted(store, *streams)
            counts = await store.hgetall(COUNTS)
            assert {int(count) for count in counts.values()} == {1}


async def test_a_store_that_forgot_who_holds_what_is_divided_anew(store: Redis) -> None:
    async with process(store) as one, process(store) as other:
        await rest(one, other)
        await store.flushall()
        await rest(one, other)
        assert sorted([*one.partitions, *other.partitions]) == list(range(PARTITIONS))
        stream = await grown(store)
        await until_counted(store, stream)


async def feed_length(store: Redis, place: int) -> int:
    return int(await store.xlen(feed_key(place)))


@pytest.fixture
def no_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have hints stay no longer than they are needed."""
    monkeypatch.setattr(sharing, "STAY_MS", 0)


async def lengthen(store: Redis, place: int, count: int) -> str:
    """Append so many entries to a new stream of a partition."""
    stream = await grown(store, place)
    log = Log(store)
    await asyncio.gather(*(log.append(stream, version, b"e", HEAD) for version in range(1, count)))
    await log.close()
    return stream


@pytest.mark.usefixtures("no_stay")
async def test_a_feed_is_trimmed_behind_the_slowest_reactor(store: Redis) -> None:
    fast, slow = Counting(store, "fast"), Counting(store, "slow")
    async with process(store, fast, slow) as one:
        await settle(store, one)
        slow.go_on.clear()
        stream = await lengthen(store, 9, 1_000)
        await until_counted(store, stream)
        await one.beat()
        assert await feed_length(store, 9) >= 1_000
        slow.go_on.set()
        await until_done(store, one, 9, "slow")
        await until_trimmed(store, one, 9)
    # Whoever comes next goes on from there, and looks at nothing again.
    again = Counting(store, "slow")
    async with process(store, Counting(store, "fast"), again) as one:
        await one.beat()
        await until_counted(store, await grown(store, 9))
    assert stream not in again.looks


@pytest.mark.usefixtures("no_stay")
async def test_a_reactor_that_is_new_looks_at_all_and_holds_no_trimming_up(store: Redis) -> None:
    async with process(store, Counting(store, "old")) as one:
        await settle(store, one)
        stream = await lengthen(store, 9, 1_000)
        await until_counted(store, stream)
    new = Counting(store, "new")
    new.go_on.clear()
    async with process(store, Counting(store, "old"), new) as one:
        await one.beat()
        await lengthen(store, 9, 500)
        await until_trimmed(store, one, 9)
        await until(lambda: bool(new.looks))
        assert await store.get(cursor_key(9, "new")) is None
        new.go_on.set()
        await until_done(store, one, 9, "new")
    assert stream in new.looks


@pytest.mark.usefixtures("no_stay")
async def test_a_reactor_that_is_stuck_does_not_let_a_feed_grow_for_ever(
    store: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sharing, "MOST_HINTS", 300)
    stuck = Counting(store)
    async with process(store, stuck) as one:
        await settle(store, one)
        stuck.go_on.clear()
        stream = await lengthen(store, 9, 2_000)
        await until_trimmed(store, one, 9, 500)
        await declare_dead(store, one)
        left_behind = Counting(store)
        async with process(store, left_behind) as other:
            await other.beat()
            await until(lambda: stream in left_behind.looks)


async def test_hints_stay_for_a_minute_for_those_who_read_them_to_wake_up(store: Redis) -> None:
    async with process(store) as one:
        await one.beat()
        await until_counted(store, await lengthen(store, 9, 1_000))
        for _ in range(3):
            await one.beat()
        assert await feed_length(store, 9) == 1_000


@pytest.mark.parametrize(("hinted", "looks"), [(1, 1), (2, 2)])
async def test_a_hint_that_comes_while_all_is_looked_at_waits_for_that_and_is_done_with(
    store: Redis, hinted: int, looks: int
) -> None:
    class First(Counting):
        async def look(self, stream: str, version: int) -> Seen:
            await super().look(stream, version)
            return Seen(version or 1)

    stream, hint = await grown(store, 9), f"{10**13}-0"
    first = First(store)
    first.go_on.clear()
    async with process(store, first) as one:
        await one.beat()
        await until(lambda: len(first.looks) == 1)
        one.pursuits[0].heed(Hint(9, hint, stream, hinted))
        await asyncio.sleep(0.05)
        assert len(first.looks) == 1
        first.go_on.set()
        await until_kept(store, one, 9, hint)
        assert first.looks == [stream] * looks
