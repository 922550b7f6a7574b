"""A whole store copied into one file, and another filled from it."""

import asyncio
import gzip
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from msgspec.structs import replace
from redis.asyncio import Redis
from redis.exceptions import ResponseError
from rich.console import Console
from rich.progress import Progress, TextColumn, TimeElapsedColumn

from service.archive import Archive, archived, remember, remembered
from service.auth.accounts import Accounts
from service.auth.keys import create, kept, secret_from
from service.backup import Backup, BackupUnfit, Counted, HeaderLine, check, fill, header_of
from service.cli.erase import erasing
from service.cli.games import found
from service.cli.opened import opened
from service.cli.sentences import Failed, Unusable, say, several, told
from service.clock import utc_ms
from service.erasing import Erasing
from service.errors import ArchiveAway, Obstacle, StoreDown
from service.files import BeingWritten, making, replacing
from service.games import Games
from service.ids import is_id
from service.log import Log
from service.settings import Place
from service.store import RESTORING_KEY, answered

SECRETS: Final = {"secret": "EVENFOLD_SECRET", "signing": "EVENFOLD_SIGNING_KEY"}
"""The files of the keys' folder, and the variables that say the same."""

ERASED_FILE: Final = "evenfold-erased.txt"
"""Beside backups: the ids of all accounts that were erased by the time the newest of them was made, one a line."""

NAMED: Final = 5

IN_PART: Final = "The store is filled in part, and must be emptied"


class Wanted(NamedTuple):
    """Where the backup goes, a file or a folder, as it was said, and the folder of the secrets if they go with it."""

    target: str
    keys: Path | None


class Refill(NamedTuple):
    """The backup, the folder its secrets go to if it has any, and whether the archive that it speaks of is lost."""

    file: Path
    keys: Path
    without_archive: bool = False


def backup(place: Place, wanted: Wanted) -> None:
    """Copy a store into a file, which it says on the error stream; raise Unusable or Failed."""
    secrets = {} if wanted.keys is None else _secrets(wanted.keys)
    now = utc_ms()
    try:
        target = _target(wanted.target, now)
        made = _written(place, target, HeaderLine(1, now, secrets, place.archive))
    except BeingWritten:
        raise Unusable(f"Another run writes {wanted.target}") from None
    except OSError as error:
        raise Unusable(f"{wanted.target} can't be written: {error.strerror}") from None
    _tell(target, made, secrets)
    try:
        check(target)
    except BackupUnfit as unfit:
        raise Failed(f"The store has what could not be restored. {unfit}") from None


def restore(place: Place, wanted: Refill, modules: Sequence[str]) -> None:
    """Fill a store that holds nothing from a backup; raise Unusable or Failed."""
    games = found(modules)
    if wanted.without_archive and place.archive is not None:
        raise Unusable(f"--without-archive says that the archive is lost, and --archive that it is {place.archive}")
    try:
        header, (holds, paths, unheld) = header_of(wanted.file), check(wanted.file)
    except BackupUnfit as unfit:
        raise Unusable(str(unfit)) from None
    _heed_archive(place, wanted, header, holds)
    # Before anything is written: nobody who was erased is to come back because that can't be read.
    erased = _erased_in(wanted.file.with_name(ERASED_FILE))
    if place.archive is not None:
        erased |= asyncio.run(_erased_by(Archive(place.archive), paths))
    asyncio.run(_restored(place, wanted, header.secrets, _Known(games, erased)))
    _tell_filled(holds, unheld, wanted)
    if place.archive is not None and header.archive not in {None, place.archive}:
        say(
            f"WARNING: The backup's archive was {header.archive}; there it is known who was erased since.",
            "bold yellow",
        )


def _heed_archive(place: Place, wanted: Refill, header: HeaderLine, holds: Counted) -> None:
    """Raise Unusable where a backup speaks of an archive and the command does not."""
    if place.archive is None and not wanted.without_archive and (holds.archived or header.archive is not None):
        at = "" if header.archive is None else f" at {header.archive}"
        raise Unusable(
            f"The backup's archive{at} has {holds.archived} of its logs, and knows who was erased since: say with"
            " --archive where it is, or with --without-archive that it is lost"
        )


def _target(said: str, now: int) -> Path:
    """Return the file that a backup of this moment (UTC ms) goes to; raise Unusable."""
    target = Path(said).expanduser().absolute()
    if target.is_dir():
        target /= f"evenfold-{datetime.fromtimestamp(now / 1_000, UTC):%Y-%m-%dT%H-%M-%S}.backup.gz"
    elif os.path.basename(said) in {"", "."}:  # noqa: PTH119 a Path does not know any more that it ended in a slash
        raise Unusable(f"There is no folder {target}")
    if target.exists():
        raise Unusable(f"{target} is there already")
    if not target.parent.is_dir():
        raise Unusable(f"There is no folder {target.parent}")
    return target


def _written(place: Place, target: Path, header: HeaderLine) -> Backup:
    """Make the file of a backup, and note beside it who is erased; return what was read."""
    erased_file = target.with_name(ERASED_FILE)
    _require_legible(erased_file)
    with making(target) as file:
        made, erased = asyncio.run(_made(place, file, header))
        _note(erased, erased_file)
    return made


def _require_legible(file: Path) -> None:
    """Raise Unusable, before anything is done, where the list beside backups could not be added to at the end."""
    _erased_in(file)


def _tell(target: Path, made: Backup, secrets: dict[str, str]) -> None:
    """Say what is in a backup; raise Failed where logs are not in it."""
    counted = made.counted
    say(
        f"{target} holds {several(counted.streams, 'log', 'logs')}, {several(counted.keys, 'key', 'keys')} and"
        f" {several(counted.leaves, 'leaf', 'leaves')}{', and the secrets' if secrets else ', and no secrets'};"
        f" {several(counted.archived, 'log is', 'logs are')} in the archive."
    )
    if made.damaged:
        some = ", ".join(made.damaged[:NAMED])
        which = several(len(made.damaged), "log is damaged and", "logs are damaged and")
        raise Failed(f"{which} not in the backup: {some}")


def _tell_filled(holds: Counted, unheld: int, wanted: Refill) -> None:
    if wanted.without_archive:
        away = several(holds.archived, "was in the archive, which is lost", "were in the archive, which is lost")
    else:
        away = several(holds.archived, "is in the archive, where it was", "are in the archive, where they were")
    say(f"The store holds {several(holds.streams, 'log', 'logs')} again; {away}.")
    if unheld:
        leaves = several(unheld, "leaf of the transparency log was", "leaves of the transparency log were")
        say(f"{leaves} held to no log, for what is told of there is not in the backup.")


def _secrets(folder: Path) -> dict[str, str]:
    with told():
        for name in SECRETS:
            if not (folder / name).exists() and SECRETS[name] not in os.environ:
                raise Unusable(f"The secrets are not in {folder}; say with --keys where they are")
        secret = secret_from(folder, os.environ.get("EVENFOLD_SECRET"))
        signing = kept(folder / "signing", os.environ.get("EVENFOLD_SIGNING_KEY"), "EVENFOLD_SIGNING_KEY")
    return {"secret": secret.hex(), "signing": signing.hex()}


def _keep(secrets: dict[str, str], folder: Path) -> None:
    """Write the secrets of a backup to a folder that has none; others that it has stay, and that is told.

    Raise Unusable for a folder that can't be used.
    """
    try:
        for name, secret in secrets.items():
            path = folder / name
            if not path.exists():
                create(path, secret)
            elif path.read_text(encoding="ascii").strip() != secret:
                say(f"WARNING: {path} is another than that of the backup, and stays.", "bold yellow")
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"The secrets of the backup can't be kept in {folder}: {error}") from None


async def _made(place: Place, file: BinaryIO, header: HeaderLine) -> tuple[Backup, set[str]]:
    """Write a backup to a file; return what was read, and who was erased by then."""
    async with opened(place, "evenfold backup") as redis:
        log = Log(redis)
        try:
            header = replace(header, archive=header.archive or await remembered(redis))
            made = Backup(redis, log)
            with _counting("lines") as count:
                await _write(made, file, header, count)
            return made, await Accounts(redis).condemned()
        except StoreDown as down:
            raise Failed(f"No backup was made: {down.__cause__ or down}") from None
        except ResponseError as error:
            raise Failed(f"No backup was made; the store says: {error}") from None
        finally:
            await log.close()


async def _write(made: Backup, file: BinaryIO, header: HeaderLine, advance: Callable[[], object]) -> None:
    with gzip.GzipFile(fileobj=file, mode="wb") as packed:
        async for line in made.lines(header):
            packed.write(line + b"\n")
            advance()


@contextmanager
def _counting(what: str) -> Iterator[Callable[[], object]]:
    """Show on a terminal how many of something are done; give what counts one more."""
    columns = (TextColumn(f"{{task.completed}} {what}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(what, total=None)
        yield lambda: progress.advance(task)


def _note(erased: set[str], file: Path) -> None:
    """Add to the list beside the backups who is erased by now."""
    if erased:
        with replacing(file) as part:
            part.writelines(f"{each}\n".encode("ascii") for each in sorted(erased | _erased_in(file)))


def _erased_in(file: Path) -> set[str]:
    """Return whom a list beside backups names, nobody where there is none; raise Unusable for what is no such list."""
    try:
        erased = set(file.read_text(encoding="ascii").split())
    except FileNotFoundError:
        return set()
    except (OSError, UnicodeDecodeError) as error:
        raise Unusable(f"{file} can't be read, which says who was erased: {error}") from None
    if wrong := sorted(each for each in erased if not is_id(each)):
        raise Unusable(f"{file} says who was erased, and {wrong[0]!r} is the id of no account")
    return erased


async def _erased_by(archive: Archive, paths: set[str]) -> set[str]:
    """Return whom an archive knows as erased; raise Unusable where it is away, or lacks files that a backup names."""
    try:
        lacking, erased = await archive.lacking(paths), await archive.erased()
    except ArchiveAway as away:
        raise Unusable(str(away)) from None
    if lacking:
        raise Unusable(
            f"The archive at {archive.address} lacks {several(len(lacking), 'file', 'files')} that the backup names,"
            f" such as {min(lacking)}: name the archive that has all, or put back what is lacking"
        )
    return erased


class _Known(NamedTuple):
    """Which games are known here, and who was erased."""

    games: Games
    erased: set[str]


async def _restored(place: Place, wanted: Refill, secrets: dict[str, str], known: _Known) -> None:
    async with opened(place, "evenfold restore", create=True) as redis:
        # First of all: a store that is whole is served, with secrets that are made where there are none.
        await _begin(redis, lambda: _keep(secrets, wanted.keys))
        archive = archived(place.archive)
        log = Log(redis, archive=archive)
        try:
            with _counting("logs and keys") as count:
                await fill(redis, log, wanted.file, count)
            if archive is not None:
                await remember(redis, archive)
            # Whoever was about to be erased while the backup was made is on its own list.
            erased = known.erased | await Accounts(redis).condemned()
            await _erase_again(erasing(redis, log, known.games, archive), erased)
            with answered():
                await redis.delete(RESTORING_KEY)
        except (Obstacle, BackupUnfit) as obstacle:
            raise Failed(f"{IN_PART}: {obstacle.__cause__ or obstacle}") from None
        except ResponseError as error:
            raise Failed(f"{IN_PART}; it says: {error}") from None
        finally:
            await log.close()


async def _begin(redis: Redis, prepare: Callable[[], None]) -> None:
    """Mark a store as one that is being filled, once all is prepared; raise Unusable if it can't be, and Failed."""
    try:
        with answered():
            if await redis.dbsize():
                raise Unusable("The store holds something already; a backup is restored into an empty one alone")
            prepare()
            await redis.set(RESTORING_KEY, utc_ms())
    except StoreDown as down:
        raise Failed(f"Nothing is restored: {down.__cause__ or down}") from None


async def _erase_again(erases: Erasing, erased: set[str]) -> None:
    """Erase whom the backup still knows and who was erased since it was made; raise Failed."""
    async for account, why in erases.erase_again(await erases.still_known(erased)):
        match why:
            case None:
                say(f"Account {account} was erased since the backup was made, and is erased again.")
            case KeyError():
                raise Failed(f"{_unerased(account)}: name the game of {why} with --games")
            case Obstacle():
                raise Failed(f"{_unerased(account)}: {why.__cause__ or why}")
            case _:
                raise why


def _unerased(account: str) -> str:
    return f"{IN_PART}, for account {account} was erased since and is not erased altogether"
