"""How far a reactor has got in each partition's feed, kept in the store so that another process can go on from there.

A hint is open from being read until what it asks for is done. The cursor that is kept stays before the first hint that
is still open, so that whoever starts from it is hinted again. Streams that a reactor has set aside, because it failed
at them again and again, are kept beside the cursor: they hold nothing up, and the next start looks at them once more.

    {pp}:cursor:<reactor>   an id of the partition's feed      {pp}:aside:<reactor>   a set of streams
"""

from itertools import count
from typing import Final, NamedTuple

from redis.asyncio import Redis

from service.clock import utc_ms
from service.ids import PARTITIONS, partition
from service.store import answered
from service.streams import feed_key

BEGINNING: Final = "0-0"


class Ticket(NamedTuple):
    """An open hint, or an open look at a stream that no hint led to."""

    partition: int
    number: int


class _Since(NamedTuple):
    """An open hint: the feed id before it, and when what it is about happened (UTC ms)."""

    before: str | None
    at: int


class Progress:
    """The cursors of one reactor."""

    def __init__(self, redis: Redis, reactor: str) -> None:
        """Keep the cursors of the reactor of this name in this store."""
        self._redis = redis
        self._reactor = reactor
        self._numbers = count()
        self._open: list[dict[int, _Since]] = [{} for _ in range(PARTITIONS)]
        self._saved: list[str | None] = [None] * PARTITIONS
        self.read: list[str] = [BEGINNING] * PARTITIONS
        """Up to where each feed was read."""
        # Until it is known where to go on, whoever ends us must not keep a cursor.
        self._unknown = [self.open(number, None) for number in range(PARTITIONS)]

    async def load(self) -> list[Ticket]:
        """Go on from the cursors that were kept; return tickets for the partitions whose streams must all be looked at.

        These are the ones without a cursor and those whose feed no longer holds the entry at it, or ends before it:
        then others may be missing too. They go on from the end of their feed. Raise StoreDown.
        """
        calls = self._redis.pipeline(transaction=False)
        for number in range(PARTITIONS):
            calls.get(self._cursor_key(number))
            calls.xrange(feed_key(number), count=1)
            calls.xrevrange(feed_key(number), count=1)
        with answered():
            replies = await calls.execute()
        lost = []
        for number in range(PARTITIONS):
            cursor, first, last = replies[3 * number : 3 * number + 3]
            if cursor is not None and first and order(_text(first[0][0])) <= order(_text(cursor)) <= _end(last):
                self.read[number] = _text(cursor)
                self.close(self._unknown[number])
            else:
                self.read[number] = _text(last[0][0]) if last else BEGINNING
                lost.append(self._unknown[number])
        return lost

    def open(self, partition: int, before: str | None, at: int | None = None) -> Ticket:
        """Hold a partition's cursor at the feed id before a hint, or where it was kept last if that is None.

        `at` (UTC ms) is when what the hint is about happened, None: now.
        """
        number = next(self._numbers)
        self._open[partition][number] = _Since(before, utc_ms() if at is None else at)
        return Ticket(partition, number)

    def close(self, ticket: Ticket) -> None:
        """Let the cursor go on."""
        del self._open[ticket.partition][ticket.number]

    def cursor(self, partition: int) -> str | None:
        """Return up to where everything is done, None if that is no further than what was kept when we began."""
        # Hints are opened in the order of their feed, so the first one still open is the earliest.
        first = next(iter(self._open[partition].values()), None)
        return self.read[partition] if first is None else first.before

    def lag_ms(self) -> int:
        """Return for how long the earliest open hint has waited; a clock that lags the store's makes that shorter."""
        now = utc_ms()
        return max((now - next(iter(opened.values())).at for opened in self._open if opened), default=0)

    async def save(self) -> None:
        """Keep the cursors that have moved. Raise StoreDown."""
        cursors = [self.cursor(number) for number in range(PARTITIONS)]
        calls = self._redis.pipeline(transaction=False)
        for number, cursor in enumerate(cursors):
            if cursor is not None and cursor != self._saved[number]:
                calls.set(self._cursor_key(number), cursor)
        with answered():
            await calls.execute()
        self._saved = cursors

    async def set_aside(self, stream: str) -> None:
        """Note that the reactor has given a stream up for now. Raise StoreDown."""
        with answered():
            await self._redis.sadd(self._aside_key(_partition_of(stream)), stream)

    async def take_back(self, stream: str) -> None:
        """Note that a stream that was set aside is no longer. Raise StoreDown."""
        with answered():
            await self._redis.srem(self._aside_key(_partition_of(stream)), stream)

    async def aside(self) -> set[str]:
        """Return the streams that are set aside. Raise StoreDown."""
        calls = self._redis.pipeline(transaction=False)
        for number in range(PARTITIONS):
            calls.smembers(self._aside_key(number))
        with answered():
            return {_text(stream) for streams in await calls.execute() for stream in streams}

    def _cursor_key(self, partition: int) -> str:
        return f"{{{partition:02}}}:cursor:{self._reactor}"

    def _aside_key(self, partition: int) -> str:
        return f"{{{partition:02}}}:aside:{self._reactor}"


def order(feed_id: str) -> tuple[int, int]:
    """Return what orders the ids of a feed."""
    at, _, sequence = feed_id.partition("-")
    return int(at), int(sequence)


def moment(feed_id: str) -> int:
    """Return when an entry of a feed was added, by the store's clock (UTC ms)."""
    at, _ = order(feed_id)
    return at


def _end(last: list[tuple[bytes, object]]) -> tuple[int, int]:
    return order(_text(last[0][0]))


def _partition_of(stream: str) -> int:
    return partition(stream.partition(":")[2])


def _text(stored: bytes) -> str:
    return stored.decode("ascii")
