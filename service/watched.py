"""A watched table: where it is, its newest decisions as they are shown to readers, and what keeps that up to date.

Whatever the process folds of it is heard in the turn that folds it, kept, and written once for all who see the same.

Left out: each reader's place (service/live.py).
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import Final, Literal, NamedTuple

import msgspec

from events.base import Entry, Event
from projections import fold
from projections.fold import Eyes, Projection
from service.audit.checkpoints import Vouch
from service.errors import Illegible, Obstacle, StoreDown
from service.eyes import granted
from service.feeds import RETRY_S, Bell
from service.game import AnyTable
from service.log import Log
from service.logs import kind_and_place
from service.metrics import Counter
from service.streams import Receded, Stored, head_after
from service.tables import Asked, Tables

Kind = Literal["decision", "checkpoint", "reset", "lagged", "ended"]

KEPT: Final = 500
"""How many of a table's newest decisions are kept in memory for those who read it."""

SLICE: Final = 200
"""How many readers are called in one turn of the loop: commands and other tables come in between."""

VOUCH_S: Final = 1.0
"""How long after a checkpoint of a table the next one is signed: one for all readers, whatever happens meanwhile."""

_encode = msgspec.json.Encoder().encode
_journal = logging.getLogger(__name__)
_written = Counter("evenfold_live_decisions_total", "Decisions written for readers, once for all who see the same.")


class Frame(NamedTuple):
    """What a reader is sent: a decision, a checkpoint, or word of how the stream goes on.

    kind     `decision`; `checkpoint` of the newest decision that was sent; `reset`: what came before does not count,
             the stream goes on after this version; `lagged`: the reader was too slow and must come again from this
             version; `ended`: play has ended with this version
    version  of the decision or checkpoint, or the one that the rest is told by
    data     compact JSON: of a decision what `…/events` shows of it, a checkpoint as `…/checkpoint` answers it, else
             `{"version": n}`
    """

    kind: Kind
    version: int
    data: bytes


class Kept:
    """A decision as it is stored, and as it is shown to those who see the same."""

    __slots__ = ("shown", "stored")

    def __init__(self, stored: Stored) -> None:
        self.stored = stored
        self.shown: dict[Eyes, Frame] = {}


class Watched:
    """A table that somebody reads: where it is, its newest decisions, and what keeps that up to date."""

    def __init__(self, stream: str, table: AnyTable, tables: Tables, log: Log, vouch: Vouch) -> None:  # noqa: PLR0913, PLR0917 what is watched, and by what
        self.stream = stream
        self.table = table
        self.version = table.version
        self.readers = 0
        self.resets = 0
        self.bell = Bell()
        self.resting: set[Callable[[], None]] = set()
        self.failure: Exception | None = None
        self._head = table.head
        self._tables = tables
        self._log = log
        self._vouch = vouch
        self._vouched: Frame | None = None
        self._vouched_at = -VOUCH_S
        self._vouching: asyncio.TimerHandle | None = None
        self._kept: deque[Kept] = deque()
        self._decoded: tuple[int, Entry[msgspec.Raw, Event]] | None = None
        self._eyes: tuple[AnyTable | None, int, Mapping[str, int | None]] = (None, 0, {})
        self._round: deque[Callable[[], None]] | None = None
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
        if self._vouching is not None:
            self._vouching.cancel()
        if self._recalling is not None:
            self._recalling.cancel()

    async def close(self) -> None:
        """Stop, and return when nothing is under way any more."""
        under_way = filter(None, (self._watching, self._recalling))
        self.stop()
        await asyncio.wait(under_way)

    # What is shown

    def shown(self, kept: Kept, asked: Asked) -> Frame:
        """Return a decision as the eyes asked for may see it today; raise Refused if the player may not any more."""
        own = asked.eyes is None
        eyes = self._eyes_of(asked.player) if own else granted(self.table, asked.player, asked.eyes).eyes
        frame = kept.shown.get(eyes)
        if frame is None:
            frame = kept.shown[eyes] = self._written(kept.stored, eyes)
        return frame

    def checkpoint(self) -> Frame | None:
        """Return the checkpoint of the newest version; None while it is too soon for one, and the bell rings then."""
        if self._vouched is not None and self._vouched.version == self.version:
            return self._vouched
        loop = asyncio.get_running_loop()
        left_s = self._vouched_at + VOUCH_S - loop.time()
        if left_s > 0:
            if self._vouching is None:
                self._vouching = loop.call_later(left_s, self._due)
            return None
        vouched = self._vouch(self.stream, self.version, self._head)
        self._vouched, self._vouched_at = Frame("checkpoint", self.version, _encode(vouched)), loop.time()
        return self._vouched

    def _due(self) -> None:
        self._vouching = None
        self._tell()

    def kept_at(self, version: int) -> Kept | None:
        """Return the decision of a version, if it is kept."""
        place = version - self.version + len(self._kept) - 1
        return self._kept[place] if 0 <= place < len(self._kept) else None

    def may_keep(self, version: int) -> bool:
        """Tell whether the decision of a version is new enough to be kept."""
        return version > self.version - KEPT

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
                self._kept.append(Kept(stored))
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
            round_.popleft()()
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
        self._vouched = None
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
            self._kept.appendleft(Kept(stored))


def word(kind: Kind, version: int) -> Frame:
    """Return word of how a stream goes on from a version."""
    return Frame(kind, version, b'{"version":%d}' % version)
