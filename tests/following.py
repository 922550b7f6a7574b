"""Following a stream as whoever reads one does: read on whenever it has grown, or may have."""

import asyncio
from collections.abc import AsyncIterator

from service.errors import StoreDown
from service.log import PAGE, Log
from service.streams import Stored


async def follow(log: Log, stream: str, after: int = 0) -> AsyncIterator[Stored]:
    """Yield what a stream holds after a version, and then what is appended, for ever; raise as `Log.read` does."""
    with log.growth(stream) as growth:
        while True:
            seen = growth.count
            try:
                entries = await log.read(stream, after)
            except StoreDown:
                await asyncio.sleep(0.05)
                continue
            for entry in entries:
                yield entry
            after += len(entries)
            if len(entries) < PAGE:
                await growth.after(seen)
