"""Readers begin anew where the store has lost what they were shown, or has something else in its place."""

import asyncio
import os
import signal
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from service.audit.checkpoints import Checkpoint
from service.embedded import Embedded
from service.errors import Damaged, NotFound
from service.live import Besides
from service.store import connect
from service.streams import keys_of, table_stream
from tests.service.live.conftest import ONLOOKER, Process, asked, happen, opened, shown, started, take, word

pytestmark = pytest.mark.anyio


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
