"""Archives for tests: tables that ended long ago, moved to a folder as `evenfold archive` moves them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from service import games
from service.archive import Archive
from service.archiving import Archiving
from service.log import Log
from service.store import dial

LONG_AGO: Final = 1_700_000_000_000
"""When tables were played (UTC ms), by the clock of the tests."""

SINCE: Final = LONG_AGO + 1
"""What was added to before this may go."""


@asynccontextmanager
async def archiving(url: str, folder: Path, before: int = SINCE) -> AsyncIterator[tuple[Archiving, Log]]:
    """Give what archives the store at an address into a folder, and a log that reads through to it."""
    await asyncio.to_thread(folder.mkdir, exist_ok=True)
    redis, archive = dial(url), Archive(folder.as_uri())
    log = Log(redis, archive=archive)
    try:
        yield Archiving(redis, log, archive, games.find(), before), log
    finally:
        await log.close()
        await redis.aclose()
