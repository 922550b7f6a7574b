"""A watch on the store: whether it answers, takes writes, and has room, looked at about once a second.

Whoever asks for readiness is told what the last look found, so that no number of them adds to the store's work. A look
is one round trip: INFO, and a write that changes nothing (a SET of a key that must exist and never does), which the
server refuses for the same reasons as any other: it is a replica, is loading, can't write to its disk, is full, or
lacks replicas. Where the user may not send that, INFO alone decides.

Room is what is left below `maxmemory`, and for the embedded store what is left on the disk of its folder.
"""

import asyncio
import logging
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from service.clock import Sleep
from service.metrics import Gauge
from service.pipe import Pipe, Unreachable

LOOK_S: Final = 0.75
"""How long after one look the next one is taken."""

ANSWER_MS: Final = 1_000
"""How long a look waits for an answer; a store that takes longer is not ready."""

MIB: Final = 1 << 20

_QUESTION: Final = ("INFO", "replication", "persistence", "memory")
_WRITE: Final = ("SET", "service:writable", "", "XX")

Facts: TypeAlias = Mapping[str, str]
"""What INFO says."""

_logger = logging.getLogger(__name__)
_up = Gauge("evenfold_store_up", "least", "Whether the store answers and takes writes (1) or not (0).")
_free = Gauge(
    "evenfold_store_free_bytes",
    "least",
    "What the store has left: of memory, below its maxmemory; of disk, where it is our own.",
    "of",
)
_role = Gauge("evenfold_store_role", "most", "Which role the store has (1), and which it does not have (0).", "role")


class Condition(NamedTuple):
    """How the store was found: `down` says in a sentence why it can't be used, None where it can.

    `free` is the least room (bytes) that it has, None where nothing sets a bound.
    """

    down: str | None = None
    free: int | None = None


class Watch:
    """The last look at the store, by one process."""

    def __init__(self, redis: Redis, folder: Path | None, min_free: int, *, sleep: Sleep = asyncio.sleep) -> None:
        """Take the client whose kind of connection to make, and the folder of an embedded store.

        `min_free` is the room (bytes) that a new table needs; 0: none.
        """
        self._pipe = Pipe(redis, timeout_ms=ANSWER_MS)
        self._folder = folder
        self._min_free = min_free
        self._sleep = sleep
        self.found = Condition()

    @property
    def status(self) -> Literal["ready", "full", "down"]:
        """Say whether commands are taken (`full`: and no new tables)."""
        if self.found.down is not None:
            return "down"
        return "ready" if self.found.free is None or self.found.free >= self._min_free else "full"

    def has_room(self) -> bool:
        """Tell whether there is room for a new table, as far as is known."""
        return self.status != "full"

    async def keep(self) -> None:
        """Look again and again, for ever."""
        while True:
            await self._sleep(LOOK_S)
            await self.look()

    async def look(self) -> None:
        """Look at the store, and log what has changed since the last look."""
        before = self.status
        self.found = await self._looked()
        _up.set(self.found.down is None)
        if self.status != before:
            self._tell()

    async def close(self) -> None:
        """Disconnect."""
        await self._pipe.drop()

    async def _looked(self) -> Condition:
        asked = (self._pipe.call(*_QUESTION), self._pipe.call(*_WRITE))
        info, written = await asyncio.gather(*asked, return_exceptions=True)
        match info:
            case bytes():
                facts = _facts(info)
                _role.set(facts.get("role") == "master", "primary")
                _role.set(facts.get("role") == "slave", "replica")
                return Condition(_trouble(facts, written), await self._room(facts))
            case Unreachable():
                return Condition("The store does not answer.")
            case _:
                return Condition("The store does not tell how it is.")

    async def _room(self, facts: Facts) -> int | None:
        rooms = []
        if limit := int(facts.get("maxmemory", 0)):
            counted = int(facts.get("used_memory", 0)) - int(facts.get("mem_not_counted_for_evict", 0))
            rooms.append(max(0, limit - counted))
            _free.set(rooms[-1], "memory")
        if self._folder is not None:
            # A disk that hangs must not hold up the loop.
            rooms.append(await asyncio.to_thread(_free_on_disk, self._folder))
            _free.set(rooms[-1], "disk")
        return min(rooms, default=None)

    def _tell(self) -> None:
        match self.status:
            case "down":
                _logger.error("commands are not taken: %s", self.found.down)
            case "full":
                free = (self.found.free or 0) // MIB
                _logger.error("new tables are not opened: the store has %d MiB left, less than min-free", free)
            case "ready":
                _logger.warning("the store is ready again")


@asynccontextmanager
async def watching(redis: Redis, folder: Path | None, min_free: int) -> AsyncIterator[Watch]:
    """Watch the store of a client until the block ends, `min_free` in MiB; when it begins, the first look is taken."""
    watch = Watch(redis, folder, min_free * MIB)
    keeping: asyncio.Task[None] | None = None
    try:
        await watch.look()
        keeping = asyncio.create_task(watch.keep())
        yield watch
    finally:
        if keeping is not None:
            keeping.cancel()
            await asyncio.wait([keeping])
        await watch.close()


def _facts(info: bytes) -> Facts:
    return dict(line.split(":", 1) for line in info.decode().splitlines() if ":" in line)


def _trouble(facts: Facts, written: object) -> str | None:
    """Say what keeps the store from taking writes, None if nothing does."""
    if facts.get("role") == "slave":
        return "The store is a replica and takes no writes."
    if facts.get("loading") == "1":
        return "The store is loading its data."
    if facts.get("aof_last_write_status") == "err":
        return "The store can't write to its disk."
    match written:
        case ResponseError() if str(written).startswith("NOPERM"):
            return None
        case ResponseError():
            # The code tells a full memory (OOM) from a disk that can't be written (MISCONF) and too few replicas.
            return f"The store takes no writes now ({str(written).partition(' ')[0]})."
        case Unreachable():
            return "The store does not answer."
        case _:
            return None


def _free_on_disk(folder: Path) -> int:
    """Return how many bytes may still be written; none where the folder can't be looked at."""
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0
