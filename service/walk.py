"""A walk over the streams of all tables, for whatever is made anew from them."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from typing import Final

from service.errors import Illegible
from service.ids import PARTITIONS
from service.log import PAGE, Log
from service.streams import UNREADABLE, Stored, broken

AT_ONCE: Final = 16
"""How many streams are looked at at the same time, where their order does not matter."""


class Walk:
    """A walk over what a log holds; `damaged` are the streams that could not be read, and were left out."""

    def __init__(self, log: Log, done: Callable[[], object] = lambda: None) -> None:
        """Take the log, and whom to tell of each stream that is done."""
        self.log = log
        self.damaged: set[str] = set()
        self._done = done

    async def tables(self) -> list[str]:
        """Return the names of all tables' streams; raise StoreDown."""
        names = [await self.log.streams(number) for number in range(PARTITIONS)]
        return [stream for streams in names for stream in streams if stream.startswith("table:")]

    async def tombstones(self) -> AsyncIterator[tuple[str, bytes]]:
        """Yield the names of all archived streams, and what the store keeps of each; raise StoreDown."""
        for number in range(PARTITIONS):
            for stream, tombstone in (await self.log.tombstones(number)).items():
                yield stream, tombstone

    async def over(
        self, streams: Iterable[str], work: Callable[[str], Awaitable[object]], at_once: int = AT_ONCE
    ) -> None:
        """Do some work for each of these streams, in their order if that is one at once; raise StoreDown."""
        left = iter(streams)

        async def walk() -> None:
            for stream in left:
                await self.attempt(stream, work)
                self._done()

        async with asyncio.TaskGroup() as tasks:
            for _ in range(at_once):
                tasks.create_task(walk())

    async def attempt(self, stream: str, work: Callable[[str], Awaitable[object]]) -> None:
        """Do some work for a stream, or note that it is damaged; raise StoreDown."""
        try:
            await work(stream)
        except Illegible:
            self.damaged.add(stream)
        except UNREADABLE:
            broken(f"{stream} has what is no entry of such a stream")
            self.damaged.add(stream)

    async def pages(self, stream: str) -> AsyncIterator[list[Stored]]:
        """Yield all entries of a stream, page by page; raise Illegible or StoreDown."""
        after, entries = 0, [*await self.log.read(stream)]
        while entries:
            yield entries
            after += len(entries)
            entries = await self.log.read(stream, after) if len(entries) == PAGE else []
