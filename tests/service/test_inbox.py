"""An inbox as it is kept in the store, and as somebody reads it who was away."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

import pytest
from redis.asyncio import Redis

from projections.inbox import Company, Told
from projections.notices import YouSat
from projections.table import SeatView
from service.ids import new_id
from service.inbox import KEPT, NOTHING, Inboxes, Page, Reached, bell_of
from tests.logs import logged
from tests.sizes import sized

pytestmark = pytest.mark.anyio

ADA = "a" * 26


@pytest.fixture
def inboxes(store: Redis) -> Inboxes:
    return Inboxes(store)


def company(table: str) -> Company:
    return Company(
        game="chinkway",
        table=table,
        ruleset="chinkway/1",
        host="h" * 26,
        start="full",
        status="open",
        seats=(SeatView(0, ADA, None, resigned=False),),
        prompted=(),
        turn=0,
        since=0,
    )


async def told(inboxes: Inboxes, count: int, account: str = ADA) -> None:
    """Tell an account something so many times, of a table of its own."""
    table = new_id()
    notices = [
        Told(account, YouSat(game="chinkway", table=table, version=version, at=version, seat=0))
        for version in range(1, count + 1)
    ]
    assert await inboxes.tell(NOTHING, Reached(count, company(table)), notices)


def numbers(page: Page) -> Sequence[int]:
    return [notice.number for notice in page.notices]


async def test_numbers_count_from_one_in_each_inbox(inboxes: Inboxes) -> None:
    await told(inboxes, 2)
    await told(inboxes, 1, "b" * 26)
    await told(inboxes, 1)
    assert numbers(await inboxes.page(ADA, None, 10)) == [1, 2, 3]
    assert numbers(await inboxes.page("b" * 26, None, 10)) == [1]


@pytest.mark.parametrize(
    ("after", "limit", "expected", "following", "reset"),
    [
        (None, 3, [1, 2, 3], 3, None),
        (None, 7, [1, 2, 3, 4, 5, 6, 7], None, None),
        (0, 3, [1, 2, 3], 3, None),
        (3, 3, [4, 5, 6], 6, None),
        (3, 4, [4, 5, 6, 7], None, None),
        (6, 4, [7], None, None),
        (7, 4, [], None, None),
        (8, 4, [1, 2, 3, 4], 4, 0),
    ],
)
async def test_a_page_follows_the_number_asked_for(
    inboxes: Inboxes, after: int | None, limit: int, expected: list[int], following: int | None, reset: int | None
) -> None:
    await told(inboxes, 7)
    page = await inboxes.page(ADA, after, limit)
    assert (numbers(page), page.next, page.reset) == (expected, following, reset)


@pytest.mark.parametrize(("after", "reset"), [(None, None), (0, None), (1, 0)])
async def test_an_empty_inbox_has_nothing_and_knows_a_number_that_it_never_gave(
    inboxes: Inboxes, after: int | None, reset: int | None
) -> None:
    assert await inboxes.page(ADA, after, 5) == Page((), None, reset)
    assert await inboxes.newest(ADA) == 0


@pytest.mark.parametrize(
    ("after", "first", "reset"),
    [(None, 6, None), (0, 6, 5), (4, 6, 5), (5, 6, None), (6, 7, None), (1_004, 1_005, None), (1_006, 6, 5)],
)
async def test_of_what_is_no_longer_kept_one_is_told_that_it_is_missed(
    inboxes: Inboxes, after: int | None, first: int, reset: int | None
) -> None:
    await told(inboxes, KEPT + 5)
    assert len((await inboxes.page(ADA, None, 2 * KEPT)).notices) == KEPT
    page = await inboxes.page(ADA, after, 1)
    assert (numbers(page), page.reset) == ([first], reset)


async def test_what_another_has_told_is_told_by_nobody_else(inboxes: Inboxes) -> None:
    table = new_id()
    at = [Reached(version, company(table)) for version in range(6)]
    notice = Told(ADA, YouSat(game="chinkway", table=table, version=1, at=1, seat=0))
    assert await inboxes.tell(NOTHING, at[2], [notice])
    # Its own answer was lost: what it has done is not done again.
    assert await inboxes.tell(NOTHING, at[2], [notice])
    assert not await inboxes.tell(NOTHING, at[3], [notice])
    assert not await inboxes.tell(at[1], at[3], [notice])
    assert numbers(await inboxes.page(ADA, None, 10)) == [1]
    assert await inboxes.reached([table, new_id()]) == [at[2], NOTHING]
    assert await inboxes.tell(at[2], at[5], [notice, notice])
    assert numbers(await inboxes.page(ADA, None, 10)) == [1, 2, 3]


async def test_after_a_new_beginning_every_number_is_above_all_that_were_given(store: Redis) -> None:
    now = [5_000_000]
    inboxes = Inboxes(store, time_ns=lambda: now[0])
    await told(inboxes, 3)
    for at in (5_000_000, 9_000_000_000_000_000_000, 1_000):  # nanoseconds; a clock may step back
        now[0] = at
        given = await inboxes.newest(ADA)
        await inboxes.clear()
        for old in (0, 1, given):
            assert await inboxes.page(ADA, old, 5) == Page((), None, await inboxes.newest(ADA))
        await told(inboxes, 2)
        first, second = numbers(await inboxes.page(ADA, None, 5))
        assert given + 1 < first == second - 1
        assert first < 2**53
        assert (await inboxes.page(ADA, given, 5)).reset == first - 1
        assert (await inboxes.page(ADA, first, 5)).reset is None


async def test_where_the_base_itself_was_lost_the_clock_tells_where_to_begin(store: Redis) -> None:
    inboxes = Inboxes(store)
    await inboxes.clear()
    await told(inboxes, 1_500)
    given = await inboxes.newest(ADA)
    await store.flushdb()
    await inboxes.clear()
    await told(inboxes, 2)
    assert numbers(await inboxes.page(ADA, None, 1))[0] > given


async def test_who_leaves_at_any_moment_leaves_no_task(store: Redis, valkey_url: str) -> None:
    """Redis-py may swallow a cancellation, and answer as if nothing had been asked of it."""
    async with logged(valkey_url) as log:
        inboxes = Inboxes(store)
        await told(inboxes, 3)

        async def reading() -> None:
            async with aclosing(inboxes.follow(ADA, None, log.bell(bell_of(ADA)))) as stream:
                async for _ in stream:
                    pass

        for turns in range(sized(200, 400, 2_000)):
            reader = asyncio.create_task(reading())
            for _ in range(turns % 40):
                await asyncio.sleep(0)
            reader.cancel()
            await asyncio.wait([reader], timeout=5)
            assert reader.cancelled(), turns
