"""What a token may do goes by its scopes, and by nothing else."""

import asyncio
from collections.abc import Callable

import pytest
from redis.asyncio import Redis

from service.auth.scopes import Scope
from service.auth.tokens import Grant, Tokens
from tests.served import Person


@pytest.fixture
def scoped(url: str, valkey_url: str, ada: Person) -> Callable[..., Person]:
    """Give Ada with a token of these scopes alone."""

    async def token(*scopes: Scope) -> str:
        redis = Redis.from_url(valkey_url)
        try:
            return (await Tokens(redis).issue(ada.id, Grant(scopes))).secret
        finally:
            await redis.aclose()

    def person(*scopes: Scope) -> Person:
        ada.http.headers["Authorization"] = f"Bearer {asyncio.run(token(*scopes))}"
        return ada

    assert url
    return person


def test_a_host_opens_tables_seats_bots_and_abandons_but_does_not_sit(scoped: Callable[..., Person]) -> None:
    host = scoped("host")
    path = f"/v1/chinkway/tables/{host.post('/v1/chinkway/tables').json()['table']}"
    assert host.post(f"{path}/seats", {"bot": "anyone"}).status_code == 201
    refused = host.post(f"{path}/seats")
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert host.post(f"{path}/commands", {"type": "table.resign"}).status_code == 403
    assert host.post(f"{path}/commands", {"type": "table.abandon"}).status_code == 201


def test_a_player_sits_but_opens_nothing(scoped: Callable[..., Person], url: str) -> None:
    host = Person(url)
    path = f"/v1/chinkway/tables/{host.post('/v1/chinkway/tables').json()['table']}"
    player = scoped("play")
    assert player.post("/v1/chinkway/tables").status_code == 403
    assert player.post(f"{path}/seats").status_code == 201
    assert player.post(f"{path}/start").status_code == 403
    assert player.post(f"{path}/seats", {"bot": "anyone"}).status_code == 403
    host.http.close()


def test_a_token_without_either_looks_on(scoped: Callable[..., Person], url: str) -> None:
    host = Person(url)
    path = f"/v1/chinkway/tables/{host.post('/v1/chinkway/tables').json()['table']}"
    onlooker = scoped("arbiter", "admin")
    assert onlooker.get(path).status_code == 200
    assert onlooker.post(f"{path}/seats").status_code == 403
    host.http.close()
