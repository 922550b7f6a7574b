"""Load, fold, decide, append: how any command on any stream becomes a decision.

A worker keeps the folded states it used last. A yes is tried at once on such a state, and the append itself tells
whether it was the newest. A no is said only from a state confirmed newest. States are folded from confirmed entries
alone, and a caller who goes away in mid-append changes nothing about that: the append is settled and folded without it.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Generic, NamedTuple, TypeAlias, assert_never

import msgspec

from events.base import By, Entry, Event
from service.appending import Ahead, Answer, Appended, Behind, Gone, Same
from service.clock import utc_ms
from service.errors import Archived, Busy, NoRoom, NotFound, Stale, StoreDown, Unconfirmed
from service.folding import STATE, Adding, Fold, Folded, read_stored
from service.game import Refused
from service.ids import new_salt
from service.log import PAGE, Log
from service.metrics import Counter, Histogram
from service.store import Turns
from service.streams import Receded, Stored, check_chain, genesis, head_after

ATTEMPTS = 32
CACHED_STATES = 4096

_encode = msgspec.json.Encoder().encode
_lookups = Counter("evenfold_cache_lookups_total", "Searches for a folded state in memory, by what came.", "outcome")
_folded = Counter("evenfold_folded_decisions_total", "Decisions added to a state.")
_fold_seconds = Histogram("evenfold_fold_seconds", "What it took to add decisions that came at once to a state.")


class Draft(NamedTuple):
    """What deciding a command gave, before it is stored."""

    at: int
    by: By
    command: object
    events: tuple[Event, ...]
    cause: str | None = None


class Newer(NamedTuple, Generic[STATE]):
    """The stream had moved on: the state as it is now, `confirmed` if nothing newer was in the store."""

    state: STATE
    confirmed: bool


class Decided(NamedTuple, Generic[STATE]):
    """A decision that is stored, and the newest state known; without a `draft`, an earlier request led to it."""

    stored: Stored
    state: STATE
    draft: Draft | None


_Read: TypeAlias = Callable[[Stored], Adding]


class _Written(NamedTuple):
    """What is to be appended, and what adds it."""

    stored: Stored
    add: Adding


Heard: TypeAlias = Callable[[str, STATE, Sequence[Stored]], None]
"""Takes a stream, its state, and the entries that led to it: those from some version on, up to the state's own."""


class _Queue(asyncio.Lock):
    """Those who would decide on one stream, one after the other; `users` counts them, the one at work too.

    `down` says that one of them has waited for the store in vain: those behind don't do so as long once more.
    """

    users = 0
    down = False

    def heed(self) -> None:
        """Raise StoreDown if one of those before has met it."""
        if self.down:
            raise StoreDown("The store does not answer; nothing happened.")


class Decider(Generic[STATE]):
    """Decides on the streams of one kind, with a bounded cache of their states."""

    def __init__(
        self, log: Log, fold: Fold[STATE], *, clock: Callable[[], int] | None = None, cached: int = CACHED_STATES
    ) -> None:
        """Take the log, the fold, the clock (UTC ms) and how many states to keep."""
        self._log = log
        self._fold = fold
        self._clock = clock or utc_ms
        self._cached = cached
        self._states: OrderedDict[str, STATE] = OrderedDict()
        self._queues: dict[str, _Queue] = {}
        self._loading = Turns()
        self.heard: Heard[STATE] | None = None
        """Called with whatever of a stream is folded, in the turn that folds it."""

    async def newest(self, stream: str) -> STATE:
        """Return the state as it stands in the store now; raise NotFound for a stream without entries."""
        _lookups.add("hit" if stream in self._states else "miss")
        state, _ = await self._refreshed(stream, None)
        if state.version == 0:
            raise NotFound
        return state

    async def reached(self, stream: str, version: int) -> STATE:
        """Return a state at this version or a later one, from memory if it is there; NotFound as `newest`."""
        state = self._states.get(stream)
        if state is None or not 0 < version <= state.version:
            return await self.newest(stream)
        _lookups.add("hit")
        return state

    def known(self, stream: str) -> STATE | None:
        """Return a state as it is in memory, None if it isn't there."""
        return self._states.get(stream)

    async def at(self, stream: str, version: int) -> STATE:
        """Fold a stream anew up to a version, for the caller's own; raise NotFound if it has no such version."""
        state = self._fold.empty(stream)
        while state.version < version:
            entries = await self._log.read_range(stream, state.version + 1, version)
            if not entries:
                raise NotFound
            check_chain(stream, state.version, state.head, entries)
            self._add(state, entries, partial(read_stored, self._fold, stream, state))
        return state

    async def decide(
        self, stream: str, decide: Callable[[STATE, int], Draft], *, key: str | None = None, create: bool = False
    ) -> Decided[STATE]:
        """Append what `decide(state, at)` drafts on the newest state; raise what it raises if the newest state says so.

        With a `key` that the stream remembers, return the decision it led to then. A stream without entries is
        NotFound, unless the command is the one that creates it.
        """
        # One process tries one command on a stream at a time: they could only lose to each other, some for ever.
        queue = self._queues.get(stream)
        if queue is None:
            queue = self._queues[stream] = _Queue()
        queue.users += 1
        try:
            async with queue:
                queue.heed()
                decided = await self._decided(stream, decide, key=key, create=create)
        except (StoreDown, Unconfirmed):
            queue.down = True
            raise
        finally:
            queue.users -= 1
            if not queue.users:
                del self._queues[stream]
        # Beside the queue: the stream's next command need not wait for a disk or a replica.
        await self._log.confirm(stream, decided.stored)
        return decided

    async def _decided(
        self, stream: str, decide: Callable[[STATE, int], Draft], *, key: str | None, create: bool
    ) -> Decided[STATE]:
        _lookups.add("hit" if stream in self._states else "miss")
        state, confirmed = self._states.get(stream) or self._fold.empty(stream), False
        for _ in range(ATTEMPTS):
            try:
                draft = self._draft(state, decide, create=create)
            except (Refused, Stale, NotFound, NoRoom):
                if confirmed:
                    raise
                state, remembered = await self._refreshed(stream, key)
                if remembered is not None:
                    return await self._remembered(stream, remembered, state)
                confirmed = True
                continue
            match await self._appended(stream, state, draft, key):
                case Stored() as stored:
                    return Decided(stored, state, draft)
                case Same(version):
                    state, _ = await self._refreshed(stream, key)
                    return await self._remembered(stream, version, state)
                case Newer(state, confirmed):
                    pass
        raise Busy

    def forget(self) -> None:
        """Forget every state, as a process does that starts anew."""
        self._states.clear()

    async def drain(self) -> None:
        """Wait until every append under way is settled and folded."""
        await self._log.settled()

    def _draft(self, state: STATE, decide: Callable[[STATE, int], Draft], *, create: bool) -> Draft:
        if create != (state.version == 0):
            raise NotFound
        return decide(state, max(self._clock(), state.at))

    async def _appended(
        self, stream: str, state: STATE, draft: Draft, key: str | None
    ) -> "Stored | Same | Newer[STATE]":
        """Append a draft; the append is settled and folded even if the caller goes away meanwhile."""
        stored = entry_after(stream, state, draft, key)
        # Read before it is there for good: what could not be read back would end its stream.
        told = partial(self._settle, stream, state, _Written(stored, self._fold.read(state, stored)))
        match await self._log.append(stream, state.version, stored.e, stored.h, key, state.head, told):
            case Appended():
                return stored
            case Same() as same:
                return same
            case Behind(entries):
                return Newer(state, confirmed=len(entries) < PAGE)
            case Ahead():
                # The key was looked up before: it is unknown.
                state, _ = await self._reloaded(stream, None)
                return Newer(state, confirmed=True)
            case Gone():
                return await self._archived(stream, state, key)
            case answer:
                assert_never(answer)

    async def _archived(self, stream: str, state: STATE, key: str | None) -> "Same | Newer[STATE]":
        """Read an archived stream to its end; raise Archived if the state that a decision was drafted on is its end."""
        before = state.version
        state, remembered = await self._refreshed(stream, key)
        if remembered is not None:
            return Same(remembered)
        if state.version == before:
            raise Archived
        return Newer(state, confirmed=True)

    def _settle(self, stream: str, state: STATE, written: _Written, answer: Answer) -> None:
        """Fold what an append has shown to be in the store."""
        match answer:
            case Appended():
                self._take(stream, state, (written.stored,), lambda _: written.add)
            case Behind(entries):
                check_chain(stream, state.version, state.head, entries)
                self._take(stream, state, entries)
            case _:
                pass

    async def _refreshed(self, stream: str, key: str | None) -> tuple[STATE, int | None]:
        """Return the state as the store has it now, and the version that the key led to, None if it led to none."""
        if stream in self._states:
            return await self._read_on(stream, key)
        # A long stream is read once, however many ask for it at the same time.
        async with self._loading.of(stream):
            return await self._read_on(stream, key)

    async def _read_on(self, stream: str, key: str | None) -> tuple[STATE, int | None]:
        state = self._states.get(stream) or self._fold.empty(stream)
        try:
            remembered, entries = await self._log.newest(stream, state.version, key, state.head)
        except Receded:
            return await self._reloaded(stream, key)
        check_chain(stream, state.version, state.head, entries)
        self._take(stream, state, entries)
        return state, remembered

    async def _remembered(self, stream: str, version: int, state: STATE) -> Decided[STATE]:
        stored = await self._log.read_range(stream, version, version)
        if not stored:
            raise NotFound
        return Decided(stored[0], state, None)

    async def _reloaded(self, stream: str, key: str | None) -> tuple[STATE, int | None]:
        """Forget a state that the store, as the log has said loudly, does not know any more; fold what it has."""
        self._states.pop(stream, None)
        return await self._read_on(stream, key)

    def _take(self, stream: str, state: STATE, entries: Sequence[Stored], read: _Read | None = None) -> None:
        """Fold what the store has shown to hold, keep the state, and tell who listens; `read` knows it already."""
        try:
            self._add(state, entries, read or partial(read_stored, self._fold, stream, state))
        except Exception:
            # It may be folded in part.
            self._states.pop(stream, None)
            raise
        self._keep(stream, state)
        if self.heard is not None and entries:
            self.heard(stream, state, entries)

    def _add(self, state: STATE, entries: Iterable[Stored], read: _Read) -> None:
        began, before = time.perf_counter(), state.version
        for stored in entries:
            if stored.version > state.version:  # another task may have folded it meanwhile
                read(stored)()
        if state.version > before:
            _fold_seconds.observe(time.perf_counter() - began)
            _folded.add(by=state.version - before)

    def _keep(self, stream: str, state: STATE) -> None:
        if state.version == 0:
            return
        self._states[stream] = state
        self._states.move_to_end(stream)
        if len(self._states) > self._cached:
            self._states.popitem(last=False)


def entry_after(stream: str, state: Folded, draft: Draft, key: str | None) -> Stored:
    """Return a draft as the entry that follows a state, salted and chained to the one before."""
    e = _encode(
        Entry(
            log=1,
            stream=stream,
            version=state.version + 1,
            at=draft.at,
            by=draft.by,
            command=draft.command,
            cause=draft.cause,
            key=key,
            salt=new_salt(),
            events=draft.events,
        )
    )
    previous = state.head if state.version else genesis(stream)
    return Stored(state.version + 1, e, head_after(previous, e))
