"""The reactor that keeps the docket of open disputes.

Hardly any table is ever disputed: of most streams all that happens here is that they are read, once, and not decoded.
"""

from typing import Final, NamedTuple

from projections import docket as projected
from projections.docket import Contested
from service.docket import Docket
from service.log import PAGE, Log
from service.reactors.pursuit import Seen
from service.streams import Shorter
from service.walk import Walk

GATHER_S: Final = 1.0
"""How long decisions gather before a stream is looked at."""


REMEMBERED: Final = 10_000
"""Of how many tables it is known what was shown; others are read from the beginning when something happens there."""


class _Known(NamedTuple):
    """A table as it was shown, and up to which version its stream was read for that."""

    contested: Contested
    version: int


_UNREAD: Final = _Known(Contested(), 0)


async def rebuild(walk: Walk, docket: Docket) -> None:
    """List anew what the streams hold, and nothing else; may run while reactors do, and again if it was cut off."""
    await docket.clear()
    await walk.over(await walk.tables(), DocketKeeping(walk.log, docket).show)


class DocketKeeping:
    """Lists every dispute that nobody has ruled on, and no other."""

    name = "docket"

    def __init__(self, log: Log, docket: Docket) -> None:
        """Take the log to read and the docket to keep."""
        self._log = log
        self._docket = docket
        self._known: dict[str, _Known] = {}

    def delay_s(self, stream: str) -> float:  # noqa: ARG002 all of them alike
        """Let the decisions of a table gather."""
        return GATHER_S

    async def look(self, stream: str, version: int) -> Seen:  # noqa: ARG002 what is in the store is read in any case
        """Read what came after the last look, and show what changed."""
        return await self.show(stream)

    async def show(self, stream: str) -> Seen:
        """Show in the docket what is open at a table now."""
        known, anew = self._known.pop(stream, _UNREAD), False
        try:
            contested, reached = await self._read(stream, known)
        except Shorter:
            known, anew = _UNREAD, True
            contested, reached = await self._read(stream, known)
        if anew or (contested.filed and contested != known.contested):
            await self._docket.put(stream.removeprefix("table:"), reached, contested.open, anew=anew)
        self._known[stream] = _Known(contested, reached)
        if len(self._known) > REMEMBERED:
            del self._known[next(iter(self._known))]
        return Seen(reached)

    def part_with(self, stream: str) -> None:
        """Read it from the beginning when it comes back."""
        self._known.pop(stream, None)

    def forget(self) -> None:
        """Read all from the beginning."""
        self._known.clear()

    async def _read(self, stream: str, known: _Known) -> _Known:
        """Return a table with all added that came after a version, and the newest version."""
        contested, after = known
        while entries := await self._log.read(stream, after):
            contested = projected.add(contested, (stored.e for stored in entries))
            after = entries[-1].version
            if len(entries) < PAGE:
                break
        return _Known(contested, after)
