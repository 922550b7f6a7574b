"""The wire between service and store (tests/wire.py) on a thread of its own, for tests that speak HTTP meanwhile."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.wire import Direction, Wire


class Cutter:
    """A wire that another thread may cut."""

    def __init__(self, wire: Wire, loop: asyncio.AbstractEventLoop) -> None:
        self.url = wire.url
        self._wire = wire
        self._loop = loop

    @property
    def cuts(self) -> int:
        """How often it was cut."""
        return self._wire.cuts

    def cut(
        self, direction: Direction, after: int, before_closing: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        """Cut as the wire does, from when this returns on."""
        self._do(lambda: self._wire.cut(direction, after, before_closing))

    def disarm(self) -> None:
        """Let everything through again, from when this returns on."""
        self._do(self._wire.disarm)

    def _do(self, work: Callable[[], None]) -> None:
        async def done() -> None:
            work()

        asyncio.run_coroutine_threadsafe(done(), self._loop).result()


@contextmanager
def cutting(store_url: str, place: Path) -> Iterator[Cutter]:
    """Give a wire to a store that listens at a place."""
    started: list[Cutter] = []
    ready, over = threading.Event(), asyncio.Event()

    async def pass_on() -> None:
        async with Wire(store_url, place) as wire:
            started.append(Cutter(wire, asyncio.get_running_loop()))
            ready.set()
            await over.wait()

    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_until_complete, args=(pass_on(),))
    thread.start()
    try:
        assert ready.wait(20)
        yield started[0]
    finally:
        loop.call_soon_threadsafe(over.set)
        thread.join()
        loop.close()
