"""Accounts and tokens over a real store."""

import time

import pytest
from redis.asyncio import Redis

from service.auth.accounts import SIGN_UP, Accounts
from service.errors import Unauthenticated

pytestmark = pytest.mark.anyio


class Clock:
    """A clock that is set by hand, in seconds."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


async def test_a_token_speaks_for_its_account_with_its_scopes(store: Redis) -> None:
    accounts = Accounts(store)
    ada = await accounts.create("Ada")
    identity = await accounts.identify(await accounts.issue_token(ada.id, SIGN_UP))
    assert (identity.account, identity.scopes) == (ada.id, frozenset({"play", "host"}))


async def test_the_store_holds_no_token(store: Redis) -> None:
    accounts = Accounts(store)
    token = await accounts.issue_token((await accounts.create("Ada")).id, SIGN_UP)
    keys = [key async for key in store.scan_iter()]
    held = b"".join(keys) + b"".join([await store.dump(key) or b"" for key in keys])
    assert token.encode() not in held
    assert token.removeprefix("evf_").encode() not in held


async def test_a_token_that_is_taken_away_elsewhere_is_trusted_for_a_second_at_most(store: Redis) -> None:
    clock = Clock()
    accounts = Accounts(store, clock)
    token = await accounts.issue_token((await accounts.create("Ada")).id, SIGN_UP)
    await accounts.identify(token)
    async for key in store.scan_iter("token:*"):
        await store.delete(key)
    clock.now += 0.9
    await accounts.identify(token)
    clock.now += 0.2
    with pytest.raises(Unauthenticated):
        await accounts.identify(token)


async def test_a_token_ends_when_it_expires(store: Redis) -> None:
    accounts = Accounts(store)
    ada = await accounts.create("Ada")
    soon = time.time_ns() // 1_000_000 + 60_000
    await accounts.issue_token(ada.id, SIGN_UP, soon)
    (key,) = [key async for key in store.scan_iter("token:*")]
    assert await store.pexpiretime(key) == soon
    past = await accounts.issue_token(ada.id, SIGN_UP, soon - 120_000)
    with pytest.raises(Unauthenticated):
        await accounts.identify(past)


async def test_a_token_without_an_end_does_not_expire(store: Redis) -> None:
    accounts = Accounts(store)
    await accounts.issue_token((await accounts.create("Ada")).id, SIGN_UP)
    (key,) = [key async for key in store.scan_iter("token:*")]
    assert await store.ttl(key) == -1
