"""The lobby: the tables that are open or in play, newest first, and what changes there, as a reactor keeps it.

It can be rebuilt from the streams. A page is read from an index by where the last one ended, not by a count, so that
tables that come and go meanwhile neither repeat others nor hide them. To put a table in, or take it out, is one
function (lobby.lua): summary, indexes and the change that tells of it are there together or not at all, and an older
version never takes the place of a newer, whoever comes with it and however late.

    {lobby}:tables                   summaries by table: a hash of JSON
    {lobby}:listed                   where each is listed: a hash of `<version> <place> <index>…`
    {lobby}:index:<game>:<status>    `*` for any: a sorted set of places, `<created>:<id>`, all of score 0
    {lobby}:host:<account>           the same, of the tables that an account hosts
    {lobby}:player:<account>         and of those where it has a seat
    {lobby}:changes                  a stream of the last 10,000 or so
    {lobby}:ended:0, :1              versions of tables that have ended: hashes, of which one is begun anew when the
                                     other is full,
    {lobby}:generation               and how often that was

All these keys are in one slot; the bells, which the function rings, are not: on a cluster they would be rung elsewhere.
"""

import re
from collections.abc import Awaitable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final, Literal, NamedTuple, cast

import msgspec
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import ResponseError

from projections.lobby import Summary
from projections.table import Status
from service.errors import Malformed
from service.feeds import BELLS, ring
from service.functions import is_missing, source
from service.store import answered, begin

LISTED: Final[tuple[Status, ...]] = ("open", "playing", "paused")
"""The statuses of tables in the lobby."""

ANY: Final = "*"

CURSOR: Final = r"([0-9]{16})([0-9a-hjkmnp-tv-z]{26})"
"""What a page's cursor looks like: every text like this is one, so that the document can say which are."""

BELL: Final = "lobby"
"""The bell that rings when something has changed."""

LOOKED_AT: Final = 500
"""How many tables are looked at for one page, however few of them are wanted."""

CHUNK: Final = 100
"""How many of them are read at once."""

PAGE: Final = 100
"""How many changes are read at once."""

BEGINNING: Final = "0-0"
"""The place before the first change."""

CHANGE: Final = r"[0-9]{1,15}-[0-9]{1,9}"
"""What the place of a change looks like."""

Value = bool | int | str
"""What an option may be."""

_TABLES: Final = "{lobby}:tables"
_LISTED: Final = "{lobby}:listed"
_CHANGES: Final = "{lobby}:changes"
_GENERATION: Final = "{lobby}:generation"
_ENDED: Final = ("{lobby}:ended:0", "{lobby}:ended:1")
_KEYS: Final = (_TABLES, _LISTED, _CHANGES, _GENERATION, *_ENDED, BELLS)
_CURSOR = re.compile(CURSOR)
_FUNCTION: Final = source(Path(__file__).with_name("lobby.lua"))
_KEPT_GENERATIONS: Final = 2

_Entries = list[tuple[bytes, dict[bytes, bytes]]]

_encode = msgspec.json.Encoder().encode
_summary = msgspec.json.Decoder(Summary)


class Filter(NamedTuple):
    """Which tables are wanted: those for which all of this is true; None, 0 or nothing for any.

    `started` is whether play has begun, `open_seats` how many seats a person could take at least, `host` and `player`
    are accounts, `options` holds by name the values of which an option must have one.
    """

    game: str | None = None
    status: Status | None = None
    started: bool | None = None
    open_seats: int = 0
    host: str | None = None
    player: str | None = None
    options: Mapping[str, frozenset[Value]] = {}

    def takes(self, summary: Summary) -> bool:
        """Tell whether a table is wanted."""
        return (
            summary.status in LISTED
            and self.game in {None, summary.game}
            and self.status in {None, summary.status}
            and self.started in {None, summary.started_at is not None}
            and len(summary.open_seats) >= self.open_seats
            and self.host in {None, summary.host}
            and (self.player is None or self.player in summary.people)
            and all(summary.options.get(name) in values for name, values in self.options.items())
        )

    @property
    def searched(self) -> str:
        """The index that has all of them, and of those that have, one with few others."""
        if self.player is not None:
            return _player_index(self.player)
        if self.host is not None:
            return _host_index(self.host)
        status = self.status or ("open" if self.started is False or self.open_seats else ANY)
        return _index(self.game or ANY, status)

    @property
    def has_index(self) -> bool:
        """Whether that index has no others."""
        return self._replace(game=None, status=None) == Filter()


class Listed(NamedTuple):
    """A page of the lobby.

    `next` is where to read on, None at its end; `change` is the place of the last change before it was read.
    """

    tables: tuple[Summary, ...]
    next: str | None
    change: str


class Found(NamedTuple):
    """A table as it is listed, None if it isn't, and the generation of that moment."""

    summary: Summary | None
    generation: int


class Answer(NamedTuple):
    """What became of a table that was put: the answers of lobby.lua, and the generation now."""

    outcome: Literal["put", "newer", "late"]
    generation: int


class Change:
    """A change at its place: a table as it is now and was before, None where it is or was not listed.

    Without a table it says that what came before doesn't count.
    """

    def __init__(self, place: bytes, fields: Mapping[bytes, bytes]) -> None:
        """Take an entry of the store."""
        self.place = place.decode("ascii")
        self.table = fields[b"t"].decode("ascii") if b"t" in fields else None
        self.version = int(fields.get(b"v", 0))
        self.stored = fields.get(b"s", b"")
        self.is_first = fields.get(b"f") == b"1"
        self._before = fields.get(b"w", b"")

    @cached_property
    def now(self) -> Summary | None:
        """The table as it is listed now."""
        return _summary.decode(self.stored) if self.stored else None

    @cached_property
    def before(self) -> Summary | None:
        """The table as it was listed before."""
        return _summary.decode(self._before) if self._before else None


class Forgotten(Exception):
    """A change is not kept any more, or never was: nobody can go on from there."""


class Lobby:
    """The tables that can be joined or watched; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis) -> None:
        """Keep the lobby in this store."""
        self._redis = redis

    async def tables(self, wanted: Filter, after: str | None, limit: int) -> Listed:
        """Return at most `limit` tables after a cursor, newest first; raise Malformed for a bad cursor.

        Where few are wanted of many, a page may have fewer though there is a `next`.
        """
        place = "" if after is None else _place_of(after)
        change = await self.newest_change()
        found: list[Summary] = []
        looked_at = 0
        while True:
            count = limit - len(found) if wanted.has_index else CHUNK
            places = await self._places(wanted.searched, place, count + 1)
            for at, summary in zip(places[:count], await self._at(places[:count]), strict=True):
                place = at
                looked_at += 1
                if summary is not None and wanted.takes(summary):
                    found.append(summary)
                if len(found) == limit or looked_at == LOOKED_AT:
                    break
            if not places or place == places[-1]:
                return Listed(tuple(found), None, change)
            if len(found) == limit or looked_at == LOOKED_AT:
                return Listed(tuple(found), _cursor(place), change)

    async def find(self, table: str) -> Found:
        """Return a table as it was put last."""
        calls = self._redis.pipeline(transaction=False)
        calls.get(_GENERATION)
        calls.hget(_TABLES, table)
        with answered():
            generation, stored = await calls.execute()
        return Found(None if stored is None else _summary.decode(stored), int(generation or 0))

    async def put(self, summary: Summary, generation: int, *, instead_of: int = -1) -> Answer:
        """List a table as it is now, or take it out if it has ended.

        `generation` is one that was known before the table's stream was read. `instead_of` is a version that is listed
        and that the stream does not have any more.
        """
        is_listed = summary.status in LISTED
        given = (summary.table, summary.version, _place(summary), _encode(summary) if is_listed else b"")
        indexes = _indexes(summary) if is_listed else ()
        outcome, now = await self._call(*given, generation, instead_of, *indexes)
        return Answer(cast("Literal['put', 'newer', 'late']", outcome.decode("ascii")), now)

    async def clear(self) -> None:
        """Take every table out, to list anew what the streams hold; whoever has looked at any of them looks again."""

        async def write(pipe: Pipeline) -> None:
            listed = cast("list[bytes]", await pipe.hvals(_LISTED))
            indexes = {index for line in listed for index in line.split()[2:]}
            begin(pipe)
            pipe.delete(_TABLES, _LISTED, *_ENDED, *indexes)
            pipe.incrby(_GENERATION, _KEPT_GENERATIONS)
            pipe.xadd(_CHANGES, {"r": 1})
            ring(pipe, BELL)

        with answered():
            await self._redis.transaction(write, _LISTED)

    async def newest_change(self) -> str:
        """Return the place of the last change."""
        with answered():
            last = cast("_Entries", await self._redis.xrevrange(_CHANGES, count=1))
        return last[0][0].decode("ascii") if last else BEGINNING

    async def changes(self, after: str) -> tuple[Change, ...]:
        """Return the first changes after one; raise Forgotten if that is not kept."""
        with answered():
            found = cast("_Entries", await self._redis.xrange(_CHANGES, after, count=PAGE + 1))
        changes = tuple(Change(place, fields) for place, fields in found)
        if after == BEGINNING:
            if changes and not changes[0].is_first:
                raise Forgotten
            return changes
        if not changes or changes[0].place != after:
            raise Forgotten
        return changes[1:]

    async def _places(self, index: str, after: str, count: int) -> list[str]:
        start = f"({after}" if after else "+"
        query = ("ZRANGE", index, start, "-", "BYLEX", "REV", "LIMIT", 0, count)
        with answered():
            # redis-py's own method declares the ends of a range to be numbers, which by lex they are not.
            members: list[bytes] = await self._redis.execute_command(*query)  # type: ignore[no-untyped-call]
        return [member.decode("ascii") for member in members]

    async def _at(self, places: Sequence[str]) -> list[Summary | None]:
        """Return the summaries of tables at these places in the indexes, None for one that has just left."""
        if not places:
            return []
        with answered():
            stored = await self._redis.hmget(_TABLES, [place.partition(":")[2] for place in places])
        return [None if summary is None else _summary.decode(summary) for summary in stored]

    async def _call(self, *given: bytes | str | int) -> tuple[bytes, int]:
        """Call the function, which is loaded if the store does not know it, as a new one does not."""
        with answered():
            try:
                return await self._called(*given)
            except ResponseError as error:
                if not is_missing(error):
                    raise
            await self._redis.function_load(_FUNCTION.code, replace=True)
            return await self._called(*given)

    async def _called(self, *given: bytes | str | int) -> tuple[bytes, int]:
        call = self._redis.fcall(_FUNCTION.name, len(_KEYS), *_KEYS, *given)
        outcome, generation = await cast("Awaitable[tuple[bytes, int]]", call)
        return outcome, generation


def _indexes(summary: Summary) -> Iterator[str]:
    """Yield every index that is to have a table."""
    for status in (ANY, summary.status):
        for game in (ANY, summary.game):
            yield _index(game, status)
    yield _host_index(summary.host)
    yield from map(_player_index, summary.people)


def _index(game: str, status: str) -> str:
    return f"{{lobby}}:index:{game}:{status}"


def _host_index(account: str) -> str:
    return f"{{lobby}}:host:{account}"


def _player_index(account: str) -> str:
    return f"{{lobby}}:player:{account}"


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
