"""A table of Kowah: what its events add up to.

The state is folded in place. Folded from redacted decisions it holds None for every hand, stock, card drawn and wait
that the viewer may not know, and everything a view reads is the same.
"""

from bisect import insort
from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from events.cards import MONEY, MoneyCard
from events.games.kowah import (
    DealScored,
    Dealt,
    Declared,
    Discarded,
    DiscardTaken,
    FinalHands,
    FirstDrawn,
    KowahEvent,
    Opened,
    Options,
    StockDrawn,
    StockEnded,
    StockTurned,
    Won,
)

HAND = 8

LOOP = 3
"""How many times in a row all players may begin their turns from the discards."""

printed = {card: place for place, card in enumerate(MONEY)}.__getitem__
"""Return the place of a card in printed order."""


class Drawing(Struct, frozen=True, gc=False):
    """This seat must begin its turn, and who threw the latest discard may still declare."""

    seat: int


class Discarding(Struct, frozen=True, gc=False):
    """This seat has drawn or taken a card and must throw one."""

    seat: int


class Over(Struct, frozen=True, gc=False):
    """No deal is in play, before the first and after the last: nobody must act."""


Phase = Drawing | Discarding | Over


class State(Struct):
    """The play of a table at one version; lists with one place per seat unless said otherwise.

    seats       how many seats the table has, untaken ones included
    taken       the seats with which play started, ascending
    first       who plays first in this deal; None before the lot
    order       turn order of the deal, from who plays first; empty before the first deal
    hands       cards in printed order; None where the viewer may not know and where nobody plays
    stock       top first; None where the viewer may not know; it has `stock_left` cards
    discards    the pile, its top card last
    thrower     who threw the top card of the pile; None where there is none or the latest discard was taken
    in_a_row    how many turns in a row were begun from the discards, up to now
    drawn       the card drawn or taken in this turn, None where the viewer may not know and outside
    drawn_open  whether all saw that card
    declared    the kind each seat declared with, None before
    waits       all kinds that win for each seat that declared; None where the viewer may not know
    shown       the hands that were shown by who declared
    seen        every card turned up from the stock or thrown in this deal, once, in the order in which they came
    known       the cards in each seat's hand that all have seen
    results     what each deal that is over came to, in their order
    final       the hands as each of these deals left them
    """

    options: Options
    seats: int
    taken: tuple[int, ...]
    phase: Phase = Over()
    deal: int = 0
    first: int | None = None
    order: tuple[int, ...] = ()
    hands: list[list[MoneyCard] | None] = []
    held: list[int] = []
    stock: list[MoneyCard] | None = []
    stock_left: int = 0
    discards: list[MoneyCard] = []
    thrower: int | None = None
    in_a_row: int = 0
    drawn: MoneyCard | None = None
    drawn_open: bool = False
    declared: list[MoneyCard | None] = []
    waits: list[tuple[MoneyCard, ...] | None] = []
    shown: list[tuple[MoneyCard, ...] | None] = []
    seen: list[MoneyCard] = []
    known: list[list[MoneyCard]] = []
    results: list[DealScored] = []
    final: list[FinalHands] = []
    opened: bool = False

    @property
    def deals(self) -> int:
        """How many deals are played."""
        return 1 if self.options.series == "off" else self.options.series

    @property
    def is_open(self) -> bool:
        """Whether somebody has declared in this deal, so that draws from the stock are seen by all."""
        return any(kind is not None for kind in self.declared)


def begin(options: Options, seats: int, taken: tuple[int, ...]) -> State:
    """Return the play before its first event, by the seats that are taken."""
    return State(
        options,
        seats,
        taken,
        hands=[None] * seats,
        held=[0] * seats,
        declared=[None] * seats,
        waits=[None] * seats,
        shown=[None] * seats,
        known=[[] for _ in range(seats)],
    )


def evolve(state: State, event: KowahEvent) -> State:
    """Add one event to the play, in place."""
    match event:
        case StockDrawn():
            _draw(state, event)
        case StockTurned():
            state.seen.append(event.card)
            state.known[event.seat].append(event.card)
            _draw(state, event)
        case DiscardTaken():
            state.known[event.seat].append(state.discards.pop())
            _take(state, event)
        case Discarded():
            _discard(state, event)
        case Declared(seat, kind, waits, hand):
            state.declared[seat] = kind
            state.waits[seat] = waits
            state.shown[seat] = hand
        case Dealt():
            _deal(state, event)
        case Won() | StockEnded():
            _end_turns(state)
        case DealScored():
            state.results.append(event)
        case FirstDrawn(first):
            state.first = first
        case Opened(hands):
            state.final = list(hands)
            state.opened = True
        case _:
            assert_never(event)
    return state


def _deal(state: State, event: Dealt) -> None:
    seats = state.seats
    state.deal = event.deal
    state.order = event.order
    state.first = event.order[0]
    state.hands = [None if hand is None else list(hand) for hand in event.hands]
    state.held = [HAND if seat in event.order else 0 for seat in range(seats)]
    state.stock = None if event.stock is None else list(event.stock)
    state.stock_left = event.left
    state.discards = []
    state.thrower = None
    state.in_a_row = 0
    state.declared = [None] * seats
    state.waits = [None] * seats
    state.shown = [None] * seats
    state.seen = []
    state.known = [[] for _ in range(seats)]
    state.phase = Drawing(event.order[0])


def _draw(state: State, event: StockDrawn | StockTurned) -> None:
    if state.stock is not None:
        del state.stock[0]
    state.stock_left = event.left
    state.in_a_row = 0
    _hold(state, event.seat, event.card)
    state.drawn_open = isinstance(event, StockTurned)


def _take(state: State, event: DiscardTaken) -> None:
    state.thrower = None
    state.in_a_row += 1
    _hold(state, event.seat, event.card)
    state.drawn_open = True


def _hold(state: State, seat: int, card: MoneyCard | None) -> None:
    """Put the card that begins a turn into a hand."""
    hand = state.hands[seat]
    if hand is not None and card is not None:
        insort(hand, card, key=printed)
    state.held[seat] += 1
    state.drawn = card
    state.phase = Discarding(seat)


def _discard(state: State, event: Discarded) -> None:
    seat, card = event.seat, event.card
    hand, known = state.hands[seat], state.known[seat]
    if hand is not None:
        hand.remove(card)
    state.held[seat] -= 1
    # Copies look alike: it may as well be the one that all have seen.
    if card in known:
        known.remove(card)
    else:
        state.seen.append(card)
    state.discards.append(card)
    state.thrower = seat
    state.drawn = None
    if event.next is not None:
        state.phase = Drawing(event.next)


def _end_turns(state: State) -> None:
    state.final.append(hands_left(state))
    state.drawn = None
    state.phase = Over()


def hands_left(state: State) -> FinalHands:
    """Return the hands as they are in this deal."""
    return FinalHands(state.deal, tuple([None if hand is None else tuple(hand) for hand in state.hands]))


def points_of(state: State, winner: int | None, multiplier: int) -> tuple[int | None, ...]:
    """Return what a deal gives each seat: the multiplier to who won it, None for untaken seats."""
    return tuple(
        [(multiplier if seat == winner else 0) if seat in state.taken else None for seat in range(state.seats)]
    )


def must_draw_stock(state: State) -> bool:
    """Tell whether a turn must begin from the stock: its player has declared, or too many in a row did not."""
    match state.phase:
        case Drawing(seat):
            return state.declared[seat] is not None or state.in_a_row >= LOOP * len(state.order)
        case Discarding() | Over():
            return False
        case unknown:
            assert_never(unknown)


def cards(state: State) -> Iterator[str]:
    """Yield every card of an unredacted table, copies included: the same from the first deal on."""
    for hand in state.hands:
        yield from hand or ()
    yield from state.stock or ()
    yield from state.discards
