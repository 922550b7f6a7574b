"""The reactors of a process, beside servers that run in this one."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from service.parts import service
from service.reactors.run import run
from service.settings import Settings
from tests.served import ENDING_S


@contextmanager
def reacting(redis: str, keys: Path, *games: str, archive: str | None = None) -> Iterator[None]:
    """Run every reactor on a store for a block, in a thread with a loop of its own; bots do not pause."""
    stop, ready = asyncio.Event(), threading.Event()
    loop = asyncio.new_event_loop()

    async def react() -> None:
        async with service(Settings(redis=redis, keys=keys, games=games, bot_pause_ms=0, archive=archive)) as parts:
            ready.set()
            await run(parts, stop)

    thread = threading.Thread(target=loop.run_until_complete, args=(react(),), daemon=True)
    thread.start()
    try:
        assert ready.wait(20)
        yield
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(ENDING_S)
        assert not thread.is_alive(), "it does not end"
        loop.close()
