"""Tickets over a real store."""

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.auth.accounts import Accounts
from service.auth.scopes import SIGN_UP
from service.auth.tickets import LIFE_MS, Tickets
from service.auth.tokens import Grant, Identity, Issued, Tokens
from service.clock import utc_ms
from service.errors import StoreDown, Unauthenticated
from service.store import connect, dial
from tests.sizes import sized

pytestmark = pytest.mark.anyio

ROUNDS = sized(5, 20, 100)
RIVALS = 50
PATH = "/v1/me/events"


@pytest.fixture
def tokens(store: Redis) -> Tokens:
    """Give the tokens of the store."""
    return Tokens(store)


@pytest.fixture
def tickets(store: Redis, tokens: Tokens) -> Tickets:
    """Give the tickets of the store."""
    return Tickets(store, tokens)


@pytest.fixture
async def issued(store: Redis, tokens: Tokens) -> Issued:
    """Give a token of an account."""
    return await tokens.issue((await Accounts(store).create("Ada")).id, Grant(SIGN_UP))


@pytest.fixture
async def ada(tokens: Tokens, issued: Issued) -> Identity:
    """Give whom that token speaks for."""
    return await tokens.identify(issued.secret)


async def test_a_ticket_speaks_for_the_token_that_asked_for_it(tickets: Tickets, ada: Identity) -> None:
    ticket = await tickets.issue(ada, PATH)
    assert await tickets.redeem(ticket.secret, PATH) == ada


async def test_a_ticket_is_good_once(tickets: Tickets, ada: Identity) -> None:
    ticket = await tickets.issue(ada, PATH)
    await tickets.redeem(ticket.secret, PATH)
    with pytest.raises(Unauthenticated):
        await tickets.redeem(ticket.secret, PATH)


@pytest.mark.parametrize("path", ["/v1/me/event", "/v1/me/events ", "/v1/me/events/", "", "/v1/socket"])
async def test_at_another_path_a_ticket_is_none_and_stays_good(tickets: Tickets, ada: Identity, path: str) -> None:
    ticket = await tickets.issue(ada, PATH)
    with pytest.raises(Unauthenticated):
        await tickets.redeem(ticket.secret, path)
    assert await tickets.redeem(ticket.secret, PATH) == ada


async def test_a_ticket_expires_in_half_a_minute(store: Redis, tickets: Tickets, ada: Identity) -> None:
    before = utc_ms()
    ticket = await tickets.issue(ada, PATH)
    assert before + LIFE_MS <= ticket.expires_at <= utc_ms() + LIFE_MS
    (key,) = await store.keys("ticket:*")
    assert 0 < await store.pttl(key) <= LIFE_MS == 30_000
    await store.pexpire(key, 0)
    with pytest.raises(Unauthenticated):
        await tickets.redeem(ticket.secret, PATH)


async def test_a_ticket_ends_with_its_token(tokens: Tokens, tickets: Tickets, ada: Identity) -> None:
    ticket = await tickets.issue(ada, PATH)
    await tokens.revoke(ada.account, ada.token)
    with pytest.raises(Unauthenticated):
        await tickets.redeem(ticket.secret, PATH)


async def test_a_ticket_ends_with_the_secret_that_asked(tokens: Tokens, tickets: Tickets, ada: Identity) -> None:
    """So does its stream: to whom a secret was taken away, nothing is sent that it asked for."""
    first, second = [await tickets.issue(ada, PATH) for _ in range(2)]
    await tokens.rotate(ada.account, ada.token, 60_000)
    assert await tickets.redeem(first.secret, PATH) == ada
    await tokens.rotate(ada.account, ada.token, 0)
    with pytest.raises(Unauthenticated):
        await tickets.redeem(second.secret, PATH)


async def test_a_ticket_ends_with_its_account(tokens: Tokens, tickets: Tickets, ada: Identity) -> None:
    ticket = await tickets.issue(ada, PATH)
    await tokens.end_all(ada.account)
    with pytest.raises(Unauthenticated):
        await tickets.redeem(ticket.secret, PATH)


async def test_of_fifty_who_use_a_ticket_at_once_one_gets_in(
    store: Redis, valkey_url: str, tickets: Tickets, ada: Identity
) -> None:
    del store
    workers = [await connect(valkey_url) for _ in range(2)]
    doors = [Tickets(worker, Tokens(worker)) for worker in workers]
    for _ in range(ROUNDS):
        ticket = await tickets.issue(ada, PATH)
        tries = (doors[number % 2].redeem(ticket.secret, PATH) for number in range(RIVALS))
        came = await asyncio.gather(*tries, return_exceptions=True)
        assert [one for one in came if not isinstance(one, Unauthenticated)] == [ada]
    for worker in workers:
        await worker.aclose()


async def test_the_store_holds_no_ticket_and_no_path(store: Redis, tickets: Tickets, ada: Identity) -> None:
    ticket = await tickets.issue(ada, PATH)
    (key,) = await store.keys("ticket:*")
    kept = str((key, await store.get(key)))
    assert ada.found_by in kept
    assert ticket.secret not in kept
    assert PATH not in kept


async def test_no_two_tickets_are_the_same(tickets: Tickets, ada: Identity) -> None:
    assert len({(await tickets.issue(ada, PATH)).secret for _ in range(20)}) == 20


async def test_without_a_store_there_are_no_tickets(tmp_path: Path, ada: Identity) -> None:
    client = dial(f"unix://{tmp_path}/nowhere")
    away = Tickets(client, Tokens(client))
    with pytest.raises(StoreDown):
        await away.issue(ada, PATH)
    with pytest.raises(StoreDown):
        await away.redeem("evt_" + "a" * 43, PATH)
    await client.aclose()
