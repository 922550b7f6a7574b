"""Live: the decisions of a table as they come, for any number of readers in this process.

A table that somebody reads is watched. Whatever the process folds of it, be it its own append or what another process
appended, is heard in the turn that folds it, and kept; redacted and written once for all who may see the same. A reader
holds no more than its place: it takes what follows from there, and where nothing does, waits to be told. Who begins far
back, further than is kept, reads a page at a time from the store; who was at the newest and has fallen behind what is
kept is sent away (`lagged`), to come again from where it was. So nobody waits for the slow, and nothing piles up.

Readers who can take what comes without waiting are called, a slice of them in each turn of the loop, and not woken:
with 2,000 of them, that halves what a decision costs beside the writes themselves.

What a reader sees is by the seat that its player has today, that is, at the moment of showing, or by the eyes that it
asks for, as far as the player may see through them then. Where the store turns out to have lost what was shown, every
reader is told to begin anew from where the table is now (`reset`).

Left out: how frames are written for a protocol, heartbeats, who may open how many (service/api/eventstream.py).
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Final, NamedTuple, Self

from service.audit.checkpoints import Vouch
from service.eyes import granted
from service.game import AnyTable
from service.log import Log
from service.streams import Stored, table_stream
from service.tables import Asked, Tables
from service.watched import Frame, Kept, Watched, word

PAGE: Final = 50
"""How many decisions a reader who is far behind reads at once: so many at most are held for it alone."""


class Besides(NamedTuple):
    """What a reader wants besides play: what rulings bring after its end; checkpoints of what was sent."""

    rulings: bool = False
    checkpoints: bool = False


NOTHING: Final = Besides()


class Live:
    """The tables that are read in this process."""

    def __init__(self, log: Log, tables: Tables, vouch: Vouch) -> None:
        """Read by this log, and hear what these tables learn; checkpoints are signed by `vouch`."""
        self._log = log
        self._tables = tables
        self._vouch = vouch
        self._watched: dict[str, Watched] = {}
        tables.hear(self._hear)

    async def open(self, asked: Asked, after: int, besides: Besides = NOTHING) -> "Reading":
        """Begin to read a table after a version, through the eyes asked for; whoever opens a reading closes it.

        What was answered to anyone before this is there. Raise what `Tables.look` does, and Refused where the player
        may not see through these eyes.
        """
        table = await self._tables.look(asked)
        if granted(table, asked.player, asked.eyes).eyes == asked.eyes == table.eyes_of(asked.player):
            asked = asked._replace(eyes=None)  # One's own seat may be given up: then one reads on as a spectator.
        stream = table_stream(asked.table)
        watched = self._watched.get(stream)
        if watched is None:
            watched = self._watched[stream] = Watched(stream, table, self._tables, self._log, self._vouch)
        watched.readers += 1
        return Reading(self, watched, asked, after, besides)

    async def frames(self, asked: Asked, after: int, besides: Besides = NOTHING) -> AsyncGenerator[Frame]:
        """Yield what a player may see of a table after a version, as it comes, until it is `lagged` or all is told.

        Raise what `Tables.look` does, and Illegible or NotFound if the table's log comes to an evil end meanwhile.
        """
        reading = await self.open(asked, after, besides)
        try:
            async for frame in reading:
                yield frame
        finally:
            await reading.aclose()

    async def close(self) -> None:
        """Watch no more."""
        for watched in tuple(self._watched.values()):
            await watched.close()
        self._watched.clear()

    def leave(self, watched: Watched) -> None:
        """Learn that a reader has gone."""
        watched.readers -= 1
        if not watched.readers and self._watched.get(watched.stream) is watched:
            del self._watched[watched.stream]
            watched.stop()

    def _hear(self, stream: str, table: AnyTable, entries: Sequence[Stored]) -> None:
        watched = self._watched.get(stream)
        if watched is not None:
            watched.hear(table, entries)


class Reading:
    """One reader's place in a table."""

    __slots__ = (
        "_asked",
        "_besides",
        "_called",
        "_cursor",
        "_feed",
        "_is_live",
        "_live",
        "_page",
        "_resets",
        "_told_end",
        "_vouched",
        "_watched",
        "is_over",
    )

    def __init__(  # noqa: PLR0913, PLR0917 whose place it is, and where
        self, live: Live, watched: Watched, asked: Asked, after: int, besides: Besides
    ) -> None:
        self._live: Live | None = live
        self._watched = watched
        self._asked = asked
        self._cursor = after
        self._resets = watched.resets
        self._page: deque[Kept] | None = None
        self._is_live = False
        self._besides = besides
        self._told_end = False
        self._vouched = 0
        self.is_over = False
        self._feed: Callable[[], bool] | None = None
        self._called: asyncio.Future[None] | None = None

    @property
    def has_ended(self) -> bool:
        """Whether play has ended and the reader has been sent all that is wanted."""
        watched = self._watched
        return not self._besides.rulings and watched.table.status == "ended" and self._cursor == watched.version

    @property
    def is_at_newest(self) -> bool:
        """Whether all that there is has been taken, and more may come."""
        return self._cursor == self._watched.version and not self.is_over

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Frame:
        """Return what comes next, when it is there."""
        while (frame := self.take()) is None:
            if self.is_over:
                raise StopAsyncIteration
            await self.more()
        return frame

    async def aclose(self) -> None:
        """Read no more."""
        self.is_over = True
        live, self._live = self._live, None
        if live is not None:
            live.leave(self._watched)

    def take(self) -> Frame | None:
        """Return what comes next, None if it is not there, or not yet."""
        watched = self._watched
        if watched.failure is not None:
            raise watched.failure
        if self.is_over:
            return None
        if self._resets != watched.resets or self._cursor > watched.version:
            self._resets, self._cursor, self._page = watched.resets, watched.version, None
            self._told_end, self._vouched = False, 0
            return word("reset", self._cursor)
        if self._cursor == watched.version:
            self._is_live = True
            return self._at_newest()
        kept = self._following()
        if kept is not None:
            self._cursor += 1
            return watched.shown(kept, self._asked)
        if self._is_live:
            self.is_over = True
            return word("lagged", self._cursor)
        return None

    def _at_newest(self) -> Frame | None:
        """Return what is told once all decisions have been taken, None if that is told."""
        if self._besides.checkpoints and self._vouched != self._cursor:
            checkpoint = self._watched.checkpoint()
            if checkpoint is not None:
                self._vouched = self._cursor
            return checkpoint  # The end is told after it: nobody leaves without the last one.
        if self._watched.table.status != "ended" or self._told_end:
            return None
        self._told_end = True
        self.is_over = not self._besides.rulings
        return word("ended", self._cursor)

    async def feed(self, feed: Callable[[], bool]) -> None:
        """Have this called whenever there is more; return when it returns False, or fails.

        It takes what there is, and returns whether it has then reached the newest.
        """
        self._feed = feed
        self._called = asyncio.get_running_loop().create_future()
        self._watched.resting.add(self.call)
        try:
            await self._called
        finally:
            self._watched.resting.discard(self.call)
            self._feed = self._called = None

    def call(self) -> None:
        """Feed whoever is to be fed; have it look for itself if it can't be."""
        if self._feed is None or self._called is None or self._called.done():
            return
        try:
            is_fed = self._feed()
        except Exception:  # noqa: BLE001 it meets the same where it looks for itself
            is_fed = False
        if not is_fed:
            self._watched.resting.discard(self.call)
            self._called.set_result(None)

    def _following(self) -> Kept | None:
        if self._page:
            return self._page.popleft()
        self._page = None
        return self._watched.kept_at(self._cursor + 1)

    async def more(self) -> None:
        """Return when there is, or may be, more to take."""
        watched = self._watched
        seen = watched.bell.count
        if self._cursor >= watched.version:
            await watched.bell.after(seen)
            return
        if watched.may_keep(self._cursor + 1):
            await watched.recall()
            if watched.kept_at(self._cursor + 1) is not None:
                return
        else:
            resets = watched.resets
            page = await watched.read(self._cursor + 1, self._cursor + PAGE)
            if resets == watched.resets:
                self._page = deque(map(Kept, page))
            if page:
                return
        # More has come meanwhile than is kept, or the store holds less than it should, which is being looked into.
        await watched.bell.after(seen)
