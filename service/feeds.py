"""The feeds: which stream grew, told once to the whole process.

Every append leaves a hint (stream, version) in its partition's feed. One blocking XREAD over the 64 feeds, on a
connection of its own and issued anew every second, wakes whoever reads a stream. It wakes, no more: the truth is read
from the stream after the reader's version, so that order and repeats don't matter. Whoever follows the feeds themselves
reads them from cursors of its own.

What changes beside the log is told by bells, in one more stream that the same XREAD hears. A bell has a name, and
whoever changes what it stands for rings it in the same transaction. It says no more than that something is new.

    bells   which bell rang: field `b`, its name; about the last 10,000 are kept

Left out: a cluster, where one command can't read 64 slots; trimming, and which process acts on which partition
(service/reactors/sharing.py).
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import Final, NamedTuple, TypeAlias, TypeVar, cast

from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.exceptions import ResponseError

from service.clock import utc_ms
from service.ids import PARTITIONS
from service.pipe import Command, Pipe, Unreachable
from service.streams import Row, feed_key

HINTS: Final = 500
"""How many hints are read from a feed at once."""

BLOCK_MS: Final = 1_000
"""How long one XREAD waits for news; every feed is looked at again this often, whatever happens."""

CHANGE_MS: Final = 250
"""The same where the feeds that are read may change meanwhile."""

GATHER_S: Final = 0.001
"""How long hints are left to gather after some have come: under load one read then brings many."""

GATHER_HINTS_S: Final = 0.05
"""The same for whoever follows the feeds themselves, and acts on hints rather than passing decisions on."""

GAP_S: Final = 20.0
"""After a pause this long hints may have been trimmed before they were read: whoever follows a stream looks for itself.

They stay for a minute at least (service/reactors/sharing.py).
"""

RETRY_S: Final = 0.1
"""How long to wait before an unreachable store is asked again."""

BELLS: Final = "bells"
"""The key of the bells that rang, all of them in one stream."""

RUNG: Final = 10_000
"""About how many of them are kept: far more than one page, which is all that can have come between two reads."""

_FEED_KEYS: Final = tuple(feed_key(partition) for partition in range(PARTITIONS))
_BELLS_KEY: Final = BELLS.encode("ascii")
_PARTITION_OF: Final = {key.encode("ascii"): partition for partition, key in enumerate(_FEED_KEYS)}

BELL = TypeVar("BELL", bound="Bell")

_journal = logging.getLogger(__name__)

Entries: TypeAlias = tuple[bytes, list[Row]]
"""What was read of one key."""

Cursors: TypeAlias = dict[int, str] | Callable[[], Awaitable[dict[int, str]]]
"""From where feeds are read on, by partition; or how that is fetched. Partitions may come and go while it is read."""


def ring(pipe: Pipeline, name: str) -> None:
    """Ring a bell in every process that hears it, once this pipeline is executed."""
    pipe.xadd(BELLS, {"b": name}, maxlen=RUNG, approximate=True)


class Hint(NamedTuple):
    """A stream has reached a version, or gone past it: entry `feed_id` of a partition's feed."""

    partition: int
    feed_id: str
    stream: str
    version: int


class Feeds:
    """The process's one wake-up subscription, begun when first needed."""

    def __init__(self, redis: Redis, pipe: Pipe) -> None:
        """Take the client for a connection of its own, and the pipe for what does not block."""
        self._redis = redis
        self._pipe = pipe
        self._cursors: list[str] = []
        self._rung = ""
        self._bells: dict[str, Bell] = {}
        self._growths: dict[str, Growth] = {}
        self._subscription: asyncio.Task[None] | None = None
        self._hinting: set[Pipe] = set()
        self._closed = False

    def bell(self, name: str) -> AbstractContextManager["Bell"]:
        """Give a bell for a block.

        Look at what it stands for, wait until it has rung after the count read before that look, and look again. It
        rings too when the subscription begins, and whenever that was broken. Whoever waits when the log is closed is
        not told any more.
        """
        return self._heard(self._bells, name, Bell)

    def growth(self, stream: str) -> AbstractContextManager["Growth"]:
        """Give for a block what rings when a stream has grown, and whenever it may have grown unheard, as a bell does.

        It wakes, no more: the truth is read from the stream.
        """
        return self._heard(self._growths, stream, Growth)

    async def hints(self, cursors: Cursors) -> AsyncIterator[Hint]:
        """Yield the hints of some feeds, those of the partitions in `cursors`, after the ids there, which move on.

        Cursors to be fetched are fetched when the connection is there, so that they are those of the store at its end.
        In the order of each feed, each once. End when the connection breaks: who answers then may be another store, and
        lack hints, and what they hinted at. They are read over a connection of their own: where they come fast, fewer
        and longer reads cost a tenth.
        """
        pipe = Pipe(self._redis, timeout_ms=3 * BLOCK_MS)
        self._hinting.add(pipe)
        try:
            if callable(cursors):
                await _connected(pipe)
                cursors = await cursors()
            opened = max(pipe.opened, 1)
            while not self._closed:
                asked = dict(cursors)
                try:
                    reply = await pipe.call(*_reading_on(asked)) if asked else await pipe.call("PING")
                    hints = list(_hints(cast("list[Entries]", reply or []))) if asked else []
                except (Unreachable, ResponseError):
                    return
                if pipe.opened > opened:
                    return
                for hint in hints:
                    # A partition may have gone meanwhile, and come back with another cursor.
                    if cursors.get(hint.partition) == asked[hint.partition]:
                        asked[hint.partition] = cursors[hint.partition] = hint.feed_id
                        yield hint
                # With fewer than one feed's page in all, no feed has more.
                if len(hints) < HINTS:
                    await asyncio.sleep(GATHER_HINTS_S)
        finally:
            self._hinting.discard(pipe)
            await pipe.drop()

    async def close(self) -> None:
        """End the subscription, and with it all who follow."""
        self._closed = True
        self._ring_all()
        for pipe in tuple(self._hinting):
            await pipe.drop()
        if self._subscription is not None:
            self._subscription.cancel()
            await asyncio.wait([self._subscription])

    @contextmanager
    def _heard(self, bells: dict[str, BELL], name: str, make: Callable[[], BELL]) -> Iterator[BELL]:
        self._begin()
        bell = bells.get(name)
        if bell is None:
            bell = bells[name] = make()
        bell.heard_by += 1
        try:
            yield bell
        finally:
            bell.heard_by -= 1
            if not bell.heard_by:
                del bells[name]

    def _begin(self) -> None:
        if self._subscription is None and not self._closed:
            self._subscription = asyncio.get_running_loop().create_task(self._subscribe())

    async def _subscribe(self) -> None:
        """Wait for hints, and pass them on, for ever."""
        pipe = Pipe(self._redis, timeout_ms=3 * BLOCK_MS)
        try:
            while True:
                try:
                    await self._listen(pipe)
                except (Unreachable, ResponseError) as error:
                    _journal.warning("the feeds can't be read, trying again: %s", error)
                    await asyncio.sleep(RETRY_S)
        finally:
            await pipe.drop()

    async def _listen(self, pipe: Pipe) -> None:
        """Go on from where the feeds were last read; whoever waits reads anew, for what a broken connection hid."""
        if not self._cursors:
            *self._cursors, self._rung = await _ends(pipe)
        await pipe.call("PING")
        self._ring_all()
        pulse = _Pulse()
        while True:
            reply = await pipe.call(*_reading([*self._cursors, self._rung]))
            if pulse.beat() > GAP_S:
                self._ring_all()
            if reply is not None:
                self._wake(cast("list[Entries]", reply))
                await asyncio.sleep(GATHER_S)

    def _wake(self, entries: "list[Entries]") -> None:
        # The bells are read last, and come last.
        if entries[-1][0] == _BELLS_KEY:
            self._ring(entries.pop()[1])
        for partition, feed_id, stream, version in _hints(entries):
            self._cursors[partition] = feed_id
            growth = self._growths.get(stream)
            if growth is not None:
                growth.grow(version)

    def _ring(self, rows: list[Row]) -> None:
        self._rung = rows[-1][0].decode("ascii")
        if len(rows) == HINTS:
            # There may be more than are kept: what came between then is not there to be read.
            self._ring_all()
            return
        for name in {fields[1] for _, fields in rows}:
            bell = self._bells.get(name.decode())
            if bell is not None:
                bell.ring()

    def _ring_all(self) -> None:
        for growth in self._growths.values():
            growth.doubt()
        for bell in self._bells.values():
            bell.ring()


class Bell:
    """Something happened, told to any number who wait for it; `count` says how often."""

    def __init__(self) -> None:
        self.count = 0
        self.heard_by = 0
        self._next = asyncio.Event()

    def ring(self) -> None:
        """Tell all who wait."""
        self.count += 1
        self._next.set()
        self._next = asyncio.Event()

    async def after(self, seen: int) -> None:
        """Return once it has rung after the moment at which its count was `seen`."""
        if self.count == seen:
            await self._next.wait()


class Growth(Bell):
    """That a stream has grown: `reached` is the version that it is known to have, 0 where the store must be asked."""

    def __init__(self) -> None:
        super().__init__()
        self.reached = 0

    def grow(self, version: int) -> None:
        """Tell of a hint: they come in order, so one that does not is of a store that has lost entries."""
        if version > self.reached:
            self.reached = version
            self.ring()
        else:
            self.doubt()

    def doubt(self) -> None:
        """Have the store asked."""
        self.reached = 0
        self.ring()


class _Pulse:
    """How long ago it last beat, by the clock that says more: a machine that sleeps stops one of them."""

    def __init__(self) -> None:
        self._last = self._now()

    def beat(self) -> float:
        """Return how many seconds have passed."""
        before, self._last = self._last, self._now()
        return max(now - then for now, then in zip(self._last, before, strict=True))

    @staticmethod
    def _now() -> tuple[float, float]:
        return time.monotonic(), utc_ms() / 1_000


async def _connected(pipe: Pipe) -> None:
    """Return when a pipe has its connection."""
    while True:
        try:
            await pipe.call("PING")
        except (Unreachable, ResponseError):
            if pipe.closed:
                return
            await asyncio.sleep(RETRY_S)
        else:
            return


async def _ends(pipe: Pipe) -> list[str]:
    """Return the id of the last entry of each feed and, last, of the bells."""
    keys = (*_FEED_KEYS, BELLS)
    replies = await asyncio.gather(*(pipe.call("XREVRANGE", key, "+", "-", "COUNT", 1) for key in keys))
    return [rows[0][0].decode("ascii") if rows else "0-0" for rows in cast("list[list[Row]]", replies)]


def _reading(ids: list[str]) -> Command:
    """Return the command that waits for what comes after an id for each feed, and one for the bells."""
    return ("XREAD", "COUNT", HINTS, "BLOCK", BLOCK_MS, "STREAMS", *_FEED_KEYS, BELLS, *ids)


def _reading_on(cursors: Mapping[int, str]) -> Command:
    """Return the command that waits for hints after some cursors, and not for long: there may soon be others."""
    keys = (_FEED_KEYS[partition] for partition in cursors)
    return ("XREAD", "COUNT", HINTS, "BLOCK", CHANGE_MS, "STREAMS", *keys, *cursors.values())


def _hints(entries: "list[Entries]") -> Iterator[Hint]:
    for key, rows in entries:
        partition = _PARTITION_OF[key]
        for feed_id, (_, stream, _, version) in rows:
            yield Hint(partition, feed_id.decode("ascii"), stream.decode("ascii"), int(version))
