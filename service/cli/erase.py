"""An account erased by whoever runs the service, for good, as its owner may by `DELETE /v1/me`."""

import asyncio
from collections.abc import Sequence

from redis.asyncio import Redis

from service import bots
from service.archive import Archive, archived
from service.attendance import Attendance
from service.auth.accounts import Accounts
from service.auth.tokens import Tokens
from service.cli.games import found
from service.cli.opened import opened
from service.cli.sentences import Failed, Unusable, say, several
from service.erasing import Erasing
from service.errors import NotFound, Obstacle
from service.games import Games
from service.inbox import Inboxes
from service.log import Log
from service.presence import Presence
from service.settings import Place
from service.tables import Tables
from service.texts import Texts
from service.walk import Walk


def erase(place: Place, account: str, modules: Sequence[str], *, sure: bool) -> None:
    """Erase an account, and say so on the error stream; one that is erased already is looked through again.

    Raise Unusable or Failed.
    """
    if not sure:
        raise Unusable(
            f"Erasing {account} can't be undone: its seats are given up, its name is gone; say --yes to do it"
        )
    asyncio.run(_erased(place, account, found(modules)))


async def _erased(place: Place, account: str, games: Games) -> None:
    async with opened(place, "evenfold erase") as redis:
        accounts = Accounts(redis)
        called = await _name(accounts, account)
        archive = archived(place.archive)
        log = Log(redis, archive=archive)
        try:
            tables = await erasing(redis, log, games, archive).erase(account)
            untold = archive is None and await _has_archived(log)
        except KeyError as unknown:
            raise Failed(f"{called} is not erased altogether; name the game of {unknown} with --games") from None
        except Obstacle as obstacle:
            raise Failed(f"{called} is not erased altogether; say it again: {obstacle}") from None
        finally:
            await log.close()
        where = several(tables, "table", "tables")
        say(f"{called} is erased, and has no part any more in the {where} where it may have had one.")
        if untold:
            say("The archive does not know it yet: the next `evenfold archive` tells it.", "bold yellow")


async def _has_archived(log: Log) -> bool:
    """Tell whether the logs of some tables are in the archive; raise StoreDown."""
    async for _ in Walk(log).tombstones():
        return True
    return False


def erasing(redis: Redis, log: Log, games: Games, archive: Archive | None) -> Erasing:
    """Return what erases accounts of a store."""
    # No request comes in here that could be repeated, so that nothing is derived from the secret.
    tables = Tables(log, games, bots.find(), secret=b"")
    known = Attendance(redis), Presence(redis), Inboxes(redis), Texts(redis), Accounts(redis), Tokens(redis)
    return Erasing(tables, *known, archive)


async def _name(accounts: Accounts, account: str) -> str:
    """Return what to call an account; raise Unusable if there never was one of this id."""
    try:
        return f"{(await accounts.find(account)).name} ({account})"
    except NotFound:
        if await accounts.is_condemned(account):
            return f"Account {account}"
        raise Unusable(f"The store has no account {account}") from None
