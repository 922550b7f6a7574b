"""A backup: all that a store keeps, in one file that any other store can be filled from.

The file is gzip of lines of JSON, in this order:

    {"backup":1,"made":<UTC ms>,"secrets":{"<name>":"<hex>"},"archive":"<address>"|null}
                                                                           what the file is; keys only when asked for
    {"leaf":{…}}                                                           the transparency log, first leaf first
    the lines of a stream's file in the archive (archive.py)               one stream after the other
    {"tombstone":"<stream>","says":"…"}                                    of a stream that lies in the archive
    {"key":"…","type":"hash","until":<UTC ms>|null,"value":[…]}            everything else, key by key
    {"end":{"streams":n,"archived":n,"leaves":n,"keys":n},"sha256":"<hex>"}
                                                                           that the file is whole: all lines before it

How keys and their values are told says values.py. All that is restored is held to its form when the file is read
through, before anything is written, a text to the hash that a log of the same file has of it, and a leaf to the head
that its log has, or that the tombstone says. A leaf of an earlier version of an archived log, or of one that is not in
the file, can't be held to anything here. The digest finds what was altered by accident; whoever means to can make it
anew.

It is made while the service runs. A log grows only, and each is copied to where it had got: all that was acknowledged
before the backup began is in it. What was told and logged of a decision is read before the logs, and who sits where
after them, so that nothing speaks of a decision that is not there. A notice that comes meanwhile may be told twice.

Left out, for a store finds it anew: key indices, catalogues and feeds (each stream is hinted at once, so reactors look
at all of it), cursors and leases of reactors, tickets, and who was seen where. Logs in the archive stay there.
"""

import re
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Annotated, BinaryIO, Final, NamedTuple, TypeAlias, cast

import msgspec
from msgspec import Meta, Raw
from redis.asyncio import Redis

from events.base import whole
from events.table import Hex256, TextRef
from service import values
from service.archive import entry_of, keys_in, lines_of, read_tombstone
from service.audit.signing import Signer
from service.audit.transparency import LEAVES_KEY, SIZE_KEY, Leaf, Transparency
from service.errors import Damaged
from service.ids import PARTITIONS
from service.log import Log
from service.store import answered
from service.streams import Stored, check_chain, keys_of
from service.texts import TEXT_KEY, read_text
from service.values import Hash, Key
from service.zipped import PIECE, lines_in

PAGE: Final = 200
LEAVES: Final = 500

_TOLD = re.compile(rb"\{\d\d\}:told:")
_DERIVED = re.compile(rb"inbox:|\{(?:lobby|docket)\}:")
_FOUND_ANEW = re.compile(
    rb"\{\d\d\}:(?:table|tournament|keys|gone|cursor|aside):|\{\d\d\}:(?:feed|streams|lease)$"
    rb"|transparency:|ticket:|presence:|reactors$|bells$|service:(?:mark|restoring)$"
)

Line: TypeAlias = bytes
_Fields: TypeAlias = dict[bytes, bytes]


class BackupUnfit(Exception):
    """The file is no backup, or not a whole one; the message is one sentence."""


_Secret = Annotated[str, Meta(pattern=whole("(secret|signing)"))]
"""A file of the keys' folder: it is written there by this name."""


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line: when it was made (UTC ms), and the service's secrets by name, in hex, if they were asked for.

    `archive` is the address of the archive that the store was used with, None where that is not known.
    """

    backup: int
    made: int
    secrets: dict[_Secret, Hex256] = {}
    archive: str | None = None


class Counted(msgspec.Struct):
    """How much there is of everything."""

    streams: int = 0
    archived: int = 0
    leaves: int = 0
    keys: int = 0


class _Stream(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    archive: int
    stream: str
    version: int
    head: str


class _Tombstone(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tombstone: str
    says: str


class _Leaf(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    leaf: Leaf


class _End(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    end: Counted
    sha256: Hex256


class _Event(msgspec.Struct):
    type: str
    text: Raw = Raw(b"null")


class _Entry(msgspec.Struct):
    events: list[_Event]


_head = msgspec.json.Decoder(Head)
_entry = msgspec.json.Decoder(_Entry)
_ref = msgspec.json.Decoder(TextRef | None)
_KINDS: "Final[Mapping[bytes, Callable[[bytes], _Told]]]" = {
    b'{"archive":': msgspec.json.Decoder(_Stream).decode,
    b'{"tombstone":': msgspec.json.Decoder(_Tombstone).decode,
    b'{"leaf":': msgspec.json.Decoder(_Leaf).decode,
    b'{"key":': values.key_of,
    b'{"end":': msgspec.json.Decoder(_End).decode,
}
_NAMING: Final = ("table.dispute_filed", "table.ruled")
"""The events that name a text."""

Item: TypeAlias = "tuple[str, list[Stored]] | _Tombstone | _Leaf | Key"

_Told: TypeAlias = "_Stream | _Tombstone | _Leaf | Key | _End"

_encode = msgspec.json.Encoder().encode
_NOBODY: Final = Signer(bytes(32))
"""Signs nothing: to fill the transparency log takes no signature."""


# --- Making one ---


class Backup:
    """What is read of a store, line by line; `counted` and `damaged` (streams left out) are known at its end."""

    def __init__(self, redis: Redis, log: Log) -> None:
        """Take the store, as somebody who may read everything, and its log."""
        self._redis = redis
        self._log = log
        self.counted = Counted()
        self.damaged: list[str] = []

    async def lines(self, head: Head) -> AsyncIterator[Line]:
        """Yield all lines; raise StoreDown."""
        digest = sha256()
        async for line in self._lines(head):
            digest.update(line + b"\n")
            yield line
        yield _encode(_End(self.counted, digest.hexdigest()))

    async def _lines(self, head: Head) -> AsyncIterator[Line]:
        yield _encode(head)
        async for line in self._leaves():
            yield line
        for early in (_TOLD, _DERIVED):
            async for line in self._keys(early.match):
                yield line
        async for line in self._streams():
            yield line
        async for line in self._keys(_is_late):
            yield line

    async def _streams(self) -> AsyncIterator[Line]:
        for number in range(PARTITIONS):
            for stream in await self._log.streams(number):
                async for line in self._stream(stream):
                    yield line

    async def _stream(self, stream: str) -> AsyncIterator[Line]:
        """Yield the lines of a stream, or its tombstone; none for one that is damaged, and for one just catalogued."""
        keys = keys_of(stream)
        # A stream goes after its tombstone has come, so whatever was cut short while it was read has one.
        entries, after = list[Stored](), 0
        with answered():
            while rows := await self._redis.xrange(keys.stream, f"{after + 1}-0", count=PAGE):
                page = [Stored(at, row[b"e"], row[b"h"]) for at, (_, row) in enumerate(_entries(rows), after + 1)]
                entries += page
                after += len(page)
            tombstone = cast("bytes | None", await self._redis.get(keys.tombstone))
        try:
            check_chain(stream, 0, b"", entries)
            if tombstone is not None:
                read_tombstone(stream, tombstone)
        except Damaged:
            self.damaged.append(stream)
            return
        if tombstone is not None:
            self.counted.archived += 1
            yield _encode(_Tombstone(stream, tombstone.decode("ascii")))
        elif entries:
            self.counted.streams += 1
            for line in lines_of(stream, entries):
                yield line

    async def _leaves(self) -> AsyncIterator[Line]:
        with answered():
            number = int(await self._redis.get(SIZE_KEY) or 0)
        for first in range(0, number, LEAVES):
            fields = [str(index) for index in range(first, min(number, first + LEAVES))]
            with answered():
                leaves = cast("list[bytes]", await self._redis.hmget(LEAVES_KEY, fields))
            for leaf in leaves:
                self.counted.leaves += 1
                yield b'{"leaf":%s}' % leaf

    async def _keys(self, wanted: Callable[[bytes], object]) -> AsyncIterator[Line]:
        """Yield the lines of keys, each of them once, that were there all the while."""
        seen: set[bytes] = set()
        page: list[str] = []
        with answered():
            async for key in self._redis.scan_iter(count=PAGE):
                if key not in seen and wanted(key):
                    seen.add(key)
                    page.append(key.decode("ascii"))
                if len(page) == PAGE:
                    for line in await self._read(page):
                        yield line
                    page = []
            for line in await self._read(page):
                yield line

    async def _read(self, keys: list[str]) -> list[Line]:
        lines = await values.lines_of(self._redis, keys)
        self.counted.keys += len(lines)
        return lines


def _is_late(key: bytes) -> bool:
    return not any(kind.match(key) for kind in (_TOLD, _DERIVED, _FOUND_ANEW))


def _entries(rows: object) -> "list[tuple[bytes, _Fields]]":
    return cast("list[tuple[bytes, _Fields]]", rows)


# --- Reading one ---


class _Lines:
    """The lines of a file, of which the last that was read has this number."""

    def __init__(self, file: BinaryIO) -> None:
        self.number = 0
        self._line = b""
        self._digest = sha256()
        self._lines = lines_in(iter(lambda: file.read(PIECE), b""))

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        self.number += 1
        if self.number > 1:
            self._digest.update(self._line + b"\n")
        self._line = next(self._lines)
        return self._line

    @property
    def sha256(self) -> str:
        """The digest (hex) of all lines before the last that was read."""
        return self._digest.hexdigest()


class _Held:
    """What was read of a backup so far, which what follows must go with; each method may raise ValueError."""

    def __init__(self) -> None:
        self.counted = Counted()
        self._names: set[str] = set()
        self._refs: dict[str, str] = {}
        self._texts: dict[str, tuple[str, int]] = {}
        self._leaves: dict[str, list[tuple[Leaf, int]]] = {}
        self._strange: list[str] = []
        self._earlier = 0

    @property
    def unheld(self) -> int:
        """How many leaves there was nothing to hold to."""
        return self._earlier + sum(map(len, self._leaves.values()))

    def add_stream(self, stream: str, entries: Sequence[Stored]) -> None:
        self._name(keys_of(stream).stream)
        for leaf, line in self._leaves.pop(stream, ()):
            if leaf.version > len(entries) or entries[leaf.version - 1].h.hex() != leaf.head:
                self._strange.append(f"a leaf, line {line}, that is not what its log says")
        keys_in(entries)
        self._refs.update((ref.id, ref.hash) for stored in entries for ref in _named_in(stored.e))
        self.counted.streams += 1

    def add_tombstone(self, told: _Tombstone) -> None:
        self._name(keys_of(told.tombstone).stream)
        says = read_tombstone(told.tombstone, told.says.encode())
        for leaf, line in self._leaves.pop(told.tombstone, ()):
            self._earlier += leaf.version < says.version
            if leaf.version > says.version or (leaf.version == says.version and leaf.head != says.head):
                self._strange.append(f"a leaf, line {line}, that is not what the tombstone of its log says")
        self.counted.archived += 1

    def add_leaf(self, leaf: Leaf, line: int) -> None:
        if keys_of(leaf.stream).stream in self._names:
            raise ValueError("a leaf stands after its log")
        if leaf.index != self.counted.leaves:
            raise ValueError(f"leaf {leaf.index} stands where leaf {self.counted.leaves} belongs")
        self._name(f"{leaf.stream}:{leaf.version}")
        self._leaves.setdefault(leaf.stream, []).append((leaf, line))
        self.counted.leaves += 1

    def add_key(self, key: Key, line: int) -> None:
        if _FOUND_ANEW.match(key.key.encode("latin-1")):
            raise ValueError("no backup holds such a key")
        self._name(key.key)
        if key.key.startswith(TEXT_KEY):
            id_ = key.key.removeprefix(TEXT_KEY)
            text = read_text(id_, key.fields.get(b"salt"), key.fields.get(b"text")) if isinstance(key, Hash) else None
            if text is None:
                raise ValueError("it is no text")
            self._texts[id_] = text.hash, line
        self.counted.keys += 1

    def strange(self) -> str | None:
        """Return the first that is not what a log of the file has it to be: a leaf, or a text."""
        texts = (
            f"a text, line {line}, that is not the one its log names"
            for id_, (hashed, line) in self._texts.items()
            if self._refs.get(id_, hashed) != hashed
        )
        return next(chain(self._strange, texts), None)

    def _name(self, name: str) -> None:
        if name in self._names:
            raise ValueError("it is there twice")
        self._names.add(name)


def head_of(file: Path) -> Head:
    """Return the first line of a backup; raise BackupUnfit."""
    with _read(file) as lines:
        head = _head.decode(next(lines, b""))
    if head.backup != 1:
        raise BackupUnfit(f"{file} is a backup of another form, {head.backup}.")
    return head


def items(file: Path) -> Iterator[Item]:
    """Yield all that a backup holds, checked; raise BackupUnfit where it is not whole, or not what was written."""
    return _items(file, _Held())


def _items(file: Path, held: _Held) -> Iterator[Item]:
    with _read(file) as lines:
        next(lines, b"")
        for line in lines:
            match _told_by(line):
                case _Stream() as about:
                    entries = _log_of(about, lines)
                    held.add_stream(about.stream, entries)
                    yield about.stream, entries
                case _Tombstone() as tombstone:
                    held.add_tombstone(tombstone)
                    yield tombstone
                case _Leaf() as leaf:
                    held.add_leaf(leaf.leaf, lines.number)
                    yield leaf
                case _End() as end:
                    _check_end(file, end, held, lines)
                    return
                case key:
                    held.add_key(key, lines.number)
                    yield key
    raise BackupUnfit(f"{file} is not whole: it ends before its end.")


def _check_end(file: Path, told: _End, held: _Held, lines: _Lines) -> None:
    """Raise BackupUnfit where a file that says that it ends here is not what its end says, or goes on."""
    if told.end != held.counted:
        raise BackupUnfit(f"{file} is not whole: it holds other than it says.")
    if (strange := held.strange()) is not None:
        raise BackupUnfit(f"{file} holds {strange}.")
    if told.sha256 != lines.sha256:
        raise BackupUnfit(f"{file} was altered: its lines do not have the digest that its end says.")
    if next(lines, None) is not None:
        raise BackupUnfit(f"{file} goes on after its end.")


class Checked(NamedTuple):
    """How much a backup holds, which files of the archive it names, and how many leaves nothing in it tells of."""

    holds: Counted
    paths: set[str]
    unheld: int


def check(file: Path) -> Checked:
    """Read a backup through; raise BackupUnfit."""
    held, paths = _Held(), set[str]()
    for item in _items(file, held):
        if isinstance(item, _Tombstone):
            paths.add(read_tombstone(item.tombstone, item.says.encode()).path)
    return Checked(held.counted, paths, held.unheld)


def _told_by(line: bytes) -> "_Told":
    kind = next((kind for begin, kind in _KINDS.items() if line.startswith(begin)), None)
    if kind is None:
        raise ValueError("a line of a kind that is not known")
    return kind(line)


def _log_of(about: _Stream, lines: Iterator[bytes]) -> list[Stored]:
    entries, head = list[Stored](), b""
    for version in range(1, about.version + 1):
        stored = entry_of(version, next(lines, b""))
        check_chain(about.stream, version - 1, head, [stored])
        entries.append(stored)
        head = stored.h
    if not entries or entries[-1].h.hex() != about.head:
        raise ValueError("a log does not end as its first line says")
    return entries


def _named_in(e: bytes) -> Iterator[TextRef]:
    """Yield what an entry names texts by."""
    if any(naming.encode("ascii") in e for naming in _NAMING):
        for event in _entry.decode(e).events:
            ref = _ref.decode(event.text) if event.type in _NAMING else None
            if ref is not None:
                yield ref


@contextmanager
def _read(file: Path) -> Iterator[_Lines]:
    """Open a backup to read its lines; raise BackupUnfit for whatever is wrong with it, by the line where that is."""
    number = 0
    try:
        with file.open("rb") as opened:
            lines = _Lines(opened)
            try:
                yield lines
            finally:
                number = lines.number
    except FileNotFoundError:
        raise BackupUnfit(f"There is no file {file}.") from None
    except OSError as error:
        raise BackupUnfit(f"{file} can't be read: {error.strerror}.") from None
    except (ValueError, zlib.error, Damaged) as error:
        raise BackupUnfit(f"{file} is no backup, or damaged, at line {number}: {error}.") from None


# --- Filling a store from one ---


async def fill(redis: Redis, log: Log, file: Path, done: Callable[[], object] = lambda: None) -> None:
    """Put all that a backup holds into a store that holds nothing; raise StoreDown."""
    transparency = Transparency(redis, _NOBODY)
    for item in items(file):
        match item:
            case (stream, entries):
                await log.put(stream, entries)
            case _Tombstone(stream, says):
                with answered():
                    await redis.set(keys_of(stream).tombstone, says)
                    await redis.zadd(keys_of(stream).catalogue, {stream: 0})
            case _Leaf(leaf):
                await transparency.add(leaf.stream, leaf.version, bytes.fromhex(leaf.head))
            case key:
                with answered():
                    await values.write(redis, key)
        done()
