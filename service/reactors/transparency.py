"""The reactor that logs how tables have ended, for everybody to see that it never changes afterwards.

Whether a table has ended is seen without folding it: an entry says so. That version is logged, and each that follows:
any of them may have been handed out as a record.
"""

from typing import Final, NamedTuple

from events.table import Ended
from service.audit.transparency import Transparency
from service.log import PAGE, Log
from service.reactors.pursuit import Seen
from service.streams import Shorter, Stored

GATHER_S: Final = 1.0
"""How long a table that has grown waits until it is looked at: few have ended, and nobody waits for a second."""

_MARK: Final = b'"type":"%b"' % str(Ended.__struct_config__.tag).encode("ascii")


class _Read(NamedTuple):
    """Up to which version a stream was read, and the entries since play ended, that which ended it first."""

    version: int
    ended: tuple[Stored, ...]


class EndLogging:
    """Adds every table that has ended to the transparency log, and every version that it has after that."""

    name = "transparency"

    def __init__(self, log: Log, transparency: Transparency) -> None:
        """Take the log to read, and the one to add to."""
        self._log = log
        self._transparency = transparency
        self._reached: dict[str, int] = {}

    def delay_s(self, _stream: str) -> float:
        """Let the decisions of a table gather."""
        return GATHER_S

    async def look(self, stream: str, version: int) -> Seen:  # noqa: ARG002 what is in the store is read in any case
        """Read what came after the last look, and log the versions of a table that has ended."""
        try:
            read = await self._read(stream, self._reached.pop(stream, 0))
        except Shorter:
            read = await self._read(stream, 0)
        for stored in read.ended:
            await self._transparency.add(stream, stored.version, stored.h)
        if not read.ended:
            self._reached[stream] = read.version
        return Seen(read.version)

    def part_with(self, stream: str) -> None:
        """Read it anew if it comes back: that is harmless."""
        self._reached.pop(stream, None)

    def forget(self) -> None:
        """Read anew what the store has."""
        self._reached.clear()

    async def _read(self, stream: str, after: int) -> _Read:
        ended: list[Stored] = []
        while entries := await self._log.read(stream, after):
            for stored in entries:
                if ended or _MARK in stored.e:
                    ended.append(stored)
            after = entries[-1].version
            if len(entries) < PAGE:
                break
        return _Read(after, tuple(ended))
