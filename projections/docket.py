"""What of a table's disputes is open, as arbiters are told of it who look for one to rule on.

It is folded from the neutral events alone.
"""

from collections.abc import Iterable

from msgspec import Raw, Struct
from msgspec.structs import replace

from events.base import Entry, GameName, Id, Millis, PlayerId, Version
from events.table import Created, DisputeFiled, DisputeNumber, DisputeReason, Ruled
from projections.filters import EventFilter

_CONCERNING = Created | DisputeFiled | Ruled
_filter: EventFilter[_CONCERNING] = EventFilter(_CONCERNING)


class OpenDispute(Struct, frozen=True):
    """A dispute that nobody has ruled on, over versions `first` to `last`; `version` is that of its filing."""

    game: GameName
    table: Id
    dispute: DisputeNumber
    player: PlayerId
    version: Version
    at: Millis
    first: Version
    last: Version
    reason: DisputeReason


class Contested(Struct, frozen=True):
    """A table: its game, "" before its first entry; how many disputes were ever filed, and those that are open."""

    game: GameName = ""
    filed: int = 0
    open: tuple[OpenDispute, ...] = ()


def add(contested: Contested, entries: Iterable[bytes]) -> Contested:
    """Return a table with the stored entries that follow it added."""
    for entry, events in _filter.decisions(entries):
        for event in events:
            contested = _evolved(contested, event, entry)
    return contested


def _evolved(contested: Contested, event: _CONCERNING, entry: Entry[Raw, Raw]) -> Contested:
    match event:
        case Created(game=game):
            return Contested(game)
        case DisputeFiled(dispute, first, last, reason):
            filed = OpenDispute(
                game=contested.game,
                table=entry.stream.removeprefix("table:"),
                dispute=dispute,
                player=entry.by.player or "",
                version=entry.version,
                at=entry.at,
                first=first,
                last=last,
                reason=reason,
            )
            return replace(contested, filed=dispute, open=(*contested.open, filed))
        case Ruled(dispute):
            return replace(contested, open=tuple([one for one in contested.open if one.dispute != dispute]))
