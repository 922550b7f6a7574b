"""The one fold: entries of a stream, or redacted decisions, added up to a table.

Deciding, viewing, replay and audit all stand on this fold. What a game adds to it is one `Projection`.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, cast, get_args

import msgspec
from msgspec import Raw, Struct

from events.base import MAX_SEATS, Decision, Entry, Event
from events.table import Created, DealReplayed, Ruled, Started, TableEvent
from projections import table as neutral
from projections.table import Table, View

PLAY = TypeVar("PLAY")
OPTIONS = TypeVar("OPTIONS")

ALL: Final = "all"
Eyes: TypeAlias = int | Literal["all"] | None
"""Through which events are seen: a seat's, those of all seats together, or a spectator's (None)."""

_NEUTRAL = frozenset(get_args(TableEvent))


@dataclass(frozen=True, kw_only=True)
class Projection(Generic[PLAY, OPTIONS]):
    """What one ruleset of a game adds to the fold.

    events    the union of the game's own events
    options   the struct of its options; every field has a default
    begin     the state when play starts: from the options, the number of seats, the seats taken
    evolve    add one of the game's own events to the state, in place or anew; returns the state from then on
    view      a table as this seat may see it, None for a spectator
    redact    one of the game's own events as this seat may see it
    cards     every card of the state, wherever it lies, copies included: the same multiset at every version
    rescored  the state, in place or anew, from which play goes on with these scores, one a seat, null for untaken
              seats; None where no deal adds to another, so that no scores go on
    """

    name: str
    ruleset: str
    events: object
    options: type[OPTIONS]
    begin: Callable[[OPTIONS, int, tuple[int, ...]], PLAY]
    evolve: Callable[[PLAY, Any], PLAY]
    view: Callable[[Table[PLAY, OPTIONS], int | None], View[OPTIONS]]
    redact: Callable[[Any, int | None], Event]
    cards: Callable[[PLAY], Iterable[str]]
    rescored: Callable[[PLAY, tuple[int | None, ...]], PLAY] | None = None

    @cached_property
    def _decoder(self) -> "msgspec.json.Decoder[Entry[Raw, Event]]":
        return msgspec.json.Decoder(Entry[Raw, TableEvent | self.events])  # type: ignore[name-defined] # a union known at run time

    def decode(self, entry: bytes) -> Entry[Raw, Event]:
        """Read one stored entry; its command stays as stored."""
        return self._decoder.decode(entry)


def add(
    projection: Projection[PLAY, OPTIONS],
    table: Table[PLAY, OPTIONS],
    entry: Entry[Raw, Event] | Decision[Event],
    head: bytes,
) -> None:
    """Add one decision, stored or redacted, to the table it follows."""
    table.version = entry.version
    table.at = entry.at
    table.by = entry.by.player or ""
    table.head = head
    for event in entry.events:
        evolve(projection, table, event)


def evolve(projection: Projection[PLAY, OPTIONS], table: Table[PLAY, OPTIONS], event: Event) -> None:
    """Add one event, neutral or the game's own."""
    if type(event) not in _NEUTRAL:
        table.play = projection.evolve(table.play, event)  # type: ignore[arg-type] # no game event comes before play
        return
    neutral.evolve(table, cast("TableEvent", event))
    match event:
        case Created():
            table.options = msgspec.convert(event.options, projection.options)
        case Started():
            table.play = projection.begin(cast("OPTIONS", table.options), len(table.players), event.seats)
        case DealReplayed() | Ruled() if table.status != "ended" and projection.rescored is not None:
            # A deal is played again from scores that may have been corrected since it began.
            table.play = projection.rescored(cast("PLAY", table.play), table.scores)
        case _:
            pass


def redact(projection: Projection[PLAY, OPTIONS], event: Event, seat: int | None) -> Event:
    """Return an event as this seat may see it, None for a spectator."""
    if type(event) in _NEUTRAL:
        return neutral.redact(cast("TableEvent", event))
    return projection.redact(event, seat)


def redacted(projection: Projection[PLAY, OPTIONS], events: Iterable[Event], seat: int | None) -> tuple[Event, ...]:
    """Return events as this seat may see them, None for a spectator."""
    return tuple([redact(projection, event, seat) for event in events])


def together(projection: Projection[PLAY, OPTIONS], event: Event) -> Event:
    """Return an event as all seats see it who lay together what each may see; what nobody may see stays hidden."""
    seen = redact(projection, event, None)
    if seen is event:
        return event
    for seat in range(MAX_SEATS):
        seen = cast("Event", _joined(seen, redact(projection, event, seat)))
    return seen


def _joined(one: object, other: object) -> object:
    """Return what is seen by either of two, who see the same but for what is null to one of them."""
    match one, other:
        case None, _:
            return other
        case _, None:
            return one
        case Struct(), Struct():
            pairs = ((getattr(one, field), getattr(other, field)) for field in one.__struct_fields__)
            return type(one)(*(_joined(mine, theirs) for mine, theirs in pairs))
        case tuple(), tuple():
            return tuple([_joined(mine, theirs) for mine, theirs in zip(one, other, strict=True)])
        case _:
            return one


def decision(
    projection: Projection[PLAY, OPTIONS], entry: Entry[Raw, Event], head: bytes, eyes: Eyes
) -> Decision[Event]:
    """Return an entry as these eyes may see it."""
    if eyes == ALL:
        events = tuple([together(projection, event) for event in entry.events])
    else:
        events = redacted(projection, entry.events, eyes)
    return Decision(entry.version, entry.at, entry.by, head.hex(), events)
