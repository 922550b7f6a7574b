"""What changes in the lobby, as it comes, for any number of readers in this process.

A reader holds a place among the changes and a filter. As each change tells what a table was before, too, a reader is
told of a table that it was shown and that it wants no more, and of no others, and nothing is remembered for it. All
readers at the same place read what follows once. A reader who comes from a place that is not kept any more, or has
fallen that far behind, is told to begin anew (`reset`) from the place where the changes end then.

Left out: the list itself (service/lobby.py), how frames are sent (service/api/lobby.py).
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator
from typing import Annotated, Final, Literal, NamedTuple, cast

import msgspec
from msgspec import Meta, Struct

from events.base import Id, Version, whole
from projections.lobby import Summary
from service.errors import StoreDown
from service.feeds import RETRY_S
from service.lobby import BELL, CHANGE, Change, Filter, Forgotten, Lobby
from service.log import Log

PAGES: Final = 64
"""How many pages of changes are kept in memory, for readers who are not as quick as the first."""

UNWANTED: Final = 100
"""After so many changes that a reader doesn't want it is told where it is, so that it can come again from there."""


Kind = Literal["table", "gone", "reset", "at"]

Place = Annotated[str, Meta(pattern=whole(CHANGE), description="A place among the lobby's changes; opaque.")]


class LobbyChange(Struct, frozen=True, tag_field="type"):
    """What a reader is told; `cursor` is the place that it is at then."""

    cursor: Place


class LobbyTable(LobbyChange, frozen=True, tag="table"):
    """A table that is wanted, as it is now: one more in the list, or in place of what is there."""

    summary: Summary


class LobbyGone(LobbyChange, frozen=True, tag="gone"):
    """A table that is not in the list any more: it has ended, or isn't what is wanted, as of this version."""

    table: Id
    version: Version


class LobbyReset(LobbyChange, frozen=True, tag="reset"):
    """The list does not count any more, and is to be fetched anew; the changes go on meanwhile."""


class LobbyAt(LobbyChange, frozen=True, tag="at"):
    """There were changes, none of them of what is wanted."""


class Frame(NamedTuple):
    """What a reader is sent, and the place it is at then: a change by its type, and as compact JSON."""

    kind: Kind
    place: str
    data: bytes


_encode = msgspec.json.Encoder().encode


class Changes:
    """The changes that are followed in this process."""

    def __init__(self, lobby: Lobby, log: Log) -> None:
        """Read the changes of this lobby, and hear its bell by this log."""
        self._lobby = lobby
        self._log = log
        self._pages: OrderedDict[str, tuple[Change, ...]] = OrderedDict()
        self._reading: dict[tuple[str, int], asyncio.Task[tuple[Change, ...]]] = {}

    async def follow(self, wanted: Filter, since: str | None) -> AsyncGenerator[Frame]:
        """Return what changes after a place, or from now on, for who wants these tables; raise StoreDown.

        It never ends by itself, and waits while the store does not answer.
        """
        place = await self._lobby.newest_change() if since is None else since
        return self._frames(wanted, place)

    async def close(self) -> None:
        """End what is under way."""
        under_way = tuple(self._reading.values())
        for reading in under_way:
            reading.cancel()
        if under_way:
            await asyncio.wait(under_way)

    async def _frames(self, wanted: Filter, place: str) -> AsyncGenerator[Frame]:
        unwanted = 0
        with self._log.bell(BELL) as bell:
            while True:
                seen = bell.count
                try:
                    changes = await self._after(place, seen)
                except StoreDown:
                    await asyncio.sleep(RETRY_S)
                    continue
                except Forgotten:
                    reset = await self._anew()
                    place = reset.place
                    yield reset
                    continue
                for change in changes:
                    place = change.place
                    frame = frame_of(change, wanted)
                    unwanted = 0 if frame is not None else unwanted + 1
                    if unwanted == UNWANTED:
                        frame, unwanted = _frame(LobbyAt(place)), 0
                    if frame is not None:
                        yield frame
                if not changes:
                    await bell.after(seen)

    async def _anew(self) -> Frame:
        """Return the word that sends a reader to where the changes end now."""
        while True:
            try:
                return _frame(LobbyReset(await self._lobby.newest_change()))
            except StoreDown:
                await asyncio.sleep(RETRY_S)

    async def _after(self, place: str, heard: int) -> tuple[Change, ...]:
        """Return some changes after a place, read once for all who ask for them at once."""
        page = self._pages.get(place)
        if page is not None:
            return page
        # Shared only among those who heard the same: a read begun before a change may have missed it.
        asked = (place, heard)
        reading = self._reading.get(asked)
        if reading is None:
            reading = self._reading[asked] = asyncio.create_task(self._read(asked))
            # Whoever asked may have gone.
            reading.add_done_callback(lambda read: read.cancelled() or read.exception())
        return await asyncio.shield(reading)

    async def _read(self, asked: tuple[str, int]) -> tuple[Change, ...]:
        place, _ = asked
        try:
            page = await self._lobby.changes(place)
        finally:
            del self._reading[asked]
        if page:
            self._pages[place] = page
            if len(self._pages) > PAGES:
                self._pages.popitem(last=False)
        return page


def frame_of(change: Change, wanted: Filter) -> Frame | None:
    """Return what a change means to who wants these tables, None for nothing."""
    if change.table is None:
        return _frame(LobbyReset(change.place))
    if change.now is not None and wanted.takes(change.now):
        return table(change.place, change.stored)
    if change.before is not None and wanted.takes(change.before):
        return _frame(LobbyGone(change.place, change.table, change.version))
    return None


def table(place: str, summary: bytes) -> Frame:
    """Return the frame that shows a table, of which this is the summary as it is stored."""
    return Frame("table", place, b'{"type":"table","cursor":"%b","summary":%b}' % (place.encode(), summary))


def _frame(told: LobbyChange) -> Frame:
    return Frame(cast("Kind", told.__struct_config__.tag), told.cursor, _encode(told))
