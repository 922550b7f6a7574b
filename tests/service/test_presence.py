"""Presence over a real store, by a clock that is set by hand."""

import asyncio
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.auth.accounts import ERASED_KEY
from service.embedded import Embedded
from service.presence import FRESH_MS, KEPT_MS, PRESENT_MS, Presence
from service.store import dial

pytestmark = pytest.mark.anyio

ADA, BOB = "a" * 26, "b" * 26
TABLE, OTHER = "t" * 26, "v" * 26


class Clock:
    """A clock that is set by hand, UTC in ms."""

    def __init__(self) -> None:
        self.now = 1_700_000_000_000

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def process(store: Redis, clock: Clock) -> Callable[[], Presence]:
    """Give a way to begin a process on the store."""
    return lambda: Presence(store, clock)


def anybody(_account: str, _table: str) -> bool:
    return True


async def seen(presence: Presence, *accounts: str, table: str = TABLE) -> Mapping[str, int | None]:
    return await presence.last_seen(table, accounts or (ADA,))


async def test_whom_one_process_has_seen_another_tells_as_well(process: Callable[[], Presence], clock: Clock) -> None:
    here, there = process(), process()
    here.see(ADA, TABLE)
    assert await seen(here, ADA, BOB) == {ADA: clock.now, BOB: None}
    await here.save(anybody)
    assert await seen(there, ADA, BOB) == {ADA: clock.now, BOB: None}
    assert await seen(there, table=OTHER) == {ADA: None}


async def test_who_is_not_seen_again_is_absent_after_a_while(process: Callable[[], Presence], clock: Clock) -> None:
    killed, there = process(), process()
    with killed.attending(ADA, TABLE):
        await killed.save(anybody)
        when = clock.now
        clock.now += PRESENT_MS - 1
        assert there.is_present((await seen(there))[ADA])
        clock.now += 1
        assert await seen(there) == {ADA: when}
        assert not there.is_present(when)
        clock.now = when + KEPT_MS
        assert await seen(there) == {ADA: None}
    assert not there.is_present(None)


async def test_who_has_a_stream_open_is_there_until_it_is_closed(process: Callable[[], Presence], clock: Clock) -> None:
    here, there = process(), process()
    with here.attending(ADA, TABLE):
        with here.attending(ADA, TABLE):
            pass
        for _ in range(60):
            clock.now += 1_000
            await here.save(anybody)
            assert clock.now - ((await seen(there))[ADA] or 0) <= FRESH_MS
    closed = clock.now
    clock.now += FRESH_MS
    await here.save(anybody)
    assert await seen(there) == {ADA: closed}


async def test_of_who_only_looks_on_nothing_is_written(process: Callable[[], Presence], store: Redis) -> None:
    here = process()
    with here.attending(ADA, TABLE), here.attending(BOB, TABLE):
        await here.save(lambda account, table: (account, table) == (ADA, TABLE))
    assert await store.keys("*") == [f"presence:{ADA}".encode()]


async def test_what_is_new_is_written_in_one_call_a_second_and_rarely_of_the_same(
    process: Callable[[], Presence], store: Redis, clock: Clock
) -> None:
    here = process()

    async def calls(name: str) -> int:
        stats = await store.info("commandstats")
        return int(stats[f"cmdstat_{name}"]["calls"]) if f"cmdstat_{name}" in stats else 0

    before = await calls("exec"), await calls("zadd")
    for _ in range(10):
        for number in range(100):
            here.see(f"{number:026}", TABLE)
        await here.save(anybody)
        clock.now += 1_000
    assert (await calls("exec") - before[0], await calls("zadd") - before[1]) == (2, 200)


async def test_an_older_sight_never_hides_a_newer(process: Callable[[], Presence], clock: Clock) -> None:
    here, there = process(), process()
    here.see(ADA, TABLE)
    clock.now += 3_000
    there.see(ADA, TABLE)
    await there.save(anybody)
    await here.save(anybody)
    assert await seen(process()) == {ADA: clock.now}


async def test_only_the_tables_of_a_day_are_kept_and_no_account_for_longer(
    process: Callable[[], Presence], store: Redis, clock: Clock
) -> None:
    here = process()
    for number in range(10):
        here.see(ADA, f"{number:026}")
        await here.save(anybody)
        clock.now += KEPT_MS // 4
    assert await store.zcard(f"presence:{ADA}") == 4
    assert KEPT_MS - 60_000 < await store.pttl(f"presence:{ADA}") <= KEPT_MS


async def test_who_is_erased_is_forgotten_and_never_written_again(
    process: Callable[[], Presence], store: Redis, clock: Clock
) -> None:
    here, there = process(), process()
    for presence in (here, there):
        presence.see(ADA, TABLE)
        presence.see(BOB, TABLE)
    await here.save(anybody)
    await store.zadd(ERASED_KEY, {ADA: clock.now})
    await here.forget(ADA)
    assert await seen(there, ADA, BOB) == {ADA: None, BOB: clock.now}
    with here.attending(ADA, TABLE):
        clock.now += FRESH_MS
        for presence in (here, there):
            presence.see(ADA, TABLE)
            await presence.save(anybody)
    assert await store.keys("presence:*") == [f"presence:{BOB}".encode()]


async def test_while_the_store_is_away_nothing_is_lost_that_counts(tmp_path: Path, clock: Clock) -> None:
    with Embedded(tmp_path, what="a test") as before:
        redis = dial(before.url)
        here = Presence(redis, clock)
        here.see(ADA, TABLE)
    await here.save(anybody)
    with Embedded(tmp_path, what="a test"):
        clock.now += 1_000
        await here.save(anybody)
        assert await seen(Presence(redis, clock)) == {ADA: clock.now - 1_000}
        await redis.aclose()


async def test_whoever_keeps_it_can_always_be_ended(store: Redis, clock: Clock) -> None:
    """A client of the store may swallow a cancellation that comes as it writes."""
    for turns in range(30):
        presence = Presence(store, clock, sleep=lambda _: asyncio.sleep(0))
        presence.begin(anybody)
        with presence.attending(ADA, TABLE):
            for _ in range(turns):
                clock.now += FRESH_MS
                await asyncio.sleep(0.0001 * turns)
            async with asyncio.timeout(20):
                await presence.close()
