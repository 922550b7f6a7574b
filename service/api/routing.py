"""From a request to its route: straight where the path is written as the route has it, else the framework's own way.

The framework finds a route by normalising the path, and leads to its handler through layers that every route could
have of its own; none has here, and they cost more than a command takes to decide. Whatever is found no straight way
for (another spelling, another method, nothing) is answered by the framework, from the same routes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from http import HTTPStatus
from typing import NamedTuple, cast

from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse
from litestar.types import ASGIApp, HTTPScope, Receive, Scope, Send

from service.api import problems
from service.api.answers import empty
from service.api.endpoint import Endpoint
from service.api.requests import AnyRequest, OfFramework

PART = "{}"
REMEMBERED = 8_192
"""Of how many paths it is remembered where they lead; none of them is longer than the next."""
LONGEST = 256


@dataclass
class _Place:
    """What can come after the beginning of a path, by the next segment; the routes that end here, by method."""

    next: dict[str, "_Place"] = field(default_factory=dict)
    routes: dict[str, Endpoint] = field(default_factory=dict)
    parts: tuple[str, ...] = ()


class _Found(NamedTuple):
    """Where a path leads: the routes, and what of the path stands for the parts of their template."""

    place: _Place
    parts: tuple[tuple[str, str], ...]


class Router:
    """The application's routes, in front of the framework that has them too."""

    def __init__(self, routes: Iterable[Endpoint], framework: ASGIApp) -> None:
        """Lead to these routes, and to the framework with all else."""
        self._framework = framework
        self._root = _Place()
        for route in routes:
            place = self._root
            parts: list[str] = []
            for segment in route.path.split("/")[1:]:
                if segment.startswith("{"):
                    parts.append(segment[1:-1])
                place = place.next.setdefault(PART if segment.startswith("{") else segment, _Place())
            place.routes[route.method] = route
            place.parts = tuple(parts)
        self._leading = lru_cache(REMEMBERED)(self._leading_to)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        route = self._found(cast("HTTPScope", scope))
        if route is None:
            await self._framework(scope, receive, send)
            return
        request = AnyRequest(cast("HTTPScope", scope), receive)
        try:
            route.check(request)
            response = await route.handler(request)
        except Exception as error:  # noqa: BLE001 whatever it is, it is answered by a problem
            response = problems.met(request.scope, error)
        await response(scope, receive, send)

    def _found(self, scope: HTTPScope) -> Endpoint | None:
        """Return the route that a request's path is written as, None if there is none; state its template and parts."""
        if b"%" in scope["raw_path"]:
            return None
        path = scope["path"]
        found = self._leading(path) if len(path) <= LONGEST else self._leading_to(path)
        if found is None:
            return None
        route = found.place.routes.get(scope["method"])
        if route is not None:
            scope["path_params"] = dict(found.parts)
            scope["path_template"] = route.path
        return route

    def _leading_to(self, path: str) -> _Found | None:
        place, parts = self._root, []
        for segment in path.split("/")[1:]:
            following = place.next.get(segment)
            if following is None:
                following = place.next.get(PART)
                if following is None or not segment:
                    return None
                parts.append(segment)
            place = following
        return _Found(place, tuple(zip(place.parts, parts, strict=True))) if place.routes else None


def to_framework(routes: Iterable[Endpoint]) -> list[HTTPRouteHandler]:
    """Return the same routes as the framework has them, and what OPTIONS answers at each of their paths."""
    methods: dict[str, set[str]] = {}
    for route in routes:
        methods.setdefault(route.path, {"OPTIONS"}).add(route.method)
    return [*map(_options, methods.items()), *map(_handler, routes)]


def _handler(route: Endpoint) -> HTTPRouteHandler:
    # An answer brings its own status; to the framework 101 and 204 would promise that the handler returns nothing.
    status = HTTPStatus(min(route.answers))
    known = HTTPStatus.OK if status in {HTTPStatus.SWITCHING_PROTOCOLS, HTTPStatus.NO_CONTENT} else status

    async def answered(request: OfFramework) -> ASGIResponse:
        return await route.answer(AnyRequest(request.scope, request.receive))

    return HTTPRouteHandler(_framework_path(route.path), http_method=route.method, status_code=known)(answered)


def _options(path: tuple[str, set[str]]) -> HTTPRouteHandler:
    """Answer which methods a path takes; the framework's own answer forgets all but one where it has several."""
    template, methods = path
    allow = ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))

    async def allowed(request: OfFramework) -> ASGIResponse:  # noqa: ARG001 the framework passes it by this name
        return empty(HTTPStatus.NO_CONTENT, {"Allow": allow})

    return HTTPRouteHandler(_framework_path(template), http_method="OPTIONS", status_code=HTTPStatus.OK)(allowed)


def _framework_path(template: str) -> str:
    return template.replace("}", ":str}")
