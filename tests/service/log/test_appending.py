"""What is appended goes in once, whoever else appends, and whoever does not wait for the answer."""

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.appending import Ahead, Answer, Appended, Behind, Gone, Same
from service.errors import StoreDown
from service.ids import new_id
from service.log import Log
from service.streams import Stored, keys_of, table_stream
from tests.logs import logged
from tests.service.log.conftest import AT_ONCE, HEAD, entries, fill
from tests.wire import Wire

pytestmark = pytest.mark.anyio


async def test_an_append_answers_with_what_became_of_it(log: Log, store: Redis, stream: str) -> None:
    assert await log.append(stream, 0, b"e1", HEAD) == Appended(1)
    assert await log.append(stream, 1, b"e2", HEAD, "once") == Appended(2)
    assert await log.append(stream, 0, b"x", HEAD) == Behind(tuple(entries([1, 2])))
    assert await log.append(stream, 5, b"x", HEAD) == Ahead(2)
    assert await log.append(stream, 2, b"x", HEAD, "once") == Same(2)
    await store.set(keys_of(stream).tombstone, "archived")
    assert await log.append(stream, 2, b"x", HEAD) == Gone()
    assert await log.read(stream) == entries([1, 2])


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
