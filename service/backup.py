"""A backup: all that a store keeps, in one file that any other store can be filled from.

The file is gzip of lines of JSON, in this order:

    {"backup":1,"made":<UTC ms>,"secrets":{"<name>":"<hex>"}}              what the file is; keys only when asked for
    the lines of a stream's file in the archive (archive.py)               one stream after the other
    {"tombstone":"<stream>","says":"…"}                                    of a stream that lies in the archive
    {"leaf":{…}}                                                           the transparency log, first leaf first
    {"key":"…","type":"hash","until":<UTC ms>|null,"value":[…]}            everything else, key by key
    {"end":{"streams":n,"archived":n,"leaves":n,"keys":n}}                 that the file is whole

In keys and values each character stands for the byte of its number, so that any byte can be told.

It is made while the service runs. A log grows only, and each is copied to where it had got: all that was acknowledged
before the backup began is in it. What was told and logged of a decision is read before the logs, and who sits where
after them, so that nothing speaks of a decision that is not there. A notice that comes meanwhile may be told twice.

Left out, for a store finds it anew: key indices, catalogues and feeds (each stream is hinted at once, so reactors look
at all of it), cursors and leases of reactors, tickets, and who was seen where. Logs in the archive stay there.
"""

import gzip
import re
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeAlias, cast

import msgspec
from msgspec import Raw
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.typing import EncodableT

from service.archive import entry_of, lines_of, read_tombstone
from service.audit.signing import Signer
from service.audit.transparency import LEAVES_KEY, SIZE_KEY, Leaf, Transparency
from service.errors import Damaged
from service.ids import PARTITIONS
from service.log import Log
from service.store import answered
from service.streams import Stored, check_chain, keys_of

PAGE: Final = 200
LEAVES: Final = 500

_TOLD = re.compile(rb"\{\d\d\}:told:")
_DERIVED = re.compile(rb"inbox:|\{(?:lobby|docket)\}:")
_FOUND_ANEW = re.compile(
    rb"\{\d\d\}:(?:table|tournament|keys|gone|cursor|aside):|\{\d\d\}:(?:feed|streams|lease)$"
    rb"|transparency:|ticket:|presence:|reactors$|bells$|service:mark$"
)

Line: TypeAlias = bytes
_Fields: TypeAlias = dict[bytes, bytes]


class BackupUnfit(Exception):
    """The file is no backup, or not a whole one; the message is one sentence."""


class Head(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line: when it was made (UTC ms), and the service's secrets by name, in hex, if they were asked for."""

    backup: int
    made: int
    secrets: dict[str, str] = {}


class Counted(msgspec.Struct):
    """How much there is of everything."""

    streams: int = 0
    archived: int = 0
    leaves: int = 0
    keys: int = 0


class _Stream(msgspec.Struct, frozen=True):
    archive: int
    stream: str
    version: int
    head: str


class _Tombstone(msgspec.Struct, frozen=True):
    tombstone: str
    says: str


class _Leaf(msgspec.Struct, frozen=True):
    leaf: Leaf


class _Key(msgspec.Struct, frozen=True):
    key: str
    type: str
    until: int | None
    value: Raw


class _End(msgspec.Struct, frozen=True):
    end: Counted


_head = msgspec.json.Decoder(Head)
_KINDS: "Final[Mapping[bytes, Callable[[bytes], _Line]]]" = {
    b'{"archive":': msgspec.json.Decoder(_Stream).decode,
    b'{"tombstone":': msgspec.json.Decoder(_Tombstone).decode,
    b'{"leaf":': msgspec.json.Decoder(_Leaf).decode,
    b'{"key":': msgspec.json.Decoder(_Key).decode,
    b'{"end":': msgspec.json.Decoder(_End).decode,
}


Item: TypeAlias = "tuple[str, list[Stored]] | _Tombstone | _Leaf | _Key"

_Line: TypeAlias = _Stream | _Tombstone | _Leaf | _Key | _End

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
        yield _encode(head)
        leaves = await self._number_of_leaves()
        for early in (_TOLD, _DERIVED):
            async for line in self._keys(early.match):
                yield line
        async for line in self._streams():
            yield line
        async for line in self._leaves(leaves):
            yield line
        async for line in self._keys(_is_late):
            yield line
        yield _encode(_End(self.counted))

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

    async def _number_of_leaves(self) -> int:
        with answered():
            return int(await self._redis.get(SIZE_KEY) or 0)

    async def _leaves(self, number: int) -> AsyncIterator[Line]:
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
        async with self._redis.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.type(key)
                pipe.pexpiretime(key)
            about = await pipe.execute()
        lines: list[Line] = []
        for key, kind, until in zip(keys, about[::2], about[1::2], strict=True):
            value = await _READERS[kind](self._redis, key) if kind in _READERS else None
            if value:  # It may have gone meanwhile.
                told = _Key(key, kind.decode(), until if until > 0 else None, Raw(_encode(value)))
                lines.append(_encode(told))
        self.counted.keys += len(lines)
        return lines


async def _string(redis: Redis, key: str) -> object:
    value = cast("bytes | None", await redis.get(key))
    return None if value is None else [_text(value)]


async def _hash(redis: Redis, key: str) -> object:
    return _texts(cast("_Fields", await redis.hgetall(key)).items())


async def _set(redis: Redis, key: str) -> object:
    return sorted(map(_text, cast("set[bytes]", await redis.smembers(key))))


async def _zset(redis: Redis, key: str) -> object:
    scored = cast("list[tuple[bytes, float]]", await redis.zrange(key, 0, -1, withscores=True))
    return [[_text(member), repr(score)] for member, score in scored]


async def _stream(redis: Redis, key: str) -> object:
    return [[_text(id_), _texts(row.items())] for id_, row in _entries(await redis.xrange(key))]


_READERS: Final[Mapping[bytes, Callable[[Redis, str], Awaitable[object]]]] = {
    b"string": _string,
    b"hash": _hash,
    b"set": _set,
    b"zset": _zset,
    b"stream": _stream,
}


def _is_late(key: bytes) -> bool:
    return not any(kind.match(key) for kind in (_TOLD, _DERIVED, _FOUND_ANEW))


def _entries(rows: object) -> "list[tuple[bytes, _Fields]]":
    return cast("list[tuple[bytes, _Fields]]", rows)


def _texts(pairs: Iterable[tuple[bytes, bytes]]) -> list[list[str]]:
    return [[_text(name), _text(value)] for name, value in pairs]


def _text(value: bytes) -> str:
    return value.decode("latin-1")


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


# --- Reading one ---


def head_of(file: Path) -> Head:
    """Return the first line of a backup; raise BackupUnfit."""
    with _told(file), gzip.open(file) as lines:
        head = _head.decode(lines.readline())
    if head.backup != 1:
        raise BackupUnfit(f"{file} is a backup of another form, {head.backup}.")
    return head


def items(file: Path) -> Iterator[Item]:
    """Yield all that a backup holds, checked; raise BackupUnfit where it is not whole, or not what was written."""
    counted = Counted()
    with _told(file), gzip.open(file) as lines:
        lines.readline()
        for line in lines:
            match _read(line):
                case _Stream() as about:
                    counted.streams += 1
                    yield about.stream, _log_of(about, lines)
                case _Tombstone() as tombstone:
                    counted.archived += 1
                    yield tombstone
                case _Leaf() as leaf:
                    counted.leaves += 1
                    yield leaf
                case _Key() as key:
                    if key.type not in _WRITERS or _FOUND_ANEW.match(_bytes(key.key)):
                        raise BackupUnfit(f"{file} holds a key that no backup does.")
                    counted.keys += 1
                    yield key
                case _End(end):
                    if end != counted or lines.readline():
                        raise BackupUnfit(f"{file} is not whole: it holds other than it says.")
                    return
    raise BackupUnfit(f"{file} is not whole: it ends before its end.")


def check(file: Path) -> tuple[Counted, set[str]]:
    """Read a backup through; return what it holds and which files of the archive it names, or raise BackupUnfit."""
    counted, paths = Counted(), set[str]()
    for item in items(file):
        match item:
            case _Tombstone(stream, says):
                counted.archived += 1
                with _told(file):
                    paths.add(read_tombstone(stream, says.encode("ascii")).path)
            case _Leaf():
                counted.leaves += 1
            case _Key():
                counted.keys += 1
            case _:
                counted.streams += 1
    return counted, paths


def _read(line: bytes) -> "_Line":
    kind = next((kind for begin, kind in _KINDS.items() if line.startswith(begin)), None)
    if kind is None:
        raise ValueError("a line of a kind that is not known")
    return kind(line)


def _log_of(about: _Stream, lines: Iterable[bytes]) -> list[Stored]:
    rest = iter(lines)
    entries = [entry_of(version, next(rest, b"").rstrip(b"\n")) for version in range(1, about.version + 1)]
    check_chain(about.stream, 0, b"", entries)
    if not entries or entries[-1].h.hex() != about.head:
        raise ValueError(about.stream)
    return entries


@contextmanager
def _told(file: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise BackupUnfit(f"There is no file {file}.") from None
    except (OSError, EOFError, ValueError, zlib.error, Damaged) as error:
        raise BackupUnfit(f"{file} is no backup, or damaged: {type(error).__name__}.") from None


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
            case _Key():
                await _write(redis, item)
        done()


async def _write(redis: Redis, told: _Key) -> None:
    with answered():
        async with redis.pipeline(transaction=True) as pipe:
            _WRITERS[told.type](pipe, told.key, told.value)
            if told.until is not None:
                pipe.pexpireat(told.key, told.until)
            await pipe.execute()


def _write_string(pipe: Pipeline, key: str, value: Raw) -> None:
    (text,) = msgspec.json.decode(value, type=tuple[str])
    pipe.set(key, _bytes(text))


def _write_hash(pipe: Pipeline, key: str, value: Raw) -> None:
    pipe.hset(key, mapping=_fields(msgspec.json.decode(value, type=list[tuple[str, str]])))


def _write_set(pipe: Pipeline, key: str, value: Raw) -> None:
    pipe.sadd(key, *map(_bytes, msgspec.json.decode(value, type=list[str])))


def _write_zset(pipe: Pipeline, key: str, value: Raw) -> None:
    scored = msgspec.json.decode(value, type=list[tuple[str, str]])
    pipe.zadd(key, {_bytes(member): float(score) for member, score in scored})


def _write_stream(pipe: Pipeline, derived: str, value: Raw) -> None:
    """Fill an inbox, or the changes of the lobby: whatever is no log."""
    for id_, fields in msgspec.json.decode(value, type=list[tuple[str, list[tuple[str, str]]]]):
        pipe.xadd(derived, _fields(fields), id=id_)


def _fields(pairs: Iterable[tuple[str, str]]) -> dict[EncodableT, EncodableT]:
    return {_bytes(name): _bytes(value) for name, value in pairs}


_WRITERS: Final[Mapping[str, Callable[[Pipeline, str, Raw], None]]] = {
    "string": _write_string,
    "hash": _write_hash,
    "set": _write_set,
    "zset": _write_zset,
    "stream": _write_stream,
}
