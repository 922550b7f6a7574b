"""Limits by a stated clock: who is let in, who is not, and when again."""

import pytest
from redis.asyncio import Redis

from service.errors import TooMany
from service.limits import BURST_S, Rates, SignUps

SECRET = bytes(32)
NOON_MS = 1_790_000_040_000 // 60_000 * 60_000


SECOND = 1_000_000_000


class Clock:
    """A clock that is set by hand."""

    def __init__(self, now: int = 0) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


def let_in(rates: Rates, account: str, requests: int) -> int:
    """Send so many requests at once, and return how many were let in."""
    taken = 0
    for _ in range(requests):
        try:
            rates.take(account)
        except TooMany:
            continue
        taken += 1
    return taken


@pytest.mark.parametrize("limit", [1, 3, 200, 10_000])
def test_who_was_silent_may_send_two_seconds_worth_at_once_and_then_as_many_as_a_second_allows(limit: int) -> None:
    clock = Clock(1_000 * SECOND)
    rates = Rates(limit, clock)
    assert let_in(rates, "ada", 3 * limit) == BURST_S * limit
    for _ in range(5):
        clock.now += SECOND
        assert let_in(rates, "ada", 3 * limit) == limit
    clock.now += 1_000 * SECOND
    assert let_in(rates, "ada", 3 * limit) == BURST_S * limit


@pytest.mark.parametrize("limit", [1, 3, 7, 200])
def test_a_request_sent_again_after_the_time_told_is_taken(limit: int) -> None:
    clock = Clock(5)
    rates = Rates(limit, clock)
    for spent in (0, SECOND // 3, SECOND - 1):
        clock.now += spent
        let_in(rates, "ada", 3 * limit)
        with pytest.raises(TooMany) as early:
            rates.take("ada")
        assert (early.value.policy, early.value.quota, early.value.window_s) == ("requests", limit, 1)
        assert early.value.retry_s == 1
        clock.now += early.value.retry_s * SECOND
        rates.take("ada")


def test_one_account_takes_nothing_from_another() -> None:
    rates = Rates(5, Clock())
    let_in(rates, "ada", 100)
    assert let_in(rates, "bob", 100) == 10


def test_without_a_limit_everything_is_taken() -> None:
    assert let_in(Rates(0, Clock()), "ada", 10_000) == 10_000


def test_accounts_that_are_silent_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.limits._REMEMBERED", 100)
    clock = Clock()
    rates = Rates(10, clock)
    let_in(rates, "ada", 100)
    for number in range(1_000):
        clock.now += SECOND // 1_000
        let_in(rates, f"{number}", 1)
    assert let_in(rates, "ada", 100) == 10
    assert len(rates._full_at) <= 300  # noqa: SLF001 nothing else shows how much is remembered


# --- Sign-ups ---


@pytest.mark.anyio
async def test_an_address_opens_so_many_accounts_a_minute_whichever_worker_it_meets(store: Redis) -> None:
    clock = Clock(NOON_MS + 12_345)
    workers = [SignUps(store, 3, SECRET, clock) for _ in range(2)]
    for turn in range(3):
        await workers[turn % 2].take("192.0.2.1")
    for worker in workers:
        with pytest.raises(TooMany) as early:
            await worker.take("192.0.2.1")
        assert (early.value.policy, early.value.quota, early.value.window_s) == ("sign-ups", 3, 60)
        assert early.value.retry_s == 48
        await worker.take("192.0.2.2")
    clock.now += 48_000
    await workers[0].take("192.0.2.1")


@pytest.mark.anyio
async def test_sign_ups_leave_no_address_in_the_store_and_nothing_for_long(store: Redis) -> None:
    await SignUps(store, 3, SECRET).take("192.0.2.1")
    (key,) = [key async for key in store.scan_iter()]
    assert b"192.0.2.1" not in key
    assert 0 < await store.pttl(key) <= 120_000


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", True),
        ("2001:db8:1:2::1", "2001:db8:1:3::1", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("fe80::1%eth0", "fe80::2%eth0", True),
        ("", "", True),
        ("unknown", "192.0.2.1", False),
    ],
)
async def test_an_address_is_what_one_customer_has(store: Redis, one: str, other: str, same: bool) -> None:
    sign_ups = SignUps(store, 9, SECRET, lambda: NOON_MS)
    for address in (one, other):
        await sign_ups.take(address)
    assert (len([key async for key in store.scan_iter()]) == 1) is same


@pytest.mark.anyio
async def test_without_a_limit_no_sign_up_is_counted(store: Redis) -> None:
    await SignUps(store, 0, SECRET).take("192.0.2.1")
    assert [key async for key in store.scan_iter()] == []
