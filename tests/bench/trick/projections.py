"""A match of Trick: what its events add up to, and what each viewer may see of it."""

from collections.abc import Iterator
from typing import Annotated, assert_never

from msgspec import Meta, Struct

from events.base import Seat
from events.table import DealNumber, Scores
from projections import table as neutral
from projections.fold import Projection
from projections.table import Table
from tests.bench.trick.events import (
    Card,
    DealScored,
    Dealt,
    Hand,
    Options,
    PerSeat,
    Played,
    TrickEvent,
    TrickTaken,
)

SEATS = 5


class State(Struct):
    """A match at one version; lists have one place per seat.

    hands   cards in printed order; None where the viewer may not know
    trick   the cards of the trick, the one led first
    gone    the cards of the tricks that were taken in this deal, in the order played
    turn    the seat that must play, None where no deal is in play
    """

    options: Options
    hands: list[list[Card] | None]
    held: list[int]
    totals: tuple[int | None, ...]
    taken: list[int]
    gone: list[Card]
    trick: list[Card]
    deal: int = 0
    turn: int | None = None


def begin(options: Options, seats: int, taken: tuple[int, ...]) -> State:  # noqa: ARG001 all five always play
    """Return the match before its first event."""
    return State(options, [None] * seats, [0] * seats, (0,) * seats, [0] * seats, [], [])


def evolve(state: State, event: TrickEvent) -> State:
    """Add one event to the match, in place."""
    match event:
        case Played(seat, card, following):
            hand = state.hands[seat]
            if hand is not None:
                hand.remove(card)
            state.held[seat] -= 1
            state.trick.append(card)
            state.turn = following
        case TrickTaken(seat):
            state.gone += state.trick
            state.trick = []
            state.taken[seat] += 1
            state.turn = seat
        case Dealt(deal, hands):
            state.deal = deal
            state.hands = [None if hand is None else list(hand) for hand in hands]
            state.held = [10] * len(hands)
            state.taken = [0] * len(hands)
            state.gone = []
            state.turn = 0
        case DealScored(_, _, totals):
            state.totals = totals
            state.turn = None
        case _:
            assert_never(event)
    return state


class View(neutral.View[Options], frozen=True, kw_only=True):
    """A table of Trick as one viewer may see it; before play all that is its own is null, 0 or empty."""

    deal: DealNumber
    hand: Hand | None
    held: Annotated[tuple[Annotated[int, Meta(ge=0, le=10)], ...], PerSeat]
    trick: Annotated[tuple[Card, ...], Meta(max_length=SEATS, description="The card led first.")]
    taken: Annotated[tuple[Annotated[int, Meta(ge=0, le=10)], ...], PerSeat]
    totals: Scores
    next: Seat | None


def view(table: Table[State, Options], seat: int | None) -> View:
    """Return a table as this seat may see it, None for a spectator."""
    options = table.options
    if options is None:
        raise ValueError(f"nothing is to be seen of a table at version {table.version}")
    state = table.play if table.play is not None else begin(options, len(table.players), ())
    hand = state.hands[seat] if seat is not None else None
    return View(
        **neutral.public(table, seat),
        options=options,
        seen=(*state.gone, *state.trick),
        deal=state.deal,
        hand=None if hand is None else tuple(hand),
        held=tuple(state.held),
        trick=tuple(state.trick),
        taken=tuple(state.taken),
        totals=state.totals,
        next=state.turn,
    )


def redact(event: TrickEvent, seat: int | None) -> TrickEvent:
    """Return an event as this seat may see it, None for a spectator; what is not listed here as public is hidden."""
    match event:
        case Played() | TrickTaken() | DealScored():
            return event
        case Dealt(deal, hands):
            return Dealt(deal, tuple(hand if other == seat else None for other, hand in enumerate(hands)))
        case _:
            assert_never(event)


def cards(state: State) -> Iterator[str]:
    """Yield every card of an unredacted match: fifty from the first deal on."""
    for hand in state.hands:
        yield from hand or ()
    yield from state.trick
    yield from state.gone


PROJECTION = Projection(
    name="trick",
    ruleset="trick/1",
    events=TrickEvent,
    options=Options,
    begin=begin,
    evolve=evolve,
    view=view,
    redact=redact,
    cards=cards,
)
