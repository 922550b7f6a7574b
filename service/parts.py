"""The composition root: all that a process of the service is made of, but what it answers HTTP by (app.py)."""

import os
import platform
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from redis.asyncio import Redis

from service import bots, games
from service.archive import archived, remember
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
    secret = secret_from(settings.keys, settings.secret)
    signer = signer_from(settings.keys, settings.signing_key)
    known = games.find(*settings.games)
    seatable = bots.find()
    async with (
        _connected(settings.redis) as redis,
        watching(redis, settings.folder, settings.limits.min_free) as watch,
        sheets(settings.sheet) as shared,
        keeping(tokens := Tokens(redis)) as vigil,
    ):
        await require(redis, settings.redis, settings.durability)
        await require_whole(redis, settings.redis)
        clock = sources.clock or utc_ms
        keyring = Keyring(redis, signer, clock)
        await keyring.enter()
        archive = archived(settings.archive)
        if archive is not None:
            await remember(redis, archive)
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
            live=Live(log, tables, vouching.vouch),
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
