"""What all reactors share: follow the feeds, look at each stream that grew, one look at a time, and lose none.

A stream that a reactor has no more use for, and a version that it has seen, are remembered: their hints cost next to
nothing. Whatever goes wrong at one stream holds up no other: it is tried again later and later, and set aside in the
end, visibly. What the store itself is to blame for is tried for as long as it takes.
"""

import asyncio
import logging
import traceback
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeVar

from redis.asyncio import Redis
from redis.exceptions import ConnectionError as ConnectionLost
from redis.exceptions import TimeoutError as TimedOut

from service.clock import Sleep
from service.errors import Busy, StoreDown, Unconfirmed
from service.feeds import Hint
from service.log import Log
from service.metrics import Counter, Gauge
from service.reactors.progress import Progress, Ticket, moment, order

T = TypeVar("T")

TRIES: Final = 6
"""After so many failures in a row a stream is set aside."""

FIRST_RETRY_S: Final = 0.1
LONGEST_RETRY_S: Final = 5.0
"""How long to wait after a failure: doubled from the first to the longest."""

SAVE_S: Final = 1.0
"""How often the cursors are kept."""

LOOKS: Final = 64
"""How many streams are read at the same time: after an outage all of them have grown."""

REMEMBERED: Final = 65_536
"""Of how many streams it is remembered what was seen of them; to look again at one that was forgotten is harmless."""

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
_aside = Gauge("evenfold_reactor_streams_aside", "most", "Streams that are set aside after failures.", "reactor")


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
        """Look at a stream that has reached a version, or gone past it; 0: whatever the store has."""
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


class Pursuit:
    """A reactor on the feeds of one store."""

    def __init__(self, reactor: Reactor, log: Log, redis: Redis, *, sleep: Sleep = asyncio.sleep) -> None:
        """Take the reactor, the log with the feeds, the store for the cursors, and what sleeps (seconds)."""
        self._reactor = reactor
        self._log = log
        self._redis = redis
        self._sleep = sleep
        self._progress = Progress(redis, reactor.name)
        self._watches: dict[str, _Watch] = {}
        self._gate = asyncio.Semaphore(LOOKS)
        self.aside: set[str] = set()
        """The streams that are set aside."""

    def forget(self) -> None:
        """Forget what was seen and done, as if begun for the first time; what the store keeps of that is true."""
        self._reactor.forget()
        self._progress = Progress(self._redis, self._reactor.name)
        self._watches.clear()

    async def begin(self, tasks: asyncio.TaskGroup) -> dict[int, str]:
        """Start, in these tasks, on what no hint is needed for; return from where each feed is to be read on.

        That is what was set aside, and all streams of the partitions whose cursor is lost.
        """
        self._tasks = tasks
        lost = await _insist(self._progress.load)
        self.aside = await _insist(self._progress.aside)
        for stream in self.aside:
            self._start(stream, self._watch(stream))
        # Not `gather`, which leaves the others running when one of them fails or is cancelled.
        async with asyncio.TaskGroup() as looks:
            for ticket in lost:
                looks.create_task(self._look_at_all(ticket))
        return dict(enumerate(self._progress.read))

    def heed(self, hint: Hint) -> None:
        """See to it that a stream is looked at, unless what the hint says was seen already."""
        _hints.add(self._reactor.name)
        partition, feed_id, stream, version = hint
        read = self._progress.read
        before, read[partition] = read[partition], feed_id
        watch = self._watches.get(stream)
        if watch is None:
            watch = self._watch(stream)
        if watch.over:
            return
        if version <= watch.version:
            # Seen, but what is to be done about it may be still under way.
            if watch.running and not watch.present:
                watch.present.append(self._progress.open(partition, before, moment(feed_id)))
            return
        watch.hinted = max(watch.hinted, version)
        if not watch.coming:
            watch.coming.append(self._progress.open(partition, before, moment(feed_id)))
        self._start(stream, watch)

    async def _look_at_all(self, lost: Ticket) -> None:
        """Look at every stream of a partition whose cursor is lost, and start on those that want something done."""
        for stream in await _insist(partial(self._log.streams, lost.partition)):
            watch = self._watch(stream)
            if watch.over or watch.running:
                continue
            try:
                seen = await self._look(stream, 0)
            except Exception as error:  # noqa: BLE001 whatever it is, the stream's own task meets it again
                _heed_cancelling()
                _logger.info("%s: the first look at %s failed: %s", self._reactor.name, stream, type(error).__name__)
            else:
                watch.version, watch.over = seen.version, seen.over
                if seen.todo is None:
                    continue
            watch.coming.append(self._progress.open(lost.partition, None))
            self._start(stream, watch)
        self._progress.close(lost)

    def _watch(self, stream: str) -> _Watch:
        watch = self._watches.get(stream)
        if watch is None:
            if len(self._watches) >= REMEMBERED:
                self._forget_some()
            watch = self._watches[stream] = _Watch()
            watch.over = not stream.startswith("table:")
        return watch

    def _forget_some(self) -> None:
        """Forget half of the streams, the oldest first, but for those at work."""
        idle = [stream for stream, watch in self._watches.items() if not watch.running]
        for stream in idle[: REMEMBERED // 2]:
            del self._watches[stream]

    def _start(self, stream: str, watch: _Watch) -> None:
        if not watch.running:
            watch.running = True
            self._tasks.create_task(self._pursue(stream, watch))

    async def _pursue(self, stream: str, watch: _Watch) -> None:
        """Look at a stream until everything that is hinted at has been seen and dealt with."""
        # The first look is at what the store has: what is in memory may be of before it lost something.
        version = watch.hinted if watch.version else 0
        while await self._dealt_with(stream, watch, version):
            version = watch.hinted
            if version <= watch.version:
                break
        watch.running = False

    async def _dealt_with(self, stream: str, watch: _Watch, version: int) -> bool:
        """Try until a look has gone well, and close its hints; return False if the stream is set aside."""
        failures = 0
        while failures < TRIES:
            _heed_cancelling()
            try:
                await self._step(stream, watch, version)
            except PASSING as error:
                _errors.add(self._reactor.name, "passing")
                _logger.warning("%s: %s must wait: %s", self._reactor.name, stream, type(error).__name__)
                await self._sleep(SAVE_S)
            except Exception as error:  # noqa: BLE001 a stream that fails must hold up no other
                failures += 1
                self._tell(stream, failures, error)
                if failures < TRIES:
                    await self._sleep(min(FIRST_RETRY_S * 2 ** (failures - 1), LONGEST_RETRY_S))
            else:
                break
            version = 0  # whatever the look knew may have been wrong
        if failures == TRIES:
            await self._set_aside(stream)
            watch.take()
        elif stream in self.aside:
            await self._take_back(stream)
        for ticket in watch.present:
            self._progress.close(ticket)
        watch.present = []
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
        _errors.add(self._reactor.name, "failed")
        place = "".join(traceback.format_tb(error.__traceback__))
        _logger.error(
            "%s failed at %s, %d of %d times: %s\n%s",
            self._reactor.name,
            stream,
            failures,
            TRIES,
            type(error).__name__,
            place,
        )

    async def _set_aside(self, stream: str) -> None:
        """Let a stream hold nothing up; it is looked at again when it grows, and at the next start."""
        self.aside.add(stream)
        _logger.critical("%s set %s aside; %d streams are aside now", self._reactor.name, stream, len(self.aside))
        await _insist(partial(self._progress.set_aside, stream))

    async def _take_back(self, stream: str) -> None:
        await _insist(partial(self._progress.take_back, stream))
        self.aside.discard(stream)
        _logger.warning("%s is through with %s, which was set aside", self._reactor.name, stream)

    async def save(self) -> None:
        """Keep how far the reactor has got, if the store answers."""
        _lag.set(self._progress.lag_ms() / 1_000, self._reactor.name)
        _aside.set(len(self.aside), self._reactor.name)
        try:
            await self._progress.save()
        except PASSING as error:
            _logger.warning("%s: the cursors can't be kept now: %s", self._reactor.name, type(error).__name__)


class _Interrupted(Exception):
    """The connection to the store broke: who answers then may be another, and lack what was done."""


async def pursue(log: Log, *pursuits: Pursuit) -> None:
    """Follow the feeds with several reactors, each from where it got to, for ever; cancelled, keep their cursors."""
    while True:
        interrupted = False
        try:
            await _pursue(log, pursuits)
        except* _Interrupted:
            interrupted = True
        finally:
            # Not after an interruption: what takes the store's place has cursors of its own, for the hints it has.
            if not interrupted:
                await _save(pursuits)
        _logger.warning("the feeds broke off; the reactors begin anew from the cursors that the store has")
        for pursuit in pursuits:
            pursuit.forget()
        await asyncio.sleep(FIRST_RETRY_S)


async def _pursue(log: Log, pursuits: Sequence[Pursuit]) -> None:
    """Follow the feeds until the connection breaks; raise _Interrupted then, within a group."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_save_now_and_then(pursuits))

        async def begun() -> dict[int, str]:
            cursors = [await pursuit.begin(tasks) for pursuit in pursuits]
            # Reading costs more than heeding: all read once, from where the last of them is; the others hear repeats.
            return {number: min(ids, key=order) for number, ids in _by_partition(cursors)}

        # They begin when the connection is there: a store that takes another's place after that breaks it.
        async for hint in log.feeds(begun):
            for pursuit in pursuits:
                pursuit.heed(hint)
        raise _Interrupted


def _by_partition(begun: Sequence[dict[int, str]]) -> Iterator[tuple[int, list[str]]]:
    for number in begun[0]:
        yield number, [cursors[number] for cursors in begun]


async def _save_now_and_then(pursuits: Sequence[Pursuit]) -> None:
    while True:
        await asyncio.sleep(SAVE_S)
        await _save(pursuits)
        _heed_cancelling()


async def _save(pursuits: Sequence[Pursuit]) -> None:
    for pursuit in pursuits:
        await pursuit.save()


async def _insist(call: Callable[[], Awaitable[T]]) -> T:
    """Call until the store answers."""
    while True:
        try:
            answer = await call()
        except PASSING as error:
            _heed_cancelling()
            _logger.warning("the store does not answer a reactor, trying again: %s", type(error).__name__)
            await asyncio.sleep(SAVE_S)
        else:
            _heed_cancelling()
            return answer


def _heed_cancelling() -> None:
    """End the task if it was cancelled: redis-py may swallow that, and answer as if nothing had been asked of it."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
