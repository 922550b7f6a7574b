"""A match of Toy: what its events add up to, and what each viewer may see of it.

No list grows from deal to deal, so the state is as small at version 10,000 as at the first.
"""

from collections.abc import Iterator
from typing import Annotated, Literal, assert_never

from msgspec import Meta, Struct

from events.base import Seat
from events.table import DealNumber, Seats
from projections import table as neutral
from projections.fold import Projection
from projections.table import Table
from tests.toy.events.toy import (
    Card,
    DealScored,
    Dealt,
    Drew,
    FirstDrawn,
    Hand,
    Held,
    Laid,
    Opened,
    Options,
    PerSeat,
    Pledged,
    Row,
    Shown,
    ToyEvent,
)

PhaseName = Literal["pledge", "lay", "over"]


class Pledging(Struct, frozen=True, gc=False):
    """Every taken seat must pledge a card, in any order."""


class Laying(Struct, frozen=True, gc=False):
    """This seat must lay a row or hold."""

    seat: int


class DealOver(Struct, frozen=True, gc=False):
    """No deal is in play."""


Phase = Pledging | Laying | DealOver


class State(Struct):
    """A match at one version; lists have one place per seat, of which those of untaken seats stay empty.

    hands    cards in printed order; None where the viewer may not know
    stock    top first; None where the viewer may not know
    pledges  None where nothing is pledged, or where the viewer may not know
    pledged  the seats that have pledged in this deal
    """

    options: Options
    taken: tuple[int, ...]
    totals: tuple[int | None, ...]
    hands: list[list[Card] | None]
    held: list[int]
    pledges: list[Card | None]
    rows: list[tuple[Card, ...]]
    phase: Phase = DealOver()
    deal: int = 0
    first: int = 0
    stock: list[Card] | None = None
    left: int = 0
    pledged: tuple[int, ...] = ()
    best: int | None = None
    shown: bool = False


def begin(options: Options, seats: int, taken: tuple[int, ...]) -> State:
    """Return the match before its first event."""
    totals = tuple(0 if seat in taken else None for seat in range(seats))
    return State(options, taken, totals, [None] * seats, [0] * seats, [None] * seats, [()] * seats)


def evolve(state: State, event: ToyEvent) -> State:
    """Add one event to the match, in place."""
    match event:
        case FirstDrawn(seat):
            state.first = seat
        case Dealt():
            _deal(state, event)
        case Pledged(seat, card):
            _take(state, seat, (card,))
            state.pledges[seat] = card
            state.pledged += (seat,)
        case Shown(cards, best, following):
            state.pledges = list(cards)
            state.best = best
            state.shown = True
            state.phase = Laying(following)
        case Laid(seat, cards, following):
            _take(state, seat, cards)
            state.rows[seat] = cards
            _pass(state, following)
        case Held(_, following):
            _pass(state, following)
        case Drew(seat, card):
            _draw(state, seat, card)
        case DealScored(_, _, totals):
            state.totals = totals
        case Opened(pledges):
            state.pledges = list(pledges)
            state.shown = True
        case _:
            assert_never(event)
    return state


def _deal(state: State, event: Dealt) -> None:
    state.deal = event.deal
    state.first = event.first
    state.hands = [None if hand is None else list(hand) for hand in event.hands]
    state.held = [7 if seat in state.taken else 0 for seat in range(len(state.held))]
    state.stock = None if event.stock is None else list(event.stock)
    state.left = 32 - sum(state.held)
    state.pledges = [None] * len(state.held)
    state.pledged = ()
    state.rows = [()] * len(state.held)
    state.best = None
    state.shown = False
    state.phase = Pledging()


def _take(state: State, seat: int, cards: tuple[Card | None, ...]) -> None:
    state.held[seat] -= len(cards)
    hand = state.hands[seat]
    if hand is not None:
        state.hands[seat] = [card for card in hand if card not in cards]


def _pass(state: State, following: int | None) -> None:
    state.phase = DealOver() if following is None else Laying(following)


def _draw(state: State, seat: int, card: Card | None) -> None:
    state.held[seat] += 1
    state.left -= 1
    hand = state.hands[seat]
    if hand is not None and card is not None:
        hand.append(card)
    if state.stock is not None:
        del state.stock[0]


class View(neutral.View[Options], frozen=True, kw_only=True):
    """A table of Toy as one viewer may see it; before play all that is its own is null, 0 or empty.

    Lists hold one entry per seat. `pledges` are null while they are sealed, all but the viewer's own.
    """

    phase: PhaseName | None
    deal: DealNumber
    first: Seat | None
    hand: Hand | None
    held: Annotated[tuple[Annotated[int, Meta(ge=0, le=7)], ...], PerSeat]
    left: Annotated[int, Meta(ge=0, le=32)]
    pledged: Seats
    pledges: Annotated[tuple[Card | None, ...], PerSeat]
    best: Seat | None
    rows: Annotated[tuple[Row | None, ...], PerSeat]


def view(table: Table[State, Options], seat: int | None) -> View:
    """Return a table as this seat may see it, None for a spectator."""
    options = table.options
    if options is None:
        raise ValueError(f"nothing is to be seen of a table at version {table.version}")
    state = table.play if table.play is not None else begin(options, len(table.players), ())
    hand = state.hands[seat] if seat is not None else None
    pledges = [card if state.shown or own == seat else None for own, card in enumerate(state.pledges)]
    return View(
        **neutral.public(table, seat),
        options=options,
        seen=_seen(state),
        phase=_phase_name(table),
        deal=state.deal,
        first=state.first if state.deal else None,
        hand=None if hand is None else tuple(hand),
        held=tuple(state.held),
        left=state.left,
        pledged=state.pledged,
        pledges=tuple(pledges),
        best=state.best,
        rows=tuple(row or None for row in state.rows),
    )


def _phase_name(table: Table[State, Options]) -> PhaseName | None:
    if table.play is None:
        return None
    if table.status == "ended":
        return "over"
    match table.play.phase:
        case Pledging():
            return "pledge"
        case Laying():
            return "lay"
        case DealOver():
            return "over"
        case unknown:
            assert_never(unknown)


def _seen(state: State) -> tuple[Card, ...]:
    shown = state.pledges if state.shown else ()
    return (*(card for card in shown if card is not None), *(card for row in state.rows for card in row))


def redact(event: ToyEvent, seat: int | None) -> ToyEvent:
    """Return an event as this seat may see it, None for a spectator; what is not listed here as public is hidden."""
    match event:
        case FirstDrawn() | Shown() | Laid() | Held() | DealScored() | Opened():
            return event
        case Dealt(deal, first, hands, _):
            own = tuple(hand if other == seat else None for other, hand in enumerate(hands))
            return Dealt(deal, first, own, None)
        case Pledged(pledger, _):
            return event if pledger == seat else Pledged(pledger, None)
        case Drew(drawer, _):
            return event if drawer == seat else Drew(drawer, None)
        case _:
            assert_never(event)


def rescored(state: State, scores: tuple[int | None, ...]) -> State:
    """Go on with these totals."""
    state.totals = scores
    return state


def cards(state: State) -> Iterator[str]:
    """Yield every card of an unredacted match: 32 from the first deal on."""
    for hand in state.hands:
        yield from hand or ()
    yield from state.stock or ()
    yield from (card for card in state.pledges if card is not None)
    for row in state.rows:
        yield from row


PROJECTION = Projection(
    name="toy",
    ruleset="toy/1",
    events=ToyEvent,
    options=Options,
    begin=begin,
    evolve=evolve,
    view=view,
    redact=redact,
    cards=cards,
    rescored=rescored,
)
