"""The straight way from a request to its route: each route has one, and what is spelt otherwise has none."""

from dataclasses import replace
from typing import cast

import pytest
from litestar.response.base import ASGIResponse
from litestar.types import HTTPScope, Message, Receive, ReceiveMessage, Scope, Send

from service import games
from service.api.answers import answer, encoded
from service.api.endpoint import Endpoint
from service.api.requests import AnyRequest, state_headers
from service.api.routing import Router
from service.app import endpoints

pytestmark = pytest.mark.anyio

ROUTES = endpoints(games.find())


def telling(route: Endpoint) -> Endpoint:
    """Return a route that answers with its own name and the parts of the path."""

    async def told(request: AnyRequest) -> ASGIResponse:
        return answer([route.name, request.path_params])

    return replace(route, handler=told)


async def framework(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer whatever finds no straight way."""
    await answer("framework")(scope, receive, send)


async def led(method: str, path: str) -> bytes:
    """Return what a request for a path is answered with."""
    sent: list[Message] = []
    of_request = {"type": "http", "method": method, "path": path, "raw_path": path.encode(), "query_string": b""}
    scope = cast("HTTPScope", {**of_request, "headers": [], "state": {}, "extensions": {}})
    state_headers(scope)

    async def receive() -> ReceiveMessage:
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    await Router(map(telling, ROUTES), framework)(scope, receive, send)
    return b"".join(message["body"] for message in sent if message["type"] == "http.response.body")


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
async def test_every_route_is_led_to_with_the_parts_of_its_path(route: Endpoint) -> None:
    parts = {part.name: f"{part.name}-7" for part in route.parameters if part.where == "path"}
    path = route.path.format(**parts)
    assert await led(route.method, path) == encoded([route.name, parts])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/v1/me/"),
        ("GET", "//v1/me"),
        ("GET", "/v1/%6de"),
        ("GET", "/v1/ME"),
        ("GET", "/v1"),
        ("GET", ""),
        ("GET", "/v1/players/"),
        ("GET", "/v1/players/a/"),
        ("GET", "/v1/players/a%2Fb"),
        ("PUT", "/v1/me"),
        ("OPTIONS", "/v1/me"),
        ("GET", "/v1/games/chinkway/rules/more"),
        ("GET", "/v1/nothing"),
    ],
)
async def test_what_is_no_route_as_it_is_written_is_the_frameworks(method: str, path: str) -> None:
    assert await led(method, path) == b'"framework"'
