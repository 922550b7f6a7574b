"""A wire between a client and a store, cut after any byte: what a broken network does, on purpose and exactly.

It listens on a socket of its own and passes every byte on. Armed, it lets so many more bytes through in one direction,
lets none through in either from then on, and closes that connection; those opened later are whole again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

Direction = Literal["request", "reply"]


class Wire:
    """Passes bytes between whoever connects to `url` and the store at a unix socket."""

    def __init__(self, store_url: str, place: Path) -> None:
        """Take the store's address, `unix://…`, and where to listen."""
        self.url = f"unix://{place}"
        self.cuts = 0
        self.passed: dict[Direction, int] = {"request": 0, "reply": 0}
        self.chunks: dict[Direction, int] = {"request": 0, "reply": 0}
        self._store = store_url.removeprefix("unix://")
        self._place = place
        self._armed: Direction | None = None
        self._left = 0
        self._before_closing: Callable[[], Awaitable[object]] | None = None
        self._pumps: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_unix_server(self._connected, self._place)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        await self._server.wait_closed()
        for pump in self._pumps:
            pump.cancel()
        if self._pumps:
            await asyncio.wait(self._pumps)

    def cut(
        self, direction: Direction, after: int, before_closing: Callable[[], Awaitable[object]] | None = None
    ) -> None:
        """Let `after` more bytes through in a direction, then cut; `before_closing` runs while the client waits."""
        self._armed, self._left, self._before_closing = direction, after, before_closing

    def disarm(self) -> None:
        """Let everything through again."""
        self._armed = None

    def hang_up(self) -> None:
        """Let nobody connect any more."""
        self._server.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        store_reader, store_writer = await asyncio.open_unix_connection(self._store)
        cut = asyncio.Event()
        pumps = {
            asyncio.ensure_future(self._pump("request", reader, store_writer, cut)),
            asyncio.ensure_future(self._pump("reply", store_reader, writer, cut)),
        }
        self._pumps |= pumps
        try:
            # Either end closing, or a cut, ends both directions.
            await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for pump in pumps:
                pump.cancel()
            for end in (store_writer, writer):
                end.close()
        self._pumps -= pumps

    async def _pump(
        self, direction: Direction, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, cut: asyncio.Event
    ) -> None:
        while True:
            if self._armed == direction and self._left == 0:
                cut.set()
                return await self._sever(writer)
            data = await reader.read(65_536)
            if cut.is_set():
                # The direction that was cut closes the connection, in its own time.
                await asyncio.Event().wait()
            if not data:
                return None
            if self._armed == direction:
                data = data[: self._left]
                self._left -= len(data)
            self.passed[direction] += len(data)
            self.chunks[direction] += 1
            writer.write(data)

    async def _sever(self, writer: asyncio.StreamWriter) -> None:
        """See the last bytes off, do what is to be done meanwhile, and let no more through."""
        self._armed = None
        self.cuts += 1
        await writer.drain()
        if self._before_closing is not None:
            await self._before_closing()
