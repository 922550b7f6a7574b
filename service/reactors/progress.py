"""How far a reactor has got in a partition's feed, kept in the store so that another process can go on from there.

A hint is open from being read until what it asks for is done. The cursor that is kept stays before the first hint that
is still open, so that whoever starts from it is hinted again. Streams that a reactor has set aside, because it failed
at them again and again, are kept beside the cursor: they hold nothing up, and whoever claims the partition next looks
at them once more. All of it is written under the partition's lease.

    {pp}:cursor:<reactor>   an id of the partition's feed      {pp}:aside:<reactor>   a set of streams
"""

from collections.abc import Iterator
from itertools import count
from typing import Final, NamedTuple, cast

from service.clock import utc_ms
from service.pipe import Command, Reply
from service.streams import Row, feed_key

BEGINNING: Final = "0-0"

Ticket = int
"""An open hint, or an open look at a stream that no hint led to."""


class Ends(NamedTuple):
    """The ids of a feed's first and last entry, None where it has none."""

    first: str | None
    last: str | None


class Kept(NamedTuple):
    """What the store keeps of a reactor and a partition: its cursor, None if it never had one, and what is aside."""

    cursor: str | None
    aside: frozenset[str]


class _Since(NamedTuple):
    """An open hint: the feed id before it, and when what it is about happened (UTC ms)."""

    before: str | None
    at: int


class Progress:
    """How far a reactor has got in one partition since it was claimed."""

    def __init__(self, kept: Kept, feed: Ends) -> None:
        """Go on from the cursor that was kept.

        Without one, or where the feed does not hold the entry at it any more, or ends before it, it is lost: then other
        hints may be missing too, all streams must be looked at, and it goes on from the end of the feed.
        """
        self._numbers = count()
        self._open: dict[Ticket, _Since] = {}
        self._saved = self._sent = kept.cursor
        self.lost = not _holds(feed, kept.cursor)
        """Whether all streams of the partition must be looked at."""
        self.read = (feed.last or BEGINNING) if self.lost or kept.cursor is None else kept.cursor
        """Up to where the feed was read."""

    def open(self, before: str | None, at: int | None = None) -> Ticket:
        """Hold the cursor at the feed id before a hint, or where it was kept last if that is None.

        `at` (UTC ms) is when what the hint is about happened, None: now.
        """
        ticket = next(self._numbers)
        self._open[ticket] = _Since(before, utc_ms() if at is None else at)
        return ticket

    def close(self, ticket: Ticket) -> None:
        """Let the cursor go on."""
        del self._open[ticket]

    def cursor(self) -> str | None:
        """Return up to where everything is done, None if that is no further than what was kept when we began."""
        # Hints are opened in the order of their feed, so the first one still open is the earliest; but those without
        # an id come from a look at all streams, which may begin one after a hint has come.
        if any(since.before is None for since in self._open.values()):
            return None
        first = next(iter(self._open.values()), None)
        return self.read if first is None else first.before

    def saving(self, key: str) -> Command | None:
        """Return the call that keeps the cursor, under this key, if that has changed; `saved` when it is made."""
        cursor = self.cursor()
        if cursor is not None and cursor != self._saved:
            self._sent = cursor
            return "SET", key, cursor
        if cursor is None and self.lost and self._saved is not None:
            # The feed might grow past a lost cursor, which would be believed again.
            self._sent = None
            return "DEL", key
        return None

    def saved(self) -> None:
        """Note that the last call was made."""
        self._saved = self._sent

    def lag_ms(self) -> int:
        """Return for how long the earliest open hint has waited; a clock that lags the store's makes that shorter."""
        return max((utc_ms() - since.at for since in self._open.values()), default=0)


def asking(partition: int, *reactors: str) -> Iterator[Command]:
    """Yield what asks for a partition's feed and for what is kept of these reactors, in the order of `told`."""
    yield "XRANGE", feed_key(partition), "-", "+", "COUNT", 1
    yield "XREVRANGE", feed_key(partition), "+", "-", "COUNT", 1
    for reactor in reactors:
        yield "GET", cursor_key(partition, reactor)
        yield "SMEMBERS", aside_key(partition, reactor)


def told(replies: list[Reply]) -> tuple[Ends, list[Kept]]:
    """Read the replies to what `asking` asked."""
    first, last, *kept = replies
    pairs = zip(cast("list[bytes | None]", kept[::2]), cast("list[list[bytes]]", kept[1::2]), strict=True)
    return Ends(_id(first), _id(last)), [
        Kept(None if cursor is None else cursor.decode("ascii"), frozenset(stream.decode("ascii") for stream in aside))
        for cursor, aside in pairs
    ]


def cursor_key(partition: int, reactor: str) -> str:
    """Return the key of a reactor's cursor."""
    return f"{{{partition:02}}}:cursor:{reactor}"


def aside_key(partition: int, reactor: str) -> str:
    """Return the key of the streams that a reactor has set aside."""
    return f"{{{partition:02}}}:aside:{reactor}"


def order(feed_id: str) -> tuple[int, int]:
    """Return what orders the ids of a feed."""
    at, _, sequence = feed_id.partition("-")
    return int(at), int(sequence)


def moment(feed_id: str) -> int:
    """Return when an entry of a feed was added, by the store's clock (UTC ms)."""
    at, _ = order(feed_id)
    return at


def _holds(feed: Ends, cursor: str | None) -> bool:
    if cursor is None or feed.first is None or feed.last is None:
        return False
    return order(feed.first) <= order(cursor) <= order(feed.last)


def _id(reply: Reply) -> str | None:
    rows = cast("list[Row]", reply)
    return rows[0][0].decode("ascii") if rows else None
