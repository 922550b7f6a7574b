"""What all reactors share: look at each stream that grew, one look at a time, and lose none.

A stream that a reactor has no more use for, and a version that it has seen, are remembered: their hints cost next to
nothing. Whatever goes wrong at one stream holds up no other: it is tried again later and later, and set aside in the
end, visibly. What the store itself is to blame for is tried for as long as it takes.

All of that is kept by partition, for as long as this process holds its lease; which those are, and reading the feeds,
is service/reactors/sharing.py's.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeVar

from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import TimeoutError as TimedOut

from service.clock import Sleep
from service.errors import Busy, StoreDown, Unconfirmed
from service.feeds import Hint
from service.leases import Lease, Lost
from service.log import Log
from service.metrics import Counter, Gauge
from service.pipe import Command
from service.reactors.progress import Ends, Kept, Progress, Ticket, aside_key, cursor_key, moment, order
from service.store import heed_cancelling

T = TypeVar("T")

TRIES: Final = 6
"""After so many failures in a row a stream is set aside."""

FIRST_RETRY_S: Final = 0.1
LONGEST_RETRY_S: Final = 5.0
"""How long to wait after a failure: doubled from the first to the longest."""

PASSING_S: Final = 1.0
"""How long to wait after what is over by itself."""

LOOKS: Final = 64
"""How many streams are read at the same time: after an outage all of them have grown."""

REMEMBERED: Final = 4_096
"""Of how many streams of a partition it is remembered what was seen; to look again at a forgotten one is harmless."""

PASSING: Final = (StoreDown, Unconfirmed, Busy, ConnectionLost, TimedOut)
"""What is over by itself: no fault of the stream or of the reactor."""


_logger = logging.getLogger(__name__)
_hints = Counter("evenfold_reactor_hints_total", "Hints read from the feeds.", "reactor")
_errors = Counter(
    "evenfold_reactor_errors_total",
    "Looks that went wrong: passing, because of the store or of others, or failed.",
    "reactor",
    "kind",
)
_lag = Gauge("evenfold_reactor_lag_seconds", "most", "How long the earliest open hint has waited.", "reactor")
_aside = Gauge("evenfold_reactor_streams_aside", "sum", "Streams that are set aside after failures.", "reactor")


class Seen(NamedTuple):
    """What a look at a stream found: the version it saw, and what is to be done now, if anything.

    `todo` returns the newest version that it knows of: a later one than was seen is looked at too. `over` says that
    nothing that may still happen to the stream is of interest.
    """

    version: int
    todo: Callable[[], Awaitable[int]] | None = None
    over: bool = False


class Reactor(Protocol):
    """What is done about streams; `name` names its cursors."""

    name: str

    def delay_s(self, stream: str) -> float:
        """Return how long to wait before this stream is looked at, so that one look sees many decisions."""
        ...

    async def look(self, stream: str, version: int) -> Seen:
        """Look at a stream that has reached a version, or gone past it; 0: whatever the store has.

        Another process may look at it at the same time, and one that was paused may go on with what it saw long ago:
        what is done about it must do no harm then.
        """
        ...

    def part_with(self, stream: str) -> None:
        """Forget what is known of a stream: another process may look at it from now on."""
        ...

    def forget(self) -> None:
        """Forget what streams were seen to hold: the store may have lost some of it."""
        ...


class _Watch:
    """What is known of one stream: the version last seen, the one hinted at, and the hints that are still open."""

    __slots__ = ("coming", "hinted", "over", "present", "running", "version")

    def __init__(self) -> None:
        self.version = 0
        self.hinted = 0
        self.over = False
        self.running = False
        self.present: list[Ticket] = []  # of the look under way: one at most, and those that failed before
        self.coming: list[Ticket] = []  # of the next look: one at most, the first to come holds the cursor

    def see(self, version: int) -> None:
        """Note the version that a look has seen; hints up to it are the present look's."""
        self.version = version
        if self.hinted <= version:
            self.take()

    def take(self) -> None:
        """Make the hints that are coming the present look's."""
        self.present += self.coming
        self.coming = []


class _Part:
    """What a reactor has under way in a partition, for as long as this process holds its lease."""

    def __init__(self, lease: Lease, kept: Kept, feed: Ends) -> None:
        self.lease = lease
        self.progress = Progress(kept, feed)
        self.aside = set(kept.aside)
        self.watches: dict[str, _Watch] = {}
        self.tasks: set[asyncio.Task[None]] = set()
        # Of several reactors the one furthest behind says from where a feed is read; the others hear what they know.
        self.known: tuple[int, int] | None = order(self.progress.read)

    def close(self, watch: _Watch) -> None:
        """Be done with the hints of a look."""
        for ticket in watch.present:
            self.progress.close(ticket)
        watch.present = []


class Pursuit:
    """A reactor in the partitions that this process holds."""

    def __init__(self, reactor: Reactor, log: Log, *, sleep: Sleep = asyncio.sleep) -> None:
        """Take the reactor, the log, and what sleeps (seconds)."""
        self.name = reactor.name
        self._reactor = reactor
        self._log = log
        self._sleep = sleep
        self._parts: dict[int, _Part] = {}
        self._gate = asyncio.Semaphore(LOOKS)

    @property
    def aside(self) -> set[str]:
        """The streams that are set aside."""
        return {stream for part in self._parts.values() for stream in part.aside}

    def begin(self, lease: Lease, kept: Kept, feed: Ends, tasks: asyncio.TaskGroup) -> str:
        """Start in a partition that was claimed, in these tasks; return from where its feed is to be read on.

        What no hint is needed for is begun at once: what was set aside, and all streams if the cursor is lost.
        """
        self._tasks = tasks
        part = self._parts[lease.partition] = _Part(lease, kept, feed)
        for stream in part.aside:
            self._start(part, stream, self._watch(part, stream))
        if part.progress.lost:
            # It is opened here, so that no cursor is kept before they have all been looked at.
            self._create(part, self._look_at_all(part, part.progress.open(None)))
        return part.progress.read

    def end(self, partition: int) -> None:
        """Drop what is under way in a partition: it is another's to do."""
        part = self._parts.pop(partition)
        for task in part.tasks:
            task.cancel()
        for stream in part.watches:
            self._reactor.part_with(stream)

    def forget(self) -> None:
        """Forget what was seen and done, as if begun for the first time; what the store keeps of that is true."""
        self._reactor.forget()
        self._parts.clear()

    def cursor(self, partition: int) -> str | None:
        """Return up to where everything in a partition is done; None before all its streams have been looked at."""
        return self._parts[partition].progress.cursor()

    def saving(self, partition: int) -> list[Command]:
        """Return the call, if one is needed, that keeps how far the reactor has got; `saved` when it is made."""
        call = self._parts[partition].progress.saving(cursor_key(partition, self.name))
        return [] if call is None else [call]

    def saved(self, partition: int) -> None:
        """Note that the last call was made."""
        self._parts[partition].progress.saved()

    def measure(self) -> None:
        """State how the reactor fares."""
        lag_ms = max((part.progress.lag_ms() for part in self._parts.values()), default=0)
        _lag.set(lag_ms / 1_000, self.name)
        _aside.set(len(self.aside), self.name)

    def heed(self, hint: Hint) -> None:
        """See to it that a stream is looked at, unless what the hint says was seen already."""
        partition, feed_id, stream, version = hint
        part = self._parts.get(partition)
        if part is None:
            return
        _hints.add(self.name)
        if part.known is not None:
            if order(feed_id) <= part.known:
                return
            part.known = None
        progress = part.progress
        before, progress.read = progress.read, feed_id
        watch = part.watches.get(stream)
        if watch is None:
            watch = self._watch(part, stream)
        if watch.over:
            return
        if version <= watch.version:
            # Seen, but what is to be done about it may be still under way.
            if watch.running and not watch.present:
                watch.present.append(progress.open(before, moment(feed_id)))
            return
        watch.hinted = max(watch.hinted, version)
        if not watch.coming:
            watch.coming.append(progress.open(before, moment(feed_id)))
        self._start(part, stream, watch)

    async def _look_at_all(self, part: _Part, lost: Ticket) -> None:
        """Look at every stream of a partition whose cursor is lost, and start on those that want something done."""
        for stream in await insist(partial(self._log.streams, part.lease.partition)):
            watch = self._watch(part, stream)
            if watch.over or watch.running:
                continue
            watch.running = True
            wanting = await self._wants(stream, watch)
            watch.running = False
            if wanting or watch.hinted > watch.version:
                watch.coming.append(part.progress.open(None))
                self._start(part, stream, watch)
            else:
                watch.take()
                part.close(watch)
        part.progress.close(lost)

    async def _wants(self, stream: str, watch: _Watch) -> bool:
        """Look at a stream that no hint led to, and tell whether something is to be done."""
        try:
            seen = await self._look(stream, 0)
        except Exception as error:  # noqa: BLE001 whatever it is, the stream's own task meets it again
            heed_cancelling()
            _logger.info("%s: the first look at %s failed: %s", self.name, stream, type(error).__name__)
            return True
        watch.version, watch.over = seen.version, seen.over
        return seen.todo is not None

    def _watch(self, part: _Part, stream: str) -> _Watch:
        watch = part.watches.get(stream)
        if watch is None:
            if len(part.watches) >= REMEMBERED:
                _forget_some(part.watches)
            watch = part.watches[stream] = _Watch()
            watch.over = not stream.startswith("table:")
        return watch

    def _start(self, part: _Part, stream: str, watch: _Watch) -> None:
        if not watch.running:
            watch.running = True
            self._create(part, self._pursue(part, stream, watch))

    def _create(self, part: _Part, work: Coroutine[None, None, None]) -> None:
        task = self._tasks.create_task(work)
        part.tasks.add(task)
        task.add_done_callback(part.tasks.discard)

    async def _pursue(self, part: _Part, stream: str, watch: _Watch) -> None:
        """Look at a stream until everything that is hinted at has been seen and dealt with."""
        # The first look is at what the store has: what is in memory may be of before it lost something.
        version = watch.hinted if watch.version else 0
        try:
            while await self._dealt_with(part, stream, watch, version):
                version = watch.hinted
                if version <= watch.version:
                    break
        except Lost:
            # Its hints stay open: whoever has the partition now is hinted again.
            _logger.info("%s leaves %s to another process", self.name, stream)
            return
        watch.running = False

    async def _dealt_with(self, part: _Part, stream: str, watch: _Watch, version: int) -> bool:
        """Try until a look has gone well, and close its hints; return False if the stream is set aside; raise Lost."""
        failures = 0
        while failures < TRIES:
            heed_cancelling()
            try:
                await self._step(stream, watch, version)
            except PASSING as error:
                _errors.add(self.name, "passing")
                _logger.warning("%s: %s must wait: %s", self.name, stream, type(error).__name__)
                await self._sleep(PASSING_S)
            except Exception as error:  # noqa: BLE001 a stream that fails must hold up no other
                failures += 1
                self._tell(stream, failures, error)
                if failures < TRIES:
                    await self._sleep(min(FIRST_RETRY_S * 2 ** (failures - 1), LONGEST_RETRY_S))
            else:
                break
            version = 0  # whatever the look knew may have been wrong
        if failures == TRIES:
            await self._set_aside(part, stream)
            watch.take()
        elif stream in part.aside:
            await self._take_back(part, stream)
        part.close(watch)
        return failures < TRIES

    async def _step(self, stream: str, watch: _Watch, version: int) -> None:
        """Look once, and do what is to be done."""
        delay_s = self._reactor.delay_s(stream)
        if delay_s:
            await self._sleep(delay_s)
            version = max(version, watch.hinted) if version else 0
        watch.hinted = 0
        watch.take()
        seen = await self._look(stream, version)
        watch.see(seen.version)
        watch.over = seen.over
        if seen.todo is not None:
            watch.hinted = max(watch.hinted, await seen.todo())

    async def _look(self, stream: str, version: int) -> Seen:
        async with self._gate:
            return await self._reactor.look(stream, version)

    def _tell(self, stream: str, failures: int, error: Exception) -> None:
        """Log a failure by its kind and place: its message may hold a card."""
        _errors.add(self.name, "failed")
        place = "".join(traceback.format_tb(error.__traceback__))
        _logger.error(
            "%s failed at %s, %d of %d times: %s\n%s",
            self.name,
            stream,
            failures,
            TRIES,
            type(error).__name__,
            place,
        )

    async def _set_aside(self, part: _Part, stream: str) -> None:
        """Let a stream hold nothing up; it is looked at again when it grows, and at the next claim."""
        part.aside.add(stream)
        _logger.critical("%s set %s aside; %d streams are aside now", self.name, stream, len(self.aside))
        key = aside_key(part.lease.partition, self.name)
        await insist(partial(part.lease.write, ("SADD", key, stream)))

    async def _take_back(self, part: _Part, stream: str) -> None:
        key = aside_key(part.lease.partition, self.name)
        await insist(partial(part.lease.write, ("SREM", key, stream)))
        part.aside.discard(stream)
        _logger.warning("%s is through with %s, which was set aside", self.name, stream)


def _forget_some(watches: dict[str, _Watch]) -> None:
    """Forget half of the streams, the oldest first, but for those at work."""
    idle = [stream for stream, watch in watches.items() if not watch.running]
    for stream in idle[: REMEMBERED // 2]:
        del watches[stream]


async def insist(call: Callable[[], Awaitable[T]]) -> T:
    """Call until the store answers."""
    while True:
        try:
            answer = await call()
        except PASSING as error:
            heed_cancelling()
            _logger.warning("the store does not answer a reactor, trying again: %s", type(error).__name__)
            await asyncio.sleep(PASSING_S)
        else:
            heed_cancelling()
            return answer
