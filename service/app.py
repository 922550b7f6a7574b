"""The application that answers HTTP: its routes, and what it needs besides the parts of every process (parts.py)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar

from service import games
from service.api import (
    catalogue,
    docket,
    documents,
    health,
    lobby,
    me,
    players,
    problems,
    records,
    routing,
    sockets,
    tickets,
    tokens,
    traffic,
)
from service.api.cors import Origins
from service.api.disputes import DisputeRoutes
from service.api.edge import Edge
from service.api.endpoint import Endpoint
from service.api.events import EventRoutes
from service.api.eventstream import streaming
from service.api.forwarded import Proxies
from service.api.records import RecordRoutes
from service.api.requests import MAX_BODY
from service.api.routing import Router
from service.api.sockets import Sockets
from service.api.stories import StoryRoutes
from service.api.tables import TableRoutes
from service.games import Games
from service.limits import Rates
from service.metrics import Sheets
from service.parts import USUAL_SOURCES, Sources, service
from service.settings import Settings
from service.story import Stories
from service.watch import Watch


def endpoints(known: Games) -> tuple[Endpoint, ...]:
    """Return every route there is for these games."""
    per_game = (
        route
        for game in known
        for made in (TableRoutes(game), EventRoutes(game), StoryRoutes(game), DisputeRoutes(game), RecordRoutes(game))
        for route in made.endpoints()
    )
    return (
        *catalogue.ENDPOINTS,
        *lobby.ENDPOINTS,
        *docket.ENDPOINTS,
        *per_game,
        *players.ENDPOINTS,
        *me.ENDPOINTS,
        *tokens.ENDPOINTS,
        *tickets.ENDPOINTS,
        *sockets.ENDPOINTS,
        *health.ENDPOINTS,
        *records.ENDPOINTS,
        *documents.ENDPOINTS,
    )


def create(settings: Settings, sources: Sources = USUAL_SOURCES) -> Litestar:
    """Make the HTTP application of one process; it connects when it starts up."""
    known = games.find(*settings.games)
    routes = tuple(route for route in endpoints(known) if settings.metrics_port is None or route is not health.METRICS)

    @asynccontextmanager
    async def connected(app: Litestar) -> AsyncIterator[None]:
        async with service(settings, sources) as parts, streaming(settings.limits.streams) as streams:
            app.state.update(vars(parts))
            app.state.streams = streams
            app.state.proxies = Proxies(settings.trust)
            app.state.rates = Rates(settings.limits.requests, sources.monotonic_ns)
            app.state.stories = Stories(parts.tables, parts.accounts)
            yield

    app = Litestar(
        routing.to_framework(routes),
        lifespan=[connected],
        openapi_config=None,
        request_max_body_size=MAX_BODY,
        exception_handlers={Exception: problems.of_framework},
        logging_config=None,
    )
    app.state.routes = routes
    app.state.origins = Origins(settings.cors_origins)
    http = Edge(Router(routes, app.asgi_handler), traffic.count, app.state.origins)
    app.asgi_handler = Sockets(http, routes)
    return app


def metrics_alone(shared: Sheets | None, watch: Watch | None) -> Litestar:
    """Make the application of a port that has the metrics, and nothing else but how the store is, by a watch on it."""
    app = Litestar(
        routing.to_framework([health.METRICS] if watch is None else health.ENDPOINTS),
        openapi_config=None,
        exception_handlers={Exception: problems.of_framework},
        logging_config=None,
    )
    app.state.sheets = shared
    app.state.watch = watch
    app.asgi_handler = Edge(app.asgi_handler)
    return app
