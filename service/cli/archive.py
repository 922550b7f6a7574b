"""Logs moved to the archive by whoever runs the service, and put back from it."""

import asyncio
import sys
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
from redis.exceptions import NoPermissionError, ResponseError
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from service.archive import Archive
from service.archiving import Archiving, Lost, Moved
from service.auth.accounts import Accounts
from service.cli.erase import erasing
from service.cli.games import found
from service.cli.opened import opened
from service.cli.sentences import Failed, Unusable, json_line, printing, say, several
from service.cli.spans import LONGEST_MS, span_ms
from service.clock import utc_ms
from service.erasing import Erasing, tell
from service.errors import ArchiveAway, Illegible, NotFound, StoreDown
from service.games import Games
from service.ids import is_id
from service.log import Log
from service.settings import Place
from service.streams import table_stream
from service.walk import Walk

NAMED: Final = 5
"""So many tables that stay because something is wrong are named."""

NOWHERE: Final = "Say with --archive where the archive is: file:///folder or s3://bucket/prefix"


class Wanted(NamedTuple):
    """How long a table must have rested (`30d`), whether to do nothing, and whether to tell it as JSON."""

    older_than: str
    dry_run: bool = False
    as_json: bool = False


class Told(msgspec.Struct):
    """What came of it: tables and the bytes of their files that went, tables by why they stay, streams left alone.

    `there` had gone before; `failed` are those whose log or copy is damaged, or whose game is not known here; `lost`
    those that went, and of which the archive does not have the file.

    `erased` are the erased accounts that the archive did not know of; `again` those that it alone knew of, and that are
    erased in the store now; `unerased` those whom this user may not erase there, `unruled` those with a part in games
    that are not known here.
    """

    archived: int = 0
    bytes: int = 0
    there: int = 0
    live: int = 0
    recent: int = 0
    disputed: int = 0
    changed: int = 0
    failed: list[str] = []
    erased: int = 0
    again: int = 0
    unerased: list[str] = []
    unruled: list[str] = []
    lost: list[str] = []
    dry_run: bool = False


def archive(place: Place, wanted: Wanted, modules: Sequence[str]) -> int:
    """Archive what has rested long enough; return the exit code. Raise Unusable or Failed."""
    if not 0 < span_ms(wanted.older_than) <= LONGEST_MS:
        raise Unusable(f"{wanted.older_than!r} is no time that a table has rested: write 30d, 12h or 45m, 1m to 36500d")
    if place.archive is None:
        raise Unusable(NOWHERE)
    told = asyncio.run(_archived(place, Archive(place.archive), wanted, found(modules)))
    with printing():
        _tell(told, wanted)
    return 1 if told.failed or told.unerased or told.unruled or told.lost else 0


def restore(place: Place, table: str) -> None:
    """Put the log of a table back, and say so on the error stream; raise Unusable or Failed."""
    id_ = table.removeprefix("table:")
    if not is_id(id_):
        raise Unusable(f"{table!r} is not the id of a table: 26 lower-case letters and digits")
    if place.archive is None:
        raise Unusable(NOWHERE)
    version = asyncio.run(_restored(place, Archive(place.archive), id_))
    say(f"Table {id_} is in the store again, with all of its {version} decisions.")


async def _restored(place: Place, archive: Archive, table: str) -> int:
    async with opened(place, "evenfold restore") as redis:
        log = Log(redis, archive=archive)
        try:
            return await log.restore(table_stream(table))
        except NotFound:
            raise Unusable(f"The archive was not asked: in the store, table {table} is not archived") from None
        except (Illegible, StoreDown) as obstacle:
            raise Failed(f"Table {table} is not restored: {obstacle}") from None
        except ResponseError as error:
            raise Failed(f"Table {table} is not restored; the store says: {error}") from None
        finally:
            await log.close()


async def _archived(place: Place, archive: Archive, wanted: Wanted, games: Games) -> Told:
    before = utc_ms() - span_ms(wanted.older_than)
    try:
        await archive.look()
    except ArchiveAway as away:
        raise Unusable(str(away)) from None
    async with opened(place, "evenfold archive") as redis:
        log = Log(redis, archive=archive)
        try:
            archiving = Archiving(redis, log, archive, games, before)
            told = Told(lost=_lost(await archiving.lost(), archive), dry_run=wanted.dry_run)
            if not wanted.dry_run:
                told.erased = await tell(Accounts(redis), archive)
                await _erase_again(erasing(redis, log, games, None), await archive.erased(), told)
            return await _all(log, archiving, told)
        except ArchiveAway as away:
            raise Failed(f"{away}; what has not gone stays in the store") from None
        except StoreDown as down:
            why = down.__cause__ or down
            raise Failed(f"The store does not let this go on: {why}; say it again to archive what is left") from None
        except ResponseError as error:
            raise Failed(f"The store does not let this user archive: {error}") from None
        finally:
            await log.close()


def _lost(lost: Lost, archive: Archive) -> list[str]:
    """Return the streams whose files an archive lacks; raise Unusable if it has none: it is not where they went."""
    if lost.all_of_them:
        raise Unusable(
            f"The archive at {archive.address} has none of the files of {several(len(lost.streams), 'log', 'logs')}"
            f" that the store has no more, such as {lost.streams[0]}: name the archive where they are, or put the files"
            " back"
        )
    return lost.streams


async def _erase_again(erases: Erasing, erased: set[str], told: Told) -> None:
    """Erase in the store whom the archive alone knows as erased, where this user may: the archivist may not."""
    async for account, why in erases.erase_again(await erases.not_listed(erased)):
        match why:
            case None:
                told.again += 1
            case KeyError():
                told.unruled.append(f"{account} ({why})")
            case StoreDown(__cause__=NoPermissionError()):
                told.unerased.append(account)
            case _:
                raise why


async def _all(log: Log, archiving: Archiving, told: Told) -> Told:
    """Consider every table, one after the other."""
    fates = Counter[str]()
    lost = set(told.lost)
    tables = [stream for stream in await Walk(log).tables() if stream not in lost]
    columns = (TextColumn("Tables"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("Tables", total=len(tables))
        for stream in tables:
            moved = await _considered(archiving, stream, told, dry=told.dry_run)
            if moved is not None:
                fates[moved.fate] += 1
                told.bytes += moved.size
            progress.advance(bar)
    return msgspec.structs.replace(told, **fates)


async def _considered(archiving: Archiving, stream: str, told: Told, *, dry: bool) -> Moved | None:
    """Consider one table; note it, and leave it, where something is wrong with it."""
    try:
        return await archiving.consider(stream, dry=dry)
    except ArchiveAway:
        raise
    except (Illegible, KeyError) as wrong:
        told.failed.append(f"{stream} ({wrong})")
        return None


def _tell(told: Told, wanted: Wanted) -> None:
    size = several(told.bytes, "byte", "bytes")
    if wanted.as_json:
        sys.stdout.write(json_line(told))
    elif wanted.dry_run:
        say(f"{several(told.archived, 'table', 'tables')} would go, in {size}; nothing has changed.")
    else:
        stay = told.live + told.recent + told.disputed + told.changed
        went, stays = several(told.archived, "table", "tables"), several(stay, "stays", "stay")
        say(f"{went} went, in {size}; {stays}, {told.there} had gone before.")
    if told.erased and not wanted.as_json:
        say(f"{several(told.erased, 'account was', 'accounts were')} erased that the archive did not know of.")
    if told.again and not wanted.as_json:
        say(f"{several(told.again, 'account was', 'accounts were')} erased again that the archive knew as erased.")
    _tell_unerased(told.unerased, "start the service with this archive, or erase")
    _tell_unerased(told.unruled, "name with --games the games of")
    if told.lost:
        some = ", ".join(told.lost[:NAMED])
        lost = several(len(told.lost), "table is lost, whose file", "tables are lost, whose files")
        say(f"{lost} the archive lacks: {some}; put back what is lacking", "bold yellow")
    if told.failed:
        some = "; ".join(told.failed[:NAMED])
        stays = several(len(told.failed), "table stays", "tables stay")
        say(f"{stays} that something is wrong with: {some}", "bold yellow")


def _tell_unerased(accounts: list[str], cure: str) -> None:
    if accounts:
        some = ", ".join(accounts[:NAMED])
        which = several(len(accounts), "account is", "accounts are")
        say(f"{which} not erased in the store that the archive knows as erased: {cure} {some}", "bold yellow")
