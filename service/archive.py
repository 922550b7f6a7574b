"""The archive: a folder or an S3-compatible bucket, where the logs of tables lie that ended long ago.

One file a stream, `<partition>/table-<id>-<version>.ndjson.gz`, never written again once a tombstone names it: gzip of
lines that each are JSON, so that a stranger reads them by `zcat` and `jq`.

    header     {"archive":1,"stream":"table:<id>","version":n,"head":"<hex>"}
    entries    {"h":"<64 hex digits>","e":<the exact bytes of e>}     one a line, the first entry first

The 76 bytes before `e`, and the brace after it, are always the same but for the digits: what lies between is what the
store held, byte for byte. A file proves itself, for the heads chain the entries up to the head that the header names
and that the tombstone in the store names too. What the key index held is in the entries, each with its key.

    ArchiveUnfit    the address is none that is known
    ArchiveAway     the place can't be reached, or does not have a file
    Broken          a file is not what was put there

Beside the logs it remembers who was erased, `erased/<account>`, because it outlives a store that is lost.

Left out: what is archived, and when (archiving.py); who reads what the store does not have any more (log.py).
"""

import asyncio
import gzip
import logging
import os
import zlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast
from urllib.parse import unquote, urlsplit

import msgspec
import obstore
from obstore.exceptions import BaseError
from obstore.store import LocalStore, ObjectStore, S3Store
from redis.asyncio import Redis

from service.errors import ArchiveAway
from service.files import sync
from service.ids import is_id, partition
from service.store import Turns, answered
from service.streams import Broken, Stored, broken, check_chain
from service.zipped import lines_in

if TYPE_CHECKING:
    from obstore import ObjectMeta  # It is there for types alone.

CACHED_BYTES: Final = 32 << 20
"""How much of what was read last is kept, by the bytes of its entries."""

LINE_BYTES: Final = 1 << 20
"""How long a line of a file may be: no request has a sixteenth of it, and no decision is much longer than its own."""

MEAN_BYTES: Final = 65_536
"""How long the lines of a file may be on the whole, by the number of its entries, beside one that is as long as any."""

DAMAGED_REMEMBERED: Final = 1_024
"""How many files that were found damaged are remembered."""

T = TypeVar("T")

_Mark: TypeAlias = tuple[str | None, datetime, int]
"""What tells a file from another that lies at the same path later: its tag, when it was put there, its bytes."""

ADDRESS_KEY: Final = "service:archive"
"""Where a store keeps the address of the archive that it is used with, from before anything lies there."""

ERASED: Final = "erased"
"""Where an empty file lies for each account that was erased, by its id."""

_RETRIES: Final = 3
_RETRYING: Final = timedelta(seconds=10)
_ANSWER_S: Final = "60s"

_H: Final = slice(6, 70)
_BEFORE_E: Final = 76

_journal = logging.getLogger(__name__)


class ArchiveUnfit(Exception):
    """The address of the archive can't be meant; the message is one sentence."""


class Tombstone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the store keeps of an archived stream: its last version, the head there (hex), and its file's path."""

    version: int
    head: str
    path: str


class _Header(msgspec.Struct, frozen=True):
    archive: int
    stream: str
    version: int
    head: str


class _Keyed(msgspec.Struct):
    key: str | None


_encode = msgspec.json.Encoder().encode
_tombstone = msgspec.json.Decoder(Tombstone)
_keyed = msgspec.json.Decoder(_Keyed)


def tombstone_of(stream: str, last: Stored) -> bytes:
    """Return what the store keeps of a stream whose last entry this is."""
    return _encode(Tombstone(last.version, last.h.hex(), path_of(stream, last.version)))


def path_of(stream: str, version: int) -> str:
    """Return where a stream of so many entries lies in the archive."""
    kind, _, id_ = stream.partition(":")
    return f"{partition(id_):02}/{kind}-{id_}-{version}.ndjson.gz"


def packed(stream: str, entries: Sequence[Stored]) -> bytes:
    """Return the file of a stream; the same entries always make the same bytes."""
    return gzip.compress(_text(stream, entries), mtime=0)


def unpacked(stream: str, file: bytes, version: int) -> list[Stored]:
    """Return the entries of a stream's file, up to this version.

    Raise Broken unless all of them are there, chained, and nothing else; no more is unpacked than what fits.
    """
    try:
        header, entries = _read(stream, lines_in((file,), LINE_BYTES), version)
    except (ValueError, zlib.error) as error:
        raise broken(f"the archived file of {stream} can't be read: {error}") from None
    if not entries or header != next(lines_of(stream, entries)):
        raise broken(f"the archived file of {stream} does not say what its entries do")
    return entries


def _read(stream: str, lines: Iterator[bytes], version: int) -> tuple[bytes, list[Stored]]:
    header, entries, head, left = next(lines, b""), list[Stored](), b"", LINE_BYTES + version * MEAN_BYTES
    for number, line in enumerate(lines, 1):
        stored = entry_of(number, line)
        left -= len(line)
        if number > version or left < 0:
            raise ValueError(f"line {number + 1} does not fit")
        check_chain(stream, number - 1, head, [stored])
        entries.append(stored)
        head = stored.h
    return header, entries


def lines_of(stream: str, entries: Sequence[Stored]) -> Iterator[bytes]:
    """Yield the lines of a stream's file, without their newlines."""
    yield _encode(_Header(1, stream, entries[-1].version, entries[-1].h.hex()))
    for stored in entries:
        yield _line_of(stored)


def entry_of(version: int, line: bytes) -> Stored:
    """Return the entry that a line tells; raise ValueError for one that tells none."""
    stored = Stored(version, line[_BEFORE_E:-1], bytes.fromhex(line[_H].decode("ascii")))
    if line != _line_of(stored):
        raise ValueError("a line is no entry's")
    return stored


def _line_of(stored: Stored) -> bytes:
    return b'{"h":"%s","e":%s}' % (stored.h.hex().encode("ascii"), stored.e)


def _text(stream: str, entries: Sequence[Stored]) -> bytes:
    return b"".join(line + b"\n" for line in lines_of(stream, entries))


def keys_in(entries: Sequence[Stored]) -> dict[str, int]:
    """Return the idempotency keys that entries were appended with, and the version that each led to."""
    keyed = ((_keyed.decode(stored.e).key, stored.version) for stored in entries)
    return {key: version for key, version in keyed if key is not None}


class Archive:
    """A place of files, by its address: `file:///folder` or `s3://bucket/prefix`.

    Where S3 is, and who we are there, say the variables that its tools share: AWS_ENDPOINT_URL, AWS_REGION,
    AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY. Nothing is asked of the place before something is wanted of it: a service
    starts while its archive is away.
    """

    def __init__(self, address: str) -> None:
        """Take the address; raise ArchiveUnfit."""
        self.address = address
        parts = urlsplit(address)
        is_folder = address.startswith("file:///") and len(parts.path) > 1
        is_bucket = parts.scheme == "s3" and bool(parts.netloc)
        if not (is_folder or is_bucket) or parts.query or parts.fragment or parts.username or parts.port:
            raise ArchiveUnfit("The archive's address is malformed: write file:///folder or s3://bucket/prefix.")
        self._folder = Path(unquote(parts.path)) if is_folder else None
        self._bucket, self._prefix = parts.netloc, parts.path.strip("/")
        self._store: ObjectStore | None = None
        self._read: OrderedDict[str, list[Stored]] = OrderedDict()
        self._bytes = 0
        self._damaged: OrderedDict[str, tuple[_Mark, str]] = OrderedDict()
        self._reading = Turns()

    async def look(self) -> None:
        """Return if the place is there; raise ArchiveAway."""
        await self._asked(lambda place: next(iter(obstore.list(place, chunk_size=1)), None))

    async def put(self, path: str, file: bytes) -> None:
        """Put a file there and return when it is safe from a power cut; raise ArchiveAway."""

        def put(place: ObjectStore) -> None:
            obstore.put(place, path, file)
            if self._folder is not None:
                _sync(self._folder, self._folder / path)

        await self._asked(put)

    async def get(self, path: str) -> bytes:
        """Return a file as it lies there; raise ArchiveAway."""
        return (await self._marked(path))[1]

    async def _marked(self, path: str) -> tuple[_Mark, bytes]:
        def get(place: ObjectStore) -> tuple[_Mark, bytes]:
            got = obstore.get(place, path)
            return _mark(got.meta), bytes(got.bytes())

        return await self._asked(get)

    async def lacking(self, paths: Collection[str]) -> set[str]:
        """Return which of these files are not there; raise ArchiveAway. All that is there is listed, once."""
        if not paths:
            return set()
        pages = await self._asked(lambda place: list(obstore.list(place)))
        return set(paths).difference(each["path"] for page in pages for each in page)

    async def note_erased(self, account: str) -> None:
        """Note that an account was erased, for whoever fills a store from an older backup; raise ArchiveAway."""
        await self.put(f"{ERASED}/{account}", b"")

    async def erased(self) -> set[str]:
        """Return the ids of all accounts that were noted as erased, whatever else lies there; raise ArchiveAway."""
        pages = await self._asked(lambda place: list(obstore.list(place, prefix=ERASED)))
        return set(filter(is_id, (each["path"].removeprefix(f"{ERASED}/") for page in pages for each in page)))

    async def entries(self, stream: str, tombstone: bytes) -> list[Stored]:
        """Return all entries of a stream that this tombstone tells of; raise Broken or ArchiveAway.

        The list is the archive's own, and may be kept for whoever asks next.
        """
        told = read_tombstone(stream, tombstone)
        async with self._reading.of(told.path):
            entries = self._read.get(told.path)
            if entries is None:
                try:
                    entries = await self._unpacked(stream, told)
                except ArchiveAway as away:
                    _journal.error("%s can't be read: %s", stream, away)
                    raise
                self._keep(told.path, entries)
            self._read.move_to_end(told.path)
        if (entries[-1].version, entries[-1].h.hex()) != (told.version, told.head):
            raise broken(f"the archived file of {stream} does not end as its tombstone says")
        return entries

    async def _unpacked(self, stream: str, told: Tombstone) -> list[Stored]:
        """Read a file, and not again what was found damaged, until another lies there."""
        path = told.path
        if path in self._damaged:
            mark, why = self._damaged[path]
            if await self._asked(lambda place: _mark(obstore.head(place, path))) == mark:
                raise Broken(why)
            del self._damaged[path]
        mark, file = await self._marked(path)
        try:
            return await asyncio.to_thread(unpacked, stream, file, told.version)
        except Broken as damage:
            self._damaged[path] = (mark, str(damage))
            if len(self._damaged) > DAMAGED_REMEMBERED:
                self._damaged.popitem(last=False)
            raise

    def _keep(self, path: str, entries: list[Stored]) -> None:
        self._read[path] = entries
        self._bytes += _size(entries)
        while self._bytes > CACHED_BYTES and len(self._read) > 1:
            _, oldest = self._read.popitem(last=False)
            self._bytes -= _size(oldest)

    def _place(self) -> ObjectStore:
        if self._folder is not None and not self._folder.is_dir():
            raise FileNotFoundError("there is no such folder")
        if self._store is None:
            self._store = self._bucket_at() if self._folder is None else LocalStore(self._folder)
        return self._store

    def _bucket_at(self) -> S3Store:
        return S3Store(
            self._bucket,
            prefix=self._prefix or None,
            client_options={
                "connect_timeout": "5s",
                "timeout": _ANSWER_S,
                "allow_http": os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://"),
            },
            retry_config={"max_retries": _RETRIES, "retry_timeout": _RETRYING},
        )

    async def _asked(self, ask: Callable[[ObjectStore], T]) -> T:
        """Ask the place, in a thread; raise ArchiveAway.

        The library's own coroutines are left alone: what they leave to its threads aborts a process that ends then.
        """
        try:
            return await asyncio.to_thread(lambda: ask(self._place()))
        except (BaseError, OSError) as error:
            why = str(error).partition("\n")[0]
            raise ArchiveAway(f"The archive at {self.address} can't be used: {why}") from error


def archived(address: str | None) -> Archive | None:
    """Return the archive at an address, None where none is named; raise ArchiveUnfit."""
    return None if address is None else Archive(address)


async def remember(redis: Redis, archive: Archive) -> None:
    """Have a store know which archive it is used with, so that its backups say so; raise StoreDown."""
    # A store without room for another byte lets a service start all the same.
    if await remembered(redis) != archive.address:
        with answered():
            await redis.set(ADDRESS_KEY, archive.address)


async def remembered(redis: Redis) -> str | None:
    """Return the address of the archive that a store was last used with, None if it never was; raise StoreDown."""
    with answered():
        address = cast("bytes | None", await redis.get(ADDRESS_KEY))
    return None if address is None else address.decode()


def read_tombstone(stream: str, tombstone: bytes) -> Tombstone:
    """Read what the store keeps of an archived stream; raise Broken."""
    try:
        return _tombstone.decode(tombstone)
    except msgspec.DecodeError:
        raise broken(f"the tombstone of {stream} can't be read") from None


def _mark(meta: "ObjectMeta") -> _Mark:
    return meta["e_tag"], meta["last_modified"], meta["size"]


def _size(entries: Sequence[Stored]) -> int:
    return sum(len(stored.e) for stored in entries)


def _sync(folder: Path, file: Path) -> None:
    """Have a file and the folders that it lies in reach the disk."""
    for each in (file, *file.parents):
        sync(each)
        if each == folder:
            return
