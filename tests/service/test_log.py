"""What the log reports is what the store holds, once, whatever breaks in between."""

import asyncio
import json
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path

import anyio
import pytest
from redis.asyncio import Redis

from service.appending import Ahead, Answer, Appended, Behind, Gone, Same
from service.embedded import Embedded
from service.errors import ArchiveAway, StoreDown, Unconfirmed
from service.ids import new_id, partition
from service.log import PAGE, Log, function
from service.streams import Broken, Replaced, Shorter, Stored, genesis, head_after, keys_of, table_stream
from tests.logs import logged, stopped
from tests.wire import Direction, Wire

pytestmark = pytest.mark.anyio

OwnStore = Callable[..., Embedded]

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "log-1.json").read_text(encoding="utf-8"))
HEAD = bytes(32)
AT_ONCE = 16


@pytest.fixture
def stream() -> str:
    return table_stream(new_id())


@pytest.fixture
async def log(store: Redis) -> AsyncIterator[Log]:
    made = Log(store)
    yield made
    await made.close()


async def fill(log: Log, stream: str, versions: Iterable[int]) -> None:
    """Append `e<version>` at each of the versions."""
    answers = await asyncio.gather(*(log.append(stream, v - 1, b"e%d" % v, HEAD) for v in versions))
    assert all(isinstance(answer, Appended) for answer in answers)


def entries(versions: Iterable[int]) -> list[Stored]:
    """Return what `fill` stored."""
    return [Stored(v, b"e%d" % v, HEAD) for v in versions]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["ctx"]))
def test_heads_chain_the_exact_bytes(vector: dict[str, str]) -> None:
    first = genesis(vector["ctx"])
    assert first.hex() == vector["head_0"]
    assert head_after(first, vector["entry_1"].encode()).hex() == vector["head_1"]


def test_a_stream_lives_with_all_that_belongs_to_it_in_the_slot_of_its_partition() -> None:
    id_ = VECTORS[0]["ctx"].removeprefix("table:")
    assert keys_of(table_stream(id_)) == (
        f"{{01}}:table:{id_}",
        "{01}:feed",
        f"{{01}}:keys:{id_}",
        "{01}:streams",
        f"{{01}}:gone:{id_}",
    )


@pytest.mark.parametrize("name", ["", "table:", "table:short", "feed", f"account:{'0' * 26}", f"table:{'u' * 26}"])
def test_what_is_no_stream_has_no_keys(name: str) -> None:
    with pytest.raises(ValueError, match="not the name of a stream"):
        keys_of(name)


async def test_an_append_answers_with_what_became_of_it(log: Log, store: Redis, stream: str) -> None:
    assert await log.append(stream, 0, b"e1", HEAD) == Appended(1)
    assert await log.append(stream, 1, b"e2", HEAD, "once") == Appended(2)
    assert await log.append(stream, 0, b"x", HEAD) == Behind(tuple(entries([1, 2])))
    assert await log.append(stream, 5, b"x", HEAD) == Ahead(2)
    assert await log.append(stream, 2, b"x", HEAD, "once") == Same(2)
    await store.set(keys_of(stream).tombstone, "archived")
    assert await log.append(stream, 2, b"x", HEAD) == Gone()
    assert await log.read(stream) == entries([1, 2])


async def test_a_range_and_all_after_a_version_are_read_as_stored(log: Log, stream: str) -> None:
    await fill(log, stream, range(1, 8))
    assert await log.read(stream) == entries(range(1, 8))
    assert await log.read(stream, 5) == entries([6, 7])
    assert await log.read(stream, 7) == []
    assert await log.read(stream, 2, 3) == entries([3, 4, 5])
    assert await log.read_range(stream, 2, 4) == entries([2, 3, 4])
    assert await log.read_range(stream, 6, 9) == entries([6, 7])
    assert await log.read_range(stream, 5, 4) == []
    assert await log.newest(stream, 4) == (None, entries([5, 6, 7]))
    assert await log.newest(stream, 0) == (None, entries(range(1, 8)))


@pytest.mark.parametrize("length", [PAGE - 1, PAGE, PAGE + 1, 2 * PAGE, 2 * PAGE + 3])
async def test_long_streams_are_read_page_by_page(log: Log, stream: str, length: int) -> None:
    await fill(log, stream, range(1, length + 1))
    assert await log.read_range(stream, 1, length + 5) == entries(range(1, length + 1))
    assert await log.newest(stream, 0) == (None, entries(range(1, length + 1)))
    assert await log.newest(stream, 1) == (None, entries(range(2, length + 1)))
    assert await log.read(stream, 1) == entries(range(2, min(length, PAGE + 1) + 1))


async def test_a_key_is_looked_up_with_what_came_after(log: Log, stream: str) -> None:
    await log.append(stream, 0, b"e1", HEAD, "once")
    await fill(log, stream, [2])
    assert await log.newest(stream, 1, "once") == (1, entries([2]))
    assert await log.newest(stream, 1, "other") == (None, entries([2]))
    assert await log.newest(stream, 2, "once") == (1, [])


async def test_the_newest_and_a_key_take_one_round_trip(
    valkey_url: str, store: Redis, stream: str, tmp_path: Path
) -> None:
    async with Wire(valkey_url, tmp_path / "w") as wire, logged(wire.url) as log:
        await fill(log, stream, [1, 2])
        chunks = wire.chunks["request"]
        await log.newest(stream, 1, "key")
        assert wire.chunks["request"] == chunks + 1
    assert await store.ping()


async def test_a_stream_shorter_than_the_reader_is_said_so(log: Log, store: Redis, stream: str) -> None:
    await fill(log, stream, [1, 2])
    for reading in (log.read(stream, 3), log.newest(stream, 3, "key")):
        with pytest.raises(Shorter) as shorter:
            await reading
        assert shorter.value.length == 2
    await store.delete(keys_of(stream).stream)
    with pytest.raises(Shorter):
        await log.read(stream, 1)


async def test_an_archived_stream_without_an_archive_is_not_read_as_empty(log: Log, store: Redis, stream: str) -> None:
    await fill(log, stream, [1, 2])
    await store.set(keys_of(stream).tombstone, "archived")
    await store.delete(keys_of(stream).stream)
    for reading in (log.read(stream), log.read(stream, 2), log.newest(stream, 2), log.read_range(stream, 1, 2)):
        with pytest.raises(ArchiveAway, match="no archive is named"):
            await reading


async def test_a_stream_that_was_lost_whole_is_noticed_and_one_that_never_was_is_empty(
    log: Log, store: Redis, stream: str
) -> None:
    assert await log.newest(stream, 0, "once") == (None, [])
    await log.append(stream, 0, b"e1", HEAD, "once")
    await store.delete(keys_of(stream).stream)
    for key in (None, "once", "other"):
        with pytest.raises(Broken, match="had more"):
            await log.newest(stream, 0, key)


async def test_a_key_for_a_version_that_is_not_there_is_noticed(log: Log, store: Redis, stream: str) -> None:
    await fill(log, stream, [1, 2])
    await store.hset(keys_of(stream).remembered, "once", "3")
    with pytest.raises(Broken, match="ends at version 2"):
        await log.newest(stream, 1, "once")


async def test_another_entry_where_one_was_read_is_noticed(log: Log, stream: str) -> None:
    await fill(log, stream, [1, 2])
    assert await log.newest(stream, 1, None, HEAD) == (None, entries([2]))
    for version in (1, 2):
        with pytest.raises(Replaced):
            await log.newest(stream, version, None, b"other")
    assert await log.append(stream, 2, b"e3", HEAD, None, b"other") == Ahead(2)
    assert await log.append(stream, 1, b"e2", HEAD, None, b"other") == Ahead(2)
    assert await log.append(stream, 2, b"e3", HEAD, None, HEAD) == Appended(3)


@pytest.mark.parametrize("lost", [1, 2, 3])
async def test_a_hole_is_noticed_by_whoever_reads_over_it(log: Log, store: Redis, stream: str, lost: int) -> None:
    await fill(log, stream, range(1, 5))
    await store.xdel(keys_of(stream).stream, f"{lost}-0")
    for reading in (log.read(stream), log.read_range(stream, lost, 4), log.read(stream, lost - 1)):
        with pytest.raises(Broken):
            await reading
    with pytest.raises(Broken):
        await log.append(stream, lost - 1, b"x", HEAD)


async def test_the_catalogue_lists_every_stream_of_a_partition(log: Log) -> None:
    names = [table_stream(new_id()) for _ in range(3_000)]
    await asyncio.gather(*(log.append(name, 0, b"e1", HEAD) for name in names))
    for number in (0, 17, 63):
        assert await log.streams(number) == sorted(n for n in names if partition(n.removeprefix("table:")) == number)


async def test_a_catalogue_longer_than_a_page_is_listed_whole(log: Log, store: Redis) -> None:
    names = sorted(f"table:{n:026}" for n in range(2 * PAGE))
    await store.zadd("{07}:streams", dict.fromkeys(names, 0))
    assert await log.streams(7) == names


async def test_a_function_that_was_flushed_is_loaded_again(log: Log, store: Redis, stream: str) -> None:
    await fill(log, stream, [1])
    for version in range(2, 6):
        await store.function_flush("SYNC")
        await fill(log, stream, [version])
    await store.function_flush("SYNC")
    streams = [table_stream(new_id()) for _ in range(50)]
    await asyncio.gather(*(fill(log, name, [1]) for name in streams))
    assert await log.read(stream) == entries(range(1, 6))


async def test_a_server_that_forbids_it_can_not_do_its_work_and_nothing_has_happened(
    store: Redis, valkey_url: str, stream: str
) -> None:
    may = {"keys": ["*"], "categories": ["+@read"], "commands": ["+ping", "+client"]}
    await store.acl_setuser("reader", enabled=True, passwords=["+secret"], **may)  # type: ignore[arg-type] # by name
    async with logged(f"{valkey_url}?username=reader&password=secret") as log:
        with pytest.raises(StoreDown) as down:
            await log.append(stream, 0, b"e1", HEAD)
        assert "permission" in str(down.value.__cause__)
        assert await log.read(stream) == []
    await store.acl_deluser("reader")


async def test_two_writers_make_dense_versions_and_one_entry_each(valkey_url: str, store: Redis, stream: str) -> None:
    async def write(log: Log, name: int) -> None:
        version = 0
        for n in range(1000):
            while not isinstance(answer := await log.append(stream, version, b"%d/%d" % (name, n), HEAD), Appended):
                assert isinstance(answer, Behind)
                version = answer.entries[-1].version
            version = answer.version

    async with logged(valkey_url) as one, logged(valkey_url) as other:
        await asyncio.gather(*(write(log, name) for name, log in enumerate((one, other))))
        stored = await one.read_range(stream, 1, 10_000)
    assert [entry.version for entry in stored] == list(range(1, 2001))
    assert len({entry.e for entry in stored}) == 2000
    assert await store.xlen(keys_of(stream).feed) == 2000


async def test_a_hundred_equal_keyed_appends_make_one_entry(log: Log, stream: str) -> None:
    await fill(log, stream, [1])
    answers = await asyncio.gather(*(log.append(stream, 1, b"try %d" % n, HEAD, "once") for n in range(100)))
    assert sorted(answers, key=lambda answer: isinstance(answer, Same)) == [Appended(2)] + [Same(2)] * 99
    assert [entry.version for entry in await log.read(stream)] == [1, 2]
    assert await log.append(stream, 0, b"a week later", HEAD, "once") == Same(2)


async def cuts(
    valkey_url: str, tmp_path: Path, direction: Direction, attempt: Callable[[Wire, Log, int], Awaitable[None]]
) -> None:
    """Run an attempt for each number of bytes after which an append may be cut, until the cut comes after its end."""
    positions = iter(range(10_000))
    done = False

    async def work(number: int) -> None:
        nonlocal done
        async with Wire(valkey_url, tmp_path / f"w{number}") as wire, logged(wire.url) as log:
            while not done:
                await log.append(table_stream(new_id()), 0, b"warm", HEAD)
                cut, cuts_before = next(positions), wire.cuts
                wire.cut(direction, cut)
                await attempt(wire, log, cut)
                if wire.cuts == cuts_before:
                    done = True
                wire.disarm()

    # Not asyncio's group: up to Python 3.12, it leaves a failed test's task cancelled, and its loop waits for ever.
    async with anyio.create_task_group() as workers:
        for number in range(AT_ONCE):
            workers.start_soon(work, number)
    # Not one cut that did nothing: the whole request, or the whole reply, was gone through byte by byte.
    assert next(positions) > {"request": 300, "reply": len(b"*2\r\n$2\r\nok\r\n:1\r\n")}[direction]


@pytest.mark.parametrize("key", [None, "once"])
@pytest.mark.parametrize("direction", ["request", "reply"])
async def test_an_append_cut_at_any_byte_goes_in_once(
    valkey_url: str, store: Redis, tmp_path: Path, direction: Direction, key: str | None
) -> None:
    async def attempt(_: Wire, log: Log, cut: int) -> None:
        stream, e = table_stream(new_id()), b"salt %d" % cut
        assert await log.append(stream, 0, e, HEAD, key) == Appended(1)
        assert await log.read(stream) == [Stored(1, e, HEAD)]

    await cuts(valkey_url, tmp_path, direction, attempt)
    for feed in await store.keys("*:feed"):
        hints = await store.xrange(feed) or []
        grown = [(fields or {})[b"s"] for _, fields in hints]
        assert len(grown) == len(set(grown))


@pytest.mark.parametrize("key", [None, "once"])
@pytest.mark.parametrize("direction", ["request", "reply"])
async def test_a_rival_who_comes_between_wins_or_loses_but_never_both(
    valkey_url: str, log: Log, tmp_path: Path, direction: Direction, key: str | None
) -> None:
    outcomes: set[type[Answer]] = set()
    rival = log

    async def attempt(wire: Wire, log: Log, cut: int) -> None:
        stream, ours, theirs = table_stream(new_id()), b"ours %d" % cut, b"theirs"

        async def compete() -> None:
            await rival.append(stream, 0, theirs, HEAD, key)

        wire.cut(direction, cut, compete)
        answer = await log.append(stream, 0, ours, HEAD, key)
        stored = await log.read(stream)
        outcomes.add(type(answer))
        match answer:
            case Appended(version):
                assert (version, stored[0].e) == (1, ours)
            case Same(version):
                assert (version, stored[0].e) == (1, theirs)
            case Behind(missed):
                assert list(missed) == stored == [Stored(1, theirs, HEAD)]
            case _:
                pytest.fail(f"{answer} at cut {cut}")
        assert len(stored) == 1

    await cuts(valkey_url, tmp_path, direction, attempt)
    assert outcomes == {Appended} if direction == "reply" else {Appended, Same if key else Behind}


async def test_a_cancelled_append_is_settled_all_the_same(
    valkey_url: str, store: Redis, tmp_path: Path, stream: str
) -> None:
    async with Wire(valkey_url, tmp_path / "w") as wire, logged(wire.url) as log:
        await log.append(table_stream(new_id()), 0, b"warm", HEAD)
        wire.cut("request", 10)
        answer = log.append(stream, 0, b"e1", HEAD)

        async def wait() -> None:
            await asyncio.shield(answer)

        waiter = asyncio.create_task(wait())
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.wait([waiter])
        assert waiter.cancelled()
        assert await answer == Appended(1)
        wire.cut("request", 10)
        log.append(stream, 1, b"e2", HEAD).cancel()
    assert await store.xlen(keys_of(stream).stream) == 2


async def test_who_can_not_take_an_answer_in_is_told_and_disturbs_nobody(log: Log, stream: str) -> None:
    def take_in(answer: Answer) -> None:
        raise ZeroDivisionError(answer)

    others = [table_stream(new_id()) for _ in range(AT_ONCE)]
    before = [log.append(name, 0, b"e1", HEAD) for name in others]
    failed = log.append(stream, 0, b"e1", HEAD, told=take_in)
    after = [log.append(name, 1, b"e2", HEAD) for name in others]
    with pytest.raises(ZeroDivisionError):
        await failed
    assert await asyncio.gather(*before, *after) == [Appended(1)] * AT_ONCE + [Appended(2)] * AT_ONCE


async def test_a_storm_of_cancelled_appends_answers_nobody_wrongly(log: Log) -> None:
    streams = [table_stream(new_id()) for _ in range(1000)]
    answers = [log.append(name, 0, name.encode(), HEAD) for name in streams]
    for answer in answers[::3]:
        answer.cancel()
    assert await asyncio.gather(*answers[1::3], *answers[2::3]) == [Appended(1)] * 666
    for name in streams:
        assert await log.read(name) == [Stored(1, name.encode(), HEAD)]


async def test_a_store_that_does_not_answer_in_time_leaves_an_append_unconfirmed(
    own_store: OwnStore, stream: str
) -> None:
    embedded = own_store()
    async with logged(embedded.url, settle_ms=100, timeout_ms=100) as log:
        await fill(log, stream, [1])
        with stopped(embedded.pid), pytest.raises(Unconfirmed) as unconfirmed:
            await log.append(stream, 1, b"e2", HEAD)
        assert (unconfirmed.value.stream, unconfirmed.value.version) == (stream, 2)
        # What was sent to it while it stood still may have gone in or not, but once at most; and it goes on from there.
        stored = await log.newest(stream, 0)
        assert stored[1] in (entries([1]), entries([1, 2]))
        assert isinstance(await log.append(stream, 1, b"e2", HEAD), Appended | Behind)
        assert await log.read(stream) == entries([1, 2])


async def test_an_append_first_lost_when_sent_again_is_unconfirmed_too(
    valkey_url: str, store: Redis, tmp_path: Path, stream: str
) -> None:
    async with Wire(valkey_url, tmp_path / "w") as wire, logged(wire.url, settle_ms=100, timeout_ms=100) as log:
        await fill(log, stream, [1])
        await store.function_flush("SYNC")

        async def hang_up() -> None:
            wire.hang_up()

        name = function().name
        wire.cut("reply", len(f"-ERR Function not found\r\n${len(name)}\r\n{name}\r\n*"), hang_up)
        with pytest.raises(Unconfirmed):
            await log.append(stream, 1, b"e2", HEAD)
    assert await store.xlen(keys_of(stream).stream) == 2


async def test_a_store_that_pauses_settles_what_it_was_sent(own_store: OwnStore, stream: str) -> None:
    embedded = own_store()
    async with logged(embedded.url, settle_ms=20_000, timeout_ms=50) as log:
        await fill(log, stream, [1])
        with stopped(embedded.pid):
            waiting = [log.append(table_stream(new_id()), 0, b"e1", HEAD) for _ in range(50)]
            answer = log.append(stream, 1, b"e2", HEAD)
            await asyncio.wait([answer], timeout=0.3)
            assert not answer.done()
        assert await answer == Appended(2)
        assert await asyncio.gather(*waiting) == [Appended(1)] * 50
        assert await log.read(stream) == entries([1, 2])


async def test_nothing_acknowledged_is_lost_or_doubled_by_killed_stores(own_store: OwnStore) -> None:
    embedded = own_store()
    streams = [table_stream(new_id()) for _ in range(8)]
    reached = dict.fromkeys(streams, 0)
    enough = asyncio.Event()

    async def write(log: Log, stream: str) -> None:
        while not enough.is_set():
            version = reached[stream] + 1
            assert await log.append(stream, version - 1, b"e%d" % version, HEAD) == Appended(version)
            reached[stream] = version

    async with logged(embedded.url, settle_ms=60_000) as log:
        writing = asyncio.gather(*(write(log, stream) for stream in streams))
        for _ in range(4):
            start = sum(reached.values())
            while sum(reached.values()) < start + 500:  # noqa: ASYNC110 the writers are not to know
                await asyncio.sleep(0)
            assert embedded.pid
            os.kill(embedded.pid, signal.SIGKILL)
            await asyncio.to_thread(embedded.restart)
        enough.set()
        await writing
        for stream, version in reached.items():
            assert await log.read_range(stream, 1, version + 9) == entries(range(1, version + 1))


async def test_a_store_that_is_away_is_down_and_nothing_has_happened(tmp_path: Path, stream: str) -> None:
    async with logged(f"unix://{tmp_path}/nobody", settle_ms=50, timeout_ms=50) as log:
        for asked in (log.append(stream, 0, b"e1", HEAD), log.read(stream), log.newest(stream, 3, "key")):
            with pytest.raises(StoreDown):
                await asked


async def test_a_closed_log_appends_no_more_and_leaves_no_task(store: Redis, stream: str) -> None:
    before = asyncio.all_tasks()
    log = Log(store)
    await store.function_flush("SYNC")
    under_way = [log.append(stream, 0, b"e1", HEAD), log.append(table_stream(new_id()), 0, b"e1", HEAD)]
    await asyncio.sleep(0)
    await log.close()
    assert [isinstance(answer.exception(), StoreDown) or answer.result() == Appended(1) for answer in under_way] == [
        True
    ] * 2
    assert asyncio.all_tasks() == before
    with pytest.raises(StoreDown):
        log.append(stream, 1, b"e2", HEAD)
