"""The docket: the open disputes of all tables, the oldest first, as a reactor keeps it.

It can be rebuilt from the streams. What is open at a table takes the place of what was there in one transaction, and an
older version never takes that of a newer, whoever comes with it and however late; so a table that was once disputed
stays known with its version. A page is read by where the last one ended, so that disputes that come and go meanwhile
neither repeat others nor hide them.

    {docket}:open       places, `<filed at>:<table>:<number>`: a sorted set, all of score 0
    {docket}:disputes   disputes by place: a hash of JSON
    {docket}:tables     by table, which version was seen and which places it has: a hash of `<version> <place>…`
"""

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline

from projections.docket import OpenDispute
from service.errors import Malformed
from service.store import answered, begin

CURSOR: Final = r"([0-9]{16})([0-9a-hjkmnp-tv-z]{26})([0-9]{4})"
"""What a page's cursor looks like: every text like this is one, so that the document can say which are."""

_OPEN: Final = "{docket}:open"
_DISPUTES: Final = "{docket}:disputes"
_TABLES: Final = "{docket}:tables"
_CURSOR = re.compile(CURSOR)

_encode = msgspec.json.Encoder().encode
_dispute = msgspec.json.Decoder(OpenDispute)


class Page(NamedTuple):
    """Open disputes, the oldest first; `next` is where to read on, None at the end."""

    disputes: tuple[OpenDispute, ...]
    next: str | None


class Docket:
    """The open disputes of all tables; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis) -> None:
        """Keep the docket in this store."""
        self._redis = redis

    async def page(self, after: str | None, limit: int) -> Page:
        """Return at most `limit` open disputes after a cursor; raise Malformed for a bad one."""
        start = "-" if after is None else f"({_place_of(after)}"
        query = ("ZRANGE", _OPEN, start, "+", "BYLEX", "LIMIT", 0, limit + 1)
        with answered():
            # redis-py's own method declares the ends of a range to be numbers, which by lex they are not.
            places: list[bytes] = await self._redis.execute_command(*query)  # type: ignore[no-untyped-call]
            stored = await self._redis.hmget(_DISPUTES, places[:limit]) if places else []
        # One that has just been ruled on is gone in between.
        disputes = tuple([_dispute.decode(one) for one in stored if one is not None])
        more = len(places) > limit
        return Page(disputes, places[limit - 1].decode("ascii").replace(":", "") if more else None)

    async def put(self, table: str, version: int, disputes: Sequence[OpenDispute], *, anew: bool = False) -> None:
        """List what is open at a table as of a version, unless a newer one was seen.

        `anew`: the stream does not have the versions that were seen before.
        """
        by_place = {_place(dispute): _encode(dispute) for dispute in disputes}

        async def write(pipe: Pipeline) -> None:
            known = await pipe.hget(_TABLES, table)
            seen, *places = (known or b"0").split()
            begin(pipe)
            if int(seen) >= version and not anew:
                return
            if places:
                pipe.zrem(_OPEN, *places)
                pipe.hdel(_DISPUTES, *places)
            if by_place:
                pipe.zadd(_OPEN, dict.fromkeys(by_place, 0))
            for place, stored in by_place.items():
                pipe.hset(_DISPUTES, place, stored)
            pipe.hset(_TABLES, table, " ".join([str(version), *by_place]))

        with answered():
            await self._redis.transaction(write, _TABLES)

    async def clear(self) -> None:
        """Take every dispute out, to list anew what the streams hold."""
        with answered():
            await self._redis.delete(_OPEN, _DISPUTES, _TABLES)


def _place(dispute: OpenDispute) -> str:
    """Return a dispute's member in the index, whose order as text is that of filing."""
    return f"{dispute.at:016}:{dispute.table}:{dispute.dispute:04}"


def _place_of(cursor: str) -> str:
    match = _CURSOR.fullmatch(cursor)
    if match is None:
        raise Malformed("The parameter after must be the `next` of an earlier page.", "after")
    return ":".join(match.groups())
