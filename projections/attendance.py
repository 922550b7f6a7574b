"""Who has had a part in a table: who opened it, who sat down and when, and whether play has ended.

Folded from the neutral events alone.
"""

from collections.abc import Iterable

from msgspec import Struct, field

from events.base import Millis, PlayerId
from events.table import Created, Ended, SeatTaken
from projections.filters import EventFilter

_CONCERNING = Created | SeatTaken | Ended
_filter: EventFilter[_CONCERNING] = EventFilter(_CONCERNING)


class Attended(Struct):
    """A table: its host and when it was opened, the accounts that sat down, each with when, and whether it has ended.

    Who stood up again counts too; bots don't. The host is "" before the first entry.
    """

    host: PlayerId = ""
    opened_at: Millis = 0
    sat: dict[PlayerId, Millis] = field(default_factory=dict)
    ended: bool = False


def add(attended: Attended, entries: Iterable[bytes]) -> None:
    """Add the stored entries that follow."""
    for entry, events in _filter.decisions(entries):
        for event in events:
            _evolve(attended, event, entry.at)


def _evolve(attended: Attended, event: _CONCERNING, at: Millis) -> None:
    match event:
        case Created():
            attended.host, attended.opened_at = event.host, at
        case SeatTaken(_, player, _, None):
            attended.sat.setdefault(player, at)
        case SeatTaken():
            pass
        case Ended():
            attended.ended = True
