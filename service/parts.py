"""The composition root: all that a process of the service is made of, but what it answers HTTP by (app.py)."""

import os
import platform
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, NamedTuple

from redis.asyncio import Redis

from service import bots, games
from service.archive import Archive, archived, remember
from service.attendance import Attendance
from service.audit.keyring import Keyring
from service.audit.records import Records
from service.audit.signing import Signer, signer_from
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
from service.limits import SignUps
from service.live import Live
from service.lobby import Lobby
from service.log import Log
from service.metrics import Gauge, Sheets, sheets
from service.presence import Presence
from service.referee import Referee, chance_of
from service.settings import Settings
from service.store import connect, require_whole
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


USUAL_SOURCES: Final = Sources()


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
    live: Live
    sign_ups: SignUps
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
async def service(settings: Settings, sources: Sources = USUAL_SOURCES) -> AsyncIterator[Service]:
    """Connect the parts of a process; raise StoreUnfit or KeysUnfit, each one sentence, where that can't be done.

    Raise StoreDown or redis-py's errors where the store goes away meanwhile.
    """
    _build.set(1, version(), platform.python_version())
    secrets = _Secrets(secret_from(settings.keys, settings.secret), signer_from(settings.keys, settings.signing_key))
    async with (
        _connected(settings.redis) as redis,
        watching(redis, settings.folder, settings.limits.min_free) as watch,
        sheets(settings.sheet) as shared,
        keeping(tokens := Tokens(redis)) as vigil,
    ):
        await require(redis, settings.redis, settings.durability)
        await require_whole(redis, settings.redis)
        store = _Store(redis, watch, shared, tokens, vigil)
        parts = _assembled(settings, sources, secrets, store)
        await parts.keyring.enter()
        if settings.archive is not None:
            await remember(redis, Archive(settings.archive))
        try:
            yield parts
        finally:
            await parts.close()


class _Secrets(NamedTuple):
    secret: bytes
    signer: Signer


class _Store(NamedTuple):
    """A store, and what lasts as long as a process is connected to it."""

    redis: Redis
    watch: Watch
    sheets: Sheets | None
    tokens: Tokens
    vigil: Vigil


def _assembled(settings: Settings, sources: Sources, secrets: _Secrets, store: _Store) -> Service:
    """Make the parts, each of those that it needs."""
    redis, clock = store.redis, sources.clock or utc_ms
    known, seatable, archive = games.find(*settings.games), bots.find(), archived(settings.archive)
    log = Log(redis, durability=settings.durability, archive=archive)
    attendance, accounts = Attendance(redis, settings.limits.tables, call=log.call), Accounts(redis)
    inboxes, presence, lobby = Inboxes(redis, log.call), Presence(redis, sources.seen_at), Lobby(redis)
    texts = Texts(redis, secrets.secret)
    tables = Tables(
        log,
        known,
        seatable,
        secret=secrets.secret,
        referee=Referee(sources.chances),
        entropy=sources.entropy,
        clock=sources.clock,
        has_room=store.watch.has_room,
        attendance=attendance,
        presence=presence,
    )
    presence.begin(tables.has_part)
    records = Records(log, tables, texts, secrets.signer, clock)
    return Service(
        settings=settings,
        redis=redis,
        games=known,
        bots=seatable,
        log=log,
        tables=tables,
        accounts=accounts,
        tokens=store.tokens,
        vigil=store.vigil,
        tickets=Tickets(redis, store.tokens),
        live=Live(log, tables, records.vouch),
        sign_ups=SignUps(redis, settings.limits.sign_ups, secrets.secret, clock),
        erasing=Erasing(tables, attendance, presence, inboxes, texts, accounts, store.tokens, archive),
        lobby=lobby,
        changes=Changes(lobby, log),
        presence=presence,
        inboxes=inboxes,
        todo=Todo(attendance, inboxes, log, known),
        watch=store.watch,
        sheets=store.sheets,
        records=records,
        keyring=Keyring(redis, secrets.signer, clock),
        texts=texts,
        docket=Docket(redis),
        transparency=Transparency(redis, secrets.signer, clock),
    )


@asynccontextmanager
async def _connected(url: str) -> AsyncIterator[Redis]:
    """Give a client of the store for a block; raise StoreUnfit."""
    redis = await connect(url)
    try:
        yield redis
    finally:
        await redis.aclose()
