"""Stores that pause, forget, forbid or die: what was acknowledged stays, and what was not is said to be so."""

import asyncio
import os
import signal
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.appending import Appended, Behind
from service.errors import StoreDown, Unconfirmed
from service.ids import new_id
from service.log import Log, function
from service.streams import keys_of, table_stream
from tests.logs import logged, stopped
from tests.service.log.conftest import HEAD, OwnStore, entries, fill
from tests.wire import Wire

pytestmark = pytest.mark.anyio


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
