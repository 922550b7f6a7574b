"""What is read is what was appended; what the store has lost or put in its place is noticed."""

from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.appending import Ahead, Appended
from service.errors import ArchiveAway
from service.log import PAGE, Log
from service.streams import Broken, Replaced, Shorter, keys_of
from tests.logs import logged
from tests.service.log.conftest import HEAD, entries, fill
from tests.wire import Wire

pytestmark = pytest.mark.anyio


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
