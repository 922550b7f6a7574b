"""A table as the lobby lists it: what somebody wants to know who looks for a table to join or to watch.

It is folded from the neutral events alone, so that no game is known here. Only few decisions change it: seats taken and
left before play, the start, pauses, resignations, the end; `concerns` tells, without decoding them, those that may.
"""

from collections.abc import Iterable
from typing import Annotated

from msgspec import Meta, Raw, Struct
from msgspec.structs import replace

from events.base import Entry, GameName, Id, Millis, PlayerId, Ruleset, Version
from events.table import (
    Chosen,
    Created,
    Ended,
    Paused,
    Resigned,
    Resumed,
    SeatLeft,
    SeatTaken,
    Started,
    StartRule,
)
from projections.filters import EventFilter
from projections.table import SeatView, Status

_CONCERNING = Created | SeatTaken | SeatLeft | Started | Paused | Resumed | Resigned | Ended
_filter: EventFilter[_CONCERNING] = EventFilter(_CONCERNING)


class Summary(Struct, frozen=True, kw_only=True):
    """A table in the lobby; `version` is the last that changed any of this, `seats` are ids without names.

    `started_at` is null before play.
    """

    game: GameName
    table: Id
    ruleset: Ruleset
    status: Status
    options: Chosen
    seats: Annotated[tuple[SeatView, ...], Meta(min_length=1, max_length=8)]
    host: PlayerId
    start: StartRule
    created_at: Millis
    started_at: Millis | None
    version: Version

    @property
    def open_seats(self) -> tuple[int, ...]:
        """The seats that a person could take."""
        return tuple(view.seat for view in self.seats if view.player is None) if self.status == "open" else ()

    @property
    def people(self) -> tuple[str, ...]:
        """The accounts that hold a seat."""
        return tuple(view.player for view in self.seats if view.player and view.bot is None and not view.resigned)


def concerns(entry: bytes) -> bool:
    """Tell whether a stored entry may change its table's summary; False is sure."""
    return _filter.may_be_in(entry)


def add(summary: Summary | None, entries: Iterable[bytes]) -> Summary | None:
    """Return a summary with the stored entries that follow it added; None is the summary of no entries."""
    for entry, events in _filter.decisions(entries):
        for event in events:
            summary = _evolved(summary, event, entry)
    return summary


def _evolved(summary: Summary | None, event: _CONCERNING, entry: Entry[Raw, Raw]) -> Summary:
    """Return the summary with one event added."""
    if isinstance(event, Created):
        return _created(event, entry)
    if summary is None:
        raise ValueError(f"{entry.stream} has no table.created before version {entry.version}")
    match event:
        case SeatTaken(seat, player, _, bot):
            return _seated(summary, SeatView(seat, player, bot, resigned=False), entry.version)
        case SeatLeft(seat):
            return _seated(summary, SeatView(seat, None, None, resigned=False), entry.version)
        case Resigned(seat):
            left = summary.seats[seat]
            return _seated(summary, SeatView(seat, left.player, left.bot, resigned=True), entry.version)
        case Started():
            return replace(summary, status="playing", started_at=entry.at, version=entry.version)
        case Paused():
            return replace(summary, status="paused", version=entry.version)
        case Resumed():
            return replace(summary, status="playing", version=entry.version)
        case Ended():
            return replace(summary, status="ended", version=entry.version)


def _created(event: Created, entry: Entry[Raw, Raw]) -> Summary:
    return Summary(
        game=event.game,
        table=entry.stream.removeprefix("table:"),
        ruleset=event.ruleset,
        status="open",
        options=event.options,
        seats=tuple(SeatView(seat, None, None, resigned=False) for seat in range(event.seats)),
        host=event.host,
        start=event.start,
        created_at=entry.at,
        started_at=None,
        version=entry.version,
    )


def _seated(summary: Summary, view: SeatView, version: int) -> Summary:
    seats = (*summary.seats[: view.seat], view, *summary.seats[view.seat + 1 :])
    return replace(summary, seats=seats, version=version)
