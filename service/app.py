"""The composition root: everything that a process of the service is made of, put together in one place."""

import os
import platform
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from litestar import Litestar
from redis.asyncio import Redis

from service import bots, games
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
from service.api.eventstream import Streams, streaming
from service.api.forwarded import Proxies
from service.api.records import RecordRoutes
from service.api.requests import MAX_BODY
from service.api.routing import Router
from service.api.sockets import Sockets
from service.api.stories import StoryRoutes
from service.api.tables import TableRoutes
from service.archive import archived
from service.attendance import Attendance
from service.audit.keyring import Keyring
from service.audit.records import Records
from service.audit.signing import signer_from
from service.audit.transparency import Transparency
from service.auth.accounts import Accounts
from service.auth.keys import secret_from
from service.auth.tickets import Tickets
from service.auth.tokens import Tokens
from service.auth.vigil import Vigil, keeping
from service.bots import Bots
from service.changes import Changes
from service.clock import utc_ms
from service.dealing import Chances
from service.docket import Docket
from service.durability import require
from service.erasing import Erasing
from service.games import Games
from service.inbox import Inboxes
from service.limits import Rates, SignUps
from service.live import Live
from service.lobby import Lobby
from service.log import Log
from service.metrics import Gauge, Sheets, sheets
from service.presence import Presence
from service.referee import Referee, chance_of
from service.settings import Settings
from service.store import connect
from service.story import Stories
from service.tables import Tables
from service.texts import Texts
from service.todo import Todo
from service.version import version
from service.watch import Watch, watching

_build = Gauge("evenfold_build_info", "most", "Which Evenfold runs on which Python.", "version", "python")


@dataclass(frozen=True)
class Sources:
    """Where a process has chance, entropy and time from; tests state their own."""

    chances: Chances = chance_of
    entropy: Callable[[int], bytes] = os.urandom
    clock: Callable[[], int] | None = None
    seen_at: Callable[[], int] = utc_ms
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
    vigil: Vigil
    tickets: Tickets
    streams: Streams
    live: Live
    rates: Rates
    sign_ups: SignUps
    proxies: Proxies
    erasing: Erasing
    lobby: Lobby
    changes: Changes
    inboxes: Inboxes
    presence: Presence
    todo: Todo
    watch: Watch
    sheets: Sheets | None
    records: Records
    keyring: Keyring
    stories: Stories
    texts: Texts
    docket: Docket
    transparency: Transparency

    async def close(self) -> None:
        """End what each part still does, those that need others first."""
        await self.live.close()
        await self.presence.close()
        await self.changes.close()
        await self.tables.drain()
        await self.log.close()


@asynccontextmanager
async def service(settings: Settings, sources: Sources = Sources()) -> AsyncIterator[Service]:
    """Connect the parts of a process; raise StoreUnfit or KeysUnfit, each one sentence, where that can't be done."""
    _build.set(1, version(), platform.python_version())
    secret = secret_from(settings.keys, settings.secret)
    signer = signer_from(settings.keys, settings.signing_key)
    known = games.find(*settings.games)
    seatable = bots.find()
    async with (
        _connected(settings.redis) as redis,
        watching(redis, settings.folder, settings.limits.min_free) as watch,
        sheets(settings.sheet) as shared,
        keeping(tokens := Tokens(redis)) as vigil,
        streaming(settings.limits.streams) as streams,
    ):
        await require(redis, settings.redis, settings.durability)
        clock = sources.clock or utc_ms
        keyring = Keyring(redis, signer, clock)
        await keyring.enter()
        archive = archived(settings.archive)
        log = Log(redis, durability=settings.durability, archive=archive)
        attendance, accounts = Attendance(redis, settings.limits.tables, call=log.call), Accounts(redis)
        inboxes, presence, lobby = Inboxes(redis, log.call), Presence(redis, sources.seen_at), Lobby(redis)
        texts = Texts(redis, secret)
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
            presence=presence,
        )
        presence.begin(tables.has_part)
        vouching = Records(log, tables, texts, signer, clock)
        parts = Service(
            settings=settings,
            redis=redis,
            games=known,
            bots=seatable,
            log=log,
            tables=tables,
            accounts=accounts,
            tokens=tokens,
            vigil=vigil,
            tickets=Tickets(redis, tokens),
            streams=streams,
            live=Live(log, tables, vouching.vouch),
            rates=Rates(settings.limits.requests, sources.monotonic_ns),
            proxies=Proxies(settings.trust),
            sign_ups=SignUps(redis, settings.limits.sign_ups, secret, clock),
            erasing=Erasing(tables, attendance, presence, inboxes, texts, accounts, tokens, archive),
            lobby=lobby,
            changes=Changes(lobby, log),
            presence=presence,
            inboxes=inboxes,
            todo=Todo(attendance, inboxes, log, known),
            watch=watch,
            sheets=shared,
            records=vouching,
            keyring=keyring,
            stories=Stories(tables, accounts),
            texts=texts,
            docket=Docket(redis),
            transparency=Transparency(redis, signer, clock),
        )
        try:
            yield parts
        finally:
            await parts.close()


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
