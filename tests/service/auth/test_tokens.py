"""Tokens over a real store."""

import asyncio
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.auth.accounts import Accounts
from service.auth.scopes import SIGN_UP
from service.auth.tokens import MAX_TOKENS, Grant, Repeatable, Tokens
from service.clock import utc_ms
from service.errors import AlreadyCreated, KeyReused, NotFound, TooManyTokens, Unauthenticated
from tests.wire import Direction, Wire

pytestmark = pytest.mark.anyio

ALL = Grant(SIGN_UP)


class HeldBack(Wire):
    """A wire that holds what the store says to a lookup back until it is released."""

    def __init__(self, store_url: str, place: Path) -> None:
        super().__init__(store_url, place)
        self.answered = asyncio.Event()
        self.released = asyncio.Event()

    async def _pump(
        self, direction: Direction, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cut: asyncio.Event
    ) -> None:
        while data := await reader.read(65_536):
            if direction == "reply" and b"play host" in data and not self.released.is_set():
                self.answered.set()
                await self.released.wait()
            writer.write(data)
        cut.set()


class Clock:
    """A clock that is set by hand, in seconds."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
async def ada(store: Redis) -> str:
    """Give the id of an account."""
    return (await Accounts(store).create("Ada")).id


async def speaking(tokens: Tokens, secrets: Iterable[str]) -> list[bool]:
    """Tell which secrets speak for somebody."""
    known = await asyncio.gather(*map(tokens.identify, secrets), return_exceptions=True)
    assert all(not isinstance(one, BaseException) or isinstance(one, Unauthenticated) for one in known)
    return [not isinstance(one, BaseException) for one in known]


async def test_a_token_speaks_for_its_account_with_its_scopes(store: Redis, ada: str) -> None:
    tokens = Tokens(store)
    issued = await tokens.issue(ada, ALL)
    identity = await tokens.identify(issued.secret)
    assert (identity.account, identity.scopes, identity.token) == (ada, frozenset({"play", "host"}), issued.token.id)


async def test_a_token_of_no_scope_speaks_for_its_account_too(store: Redis, ada: str) -> None:
    tokens = Tokens(store)
    identity = await tokens.identify((await tokens.issue(ada, Grant(()))).secret)
    assert (identity.account, identity.scopes) == (ada, frozenset())


async def test_the_store_holds_no_secret(store: Redis, ada: str) -> None:
    tokens = Tokens(store)
    first = await tokens.issue(ada, ALL, Repeatable("k" * 64, "b"))
    second = await tokens.rotate(ada, first.token.id, 1_000)
    keys = [key async for key in store.scan_iter()]
    held = b"".join(keys) + b"".join([await store.dump(key) or b"" for key in keys])
    for issued in (first, second):
        assert issued.secret.removeprefix("evf_").encode() not in held


# --- Their end ---


async def test_a_token_that_ends_elsewhere_is_trusted_for_a_second_at_most(store: Redis, ada: str) -> None:
    clock = Clock()
    here, elsewhere = Tokens(store, clock), Tokens(store)
    issued = await here.issue(ada, ALL)
    await here.identify(issued.secret)
    await elsewhere.revoke(ada, issued.token.id)
    clock.now += 0.9
    assert await speaking(here, [issued.secret]) == [True]
    clock.now += 0.2
    assert await speaking(here, [issued.secret]) == [False]


async def test_a_token_that_ends_here_ends_at_once(store: Redis, ada: str) -> None:
    tokens = Tokens(store, Clock())
    kept, ended = [await tokens.issue(ada, ALL) for _ in range(2)]
    assert await speaking(tokens, [kept.secret, ended.secret]) == [True, True]
    await tokens.revoke(ada, ended.token.id)
    assert await speaking(tokens, [kept.secret, ended.secret]) == [True, False]
    with pytest.raises(NotFound):
        await tokens.revoke(ada, ended.token.id)


async def test_a_token_that_is_looked_up_while_it_ends_is_not_trusted(
    store: Redis, ada: str, valkey_url: str, tmp_path: Path
) -> None:
    issued = await Tokens(store).issue(ada, ALL)
    async with HeldBack(valkey_url, tmp_path / "s") as line, Redis.from_url(line.url) as slow:
        tokens = Tokens(slow, Clock())
        look = asyncio.ensure_future(tokens.identify(issued.secret))
        await line.answered.wait()
        await tokens.revoke(ada, issued.token.id)
        line.released.set()
        assert (await look).account == ada
        assert await speaking(tokens, [issued.secret]) == [False]


async def test_a_token_ends_when_it_expires(store: Redis, ada: str) -> None:
    tokens = Tokens(store)
    soon = time.time_ns() // 1_000_000 + 60_000
    await tokens.issue(ada, Grant(SIGN_UP, soon))
    (key,) = [key async for key in store.scan_iter("token:*")]
    assert await store.pexpiretime(key) == soon
    past = await tokens.issue(ada, Grant(SIGN_UP, soon - 120_000))
    assert await speaking(tokens, [past.secret]) == [False]
    assert [token.expires_at for token in await tokens.of(ada)] == [soon]


async def test_a_token_without_an_end_does_not_expire(store: Redis, ada: str) -> None:
    await Tokens(store).issue(ada, ALL)
    (key,) = [key async for key in store.scan_iter("token:*")]
    assert await store.ttl(key) == -1


async def test_when_all_end_nothing_is_left_of_them(store: Redis, ada: str) -> None:
    tokens = Tokens(store, Clock())
    issued = [await tokens.issue(ada, ALL, Repeatable(str(number), "b")) for number in range(3)]
    issued.append(await tokens.rotate(ada, issued[0].token.id, 60_000))
    assert await speaking(tokens, [one.secret for one in issued]) == [True] * 4
    await tokens.end_all(ada)
    assert await speaking(tokens, [one.secret for one in issued]) == [False] * 4
    assert [key async for key in store.scan_iter()] == [f"account:{ada}".encode()]


async def test_no_token_is_made_for_an_account_that_is_gone(store: Redis, ada: str) -> None:
    await Accounts(store).forget(ada)
    with pytest.raises(Unauthenticated):
        await Tokens(store).issue(ada, ALL)
    assert [key async for key in store.scan_iter()] == []


# --- How many ---


async def test_rivals_make_no_more_tokens_than_an_account_may_have(store: Redis, ada: str) -> None:
    workers = [Tokens(store) for _ in range(3)]
    for _ in range(MAX_TOKENS - 5):
        await workers[0].issue(ada, ALL)
    rivals = (workers[number % 3].issue(ada, ALL) for number in range(15))
    made = await asyncio.gather(*rivals, return_exceptions=True)
    assert sum(isinstance(one, TooManyTokens) for one in made) == 10
    assert len(await workers[0].of(ada)) == MAX_TOKENS


async def test_an_expired_token_makes_room(store: Redis, ada: str) -> None:
    now = [utc_ms()]
    tokens = Tokens(store, clock=lambda: now[0])
    for _ in range(MAX_TOKENS):
        await tokens.issue(ada, Grant(SIGN_UP, now[0] + 60_000))
    now[0] += 60_000
    await tokens.issue(ada, ALL)
    assert await store.hlen(f"account:tokens:{ada}") == 1


# --- Rotation ---


async def test_a_rotated_token_is_the_same_with_another_secret(store: Redis, ada: str) -> None:
    tokens = Tokens(store, Clock())
    soon = utc_ms() + 60_000
    before = await tokens.issue(ada, Grant(("bot",), soon, "my bot"))
    assert await speaking(tokens, [before.secret]) == [True]
    after = await tokens.rotate(ada, before.token.id, 0)
    assert after.token == before.token
    assert await speaking(tokens, [before.secret, after.secret]) == [False, True]
    (key,) = [key async for key in store.scan_iter("token:*")]
    assert await store.pexpiretime(key) == soon


async def test_a_secret_with_grace_ends_with_it_and_with_the_next_rotation(store: Redis, ada: str) -> None:
    tokens = Tokens(store, Clock())
    first = await tokens.issue(ada, ALL)
    second = await tokens.rotate(ada, first.token.id, 60_000)
    assert await speaking(tokens, [first.secret, second.secret]) == [True, True]
    lives = sorted([await store.pttl(key) async for key in store.scan_iter("token:*")])
    assert lives[0] == -1
    assert 0 < lives[1] <= 60_000
    third = await tokens.rotate(ada, first.token.id, 60_000)
    assert await speaking(tokens, [first.secret, second.secret, third.secret]) == [False, True, True]
    await tokens.revoke(ada, first.token.id)
    assert await speaking(tokens, [first.secret, second.secret, third.secret]) == [False] * 3


async def test_grace_lengthens_no_life(store: Redis, ada: str) -> None:
    tokens = Tokens(store)
    token = (await tokens.issue(ada, Grant(SIGN_UP, utc_ms() + 5_000))).token
    await tokens.rotate(ada, token.id, 60_000)
    assert all([await store.pttl(key) <= 5_000 async for key in store.scan_iter("token:*")])


# --- Repeats ---


async def test_of_a_request_that_comes_often_one_makes_a_token(store: Redis, ada: str) -> None:
    tokens = Tokens(store)
    once = Repeatable("k" * 64, "body")
    made = await asyncio.gather(*(tokens.issue(ada, ALL, once) for _ in range(30)), return_exceptions=True)
    (token,) = await tokens.of(ada)
    assert sum(isinstance(one, AlreadyCreated) and one.id == token.id for one in made) == 29
    with pytest.raises(KeyReused):
        await tokens.issue(ada, ALL, Repeatable("k" * 64, "another"))


async def test_a_repeated_rotation_leaves_the_secret_that_the_first_one_made(store: Redis, ada: str) -> None:
    tokens = Tokens(store)
    token = (await tokens.issue(ada, ALL)).token
    once = Repeatable("k" * 64, "body")
    after = await tokens.rotate(ada, token.id, 0, once)
    with pytest.raises(AlreadyCreated):
        await tokens.rotate(ada, token.id, 0, once)
    assert await speaking(tokens, [after.secret]) == [True]


async def test_the_oldest_requests_are_forgotten_in_the_end(
    store: Redis, ada: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.auth.tokens.REMEMBERED", 20)
    now = [0]
    tokens = Tokens(store, clock=lambda: now[0])
    token = (await tokens.issue(ada, ALL)).token.id
    for now[0] in range(21):
        await tokens.rotate(ada, token, 0, Repeatable(str(now[0]), ""))
    assert await store.hlen(f"account:repeated:{ada}") == 11
    await tokens.rotate(ada, token, 0, Repeatable("0", ""))
    with pytest.raises(AlreadyCreated):
        await tokens.rotate(ada, token, 0, Repeatable("20", ""))


async def test_what_lasts_is_not_done_on_the_word_of_a_second_ago(store: Redis) -> None:
    account = (await Accounts(store).create("Ada")).id
    here, there = Tokens(store), Tokens(store)
    issued = await here.issue(account, ALL)
    assert (await there.identify(issued.secret)).account == account
    assert await there.confirmed(issued.secret) == (await there.identify(issued.secret), None)
    rotated = await here.rotate(account, issued.token.id, 0)
    with pytest.raises(Unauthenticated):
        await there.confirmed(issued.secret)
    ends_at = utc_ms() + 60_000
    await here.rotate(account, issued.token.id, 60_000)
    found = (await there.confirmed(rotated.secret)).ends_at
    assert found is not None
    assert ends_at <= found <= utc_ms() + 60_000
