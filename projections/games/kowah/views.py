"""What each viewer may see of a table of Kowah, and of its events."""

from typing import Annotated, Literal, assert_never

from msgspec import Meta, Struct

from events.base import Seat
from events.cards import MoneyCard
from events.games.kowah import (
    DealScored,
    Dealt,
    Declared,
    Discarded,
    DiscardTaken,
    FinalHands,
    FirstDrawn,
    Hand,
    How,
    KowahEvent,
    Multiplier,
    Opened,
    Options,
    PerSeat,
    Pile,
    PileSize,
    StockDrawn,
    StockEnded,
    StockTurned,
    Turns,
    Waits,
    Won,
)
from events.table import DealNumber
from projections import table as neutral
from projections.games.kowah.state import Discarding, Drawing, Over, Phase, State, begin, must_draw_stock
from projections.table import Table

PhaseName = Literal["draw", "discard", "over"]


class Result(Struct, frozen=True, gc=False):
    """What a deal came to: who won it, how, and the multiplier; null, null and 0 for a drawn one."""

    deal: DealNumber
    winner: Seat | None
    how: How | None
    multiplier: Multiplier


class View(neutral.View[Options], frozen=True, kw_only=True):
    """A table of Kowah as one viewer may see it; before play all that is its own is null, 0, false or empty.

    `scores` are what the deal scored last gave, never a sum. `hand` is the viewer's own, null for a spectator; `held`
    counts everybody's cards, `stock` those that are left to draw. `discards` are the pile, its top card last; `discard`
    is the latest discard and `thrown_by` who threw it, null where there is none or it was taken. `declared` holds the
    kind that each seat waits with, null before it has declared, `shown` the hand that it showed, null unless hands are
    shown; `waits` are all kinds that win for the viewer. `drawn` is the card drawn or taken in this turn, null for
    those who did not see it. `must_draw_stock` tells that the turn may not be begun from the discards: too many in a
    row were, or the player has declared. `seen` are the cards turned up from the stock or thrown in this deal, each
    once, in the order in which they came. `results` holds one entry for each deal that is over, `final_hands` the hands
    as each deal left them, once play has ended.
    """

    phase: PhaseName | None
    deal: DealNumber
    deals: DealNumber
    first: Seat | None
    order: Turns
    hand: Hand | None
    held: Annotated[tuple[Annotated[int, Meta(ge=0, le=9)], ...], PerSeat]
    stock: PileSize
    discard: MoneyCard | None
    thrown_by: Seat | None
    discards: Pile
    declared: Annotated[tuple[MoneyCard | None, ...], PerSeat]
    shown: Annotated[tuple[Hand | None, ...], PerSeat]
    waits: Waits
    drawn: MoneyCard | None
    must_draw_stock: bool
    results: Annotated[tuple[Result, ...], Meta(max_length=100)]
    final_hands: Annotated[tuple[FinalHands, ...], Meta(max_length=100)]


def view(table: Table[State, Options], seat: int | None) -> View:
    """Return a table as this seat may see it, None for a spectator."""
    options = table.options
    if options is None:
        raise ValueError(f"nothing is to be seen of a table at version {table.version}")
    state = table.play if table.play is not None else begin(options, len(table.players), ())
    hand = None if seat is None else state.hands[seat]
    phase = state.phase if table.status != "ended" else Over()
    return View(
        **neutral.public(table, seat),
        options=options,
        seen=tuple(state.seen),
        phase=_name(phase) if table.play is not None else None,
        deal=state.deal,
        deals=state.deals if table.play is not None else 0,
        first=state.first,
        order=state.order,
        hand=None if hand is None else tuple(hand),
        held=tuple(state.held),
        stock=state.stock_left,
        discard=state.discards[-1] if state.thrower is not None else None,
        thrown_by=state.thrower,
        discards=tuple(state.discards),
        declared=tuple(state.declared),
        shown=tuple(state.shown),
        waits=() if seat is None else state.waits[seat] or (),
        drawn=state.drawn if isinstance(phase, Discarding) and (state.drawn_open or phase.seat == seat) else None,
        must_draw_stock=isinstance(phase, Drawing) and must_draw_stock(state),
        results=tuple([Result(deal.deal, deal.winner, deal.how, deal.multiplier) for deal in state.results]),
        final_hands=tuple(state.final) if state.opened else (),
    )


def _name(phase: Phase) -> PhaseName:
    match phase:
        case Drawing():
            return "draw"
        case Discarding():
            return "discard"
        case Over():
            return "over"
        case unknown:
            assert_never(unknown)


def redact(event: KowahEvent, seat: int | None) -> KowahEvent:
    """Return an event as this seat may see it, None for a spectator; what is not listed here as public is hidden."""
    match event:
        case FirstDrawn() | StockTurned() | DiscardTaken() | Discarded():
            return event
        case Won() | StockEnded() | DealScored() | Opened():
            return event
        case StockDrawn(drawer, _, left):
            return event if drawer == seat else StockDrawn(drawer, None, left)
        case Declared(declarer, kind, _, hand):
            return event if declarer == seat else Declared(declarer, kind, None, hand)
        case Dealt(deal, order, hands, _, left):
            own_alone = tuple([hand if own == seat else None for own, hand in enumerate(hands)])
            return Dealt(deal, order, own_alone, None, left)
        case _:
            assert_never(event)
