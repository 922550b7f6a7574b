"""The reactor that logs how tables have ended, for everybody to see that it never changes afterwards.

Whether a table has ended is seen without folding it: an entry says so. After that every look logs the newest version.
"""

from typing import Final, NamedTuple

from events.table import Ended
from service.audit.transparency import Transparency
from service.log import PAGE, Log
from service.reactors.pursuit import Seen
from service.streams import Shorter

GATHER_S: Final = 1.0
"""How long a table that has grown waits until it is looked at: few have ended, and nobody waits for a second."""

_MARK: Final = b'"type":"%b"' % str(Ended.__struct_config__.tag).encode("ascii")


class _Known(NamedTuple):
    """Up to which version a stream was read, the head there, and whether play had ended by then."""

    version: int = 0
    head: bytes = b""
    ended: bool = False


class EndLogging:
    """Adds every table that has ended to the transparency log, and what its newest version is after that."""

    name = "transparency"

    def __init__(self, log: Log, transparency: Transparency) -> None:
        """Take the log to read, and the one to add to."""
        self._log = log
        self._transparency = transparency
        self._known: dict[str, _Known] = {}

    def delay_s(self, _stream: str) -> float:
        """Let the decisions of a table gather."""
        return GATHER_S

    async def look(self, stream: str, version: int) -> Seen:  # noqa: ARG002 what is in the store is read in any case
        """Read what came after the last look, and log the newest version of a table that has ended."""
        try:
            known = await self._read(stream, self._known.pop(stream, _Known()))
        except Shorter:
            known = await self._read(stream, _Known())
        if known.ended:
            await self._transparency.add(stream, known.version, known.head)
        else:
            self._known[stream] = known
        return Seen(known.version)

    def part_with(self, stream: str) -> None:
        """Read it anew if it comes back: that is harmless."""
        self._known.pop(stream, None)

    def forget(self) -> None:
        """Read anew what the store has."""
        self._known.clear()

    async def _read(self, stream: str, known: _Known) -> _Known:
        while entries := await self._log.read(stream, known.version):
            ended = known.ended or any(_MARK in stored.e for stored in entries)
            known = _Known(entries[-1].version, entries[-1].h, ended)
            if len(entries) < PAGE:
                break
        return known
