"""Leases in a real store: who was overtaken writes nothing any more, by whatever clock."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest
from redis.asyncio import Redis

from service.errors import StoreDown
from service.ids import PARTITIONS
from service.leases import LEASE_MS, PRESENT_KEY, Lease, Leases, Lost, lease_key

pytestmark = pytest.mark.anyio

KEY = "lobby:a"


@asynccontextmanager
async def leasing(store: Redis) -> AsyncIterator[Leases]:
    leases = Leases(store)
    try:
        yield leases
    finally:
        await leases.close()


@pytest.fixture
async def one(store: Redis) -> AsyncIterator[Leases]:
    async with leasing(store) as leases:
        yield leases


@pytest.fixture
async def other(store: Redis) -> AsyncIterator[Leases]:
    async with leasing(store) as leases:
        yield leases


async def claimed(leases: Leases, partition: int = 3) -> Lease:
    (lease,) = await leases.claim({partition: (await leases.read())[partition]})
    return lease


async def test_the_number_of_a_lease_grows_with_each_claim(one: Leases, other: Leases) -> None:
    texts = [(await claimed(leases)).text for leases in (one, other, one, one)]
    assert texts == [f"1 {one.holder}", f"2 {other.holder}", f"3 {one.holder}", f"4 {one.holder}"]
    assert (await one.read())[3] == texts[-1]


async def test_a_lease_that_was_given_back_counts_on(one: Leases, other: Leases) -> None:
    lease = await claimed(one)
    await lease.write(lease.freed)
    assert (await one.read())[3] == "1"
    assert (await claimed(other)).text == f"2 {other.holder}"


async def test_who_was_overtaken_writes_nothing_any_more(one: Leases, other: Leases, store: Redis) -> None:
    mine = await claimed(one)
    assert await mine.write(("HSET", KEY, "a", 1), ("HSET", KEY, "b", 1)) == [1, 1]
    theirs = await claimed(other)
    with pytest.raises(Lost):
        await mine.write(("HSET", KEY, "a", 2), ("DEL", KEY))
    with pytest.raises(Lost):
        await mine.write(mine.freed)
    assert await store.hgetall(KEY) == {b"a": b"1", b"b": b"1"}
    assert await theirs.write(("HGET", KEY, "a"), ("HGET", KEY, "none"), ("HDEL", KEY, "a")) == [b"1", None, 1]


async def test_a_process_that_claims_again_is_fenced_off_from_what_it_had_begun(one: Leases) -> None:
    before = await claimed(one)
    await claimed(one)
    with pytest.raises(Lost):
        await before.write(("HSET", KEY, "a", 1))


async def test_of_many_who_claim_at_once_each_partition_has_one(store: Redis) -> None:
    async with AsyncExitStack() as running:
        rivals = [await running.enter_async_context(leasing(store)) for _ in range(5)]
        seen = dict(enumerate(await rivals[0].read()))
        claims = await asyncio.gather(*(rival.claim(seen) for rival in rivals))
        assert sorted(lease.partition for leases in claims for lease in leases) == list(range(PARTITIONS))
        held = {lease.partition: lease.text for leases in claims for lease in leases}
        assert await rivals[0].read() == [held[partition] for partition in range(PARTITIONS)]


async def test_who_gives_no_sign_of_life_is_gone_by_the_stores_clock(one: Leases, other: Leases, store: Redis) -> None:
    await one.attend()
    present = await other.attend()
    assert present.holders == tuple(sorted([one.holder, other.holder]))
    # Its time is over, whatever any other clock says.
    await store.zadd(PRESENT_KEY, {one.holder: present.at - 1})
    assert (await other.attend()).holders == (other.holder,)
    assert (await one.attend()).holders == present.holders


async def test_the_dead_do_not_outlive_a_clock_that_was_set_back(one: Leases, other: Leases, store: Redis) -> None:
    present = await one.attend()
    # By a clock an hour ahead, which has been put right since.
    await store.zadd(PRESENT_KEY, {one.holder: present.at + 3_600_000})
    await other.attend()
    until = await store.zscore(PRESENT_KEY, one.holder)
    assert until is not None
    assert until <= present.at + 2 * LEASE_MS


async def test_who_leaves_is_gone_at_once(one: Leases, other: Leases) -> None:
    await one.attend()
    await other.attend()
    await one.leave()
    assert (await other.attend()).holders == (other.holder,)


async def test_the_function_is_loaded_where_it_is_missing(one: Leases, store: Redis) -> None:
    await store.function_flush()
    assert (await claimed(one)).text == f"1 {one.holder}"
    assert await store.get(lease_key(3)) == f"1 {one.holder}".encode()


async def test_a_store_that_is_gone_is_said_to_be_down(store: Redis) -> None:
    async with leasing(store) as leases:
        lease = await claimed(leases)
        await leases.close()
        with pytest.raises(StoreDown):
            await lease.write(("HSET", KEY, "a", 1))
        with pytest.raises(StoreDown):
            await leases.attend()
