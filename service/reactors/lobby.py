"""The reactor that keeps the lobby.

A table's summary changes while its seats are taken and when play starts and ends. In between come hundreds of decisions
that change nothing: a table in play is looked at once a second at most, and what came after the last look is read, but
not decoded.
"""

from typing import Final, NamedTuple

from projections import lobby as summaries
from projections.lobby import Summary
from service.ids import PARTITIONS
from service.lobby import Lobby
from service.log import PAGE, Log
from service.reactors.pursuit import Seen
from service.streams import Shorter

PLAYING_S: Final = 1.0
"""How long a table in play waits until it is looked at again."""


class _Known(NamedTuple):
    """What the lobby shows of a table, and up to which version its stream was read for that."""

    shown: Summary
    version: int


async def rebuild(log: Log, lobby: Lobby) -> None:
    """List anew what the streams hold, and nothing else."""
    await lobby.clear()
    keeping = LobbyKeeping(log, lobby)
    for partition in range(PARTITIONS):
        for stream in await log.streams(partition):
            if stream.startswith("table:"):
                await keeping.look(stream, 0)


class LobbyKeeping:
    """Lists every table that is open or in play, and no other."""

    name = "lobby"

    def __init__(self, log: Log, lobby: Lobby) -> None:
        """Take the log to read and the lobby to keep."""
        self._log = log
        self._lobby = lobby
        self._known: dict[str, _Known] = {}

    def delay_s(self, stream: str) -> float:
        """Let the decisions of a table in play gather."""
        known = self._known.get(stream)
        return PLAYING_S if known is not None and known.shown.status == "playing" else 0

    async def look(self, stream: str, version: int) -> Seen:  # noqa: ARG002 what is in the store is read in any case
        """Read what came after the last look, and show what changed."""
        known = self._known.get(stream)
        before = known.shown if known is not None else await self._lobby.find(stream.removeprefix("table:"))
        after = known.version if known is not None else before.version if before is not None else 0
        try:
            summary, reached = await self._read(stream, before, after)
        except Shorter:
            summary, reached = await self._read(stream, None, 0)
        if summary is None:
            return Seen(reached, over=True)
        # What was listed by another process may have been listed by halves.
        if known is None or summary != before:
            await self._lobby.put(summary)
        if summary.status == "ended":
            self._known.pop(stream, None)
            return Seen(reached, over=True)
        self._known[stream] = _Known(summary, reached)
        return Seen(reached)

    def forget(self) -> None:
        """Go on from what is listed in the store."""
        self._known.clear()

    async def _read(self, stream: str, summary: Summary | None, after: int) -> tuple[Summary | None, int]:
        """Return the summary with all added that came after a version, and the newest version."""
        while entries := await self._log.read(stream, after):
            summary = summaries.add(summary, (stored.e for stored in entries))
            after = entries[-1].version
            if len(entries) < PAGE:
                break
        return summary, after
