"""The embedded store as `serve` keeps it: started again whenever it ended, in the first moments too."""

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from service.cli.processes import restarts
from service.cli.sentences import say
from service.embedded import Embedded, StoreFailed

T = TypeVar("T")

LOOK_S = 0.25
"""How often to look whether the store is alive."""

LATEST_LOOK_S = 10.0
"""The same, after it could not be started again several times."""

TRIES = 3
"""How often a start is tried that fails soon: whoever killed the store may have done so before it first answered."""

SOON_S = 5.0


class KeptStore:
    """An embedded store and the task that looks after it; the store takes one call at a time, each from a thread."""

    def __init__(self, folder: Path) -> None:
        self.restarts = 0
        self._store = Embedded(folder)
        self._turn = asyncio.Lock()
        self._watch: asyncio.Task[None] | None = None
        self._given_up = False
        restarts.expect("store")

    @property
    def url(self) -> str:
        """Say where the store listens, from `start` to `stop`."""
        return self._store.url

    async def start(self) -> None:
        """Start the store and look after it from then on; raise Occupied or StoreFailed."""
        await self._insist(self._store.start)
        self._watch = asyncio.create_task(self._look_after())

    async def revive(self) -> bool:
        """Start the store again if it has ended, and tell whether that was needed; raise StoreFailed."""
        restarted = await self._insist(self._store.ensure)
        if restarted:
            self.restarts += 1
            restarts.add("store")
            say("The store ended; it was started again.")
        return restarted

    async def stop(self) -> None:
        """Look after the store no longer, and end it."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
        await _unbroken(self._store.stop)

    def kill(self) -> None:
        """End the store at once, and don't start it again."""
        self._given_up = True
        if self._store.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._store.pid, signal.SIGKILL)

    async def _insist(self, work: Callable[[], T]) -> T:
        async with self._turn:
            return await _unbroken(lambda: self._tried(work))

    def _tried(self, work: Callable[[], T]) -> T:
        for _ in range(TRIES - 1):
            began = time.monotonic()
            try:
                return work()
            except StoreFailed:
                if self._given_up or time.monotonic() - began > SOON_S:
                    raise
        return work()

    async def _look_after(self) -> None:
        """Start the store again whenever it has ended, less and less often while that doesn't work."""
        pause_s = LOOK_S
        while True:
            await asyncio.sleep(pause_s)
            try:
                await self.revive()
            except StoreFailed as failed:
                pause_s = min(2 * pause_s, LATEST_LOOK_S)
                say(f"{failed} The next attempt is in {pause_s:g} s.")
            else:
                pause_s = LOOK_S


async def _unbroken(work: Callable[[], T]) -> T:
    """Do blocking work in a thread, to its end even if cancelled meanwhile: the store takes one call at a time."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise
