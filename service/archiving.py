"""Archiving: the logs of tables that ended long ago go from the store to the archive, one after the other.

A table goes when it has ended, no dispute is open, and nothing was added to its log for the dispute window. Each step
leaves the log readable, so that whoever is cut off between two of them has lost nothing, and another run goes on:

    1. the copy is put into the archive                    the store has all, and nobody knows of the copy
    2. the copy is read back, and is what the store has
    3. the tombstone is written, if the stream is still    the store has all; nothing is added any more
       as it was copied
    4. the stream and its key index are unlinked           readers find the copy by the tombstone

A run that meets a tombstone and its stream verifies the copy anew before the last step. Where the copy is not what the
store has, the stream stays.

Left out: the files themselves (archive.py), and how a stream comes back (`Log.restore`).
"""

from contextlib import suppress
from typing import Literal, NamedTuple, TypeAlias, cast

import msgspec
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from service.archive import Archive, packed, path_of, read_tombstone, tombstone_of, unpacked
from service.folding import read_stored
from service.games import Games
from service.log import Log
from service.store import answered, begin
from service.streams import UNREADABLE, Broken, Stored, broken, check_chain, keys_of, unreadable
from service.tablefold import TableFold
from service.walk import Walk

Fate: TypeAlias = Literal["archived", "there", "live", "recent", "disputed", "changed"]
"""What became of a table: it went; it had gone before; it has not ended; its window has not passed; a dispute is open;
something was added to it while it was copied."""


class Moved(NamedTuple):
    """What became of a stream, how many entries it has, and how many bytes its file has: 0 where it did not go."""

    fate: Fate
    version: int
    size: int = 0


class Lost(NamedTuple):
    """Streams whose files an archive lacks, and whether these are all there are: then it is another archive."""

    streams: list[str]
    all_of_them: bool


class _At(msgspec.Struct):
    at: int


_at = msgspec.json.Decoder(_At)


def _moment(stream: str, stored: Stored) -> int:
    """Return when an entry was appended, in UTC ms; raise Broken."""
    try:
        return _at.decode(stored.e).at
    except UNREADABLE:
        raise unreadable(stream, stored.version) from None


class Archiving:
    """Archives the tables of a store."""

    def __init__(self, redis: Redis, log: Log, archive: Archive, games: Games, before: int) -> None:  # noqa: PLR0913, PLR0917 both ends, and what goes
        """Take the store as its archivist, its log, the archive, the games; what was added to since `before` stays.

        `before` is in UTC ms.
        """
        self._redis = redis
        self._log = log
        self._archive = archive
        self._fold = TableFold(games)
        self._before = before

    async def consider(self, stream: str, *, dry: bool = False) -> Moved:
        """Archive a table whose time has come; `dry`: only say so.

        Raise Damaged for a log or a copy that is not what it must be, ArchiveAway, StoreDown, and KeyError for a game
        that is not known.
        """
        keys = keys_of(stream)
        with answered():
            length = await self._redis.xlen(keys.stream)
            tombstone = cast("bytes | None", await self._redis.get(keys.tombstone))
        if tombstone is not None:
            return await self._finish(stream, tombstone, length, dry=dry)
        last = await self._log.last(stream)
        if last is None or _moment(stream, last) > self._before:
            return Moved("recent", length)
        entries = await self.read(stream)
        fate = self._fate(stream, entries)
        if fate != "archived":
            return Moved(fate, len(entries))
        file = packed(stream, entries)
        if dry:
            return Moved(fate, len(entries), len(file))
        await self.copy(stream, entries, file)
        if not await self.bury(stream, entries[-1]):
            return Moved("changed", len(entries))
        await self.unlink(stream)
        return Moved(fate, len(entries), len(file))

    async def lost(self) -> Lost:
        """Return the streams whose file, as the store's tombstone names it, the archive does not have.

        Raise ArchiveAway or StoreDown.
        """
        paths = dict[str, str]()
        async for stream, tombstone in Walk(self._log).tombstones():
            with suppress(Broken):  # Whoever considers the stream meets it again.
                paths[read_tombstone(stream, tombstone).path] = stream
        lacking = await self._archive.lacking(paths)
        return Lost(sorted(paths[path] for path in lacking), all_of_them=0 < len(lacking) == len(paths))

    async def read(self, stream: str) -> list[Stored]:
        """Return all that the store has of a stream; raise Broken, StoreDown."""
        entries = [stored async for page in Walk(self._log).pages(stream) for stored in page]
        check_chain(stream, 0, b"", entries)
        return entries

    async def copy(self, stream: str, entries: list[Stored], file: bytes) -> None:
        """Put a stream's file into the archive, and read it back; raise ArchiveAway, and Broken if it is another."""
        path = path_of(stream, len(entries))
        await self._archive.put(path, file)
        await self._verify(stream, path, entries)

    async def bury(self, stream: str, last: Stored) -> bool:
        """Write the tombstone of a stream, if this is still its last entry; return whether it is."""
        keys = keys_of(stream)

        async def write(pipe: Pipeline) -> bool:
            newest = await pipe.xrange(keys.stream, f"{last.version}-0", count=2)
            is_last = [fields[b"h"] for _, fields in cast("list[tuple[bytes, dict[bytes, bytes]]]", newest)] == [last.h]
            begin(pipe)
            if is_last:
                pipe.set(keys.tombstone, tombstone_of(stream, last))
            return is_last

        with answered():
            return bool(await self._redis.transaction(write, keys.stream, value_from_callable=True))

    async def unlink(self, stream: str) -> None:
        """Take a stream that has a tombstone out of the store, with its key index."""
        keys = keys_of(stream)
        with answered():
            await self._redis.unlink(keys.stream, keys.remembered)

    async def _finish(self, stream: str, tombstone: bytes, length: int, *, dry: bool) -> Moved:
        """Take a stream out of the store whose tombstone is there, if the copy is what the store has."""
        told = read_tombstone(stream, tombstone)
        if not length or dry:
            return Moved("there", told.version)
        entries = await self.read(stream)
        size = await self._verify(stream, told.path, entries)
        if (told.version, told.head) != (entries[-1].version, entries[-1].h.hex()):
            raise broken(f"{stream} does not end as its tombstone says")
        await self.unlink(stream)
        return Moved("archived", told.version, size)

    async def _verify(self, stream: str, path: str, entries: list[Stored]) -> int:
        """Raise Broken unless the archive has these entries of a stream at a path; return how many bytes it has."""
        file = await self._archive.get(path)
        if unpacked(stream, file, len(entries)) != entries:
            raise broken(f"the archived file of {stream} is not what the store has")
        return len(file)

    def _fate(self, stream: str, entries: list[Stored]) -> Fate:
        table = self._fold.empty(stream)
        for stored in entries:
            read_stored(self._fold, stream, table, stored)()
        if table.status != "ended":
            return "live"
        return "disputed" if any(dispute.ruling is None for dispute in table.disputes) else "archived"
