"""A WebSocket does what its token may, and ends with it."""

import time

import httpx
import pytest

from service.api.websocket import PATH
from tests.served import Person
from tests.service.api.sockets.conftest import path_of
from tests.sockets import opened


@pytest.mark.parametrize("by", ["a token", "a ticket"])
def test_a_socket_ends_with_its_token_within_two_seconds(url: str, ada: Person, table: str, by: str) -> None:
    issued = ada.post("/v1/tokens", {"scopes": ["play"]}).json()
    own = {"Authorization": f"Bearer {issued['token']}"}
    if by == "a ticket":
        ticket = httpx.post(f"{url}/v1/tickets", json={"path": PATH}, headers=own).json()["ticket"]
        door = opened(url, query=f"?ticket={ticket}")
    else:
        door = opened(url, issued["token"])
    with door as socket, opened(url, ada.token) as other:
        socket.watch(table)
        assert ada.delete(f"/v1/tokens/{issued['id']}").status_code == 204
        revoked = time.monotonic()
        assert socket.closed() == 4401
        assert time.monotonic() - revoked < 2.5
        assert other.watch(table)["type"] == "watched"


def test_a_token_that_has_ended_commands_nothing_any_more(url: str, ada: Person, table: str) -> None:
    issued = ada.post("/v1/tokens", {"scopes": ["play"]}).json()
    with opened(url, issued["token"]) as socket:
        ada.delete(f"/v1/tokens/{issued['id']}")
        answer = socket.post(path_of(table, "seats"), {"seat": 1})
        assert (answer["status"], answer["body"]["code"]) == (401, "unauthenticated")
