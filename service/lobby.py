"""The lobby: the tables that are open or in play, newest first, as a reactor keeps them in the store.

It can be rebuilt from the streams. A page is read from an index by where the last one ended, not by a count, so that
tables that come and go meanwhile neither repeat others nor hide them.

    lobby:tables                   summaries by table: a hash of JSON
    lobby:index:<game>:<status>    `*` for any: a sorted set of `<created>:<id>`, all of score 0

Each call touches one key, so it runs on a cluster too. What is torn between two calls is put right by whoever reads: an
index may name a table that has just left, or that has just changed its status.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace
from redis.asyncio import Redis

from projections.lobby import Summary
from projections.table import Status
from service.errors import Malformed
from service.store import answered

LISTED: Final[tuple[Status, ...]] = ("open", "playing")
"""The statuses of tables in the lobby."""

ANY: Final = "*"

CURSOR: Final = r"([0-9]{16})([0-9a-hjkmnp-tv-z]{26})"
"""What a cursor looks like: every text like this is one, so that the document can say which are."""

_TABLES: Final = "lobby:tables"
_CURSOR = re.compile(CURSOR)
_encode = msgspec.json.Encoder().encode
_summary = msgspec.json.Decoder(Summary)


class Filter(NamedTuple):
    """What to list; None for any."""

    game: str | None = None
    status: Status | None = None

    def takes(self, summary: Summary) -> bool:
        """Tell whether a table is to be listed."""
        return summary.status == self.status if self.status else summary.status in LISTED


class Listed(NamedTuple):
    """A page of the lobby; `next` is where to read on, None at its end."""

    tables: tuple[Summary, ...]
    next: str | None


class Lobby:
    """The tables that can be joined or watched."""

    def __init__(self, redis: Redis) -> None:
        """Keep the lobby in this store."""
        self._redis = redis

    async def tables(self, wanted: Filter, after: str | None, limit: int) -> Listed:
        """Return at most `limit` tables after a cursor, newest first; raise Malformed for a bad cursor; StoreDown."""
        place = None if after is None else _place_of(after)
        found: list[Summary] = []
        while True:
            wanting = limit - len(found)
            places = await self._places(wanted, place, wanting + 1)
            found += [summary for summary in await self._at(places[:wanting]) if wanted.takes(summary)]
            if len(places) <= wanting:
                return Listed(tuple(found), None)
            place = places[wanting - 1]
            if len(found) == limit:
                return Listed(tuple(found), _cursor(place))

    async def find(self, table: str) -> Summary | None:
        """Return a table's summary as it was put last, None if it is not in the lobby; raise StoreDown."""
        with answered():
            stored = await self._redis.hget(_TABLES, table)
        return None if stored is None else _summary.decode(stored)

    async def put(self, summary: Summary) -> None:
        """List a table as it is now, or take it out if it has ended; raise StoreDown."""
        place = _place(summary)
        calls = self._redis.pipeline(transaction=False)
        # The summary is written first and erased last: who is cut off in between finds it, and puts the rest right.
        if summary.status in LISTED:
            calls.hset(_TABLES, summary.table, _encode(summary))
        for status, index in _indexes(summary.game):
            if summary.status in LISTED and status in {ANY, summary.status}:
                calls.zadd(index, {place: 0})
            else:
                calls.zrem(index, place)
        if summary.status not in LISTED:
            calls.hdel(_TABLES, summary.table)
        with answered():
            await calls.execute()

    async def clear(self) -> None:
        """Take every table out, to list anew what the streams hold."""
        for summary in map(_summary.decode, await self._redis.hvals(_TABLES)):
            await self.put(replace(summary, status="ended"))

    async def _places(self, wanted: Filter, after: str | None, count: int) -> list[str]:
        index = _index(wanted.game or ANY, wanted.status or ANY)
        start = "+" if after is None else f"({after}"
        query = ("ZRANGE", index, start, "-", "BYLEX", "REV", "LIMIT", 0, count)
        with answered():
            # redis-py's own method declares the ends of a range to be numbers, which by lex they are not.
            members: list[bytes] = await self._redis.execute_command(*query)  # type: ignore[no-untyped-call]
        return [member.decode("ascii") for member in members]

    async def _at(self, places: list[str]) -> list[Summary]:
        """Return the summaries of tables at these places in the indexes, without those that have just left."""
        if not places:
            return []
        with answered():
            stored = await self._redis.hmget(_TABLES, [place.partition(":")[2] for place in places])
        return [_summary.decode(summary) for summary in stored if summary is not None]


def _indexes(game: str) -> Iterator[tuple[str, str]]:
    for status in (ANY, *LISTED):
        for name in (ANY, game):
            yield status, _index(name, status)


def _index(game: str, status: str) -> str:
    return f"lobby:index:{game}:{status}"


def _place(summary: Summary) -> str:
    """Return a table's member in the indexes, whose order as text is that of opening."""
    return f"{summary.created_at:016}:{summary.table}"


def _cursor(place: str) -> str:
    return place.replace(":", "")


def _place_of(cursor: str) -> str:
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Malformed("The parameter after must be the `next` of an earlier page.", "after")
    return f"{match[1]}:{match[2]}"
