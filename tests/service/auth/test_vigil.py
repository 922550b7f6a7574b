"""What is open by a token is told when the token has ended, however it ended and whoever ended it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.auth.accounts import Accounts
from service.auth.scopes import SIGN_UP
from service.auth.tokens import Grant, Issued, Tokens
from service.auth.vigil import LOOK_S, Vigil, keeping
from service.clock import utc_ms
from service.store import dial
from tests.wire import Wire

pytestmark = pytest.mark.anyio

ALL = Grant(SIGN_UP)

End = Callable[[Tokens, str, Issued], Awaitable[object]]


async def revoked(tokens: Tokens, account: str, issued: Issued) -> None:
    await tokens.revoke(account, issued.token.id)


async def erased(tokens: Tokens, account: str, _: Issued) -> None:
    await tokens.end_all(account)


async def rotated(tokens: Tokens, account: str, issued: Issued) -> None:
    await tokens.rotate(account, issued.token.id, 0)


async def rotated_with_grace(tokens: Tokens, account: str, issued: Issued) -> None:
    await tokens.rotate(account, issued.token.id, 1)


async def asked(store: Redis) -> int:
    """Return how often anything was asked of the store, this question not counted."""
    return int((await store.info("stats"))["total_commands_processed"])


@pytest.mark.parametrize("end", [revoked, erased, rotated, rotated_with_grace])
async def test_whoever_came_with_a_token_that_has_ended_is_told_and_nobody_else(store: Redis, end: End) -> None:
    account = (await Accounts(store).create("Ada")).id
    other = (await Accounts(store).create("Bob")).id
    tokens, elsewhere = Tokens(store), Tokens(store)
    ending, staying = await tokens.issue(account, ALL), await tokens.issue(other, ALL)
    called: list[str] = []
    async with asyncio.timeout(20), keeping(tokens) as vigil:
        who, stays = [await tokens.identify(one.secret) for one in (ending, staying)]
        with (
            vigil.keep(who) as told,
            vigil.keep(who, lambda: called.append("ended")) as again,
            vigil.keep(stays, lambda: called.append("stays")) as kept,
        ):
            await end(elsewhere, account, ending)
            await told.wait()
            assert again.is_set()
            assert not kept.is_set()
    assert called == ["ended"]


async def test_a_token_that_expires_is_told_of(store: Redis) -> None:
    account = (await Accounts(store).create("Ada")).id
    tokens = Tokens(store)
    issued = await tokens.issue(account, Grant(SIGN_UP, utc_ms() + 2_000))
    async with asyncio.timeout(20), keeping(tokens) as vigil:
        with vigil.keep(await tokens.identify(issued.secret)) as told:
            await told.wait()


async def test_the_new_secret_of_a_token_is_another_word(store: Redis) -> None:
    account = (await Accounts(store).create("Ada")).id
    tokens = Tokens(store)
    before = await tokens.issue(account, ALL)
    after = await tokens.rotate(account, before.token.id, 60_000)
    vigil = Vigil(tokens)
    old, new = [await tokens.identify(one.secret) for one in (before, after)]
    with vigil.keep(old) as of_old, vigil.keep(new) as of_new:
        await tokens.rotate(account, before.token.id, 60_000)
        await vigil.look()
        assert of_old.is_set()
        assert not of_new.is_set()


async def test_many_tokens_cost_one_call_a_look_and_none_where_nothing_is_open(store: Redis) -> None:
    account = (await Accounts(store).create("Ada")).id
    tokens = Tokens(store)
    known = [await tokens.identify((await tokens.issue(account, ALL)).secret) for _ in range(50)]
    vigil = Vigil(tokens)
    with ExitStack() as open_:
        for who in known * 3:
            open_.enter_context(vigil.keep(who))
        before = await asked(store)
        await vigil.look()
        assert await asked(store) - before == 1 + 1
    before = await asked(store)
    await vigil.look()
    assert await asked(store) - before == 0 + 1


async def test_a_look_that_fails_is_followed_by_the_next(store: Redis, valkey_url: str, tmp_path: Path) -> None:
    account = (await Accounts(store).create("Ada")).id
    issued = await Tokens(store).issue(account, ALL)
    looks: list[bool] = []
    async with Wire(valkey_url, tmp_path / "w") as wire:
        client = dial(wire.url)
        tokens = Tokens(client)
        who = await tokens.identify(issued.secret)
        await Tokens(store).revoke(account, issued.token.id)

        async def sleep(seconds: float) -> None:
            assert seconds == LOOK_S
            looks.append(told.is_set())
            if len(looks) == 1:
                wire.cut("reply", 0)
            elif len(looks) == 3:
                raise asyncio.CancelledError

        vigil = Vigil(tokens, sleep=sleep)
        with vigil.keep(who) as told, pytest.raises(asyncio.CancelledError):
            await vigil.go_on()
        assert wire.cuts == 1
        await client.aclose()
    assert looks == [False, False, True]
