"""What a token may do goes by its scopes, and by nothing else: each route against each set of scopes."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NamedTuple

import pytest
from redis.asyncio import Redis

from service import games
from service.api.endpoint import Endpoint
from service.api.examples import examples
from service.app import endpoints
from service.auth.accounts import Accounts
from service.auth.scopes import ACCOUNT, SCOPES, SIGN_UP, Needed, Scope, may_give, suffices
from service.auth.tokens import Grant, Tokens
from tests.served import Person
from tests.service.api.conftest import Company

ROUTES = [route for route in endpoints(games.find()) if route.token]
HELD: list[tuple[Scope, ...]] = [(), *((scope,) for scope in SCOPES), SIGN_UP, ("play", "admin"), SCOPES]
OTHER_TOKEN = "another token than the one that asks"


class Owner(NamedTuple):
    """An account with a token of some scopes, and one more that has all of them."""

    account: str
    secret: str
    token: str
    other: str


@pytest.fixture
def owner(valkey_url: str) -> Callable[..., Owner]:
    """Give an account with a token of these scopes alone, and another token."""

    @asynccontextmanager
    async def store() -> AsyncIterator[Redis]:
        redis = Redis.from_url(valkey_url)
        yield redis
        await redis.aclose()

    async def made(*scopes: Scope) -> Owner:
        async with store() as redis:
            account = await Accounts(redis).create("Ada")
            one, other = [await Tokens(redis).issue(account.id, Grant(held)) for held in (scopes, SCOPES)]
            return Owner(account.id, one.secret, one.token.id, other.token.id)

    return lambda *scopes: asyncio.run(made(*scopes))


@contextmanager
def bearing(url: str, secret: str) -> Iterator[Person]:
    person = Person(url, None)
    person.http.headers["Authorization"] = f"Bearer {secret}"
    yield person
    person.http.close()


def asked(route: Endpoint) -> Iterator[tuple[Any, Needed]]:
    """Yield bodies for a route, with what its token must be able to do for each."""
    for body in examples(route) or [None]:
        told = {f"`{body.get('type')}`"} | {f"a body with `{field}`" for field in body} if body is not None else set()
        yield body, next((needed for what, needed in route.scope_of.items() if what in told), route.scope)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_route_takes_the_tokens_that_the_document_says_and_no_other(
    route: Endpoint, owner: Callable[..., Owner], unmoved: Company, url: str
) -> None:
    table = unmoved.path.rpartition("/")[2]
    query = "?id=" + "0" * 26 if route.name == "getPlayers" else ""
    for body, stated in asked(route):
        for held in HELD:
            who = owner(*held)
            needed = ACCOUNT if OTHER_TOKEN in route.scope_of else stated
            path = route.path.format(table=table, player=who.account, token=who.other, dispute=1)
            with bearing(url, who.secret) as person:
                answer = person.http.request(route.method, path + query, json=body)
            refused = answer.status_code == 403 and answer.json()["code"] == "forbidden"
            given = route.name != "rotateToken" or may_give(frozenset(held), SCOPES)
            assert refused is not (suffices(frozenset(held), needed) and given), (body, held, answer.text)
            assert answer.status_code not in {400, 401, 415}, answer.text


@pytest.mark.parametrize("held", HELD, ids=" ".join)
def test_every_token_may_rotate_and_end_itself(owner: Callable[..., Owner], url: str, held: tuple[Scope, ...]) -> None:
    who = owner(*held)
    with bearing(url, who.secret) as person:
        rotated = person.post(f"/v1/tokens/{who.token}/rotate")
        assert (rotated.status_code, rotated.json()["id"]) == (201, who.token)
        assert set(rotated.json()["scopes"]) == set(held)
        person.http.headers["Authorization"] = f"Bearer {rotated.json()['token']}"
        assert person.delete(f"/v1/tokens/{who.token}").status_code == 204
        assert person.get("/v1/me").status_code == 401


@pytest.mark.parametrize(
    ("held", "given", "allowed"),
    [
        ({"play", "host"}, (), True),
        ({"play", "host"}, ("play", "host"), True),
        ({"play"}, ("play",), True),
        ({"play"}, ("bot",), True),
        ({"host"}, ("bot",), False),
        ({"host"}, ("play",), False),
        (set(), ("bot",), False),
        ({"play", "host", "arbiter", "admin"}, ("arbiter",), False),
        ({"play", "host", "arbiter", "admin"}, ("admin",), False),
        ({"admin"}, ("play",), False),
    ],
)
def test_a_token_gives_no_more_than_it_may_do(held: set[Scope], given: tuple[Scope, ...], allowed: bool) -> None:
    assert may_give(frozenset(held), given) is allowed


def test_a_bot_of_an_account_plays_on_its_seat(owner: Callable[..., Owner], url: str) -> None:
    host = Person(url)
    path = f"/v1/chinkway/tables/{host.post('/v1/chinkway/tables', {'bots': ['anyone'] * 4}).json()['table']}"
    who = owner("bot")
    with bearing(url, who.secret) as bot:
        assert bot.post(f"{path}/seats").status_code == 201
        view = bot.get(path).json()
        assert (view["status"], view["seats"][view["you"]]["player"]) == ("playing", who.account)
        assert bot.post(f"{path}/commands", {"type": "table.resign"}).status_code == 201
    host.http.close()
