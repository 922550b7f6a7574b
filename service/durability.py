"""What a decision waits for before it is acknowledged, beyond what the store does before it answers.

    store        nothing more
    fsync        the store's append-only file is synced to its disk   WAITAOF 1 0
    replicated   a replica has received it                            WAIT 1

Both commands wait for what their own connection has written. So one connection first reads the decisions, which shows
that this very server has them and not one that has taken over since, then writes a mark, and waits for that: what was
there before the mark is at least as safe. A round confirms all that were stored before it began, and rounds follow one
another, so that many decisions share one wait; nobody else waits behind it.

Left out: WAITAOF for replicas. A replica reports its sync with its next heartbeat, which makes a second of each round;
one that keeps an append-only file with `appendfsync always` has written what it has received.
"""

import asyncio
import logging
from typing import Final, Literal, NamedTuple, cast

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from service.errors import Unconfirmed
from service.pipe import Command, Pipe, Reply, Unreachable
from service.settings import Durability
from service.store import StoreUnfit, where
from service.streams import Row, Stored, keys_of

Demanded = Literal["fsync", "replicated"]

WAIT_MS: Final = 2_000
"""How long one round waits for a disk or a replica."""

FIRST_TO_WAIT: Final = (7, 2)
"""The first Redis with WAITAOF. Valkey calls itself 7.2.4 here, whatever its own version."""

MARK_KEY: Final = "service:mark"

_journal = logging.getLogger(__name__)


class _Wanted(NamedTuple):
    stream: str
    stored: Stored
    answer: "asyncio.Future[bool]"

    def query(self) -> Command:
        at = f"{self.stored.version}-0"
        return ("XRANGE", keys_of(self.stream).stream, at, at)

    def is_in(self, rows: Reply) -> bool:
        match cast("list[Row]", rows):
            case [(_, [_, _, _, h])]:
                return h == self.stored.h
            case _:
                return False


class Confirming:
    """Waits for disks and replicas, over a connection of its own."""

    def __init__(self, redis: Redis, demanded: Demanded, *, wait_ms: int = WAIT_MS) -> None:
        """Take the client whose connection to make, and what is demanded; the running event loop is its for good."""
        self._pipe = Pipe(redis, timeout_ms=2 * wait_ms)
        self._wait: Command = ("WAITAOF", 1, 0, wait_ms) if demanded == "fsync" else ("WAIT", 1, wait_ms)
        self._demanded = demanded
        self._loop = asyncio.get_running_loop()
        self._wanted: list[_Wanted] = []
        self._rounds: asyncio.Task[None] | None = None
        self._marks = 0

    async def confirm(self, stream: str, stored: Stored) -> None:
        """Return once an entry is as safe as was demanded; raise Unconfirmed if that can't be learnt in time."""
        wanted = _Wanted(stream, stored, self._loop.create_future())
        self._wanted.append(wanted)
        if self._rounds is None:
            self._rounds = self._loop.create_task(self._confirm_all())
        if not await asyncio.shield(wanted.answer):
            raise Unconfirmed(stream, stored.version)

    async def close(self) -> None:
        """Finish what is under way, and disconnect."""
        if self._rounds is not None:
            await asyncio.wait([self._rounds])
        await self._pipe.close()

    async def _confirm_all(self) -> None:
        """Confirm what is wanted, round after round, until nothing is."""
        try:
            # What is wanted by the end of this turn of the loop goes into the first round.
            await asyncio.sleep(0)
            while self._wanted:
                wanted, self._wanted = self._wanted, []
                for one, is_safe in zip(wanted, await self._confirmed(wanted), strict=True):
                    one.answer.set_result(is_safe)
        finally:
            self._rounds = None

    async def _confirmed(self, wanted: list[_Wanted]) -> list[bool]:
        """Tell for each entry whether it is there and safe."""
        self._marks += 1
        calls = [*(one.query() for one in wanted), ("SET", MARK_KEY, self._marks), self._wait]
        try:
            *found, _, reached = await asyncio.gather(*(self._pipe.call(*call) for call in calls))
        except (Unreachable, ResponseError) as error:
            _journal.warning("%s: %d decisions can't be confirmed: %s", self._demanded, len(wanted), error)
            return [False] * len(wanted)
        if not _is_reached(reached):
            _journal.warning("%s: %d decisions were not confirmed in time", self._demanded, len(wanted))
            return [False] * len(wanted)
        return [one.is_in(rows) for one, rows in zip(wanted, found, strict=True)]


def confirming(redis: Redis, durability: Durability) -> Confirming | None:
    """Return what waits for this durability, None where the store's own is enough."""
    return None if durability == "store" else Confirming(redis, durability)


async def require(client: Redis, url: str, durability: Durability) -> None:
    """Raise StoreUnfit, in a sentence, where the store can't give this durability.

    WAITAOF tells the truth only where the store syncs on every write: with `appendfsync everysec` Valkey 9.1, and some
    of Redis 7.4, answer it before the disk has anything.
    """
    if durability != "fsync":
        return
    facts = await client.info()
    version = str(facts.get("redis_version", "0"))
    if tuple(int(number) for number in version.split(".")[:2]) < FIRST_TO_WAIT:
        raise _unable(url, f"is version {version}; --durability fsync needs Redis 7.2 or newer, or Valkey")
    try:
        policy = (await client.config_get("appendfsync")).get("appendfsync", "")
    except ResponseError:
        raise _unable(url, "does not tell when it syncs (CONFIG GET), which --durability fsync must know") from None
    if not facts.get("aof_enabled") or policy != "always":
        raise _unable(url, "needs appendonly yes and appendfsync always for --durability fsync")


async def worries(client: Redis, durability: Durability) -> tuple[str, ...]:
    """Say, a sentence each, what keeps decisions from being confirmed now, and may pass."""
    if durability != "replicated" or (await client.info("replication")).get("connected_slaves"):
        return ()
    return ("No replica is connected to the store: until one is, --durability replicated confirms no command.",)


def _unable(url: str, why: str) -> StoreUnfit:
    return StoreUnfit(f"The store at {where(url)} {why}.")


def _is_reached(reply: Reply) -> bool:
    """Read how many disks (this one's, the replicas') or replicas were reached."""
    match reply:
        case [int(here), int()]:
            return here == 1
        case int(replicas):
            return replicas >= 1
        case _:
            return False
