"""A match of Chinchón: what its events add up to.

The state is folded in place. Folded from redacted decisions it holds None for every hand, stock, closing card and
answer that the viewer may not know, and everything a view reads is the same.
"""

from bisect import insort
from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from events.cards import SPANISH, SpanishCard
from events.games.chinchon import (
    ChinchonEvent,
    Closed,
    ClosingCard,
    Combinations,
    DealScored,
    Dealt,
    Discarded,
    Exposed,
    ExposureBegan,
    ForehandDrawn,
    HandIrregular,
    LaidOff,
    LayOffBegan,
    Opened,
    Options,
    Passed,
    PotTaken,
    ReentriesClosed,
    ReentryAnswered,
    ReentryOffered,
    Staked,
    StockDrawn,
    StockExhausted,
    StockRecycled,
    TurnEnded,
    UpCardTaken,
    WentOut,
)

HAND = 7

LOOP = 3
"""How many times in a row all players may begin their turns from the discards."""

printed = {card: place for place, card in enumerate(SPANISH)}.__getitem__
"""Return the place of a card in printed order."""


class Turn(Struct, frozen=True, gc=False):
    """This seat is at its turn, in which it drew and threw so many cards already."""

    seat: int
    drew: int
    threw: int


class Exposing(Struct, frozen=True, gc=False):
    """This seat must lay out its combinations."""

    seat: int


class LayingOff(Struct, frozen=True, gc=False):
    """This seat may lay cards off on the combinations of the seat `on`, but for those whose numbers are `closed`."""

    seat: int
    on: int
    closed: tuple[int, ...]


class Answering(Struct, frozen=True, gc=False):
    """The seats `offered` to come back with this total must say whether they do; those `left` have not yet."""

    offered: tuple[int, ...]
    left: tuple[int, ...]
    total: int


class DealOver(Struct, frozen=True, gc=False):
    """No deal is in play, before the first and after the last: nobody must act."""


Phase = Turn | Exposing | LayingOff | Answering | DealOver


class State(Struct):
    """A match at one version; lists with one place per seat unless said otherwise.

    taken       the seats with which play started, ascending
    totals      None for untaken seats
    points      what the deal scored last gave; None for seats that did not play it
    went_out    the deal in which a seat went out, None while it is in
    reentries   how often each seat came back
    answers     whether a seat that was offered to come back does; None where it has not said or the viewer may not know
    pot         tokens
    pot_takers  the seats that took the pot, in turn order, and their `shares`
    order       turn order of the deal, forehand first, dealer last; empty before the first
    hands       cards in printed order; None where the viewer may not know and where nobody plays
    stock       top first; None where the viewer may not know; it has `stock_left` cards
    discards    the pile, its top card last, without the closing card
    recycled    how often the stock was made anew in this deal
    turns       how many turns each seat has begun in this deal
    in_a_row    how many turns in a row were begun from the discards, up to now
    drawn       the card drawn or taken last, None where the viewer may not know
    closer      who closed this deal, None before, and where nobody did
    starter     who lays out first: who closed, or chose the stock when it was empty for good; None before
    laid        each seat's combinations on the table; None before it has laid out
    exposed     how many cards each seat laid out itself, where it kept none; else 0
    chinchon    the seats that laid out Chinchón, in the order in which they did
    irregular   the seats that may not close in this deal any more, in the order in which they erred
    shown       every card turned up in this deal, once, in the order in which they came
    known       the cards in each seat's hand that were turned up before
    sunk        the cards in the stock, or drawn from it, that were turned up before
    """

    options: Options
    taken: tuple[int, ...]
    totals: tuple[int | None, ...]
    points: tuple[int | None, ...]
    went_out: list[int | None]
    reentries: list[int]
    answers: list[bool | None]
    pot: int = 0
    pot_takers: tuple[int, ...] = ()
    shares: tuple[int, ...] = ()
    closing_cards: list[ClosingCard] = []
    opened: bool = False
    phase: Phase = DealOver()
    deal: int = 0
    forehand: int = 0
    order: tuple[int, ...] = ()
    hands: list[list[SpanishCard] | None] = []
    held: list[int] = []
    stock: list[SpanishCard] | None = []
    stock_left: int = 0
    discards: list[SpanishCard] = []
    recycled: int = 0
    turns: list[int] = []
    in_a_row: int = 0
    drawn: SpanishCard | None = None
    closer: int | None = None
    starter: int | None = None
    laid: list[Combinations | None] = []
    exposed: list[int] = []
    chinchon: tuple[int, ...] = ()
    irregular: tuple[int, ...] = ()
    shown: list[SpanishCard] = []
    known: list[list[SpanishCard]] = []
    sunk: list[SpanishCard] = []

    @property
    def seats(self) -> int:
        """How many seats the table has, untaken ones included."""
        return len(self.totals)

    @property
    def still_in(self) -> tuple[int, ...]:
        """The seats that are in the match, ascending."""
        return tuple(seat for seat in self.taken if self.went_out[seat] is None)

    @property
    def highest_in(self) -> int:
        """The highest total of those who are still in, with which others come back; somebody is."""
        return max(self.totals[seat] or 0 for seat in self.still_in)


def begin(options: Options, seats: int, taken: tuple[int, ...]) -> State:
    """Return the match before its first event, played by the seats that are taken."""
    return State(
        options,
        taken,
        totals=tuple(0 if seat in taken else None for seat in range(seats)),
        points=(None,) * seats,
        went_out=[None] * seats,
        reentries=[0] * seats,
        answers=[None] * seats,
    )


def evolve(state: State, event: ChinchonEvent) -> State:
    """Add one event to the match, in place."""
    # The commonest events come first and are taken apart by name: patterns by position cost half as much again.
    match event:
        case StockDrawn():
            _draw_stock(state, event)
        case UpCardTaken():
            _take_up_card(state, event)
        case Discarded():
            _discard(state, event)
        case TurnEnded():
            state.phase = Turn(event.next, 0, 0)
        case StockRecycled():
            _recycle(state, event)
        case HandIrregular(seat, _):
            state.irregular += (seat,)
        case Dealt():
            _deal(state, event)
        case Closed() | StockExhausted():
            _end_turns(state, event)
        case ExposureBegan(seat):
            state.phase = Exposing(seat)
        case Exposed():
            _expose(state, event)
        case LayOffBegan(seat, on):
            state.phase = LayingOff(seat, on, ())
        case LaidOff():
            _lay_off(state, event)
        case Passed():
            pass  # What comes next is an event of its own.
        case DealScored() | WentOut() | Staked() | PotTaken():
            _settle(state, event)
        case ReentryOffered() | ReentryAnswered() | ReentriesClosed():
            _return(state, event)
        case ForehandDrawn(forehand):
            state.forehand = forehand
        case Opened(closing_cards):
            state.closing_cards = list(closing_cards)
            state.opened = True
        case _:
            assert_never(event)
    return state


def _deal(state: State, event: Dealt) -> None:
    seats = state.seats
    state.deal = event.deal
    state.order = event.order
    state.forehand = event.order[0]
    state.hands = [None if hand is None else list(hand) for hand in event.hands]
    state.held = [HAND if seat in event.order else 0 for seat in range(seats)]
    state.stock = None if event.stock is None else list(event.stock)
    state.stock_left = event.left
    state.discards = [event.up]
    state.recycled = 0
    state.turns = [0] * seats
    state.in_a_row = 0
    state.drawn = None
    state.closer = None
    state.starter = None
    state.laid = [None] * seats
    state.exposed = [0] * seats
    state.chinchon = ()
    state.irregular = ()
    state.shown = [event.up]
    state.known = [[] for _ in range(seats)]
    state.sunk = []
    state.phase = Turn(event.order[0], 0, 0)


def _recycle(state: State, event: StockRecycled) -> None:
    kept = () if event.kept is None else (event.kept,)
    state.sunk.extend(state.discards[: len(state.discards) - len(kept)])
    state.discards = list(kept)
    state.stock = None if event.stock is None else list(event.stock)
    state.stock_left = event.count
    state.recycled += 1


def _draw_stock(state: State, event: StockDrawn) -> None:
    if state.stock is not None:
        del state.stock[0]
    state.stock_left = event.left
    _drawn(state, event.seat, event.card, 0)


def _take_up_card(state: State, event: UpCardTaken) -> None:
    state.known[event.seat].append(state.discards.pop())
    _drawn(state, event.seat, event.card, state.in_a_row + 1)


def _drawn(state: State, seat: int, card: SpanishCard | None, in_a_row: int) -> None:
    """Put a card that was drawn into a hand; `in_a_row` holds from now on if it began the turn."""
    hand = state.hands[seat]
    if hand is not None and card is not None:
        insort(hand, card, key=printed)
    state.held[seat] += 1
    state.drawn = card
    drew = state.phase.drew if isinstance(state.phase, Turn) else 0
    if not drew:
        state.turns[seat] += 1
        state.in_a_row = in_a_row
    state.phase = Turn(seat, drew + 1, 0)


def _discard(state: State, event: Discarded) -> None:
    _show(state, event.seat, event.card)
    state.discards.append(event.card)
    if event.next is not None:
        state.phase = Turn(event.next, 0, 0)
    elif isinstance(state.phase, Turn):
        state.phase = Turn(event.seat, state.phase.drew, state.phase.threw + 1)


def _end_turns(state: State, event: Closed | StockExhausted) -> None:
    seat = event.seat
    state.starter = seat
    if isinstance(event, Closed):
        state.closer = seat
        state.closing_cards.append(ClosingCard(state.deal, seat, event.card))
        hand = state.hands[seat]
        if hand is not None and event.card is not None:
            hand.remove(event.card)
        state.held[seat] -= 1
    state.phase = Exposing(seat)


def _expose(state: State, event: Exposed) -> None:
    seat = event.seat
    laid = [card for combination in event.combinations for card in combination]
    for card in laid:
        _show(state, seat, card)
    state.laid[seat] = event.combinations
    state.exposed[seat] = 0 if event.left else len(laid)
    if event.chinchon:
        state.chinchon += (seat,)


def _lay_off(state: State, event: LaidOff) -> None:
    _show(state, event.seat, event.card)
    laid = list(state.laid[event.on] or ())
    laid[event.number] = event.combination
    state.laid[event.on] = tuple(laid)
    if event.closed and isinstance(state.phase, LayingOff):
        state.phase = LayingOff(event.seat, event.on, (*state.phase.closed, event.number))


def _show(state: State, seat: int, card: SpanishCard) -> None:
    """Take a card out of a hand and turn it up; of a name that is there twice, one that was shown already if any."""
    hand = state.hands[seat]
    if hand is not None:
        hand.remove(card)
    state.held[seat] -= 1
    for before in (state.known[seat], state.sunk):
        if card in before:
            before.remove(card)
            return
    state.shown.append(card)


def _settle(state: State, event: DealScored | WentOut | Staked | PotTaken) -> None:
    match event:
        case DealScored(_, points, totals):
            state.points = points
            state.totals = totals
            state.phase = DealOver()
        case WentOut(seats):
            for seat in seats:
                state.went_out[seat] = state.deal
        case Staked(_, pot):
            state.pot = pot
        case PotTaken(seats, shares):
            state.pot_takers = seats
            state.shares = shares
        case _:
            assert_never(event)


def _return(state: State, event: ReentryOffered | ReentryAnswered | ReentriesClosed) -> None:
    match event:
        case ReentryOffered(seats, total):
            state.answers = [None] * state.seats
            state.phase = Answering(seats, seats, total)
        case ReentryAnswered(seat, reenter):
            state.answers[seat] = reenter
            if isinstance(state.phase, Answering):
                offered, left, total = state.phase.offered, state.phase.left, state.phase.total
                state.phase = Answering(offered, tuple(other for other in left if other != seat), total)
        case ReentriesClosed(back, _, total):
            for seat in back:
                state.went_out[seat] = None
                state.reentries[seat] += 1
            state.totals = tuple(total if seat in back else old for seat, old in enumerate(state.totals))
            state.phase = DealOver()
        case _:
            assert_never(event)


def must_draw_stock(state: State) -> bool:
    """Tell whether the next turn must begin from the stock: so many in a row were begun from the discards."""
    begins = isinstance(state.phase, Turn) and state.phase.drew == 0
    return begins and state.in_a_row >= LOOP * len(state.order)


def rescored(state: State, scores: tuple[int | None, ...]) -> State:
    """Go on with these totals, in place; who is out stays out, and comes back with what is the highest now."""
    state.totals = scores
    if isinstance(state.phase, Answering):
        state.phase = Answering(state.phase.offered, state.phase.left, state.highest_in)
    return state


def cards(state: State) -> Iterator[str]:
    """Yield every card of an unredacted match, copies included: the same from the first deal on."""
    for hand in state.hands:
        yield from hand or ()
    yield from state.stock or ()
    yield from state.discards
    if state.closer is not None:
        yield from filter(None, (state.closing_cards[-1].card,))
    for combinations in state.laid:
        for combination in combinations or ():
            yield from combination
