"""The reactor that fills inboxes.

It folds each stream on from where it was told last, and tells all that a read of the stream has brought in one call.
What concerns nobody is not noted either: a table of bots costs a read a second, and whoever comes after a kill reads
that once more.
"""

from typing import Final, NamedTuple

import msgspec
from msgspec import Struct

from projections import inbox
from projections.inbox import Company, Told
from service.inbox import Inboxes, Reached
from service.log import PAGE, Log
from service.reactors.pursuit import Seen
from service.streams import Shorter, Stored
from service.walk import Walk

AMONG_BOTS_S: Final = 1.0
"""How long a table in play at which no person acts waits until it is looked at again."""


class _Known(NamedTuple):
    """What was told of a table as the store has it, and what the table is at the version that it was read up to."""

    told: Reached
    version: int
    company: Company | None


class _Dated(Struct):
    at: int


_dated = msgspec.json.Decoder(_Dated)


async def rebuild(walk: Walk, inboxes: Inboxes) -> None:
    """Fill all inboxes anew from what the streams hold; whoever has an older number is told so.

    What each table has to tell comes together, those last whose newest decision is the newest: so an account with more
    than are kept loses the oldest. May run while reactors do, and again if it was cut off.
    """
    await inboxes.clear()
    filling = InboxFilling(walk.log, inboxes)

    dated: list[tuple[int, str]] = []

    async def date(stream: str) -> None:
        if (last := await walk.log.last(stream)) is not None:
            dated.append((_dated.decode(last.e).at, stream))

    async def tell(stream: str) -> None:
        await filling.look(stream, 0)

    for stream in await walk.tables():
        await walk.attempt(stream, date)
    await walk.over((stream for _, stream in sorted(dated)), tell, at_once=1)


class InboxFilling:
    """Tells every account what concerns it, once."""

    name = "inbox"

    def __init__(self, log: Log, inboxes: Inboxes) -> None:
        """Take the log to read and the inboxes to fill."""
        self._log = log
        self._inboxes = inboxes
        self._known: dict[str, _Known] = {}

    def delay_s(self, stream: str) -> float:
        """Look at once where somebody may be told of a turn; a table that bots play to its end can wait."""
        known = self._known.get(stream)
        company = known.company if known is not None else None
        return 0 if company is None or company.status == "open" or company.has_people else AMONG_BOTS_S

    async def look(self, stream: str, version: int) -> Seen:  # noqa: ARG002 what is in the store is read in any case
        """Read what came after the last look, and tell whom it concerns."""
        try:
            known = await self._told(stream, await self._remembered(stream))
        except Shorter:
            # Of what was in memory the store has lost some; what it notes itself it can only have lost with it.
            known = await self._told(stream, await self._stored(stream))
        if known.company is None or known.company.status == "ended":
            return Seen(known.version, over=known.company is not None)
        self._known[stream] = known
        return Seen(known.version)

    def part_with(self, stream: str) -> None:
        """Go on from what another has told."""
        self._known.pop(stream, None)

    def forget(self) -> None:
        """Go on from what the store notes."""
        self._known.clear()

    async def _remembered(self, stream: str) -> _Known:
        if stream in self._known:
            return self._known.pop(stream)
        return await self._stored(stream)

    async def _stored(self, stream: str) -> _Known:
        (told,) = await self._inboxes.reached([stream.removeprefix("table:")])
        return _Known(told, *told)

    async def _told(self, stream: str, known: _Known) -> _Known:
        """Tell all that comes after what is known, and return what is known then."""
        while entries := await self._log.read(stream, known.version):
            now, told = _folded(known.company, entries)
            if not told:
                known = _Known(known.told, *now)
            elif await self._inboxes.tell(known.told, now, told):
                known = _Known(now, *now)
            else:
                # Another was here meanwhile, and has told that, or some of it.
                known = await self._stored(stream)
                continue
            if len(entries) < PAGE:
                break
        return known


def _folded(company: Company | None, entries: list[Stored]) -> tuple[Reached, list[Told]]:
    """Return how far entries lead from a table, and what of it is to be told."""
    told: list[Told] = []
    for stored in entries:
        company, new = inbox.add(company, stored.e)
        told += new
    return Reached(entries[-1].version, company), told
