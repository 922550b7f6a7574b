"""A backup as it is made of a store that is in use."""

import re
from collections.abc import AsyncIterator, Callable
from hashlib import sha256
from typing import Final, TypeAlias, cast

from redis.asyncio import Redis

from service import values
from service.archive import lines_of, read_tombstone
from service.audit.transparency import LEAVES_KEY, SIZE_KEY
from service.backup.form import FOUND_ANEW, Counted, EndLine, HeaderLine, Line, TombstoneLine, encode
from service.backup.reading import check_legible
from service.errors import Damaged
from service.ids import PARTITIONS
from service.log import Log
from service.store import answered
from service.streams import Stored, check_chain, keys_of

PAGE: Final = 200
LEAVES: Final = 500

_TOLD = re.compile(rb"\{\d\d\}:told:")
_DERIVED = re.compile(rb"inbox:|\{(?:lobby|docket)\}:")

_Fields: TypeAlias = dict[bytes, bytes]


class Backup:
    """What is read of a store, line by line; `counted` and `damaged` (streams left out) are known at its end."""

    def __init__(self, redis: Redis, log: Log) -> None:
        """Take the store, as somebody who may read everything, and its log."""
        self._redis = redis
        self._log = log
        self.counted = Counted()
        self.damaged: list[str] = []

    async def lines(self, header: HeaderLine) -> AsyncIterator[Line]:
        """Yield all lines; raise StoreDown."""
        digest = sha256()
        async for line in self._lines(header):
            digest.update(line + b"\n")
            yield line
        yield encode(EndLine(self.counted, digest.hexdigest()))

    async def _lines(self, header: HeaderLine) -> AsyncIterator[Line]:
        yield encode(header)
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
            check_legible(stream, entries)
            if tombstone is not None:
                read_tombstone(stream, tombstone)
        except Damaged:
            self.damaged.append(stream)
            return
        if tombstone is not None:
            self.counted.archived += 1
            yield encode(TombstoneLine(stream, tombstone.decode("ascii")))
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
    return not any(kind.match(key) for kind in (_TOLD, _DERIVED, FOUND_ANEW))


def _entries(rows: object) -> "list[tuple[bytes, _Fields]]":
    return cast("list[tuple[bytes, _Fields]]", rows)
