"""Accounts over a real store."""

import pytest
from redis.asyncio import Redis

from service.auth.accounts import ERASED_KEY, Account, Accounts
from service.errors import NotFound

pytestmark = pytest.mark.anyio

NOBODY = "0" * 26


async def test_names_come_in_the_order_asked_for_without_whom_nobody_knows(store: Redis) -> None:
    accounts = Accounts(store)
    ada, bob = await accounts.create("Ada"), await accounts.create("Bob")
    assert await accounts.named([bob.id, NOBODY, ada.id]) == [bob, ada]
    with pytest.raises(NotFound):
        await accounts.find(NOBODY)


async def test_a_new_name_takes_the_place_of_the_old(store: Redis) -> None:
    accounts = Accounts(store)
    ada = await accounts.create("Ada")
    assert await accounts.rename(ada.id, " Grace ") == Account(ada.id, "Grace")
    assert await accounts.find(ada.id) == Account(ada.id, "Grace")


async def test_a_name_is_given_to_no_account_that_is_gone(store: Redis) -> None:
    accounts = Accounts(store)
    ada = await accounts.create("Ada")
    await accounts.forget(ada.id)
    with pytest.raises(NotFound):
        await accounts.rename(ada.id, "Grace")
    assert [key async for key in store.scan_iter()] == []


async def test_an_erased_account_stays_on_the_list_since_its_erasing_began(store: Redis) -> None:
    accounts = Accounts(store)
    ada = await accounts.create("Ada")
    assert not await accounts.is_condemned(ada.id)
    await accounts.condemn(ada.id)
    first = await store.zscore(ERASED_KEY, ada.id)
    await store.zadd(ERASED_KEY, {ada.id: 41.0})
    await accounts.condemn(ada.id)
    await accounts.forget(ada.id)
    assert await accounts.is_condemned(ada.id)
    assert first is not None
    assert await store.zscore(ERASED_KEY, ada.id) == 41.0
