"""The reactor that keeps the lobby.

A table's summary changes while its seats are taken and when play starts and ends. In between come hundreds of decisions
that change nothing: a table in play is looked at once a second at most, and what came after the last look is read, but
not decoded. Of several who look at the same table, however late they come with what they saw, the newest is listed.
"""

from typing import Final, NamedTuple

from projections import lobby as summaries
from projections.lobby import Summary
from service.errors import Busy
from service.lobby import Lobby
from service.log import PAGE, Log
from service.reactors.pursuit import Seen
from service.streams import Shorter
from service.walk import Walk

PLAYING_S: Final = 1.0
"""How long a table in play waits until it is looked at again."""

LOOKS: Final = 3
"""How often a table is looked at for one that was over too late to be listed."""


class _Known(NamedTuple):
    """What the lobby shows of a table, None for nothing, and up to which version its stream was read for that."""

    shown: Summary | None
    version: int


async def rebuild(walk: Walk, lobby: Lobby) -> None:
    """List anew what the streams hold, and nothing else; who follows the changes is told to begin anew, too.

    May run while reactors do, and again if it was cut off.
    """
    await lobby.clear()
    await walk.over(await walk.tables(), LobbyKeeping(walk.log, lobby).show)


class LobbyKeeping:
    """Lists every table that is open or in play, and no other."""

    name = "lobby"

    def __init__(self, log: Log, lobby: Lobby) -> None:
        """Take the log to read and the lobby to keep."""
        self._log = log
        self._lobby = lobby
        self._known: dict[str, _Known] = {}
        # The lobby's, as far as this process has heard.
        self._generation = 0

    def delay_s(self, stream: str) -> float:
        """Let the decisions of a table in play gather."""
        known = self._known.get(stream)
        return PLAYING_S if known is not None and known.shown is not None and known.shown.status == "playing" else 0

    async def look(self, stream: str, version: int) -> Seen:  # noqa: ARG002 what is in the store is read in any case
        """Read what came after the last look, and show what changed."""
        return await self.show(stream)

    async def show(self, stream: str) -> Seen:
        """Show a table in the lobby as it is now; raise Busy where others have long gone on whenever that is known."""
        for _ in range(LOOKS):
            seen = await self._shown(stream)
            if seen is not None:
                return seen
        raise Busy

    def part_with(self, stream: str) -> None:
        """Go on from what another has listed."""
        self._known.pop(stream, None)

    def forget(self) -> None:
        """Go on from what is listed in the store."""
        self._known.clear()

    async def _shown(self, stream: str) -> Seen | None:
        """Look once; return None if so much has happened in the lobby meanwhile that this look is out of date."""
        known = self._known.pop(stream, None)
        if known is None:
            before, self._generation = await self._lobby.find(stream.removeprefix("table:"))
            known = _Known(before, 0 if before is None else before.version)
        before, generation, gone = known.shown, self._generation, -1
        try:
            summary, reached = await self._read(stream, *known)
        except Shorter:
            gone = -1 if before is None else before.version
            summary, reached = await self._read(stream, None, 0)
        if summary is None:
            return Seen(reached, over=True)
        if summary != before:
            outcome, self._generation = await self._lobby.put(summary, generation, instead_of=gone)
            if outcome == "late":
                return None
            if outcome == "newer":
                # Another has seen more: whoever looks next goes on from that.
                return Seen(reached)
        if summary.status != "ended":
            self._known[stream] = _Known(summary, reached)
        return Seen(reached, over=summary.status == "ended")

    async def _read(self, stream: str, summary: Summary | None, after: int) -> tuple[Summary | None, int]:
        """Return the summary with all added that came after a version, and the newest version."""
        while entries := await self._log.read(stream, after):
            summary = summaries.add(summary, (stored.e for stored in entries))
            after = entries[-1].version
            if len(entries) < PAGE:
                break
        return summary, after
