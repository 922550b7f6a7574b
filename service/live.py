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
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Final, Literal, NamedTuple, Self

import msgspec

from events.base import Entry, Event
from projections import fold
from projections.fold import Eyes, Projection
from service.errors import Illegible, Obstacle, StoreDown
from service.eyes import granted
from service.feeds import RETRY_S, Bell
from service.game import AnyTable
from service.log import Log
from service.logs import kind_and_place
from service.metrics import Counter
from service.streams import Receded, Stored, head_after, table_stream
from service.tables import Asked, Tables

Kind = Literal["decision", "reset", "lagged", "ended"]

KEPT: Final = 500
"""How many of a table's newest decisions are kept in memory for those who read it."""

PAGE: Final = 50
"""How many decisions a reader who is far behind reads at once: so many at most are held for it alone."""

SLICE: Final = 200
"""How many readers are called in one turn of the loop: commands and other tables come in between."""

_encode = msgspec.json.Encoder().encode
_journal = logging.getLogger(__name__)
_written = Counter("evenfold_live_decisions_total", "Decisions written for readers, once for all who see the same.")


class Frame(NamedTuple):
    """What a reader is sent: a decision, or word of how the stream goes on.

    kind     `decision`; `reset`: what came before does not count, the stream goes on after this version; `lagged`: the
             reader was too slow and must come again from this version; `ended`: play has ended with this version
    version  of the decision, or the one that the rest is told by
    data     compact JSON: of a decision what `…/events` shows of it, else `{"version": n}`
    """

    kind: Kind
    version: int
    data: bytes


class Live:
    """The tables that are read in this process."""

    def __init__(self, log: Log, tables: Tables) -> None:
        """Read by this log, and hear what these tables learn."""
        self._log = log
        self._tables = tables
        self._watched: dict[str, _Watched] = {}
        tables.hear(self._hear)

    async def open(self, asked: Asked, after: int) -> "Reading":
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
            watched = self._watched[stream] = _Watched(stream, table, self._tables, self._log)
        watched.readers += 1
        return Reading(self, watched, asked, after)

    async def frames(self, asked: Asked, after: int) -> AsyncGenerator[Frame]:
        """Yield what a player may see of a table after a version, as it comes, until it is `lagged` or `ended`.

        Raise what `Tables.look` does, and Illegible or NotFound if the table's log comes to an evil end meanwhile.
        """
        reading = await self.open(asked, after)
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

    def leave(self, watched: "_Watched") -> None:
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
        "_called",
        "_cursor",
        "_feed",
        "_is_live",
        "_live",
        "_page",
        "_resets",
        "_watched",
        "is_over",
    )

    def __init__(self, live: Live, watched: "_Watched", asked: Asked, after: int) -> None:
        self._live: Live | None = live
        self._watched = watched
        self._asked = asked
        self._cursor = after
        self._resets = watched.resets
        self._page: deque[_Kept] | None = None
        self._is_live = False
        self.is_over = False
        self._feed: Callable[[], bool] | None = None
        self._called: asyncio.Future[None] | None = None

    @property
    def has_ended(self) -> bool:
        """Whether play has ended and the reader has been sent all of it."""
        watched = self._watched
        return watched.table.status == "ended" and self._cursor == watched.version

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
            return _word("reset", self._cursor)
        if self._cursor == watched.version:
            self._is_live = True
            if watched.table.status != "ended":
                return None
            self.is_over = True
            return _word("ended", self._cursor)
        kept = self._following()
        if kept is not None:
            self._cursor += 1
            return watched.shown(kept, self._asked)
        if self._is_live:
            self.is_over = True
            return _word("lagged", self._cursor)
        return None

    async def feed(self, feed: Callable[[], bool]) -> None:
        """Have this called whenever there is more; return when it returns False, or fails.

        It takes what there is, and returns whether it has then reached the newest.
        """
        self._feed = feed
        self._called = asyncio.get_running_loop().create_future()
        self._watched.resting.add(self)
        try:
            await self._called
        finally:
            self._watched.resting.discard(self)
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
            self._watched.resting.discard(self)
            self._called.set_result(None)

    def _following(self) -> "_Kept | None":
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
        if self._cursor >= watched.version - KEPT:
            await watched.recall()
            if watched.kept_at(self._cursor + 1) is not None:
                return
        else:
            resets = watched.resets
            page = await watched.read(self._cursor + 1, self._cursor + PAGE)
            if resets == watched.resets:
                self._page = deque(map(_Kept, page))
            if page:
                return
        # More has come meanwhile than is kept, or the store holds less than it should, which is being looked into.
        await watched.bell.after(seen)


class _Kept:
    """A decision as it is stored, and as it is shown to those who see the same."""

    __slots__ = ("shown", "stored")

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self.shown: dict[Eyes, Frame] = {}


class _Watched:
    """A table that somebody reads: where it is, its newest decisions, and what keeps that up to date."""

    def __init__(self, stream: str, table: AnyTable, tables: Tables, log: Log) -> None:
        self.stream = stream
        self.table = table
        self.version = table.version
        self.readers = 0
        self.resets = 0
        self.bell = Bell()
        self.resting: set[Reading] = set()
        self.failure: Exception | None = None
        self._head = table.head
        self._tables = tables
        self._log = log
        self._kept: deque[_Kept] = deque()
        self._decoded: tuple[int, Entry[msgspec.Raw, Event]] | None = None
        self._eyes: tuple[AnyTable | None, int, Mapping[str, int | None]] = (None, 0, {})
        self._round: deque[Reading] | None = None
        self._is_another_due = False
        self._is_in_doubt = False
        self._recalling: asyncio.Task[None] | None = None
        self._until_stopped = ExitStack()
        self._growth = self._until_stopped.enter_context(log.growth(stream))
        self._watching = asyncio.get_running_loop().create_task(self._watch())

    def stop(self) -> None:
        """Watch no more: what is under way ends by itself."""
        self._until_stopped.close()
        self._watching.cancel()
        if self._recalling is not None:
            self._recalling.cancel()

    async def close(self) -> None:
        """Stop, and return when nothing is under way any more."""
        under_way = filter(None, (self._watching, self._recalling))
        self.stop()
        await asyncio.wait(under_way)

    # What is shown

    def shown(self, kept: _Kept, asked: Asked) -> Frame:
        """Return a decision as the eyes asked for may see it today; raise Refused if the player may not any more."""
        own = asked.eyes is None
        eyes = self._eyes_of(asked.player) if own else granted(self.table, asked.player, asked.eyes).eyes
        frame = kept.shown.get(eyes)
        if frame is None:
            frame = kept.shown[eyes] = self._written(kept.stored, eyes)
        return frame

    def kept_at(self, version: int) -> _Kept | None:
        """Return the decision of a version, if it is kept."""
        place = version - self.version + len(self._kept) - 1
        return self._kept[place] if 0 <= place < len(self._kept) else None

    async def recall(self) -> None:
        """Read what can be kept and has not been, for all who wait for that."""
        if self._recalling is None:
            self._recalling = asyncio.get_running_loop().create_task(self._recall())
        await asyncio.shield(self._recalling)

    async def read(self, first: int, last: int) -> list[Stored]:
        """Return the entries from one version to another, as many as there are; wait while the store does not answer.

        Where there are none that should be, the table is looked at anew, and the bell rings.
        """
        while True:
            try:
                entries = await self._log.read_range(self.stream, first, min(last, self.version))
            except StoreDown:
                await asyncio.sleep(RETRY_S)
                continue
            if not entries:
                self._doubt()
            return entries

    def _eyes_of(self, player: str) -> int | None:
        """Return what `Table.eyes_of` does, looked up once for all players."""
        table, version, eyes = self._eyes
        if table is not self.table or version != self.version:
            players = filter(None, self.table.players)
            eyes = {seated.id: self.table.eyes_of(seated.id) for seated in players}
            self._eyes = self.table, self.version, eyes
        return eyes.get(player)

    def _written(self, stored: Stored, eyes: Eyes) -> Frame:
        projection = self._tables.game_of(self.table).projection
        decision = fold.decision(projection, self._entry(projection, stored), stored.h, eyes)
        _written.add()
        return Frame("decision", stored.version, _encode(decision))

    def _entry(self, projection: Projection[object, object], stored: Stored) -> Entry[msgspec.Raw, Event]:
        """Decode an entry, once for all eyes that it is shown to one after the other."""
        if self._decoded is None or self._decoded[0] != stored.version:
            self._decoded = stored.version, projection.decode(stored.e)
        return self._decoded[1]

    # What comes in

    def hear(self, table: AnyTable, entries: Sequence[Stored]) -> None:
        """Take what the process has just learnt of the table."""
        self._take(entries)
        if (self.version, self._head) == (table.version, table.head):
            self.table = table
        else:
            self._doubt()

    def _doubt(self) -> None:
        """Have it made sure that the store still holds what was shown."""
        self._is_in_doubt = True
        self._growth.doubt()

    def _take(self, entries: Sequence[Stored]) -> None:
        before = self.version
        for stored in entries:
            if stored.version == self.version + 1 and head_after(self._head, stored.e) == stored.h:
                self.version, self._head = stored.version, stored.h
                self._kept.append(_Kept(stored))
                if len(self._kept) > KEPT:
                    self._kept.popleft()
        if self.version > before:
            self._tell()

    # Who is told

    def _tell(self) -> None:
        """Wake those who wait, and call those who rest; neither is waited for."""
        self.bell.ring()
        if self._round is not None:
            self._is_another_due = True
        elif self.resting:
            self._round = deque(self.resting)
            asyncio.get_running_loop().call_soon(self._call_some)

    def _call_some(self) -> None:
        round_ = self._round
        if round_ is None:
            return
        for _ in range(min(SLICE, len(round_))):
            round_.popleft().call()
        if not round_ and self._is_another_due:
            self._is_another_due = False
            round_.extend(self.resting)
        if round_:
            asyncio.get_running_loop().call_soon(self._call_some)
        else:
            self._round = None

    # What keeps it up to date

    async def _watch(self) -> None:
        """See to it that whatever is appended, by whomever, is heard; the readers wait while the store is down."""
        while self.failure is None:
            seen = self._growth.count
            # The reply to an append of our own comes with the hint at it, or right after.
            await asyncio.sleep(0)
            if self._is_in_doubt or not 0 < self._growth.reached <= self.version:
                try:
                    await self._look()
                except StoreDown:
                    await asyncio.sleep(RETRY_S)
                    continue
                except Exception as error:  # noqa: BLE001 whatever it is, the readers must not wait for ever
                    if not isinstance(error, Obstacle):
                        _journal.error("%s is watched no more: %s", self.stream, kind_and_place(error))
                    self._fail(error)
                    return
            await self._growth.after(seen)

    async def _look(self) -> None:
        """Have the process learn what there is; begin anew if the store does not hold what was shown."""
        # What it learns is heard before this returns.
        await self._tables.reached(self.stream, 0)
        if not self._is_in_doubt:
            return
        self._is_in_doubt = False
        try:
            _, entries = await self._log.newest(self.stream, self.version, None, self._head)
        except Receded:
            table = await self._tables.reached(self.stream, 0)
            self._begin_anew(table)
        else:
            self._take(entries)
            self._tell()

    def _begin_anew(self, table: AnyTable) -> None:
        self.table, self.version, self._head = table, table.version, table.head
        self.resets += 1
        self._kept.clear()
        self._decoded = None
        self._is_in_doubt = False
        self._tell()

    def _fail(self, error: Exception) -> None:
        self.failure = error
        self._tell()

    async def _recall(self) -> None:
        resets = self.resets
        try:
            entries = await self.read(max(1, self.version - KEPT + 1), self.version - len(self._kept))
        except Illegible as error:
            self._fail(error)
            return
        finally:
            self._recalling = None
        if resets == self.resets:
            self._put_before(entries)

    def _put_before(self, entries: list[Stored]) -> None:
        """Keep what comes right before what is kept, as far as there is room."""
        for stored in reversed(entries):
            if len(self._kept) >= KEPT or stored.version > self.version - len(self._kept):
                continue
            if self._kept:
                following = self._kept[0].stored
                is_next = head_after(stored.h, following.e) == following.h
            else:
                is_next = stored.h == self._head
            if not is_next or stored.version < self.version - len(self._kept):
                self._doubt()
                return
            self._kept.appendleft(_Kept(stored))


def _word(kind: Kind, version: int) -> Frame:
    return Frame(kind, version, b'{"version":%d}' % version)
