"""The composition root: everything that a process of the service is made of, put together in one place."""

import os
import platform
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import cast

from litestar import Litestar, Request
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler
from litestar.response.base import ASGIResponse
from litestar.types import ASGIApp, ExceptionHandlersMap, HTTPScope, Receive, Send
from redis.asyncio import Redis

from service import bots, games
from service.api import catalogue, documents, health, lobby, players, problems, tokens, traffic
from service.api.answers import empty
from service.api.edge import Edge
from service.api.endpoint import Endpoint
from service.api.forwarded import Proxies
from service.api.requests import MAX_BODY, AnyRequest
from service.api.tables import TableRoutes
from service.attendance import Attendance
from service.auth.accounts import Accounts
from service.auth.keys import secret_from
from service.auth.tokens import Tokens
from service.bots import Bots
from service.clock import utc_ms
from service.durability import require
from service.erasing import Erasing
from service.errors import Obstacle
from service.game import Refused
from service.games import Games
from service.limits import Rates, SignUps
from service.lobby import Lobby
from service.log import Log
from service.metrics import Gauge, Sheets, sheets
from service.referee import Chances, Referee, chance_of
from service.settings import Settings
from service.store import connect
from service.tables import Tables
from service.version import version
from service.watch import Watch, watching

_build = Gauge("evenfold_build_info", "most", "Which Evenfold runs on which Python.", "version", "python")

_PROBLEMS: ExceptionHandlersMap = {
    Refused: problems.of_refusal,
    Obstacle: problems.of_obstacle,
    HTTPException: problems.of_framework,
    Exception: problems.of_bug,
}


@dataclass(frozen=True)
class Sources:
    """Where a process has chance, entropy and time from; tests state their own."""

    chances: Chances = chance_of
    entropy: Callable[[int], bytes] = os.urandom
    clock: Callable[[], int] | None = None
    monotonic_ns: Callable[[], int] = time.monotonic_ns


@dataclass
class Service:
    """The parts of one process, connected to the store."""

    settings: Settings
    redis: Redis
    games: Games
    bots: Bots
    log: Log
    tables: Tables
    accounts: Accounts
    tokens: Tokens
    rates: Rates
    sign_ups: SignUps
    proxies: Proxies
    erasing: Erasing
    lobby: Lobby
    watch: Watch
    sheets: Sheets | None


@asynccontextmanager
async def service(settings: Settings, sources: Sources = Sources()) -> AsyncIterator[Service]:
    """Connect the parts of a process; raise StoreUnfit or KeysUnfit, each one sentence, where that can't be done."""
    _build.set(1, version(), platform.python_version())
    secret = secret_from(settings.keys, settings.secret)
    known = games.find(*settings.games)
    seatable = bots.find()
    async with (
        _connected(settings.redis) as redis,
        watching(redis, settings.folder, settings.limits.min_free) as watch,
        sheets(settings.sheet) as shared,
    ):
        await require(redis, settings.redis, settings.durability)
        log = Log(redis, durability=settings.durability)
        attendance, accounts, tokens = Attendance(redis, settings.limits.tables), Accounts(redis), Tokens(redis)
        tables = Tables(
            log,
            known,
            seatable,
            secret=secret,
            referee=Referee(sources.chances),
            entropy=sources.entropy,
            clock=sources.clock,
            has_room=watch.has_room,
            attendance=attendance,
        )
        try:
            yield Service(
                settings=settings,
                redis=redis,
                games=known,
                bots=seatable,
                log=log,
                tables=tables,
                accounts=accounts,
                tokens=tokens,
                rates=Rates(settings.limits.requests, sources.monotonic_ns),
                proxies=Proxies(settings.trust),
                sign_ups=SignUps(redis, settings.limits.sign_ups, secret, sources.clock or utc_ms),
                erasing=Erasing(tables, attendance, accounts, tokens),
                lobby=Lobby(redis),
                watch=watch,
                sheets=shared,
            )
        finally:
            await tables.drain()
            await log.close()


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Redis]:
    """Give a client of the store for a block; raise StoreUnfit."""
    redis = await connect(url)
    try:
        yield redis
    finally:
        await redis.aclose()


def endpoints(known: Games) -> tuple[Endpoint, ...]:
    """Return every route there is for these games."""
    per_game = (route for game in known for route in TableRoutes(game).endpoints())
    return (
        *catalogue.ENDPOINTS,
        *lobby.ENDPOINTS,
        *per_game,
        *players.ENDPOINTS,
        *tokens.ENDPOINTS,
        *health.ENDPOINTS,
        *documents.ENDPOINTS,
    )


def create(settings: Settings, sources: Sources = Sources()) -> Litestar:
    """Make the HTTP application of one process; it connects when it starts up."""
    known = games.find(*settings.games)
    routes = tuple(route for route in endpoints(known) if settings.metrics_port is None or route is not health.METRICS)

    @asynccontextmanager
    async def connected(app: Litestar) -> AsyncIterator[None]:
        async with service(settings, sources) as parts:
            app.state.update(vars(parts))
            yield

    app = Litestar(
        [*map(_options, _by_path(routes).items()), *map(_handler, routes)],
        lifespan=[connected],
        openapi_config=None,
        request_max_body_size=MAX_BODY,
        exception_handlers=_PROBLEMS,
        logging_config=None,
    )
    app.state.routes = routes
    app.asgi_handler = Edge(app.asgi_handler, traffic.count)
    return app


def metrics_alone(shared: Sheets) -> Litestar:
    """Make the application of a port that has the metrics of a server, and nothing else."""
    app = Litestar([_handler(health.METRICS)], openapi_config=None, exception_handlers=_PROBLEMS, logging_config=None)
    app.state.sheets = shared
    app.asgi_handler = Edge(app.asgi_handler)
    return app


def _handler(route: Endpoint) -> HTTPRouteHandler:
    # An answer brings its own status; to the framework 204 would promise that the handler returns nothing.
    status = HTTPStatus(min(route.answers))
    known = HTTPStatus.OK if status is HTTPStatus.NO_CONTENT else status

    async def answered(scope: HTTPScope, receive: Receive, send: Send) -> None:
        request: AnyRequest = Request(scope, receive, send)
        response = await route.answer(request)
        await response(scope, receive, send)

    def instead(app: ASGIApp) -> ASGIApp:  # noqa: ARG001 the framework passes it by this name
        return cast("ASGIApp", answered)

    # The framework's own way from its router to a handler, by signatures and injection, costs half of its time.
    return HTTPRouteHandler(
        _framework_path(route.path), http_method=route.method, status_code=known, middleware=[instead]
    )(route.answer)


def _by_path(routes: Iterable[Endpoint]) -> dict[str, set[str]]:
    """Return the methods of each path."""
    methods: dict[str, set[str]] = {}
    for route in routes:
        methods.setdefault(route.path, {"OPTIONS"}).add(route.method)
    return methods


def _options(path: tuple[str, set[str]]) -> HTTPRouteHandler:
    """Answer which methods a path takes; the framework's own answer forgets all but one where it has several."""
    template, methods = path
    allow = ", ".join(sorted(methods | ({"HEAD"} if "GET" in methods else set())))

    async def allowed(request: AnyRequest) -> ASGIResponse:  # noqa: ARG001 the framework passes it by this name
        return empty(HTTPStatus.NO_CONTENT, {"Allow": allow})

    return HTTPRouteHandler(_framework_path(template), http_method="OPTIONS", status_code=HTTPStatus.OK)(allowed)


def _framework_path(template: str) -> str:
    return template.replace("}", ":str}")
