"""Leases: which process acts on which partition, and writes that a process makes only as long as it does.

A partition's lease is a text in the store, its fencing number and who holds it. Each claim counts the number up, and
what is kept for a partition, cursors above all, is written under its lease: by a function that checks in the same step
that it is still the one the writer holds. Who was paused, cut off or slow while another claimed its partition moves no
cursor back when it wakes up.

Who holds leases says once a second that it is alive, by the store's clock; no other clock counts. The leases of whoever
has not for LEASE_MS may be claimed. That may be wrong, of a process that is slow, and does no harm: it is fenced off.

    {pp}:lease   `<number> <holder>`, or `<number>` while nobody holds it
    reactors     the holders that are alive: a sorted set, by when that ends (UTC ms of the store)

Left out: what reactors do about streams. That does no harm if it is done twice or late, by itself: a bot insists on the
version that it saw, lobby and inboxes never go back to an older one.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from service.errors import StoreDown
from service.functions import is_missing, source
from service.ids import PARTITIONS, new_id
from service.pipe import Command, Pipe, Reply, Unreachable
from service.store import is_unfit

LEASE_MS: Final = 4_000
"""How long after its last sign of life a process counts as alive."""

PRESENT_KEY: Final = "reactors"

Calls: TypeAlias = Iterable[Command]
"""What is written: commands whose second word is the one key that each of them touches."""

_DOWN: Final = "The store does not answer, or can't write; what was asked of it may have happened."


class Lost(Exception):
    """Another has claimed the partition: nothing was written, and what was begun under the lease is void."""


class Present(NamedTuple):
    """The processes that are alive and share the partitions, in an order that is the same for all; and when.

    `at` is the store's clock, UTC in ms.
    """

    holders: tuple[str, ...]
    at: int


class Lease:
    """One partition, held by this process until another claims it."""

    def __init__(self, leases: "Leases", partition: int, text: str) -> None:
        """Take the process's leases, the partition, and the lease as the store has it."""
        self.partition = partition
        self.text = text
        self._leases = leases

    async def write(self, *calls: Command) -> list[Reply]:
        """Make these calls, all or none of them, and return the replies; raise Lost or StoreDown.

        The second word of each call is the one key that it touches.
        """
        (replies,) = await self._leases.write({self: calls})
        if replies is None:
            raise Lost(f"partition {self.partition} was claimed by another")
        return replies

    @property
    def freed(self) -> Command:
        """The call by which nobody holds the lease any more, after which nothing is written under it."""
        return ("SET", lease_key(self.partition), self.text.partition(" ")[0])


class Leases:
    """The leases of one store, as one process sees them; each of its methods may raise StoreDown."""

    def __init__(self, redis: Redis) -> None:
        """Take the client whose kind of connection to make; the running event loop is theirs for good."""
        self.holder = new_id()
        self._pipe = Pipe(redis)
        self._function = source(Path(__file__).with_name("leases.lua"))

    async def attend(self) -> Present:
        """Say that this process is alive, and return who else is."""
        ((seconds, microseconds),) = cast("list[list[bytes]]", await self.ask(("TIME",)))
        at = int(seconds) * 1_000 + int(microseconds) // 1_000
        _, _, pairs = await self.ask(
            ("ZADD", PRESENT_KEY, at + LEASE_MS, self.holder),
            ("ZREMRANGEBYSCORE", PRESENT_KEY, "-inf", f"({at}"),
            ("ZRANGE", PRESENT_KEY, 0, -1, "WITHSCORES"),
        )
        words = cast("list[bytes]", pairs)
        until = {name.decode("ascii"): float(score) for name, score in zip(words[::2], words[1::2], strict=True)}
        # The store's clock was set back: who died before that must not count as alive until it has caught up.
        if beyond := [name for name, end in until.items() if end > at + 2 * LEASE_MS]:
            await self.ask(*(("ZADD", PRESENT_KEY, "LT", at + LEASE_MS, name) for name in beyond))
        return Present(tuple(sorted(until)), at)

    async def read(self) -> list[str]:
        """Return the lease of each partition as the store has it, '' where there never was one."""
        found = await self.ask(*(("GET", lease_key(partition)) for partition in range(PARTITIONS)))
        return [(text or b"").decode("ascii") for text in cast("list[bytes | None]", found)]

    async def claim(self, seen: Mapping[int, str]) -> list[Lease]:
        """Claim partitions whose leases were seen to be so; return the leases of those where no other was faster."""
        wanted = {partition: f"{_number(text) + 1} {self.holder}" for partition, text in seen.items()}
        replies = await asyncio.gather(
            *(
                self._written(partition, seen[partition], [("SET", lease_key(partition), text)])
                for partition, text in wanted.items()
            )
        )
        pairs = zip(wanted.items(), replies, strict=True)
        return [Lease(self, partition, text) for (partition, text), reply in pairs if reply is not None]

    async def write(self, wanted: Mapping[Lease, Calls]) -> list[list[Reply] | None]:
        """Make calls under several leases, in one write; return the replies for each, None where it was lost."""
        return await asyncio.gather(
            *(self._written(lease.partition, lease.text, calls) for lease, calls in wanted.items())
        )

    async def leave(self) -> None:
        """Say that this process is none of those any more who share the partitions."""
        await self.ask(("ZREM", PRESENT_KEY, self.holder))

    async def ask(self, *commands: Command) -> list[Reply]:
        """Return the replies to commands that may be made twice, sent in one write."""
        with _answered():
            return await asyncio.gather(*(self._pipe.call(*command) for command in commands))

    async def close(self) -> None:
        """Disconnect."""
        await self._pipe.drop()

    async def _written(self, partition: int, text: str, calls: Calls) -> list[Reply] | None:
        """Make calls if a lease is the one stated; None if it is not."""
        counted = [word for call in calls for word in (len(call), *call)]
        keys = dict.fromkeys([lease_key(partition), *(str(call[1]) for call in calls)])
        command = ("FCALL", self._function.name, len(keys), *keys, text, *counted)
        with _answered():
            try:
                reply = await self._pipe.call(*command)
            except ResponseError as error:
                if not is_missing(error):
                    raise
                await self._load()
                reply = await self._pipe.call(*command)
        return cast("list[Reply] | None", reply)

    async def _load(self) -> None:
        try:
            await self._pipe.call("FUNCTION", "LOAD", self._function.code)
        except ResponseError as error:
            if "already exists" not in str(error):
                raise


def holder_of(text: str) -> str:
    """Return who holds a lease, '' for nobody."""
    return text.partition(" ")[2]


def lease_key(partition: int) -> str:
    """Return the key of a partition's lease."""
    return f"{{{partition:02}}}:lease"


def _number(text: str) -> int:
    """Return the fencing number of a lease, 0 before the first claim."""
    return int(text.partition(" ")[0] or 0)


@contextmanager
def _answered() -> Iterator[None]:
    """Raise StoreDown if the store does not answer in this block, or can't do its work now."""
    try:
        yield
    except Unreachable as error:
        raise StoreDown(_DOWN) from error
    except ResponseError as error:
        if not is_unfit(error):
            raise
        raise StoreDown(_DOWN) from error
