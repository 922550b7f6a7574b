"""Which partitions a process acts on, of those that all processes share; and what it reads for them.

Once a second a process says that it is alive and looks at all leases. Each has a share that differs from the others' by
one partition at most: who holds more gives some back, who holds less claims what nobody holds, or whose holder is gone.
No process tells another what to do; of two who claim the same, the store lets one.

The feeds of the partitions held are read by one blocking call for all reactors, and trimmed behind the slowest of them.
A minute's hints stay in any case: others read them too, to wake up, and can't tell that one was trimmed before it came.
"""

import asyncio
import logging
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from redis.asyncio import Redis

from service.ids import PARTITIONS
from service.leases import Lease, Leases, Present, holder_of
from service.log import Log
from service.metrics import Counter, Gauge
from service.pipe import Command
from service.reactors.progress import asking, order, told
from service.reactors.pursuit import FIRST_RETRY_S, PASSING, Pursuit, insist
from service.store import heed_cancelling
from service.streams import feed_key

BEAT_S: Final = 1.0
"""How often a process says that it is alive, looks at the leases and keeps its cursors."""

STAY_MS: Final = 60_000
"""How long a hint stays in its feed at least."""

MOST_HINTS: Final = 1_000_000
"""How many hints a feed holds at most, about: a reactor further behind looks at all streams."""

_logger = logging.getLogger(__name__)
_held = Gauge("evenfold_reactor_leases", "sum", "Partitions that processes hold.")
_claims = Counter(
    "evenfold_reactor_lease_claims_total", "Partitions claimed: free, or from a holder that was gone.", "from"
)
_losses = Counter("evenfold_reactor_lease_losses_total", "Partitions handed over, or claimed by another.", "how")
_trimmed = Counter("evenfold_reactor_hints_trimmed_total", "Hints that were trimmed off the feeds.")


class Share:
    """The partitions that this process holds, and its reactors in them."""

    def __init__(self, leases: Leases, pursuits: Sequence[Pursuit]) -> None:
        """Take the process's leases and its reactors."""
        self.reading: dict[int, str] = {}
        """From where the feed of each partition held is read on; who reads them moves it."""
        self._leases = leases
        self._pursuits = pursuits
        self._held: dict[int, Lease] = {}
        self._trimmed: dict[int, tuple[str, str]] = {}
        for origin in ("free", "gone"):
            _claims.expect(origin)
        for how in ("handed", "claimed"):
            _losses.expect(how)

    async def beat(self, tasks: asyncio.TaskGroup) -> None:
        """Say that this process is alive, keep its cursors, and hold what is its share; raise StoreDown."""
        present = await self._leases.attend()
        texts = await self._leases.read()
        self._drop([number for number, lease in self._held.items() if texts[number] != lease.text])
        await self._save(present.at)
        share = _share(present, self._leases.holder)
        if len(self._held) > share:
            await self._hand_over(list(self._held)[share:])
        elif len(self._held) < share:
            await self._claim(present, texts, share - len(self._held), tasks)
        _held.set(len(self._held))
        for pursuit in self._pursuits:
            pursuit.measure()

    async def leave(self) -> None:
        """Hand everything over; raise StoreDown."""
        await self._hand_over(list(self._held))
        await self._leases.leave()
        _held.set(0)

    def forget(self) -> None:
        """Hold nothing: the store that answers next knows best who holds what."""
        for pursuit in self._pursuits:
            pursuit.forget()
        self._held.clear()
        self._trimmed.clear()
        self.reading.clear()

    async def _save(self, now: int) -> None:
        """Keep the cursors that have moved, and trim the feeds that have grown, where the lease is still ours."""
        calls = {lease: [*self._saving(number), *self._trimming(number, now)] for number, lease in self._held.items()}
        await self._write({lease: its_calls for lease, its_calls in calls.items() if its_calls})

    async def _hand_over(self, partitions: Iterable[int]) -> None:
        """End what is under way in some partitions, keep how far it got, and let others claim them."""
        calls = {self._held[number]: [*self._saving(number), self._held[number].freed] for number in partitions}
        await self._write(calls)
        given = [lease.partition for lease in calls if lease.partition in self._held]
        _losses.add("handed", by=len(given))
        self._end(given)

    async def _write(self, calls: dict[Lease, list[Command]]) -> None:
        answers = dict(zip(calls, await self._leases.write(calls), strict=True))
        self._drop([lease.partition for lease, replies in answers.items() if replies is None])
        for lease, replies in answers.items():
            if replies is None:
                continue
            for pursuit in self._pursuits:
                pursuit.saved(lease.partition)
            trims = (reply for call, reply in zip(calls[lease], replies, strict=True) if call[0] == "XTRIM")
            _trimmed.add(by=sum(reply for reply in trims if isinstance(reply, int)))

    async def _claim(self, present: Present, texts: Sequence[str], count: int, tasks: asyncio.TaskGroup) -> None:
        """Claim so many partitions, if there are so many to be had, and begin in them."""
        mine = present.holders.index(self._leases.holder)
        first = PARTITIONS * mine // len(present.holders)
        # Each begins at another place: who claims what another claims at the same time has to come again.
        ring = [(first + step) % PARTITIONS for step in range(PARTITIONS)]
        others = {*present.holders} - {self._leases.holder}
        free = [number for number in ring if number not in self._held and holder_of(texts[number]) not in others]
        leases = await self._leases.claim({number: texts[number] for number in free[:count]})
        for lease in leases:
            _claims.add("gone" if holder_of(texts[lease.partition]) else "free")
        await self._begin(leases, tasks)

    async def _begin(self, leases: Sequence[Lease], tasks: asyncio.TaskGroup) -> None:
        names = [pursuit.name for pursuit in self._pursuits]
        asked = [list(asking(lease.partition, *names)) for lease in leases]
        replies = iter(await self._leases.ask(*(command for commands in asked for command in commands)))
        for lease, commands in zip(leases, asked, strict=True):
            feed, kept = told([next(replies) for _ in commands])
            self._held[lease.partition] = lease
            begun = zip(self._pursuits, kept, strict=True)
            # Reading costs more than heeding: all read once, from where the last of them is; the others hear repeats.
            self.reading[lease.partition] = min(
                (pursuit.begin(lease, its, feed, tasks) for pursuit, its in begun), key=order
            )

    def _drop(self, partitions: Sequence[int]) -> None:
        """End what is under way in partitions that others have claimed."""
        if partitions:
            _losses.add("claimed", by=len(partitions))
            _logger.warning("%d partitions were claimed by others, for whom this process was gone", len(partitions))
            self._end(partitions)

    def _end(self, partitions: Iterable[int]) -> None:
        for number in partitions:
            del self._held[number], self.reading[number]
            self._trimmed.pop(number, None)
            for pursuit in self._pursuits:
                pursuit.end(number)

    def _saving(self, number: int) -> list[Command]:
        return [call for pursuit in self._pursuits for call in pursuit.saving(number)]

    def _trimming(self, number: int, now: int) -> list[Command]:
        """Return the calls that trim a feed behind the slowest cursor; one that was never kept holds nothing up."""
        cursors = [cursor for pursuit in self._pursuits if (cursor := pursuit.cursor(number)) is not None]
        floor = min([*cursors, f"{max(0, now - STAY_MS)}-0"], key=order)
        state = (floor, self.reading[number])
        if self._trimmed.get(number) == state:
            return []
        self._trimmed[number] = state
        key = feed_key(number)
        # The entry at the cursor itself stays: it shows that those after it are all there.
        return [("XTRIM", key, "MINID", "~", floor), ("XTRIM", key, "MAXLEN", "~", MOST_HINTS)]


class _Interrupted(Exception):
    """The connection to the store broke: who answers then may be another, and lack what was done."""


async def pursue(log: Log, redis: Redis, *pursuits: Pursuit) -> None:
    """Have several reactors act on this process's share of the partitions, for ever; cancelled, hand it over."""
    leases = Leases(redis)
    share = Share(leases, pursuits)
    try:
        while True:
            interrupted = False
            try:
                await _pursue(log, share, pursuits)
            except* _Interrupted:
                interrupted = True
            finally:
                # Not after an interruption: what takes the store's place has cursors of its own, for the hints it has.
                if not interrupted:
                    await _leave(share)
            _logger.warning("the feeds broke off; the reactors begin anew from the cursors that the store has")
            share.forget()
            await asyncio.sleep(FIRST_RETRY_S)
    finally:
        await leases.close()


async def _pursue(log: Log, share: Share, pursuits: Sequence[Pursuit]) -> None:
    """Follow the feeds until the connection breaks; raise _Interrupted then, within a group."""
    async with asyncio.TaskGroup() as tasks:

        async def begun() -> dict[int, str]:
            await insist(partial(share.beat, tasks))
            tasks.create_task(_beat(share, tasks))
            return share.reading

        # They begin when the connection is there: a store that takes another's place after that breaks it.
        async for hint in log.feeds(begun):
            for pursuit in pursuits:
                pursuit.heed(hint)
        raise _Interrupted


async def _beat(share: Share, tasks: asyncio.TaskGroup) -> None:
    while True:
        await asyncio.sleep(BEAT_S)
        try:
            await share.beat(tasks)
        except PASSING as error:
            _logger.warning("the store does not take a reactor's sign of life: %s", type(error).__name__)
        heed_cancelling()


async def _leave(share: Share) -> None:
    try:
        await share.leave()
    except PASSING as error:
        _logger.warning("the reactors' cursors can't be kept, nor their leases given back: %s", type(error).__name__)


def _share(present: Present, holder: str) -> int:
    """Return how many partitions a process should hold."""
    number = len(present.holders)
    return PARTITIONS // number + (present.holders.index(holder) < PARTITIONS % number)
