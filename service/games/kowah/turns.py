"""A turn of Kowah: draw or take, then discard; who is ready may declare, and then waits (sections 4 to 6).

What stands against taking the discard, and against a pair, is told in one place each, so that what is listed as legal
and what is decided can't differ. Sections cited here are those of the rules page, kowah.en.md.
"""

from collections.abc import Iterator, Sequence

from events.base import Event
from events.cards import MONEY, MoneyCard
from events.games.kowah import Declared, Discarded, DiscardTaken, How, StockDrawn, StockTurned, Won
from projections.games.kowah import Discarding, Drawing, State, must_draw_stock
from service.game import Ask, Command, Refused
from service.games.kowah import deals, ready
from service.games.kowah.commands import Checki, Discard, DrawStock, TakeDiscard
from service.games.kowah.deals import MULTIPLIER, PROMPT
from service.rules.packs import without
from service.rules.turns import turns_from

# Commands are immutable, so one of each serves every table.
_DRAW_STOCK = DrawStock()
_TAKE_DISCARD = TakeDiscard()
_DISCARD = {card: Discard(card) for card in MONEY}
_CHECKI = {card: Checki(card) for card in MONEY}


def legal_draws(state: State, phase: Drawing) -> Iterator[Command]:
    """Yield what the player may do whose turn begins."""
    yield _DRAW_STOCK
    if _against_taking(state, phase.seat) is None:
        yield _TAKE_DISCARD


def legal_discards(state: State, phase: Discarding) -> Iterator[Command]:
    """Yield every discard, each alone and with each declaration that may go with it."""
    seat = phase.seat
    if state.declared[seat] is not None:
        yield _DISCARD[drawn(state)]
        return
    hand = hand_of(state, seat)
    for card in dict.fromkeys(hand):
        yield _DISCARD[card]
        if state.stock_left:
            yield from (Discard(card, kind) for kind in ready.pairs(without(hand, card)))


def legal_checki(state: State, seat: int) -> Iterator[Command]:
    """Yield every declaration that a player may make now who has thrown the latest discard."""
    if state.declared[seat] is None:
        yield from map(_CHECKI.__getitem__, ready.pairs(hand_of(state, seat)))


def draw_stock(state: State, ask: Ask, phase: Drawing) -> Iterator[Event]:
    """Yield the draw of the stock's top card, and what it brings who waits for it, or the end of the stock."""
    if state.stock is None:
        raise ValueError(f"the stock of deal {state.deal} is hidden from this fold")
    seat, card, left = phase.seat, state.stock[0], state.stock_left - 1
    if state.is_open:
        yield StockTurned(seat, card, left)
    else:
        yield StockDrawn(seat, card, left)
    winner = _waiting(state, card, turns_from(state.order, seat))
    if winner is not None:
        how: How = "self_draw" if winner == seat else "opponent_draw"
        yield from deals.win(state, ask, Won(winner, card, how, seat, MULTIPLIER[how]))
    elif left == 0 and state.options.last_discard == "off":
        yield from deals.end_drawn(state, ask)
    else:
        yield PROMPT[seat]


def take_discard(state: State, phase: Drawing) -> Iterator[Event]:
    """Yield the taking of the latest discard."""
    reason = _against_taking(state, phase.seat)
    if reason is not None:
        raise Refused(reason)
    yield DiscardTaken(phase.seat, state.discards[-1])
    yield PROMPT[phase.seat]


def _against_taking(state: State, seat: int) -> str | None:
    """Return the reason for which this seat may not begin its turn from the discards, None if it may."""
    if state.declared[seat] is not None:
        return "hand_declared"
    if not state.discards:
        return "no_discard"
    return "stock_must_be_drawn" if must_draw_stock(state) else None


def discard(state: State, ask: Ask, phase: Discarding) -> Iterator[Event]:
    """Yield a discard, whom it makes win, and else the declaration that goes with it."""
    command: Discard = ask.command
    seat, card, kind = phase.seat, command.card, command.checki
    hand = hand_of(state, seat)
    if card not in hand:
        raise Refused("card_not_held")
    if state.declared[seat] is not None and card != drawn(state):
        raise Refused("hand_declared")
    rest = without(hand, card)
    if kind is not None:
        _may_declare(state, seat, rest, kind)
    _, *others = turns_from(state.order, seat)
    winner = _waiting(state, card, others)
    # A deal that ends with this discard ends before who threw it can declare (KW-R7).
    if winner is not None:
        yield Discarded(seat, card, None)
        how: How = "opponent_discard"
        yield from deals.win(state, ask, Won(winner, card, how, seat, MULTIPLIER[how]))
    elif state.stock_left == 0:
        yield Discarded(seat, card, None)
        yield from deals.end_drawn(state, ask)
    else:
        yield Discarded(seat, card, others[0])
        if kind is not None:
            yield _declared(state, seat, rest, kind)
        yield PROMPT[others[0]]


def checki(state: State, ask: Ask, seat: int) -> Iterator[Event]:
    """Yield the declaration of who has thrown the latest discard; the next player's prompt stands."""
    command: Checki = ask.command
    hand = hand_of(state, seat)
    _may_declare(state, seat, hand, command.kind)
    yield _declared(state, seat, hand, command.kind)


def _may_declare(state: State, seat: int, hand: Sequence[MoneyCard], kind: MoneyCard) -> None:
    if state.declared[seat] is not None:
        raise Refused("already_declared")
    # With the last discard the deal is over, so that nothing can come that is waited for.
    if state.stock_left == 0:
        raise Refused("nothing_to_come")
    ready.check(hand, kind)


def _declared(state: State, seat: int, hand: Sequence[MoneyCard], kind: MoneyCard) -> Declared:
    waits = ready.pairs(hand) if state.options.either_pair == "on" else (kind,)
    return Declared(seat, kind, waits, tuple(hand) if state.options.show == "hand" else None)


def _waiting(state: State, card: MoneyCard, seats: Sequence[int]) -> int | None:
    """Return the first of these seats for which a card wins, None if it does for none."""
    # Two can't wait for one card, of which there are four: each holds two of them (KW-R8).
    return next((seat for seat in seats if card in (state.waits[seat] or ())), None)


def hand_of(state: State, seat: int) -> list[MoneyCard]:
    """Return a seat's hand; ValueError where it is hidden from this fold."""
    hand = state.hands[seat]
    if hand is None:
        raise ValueError(f"the hand of seat {seat} in deal {state.deal} is hidden from this fold")
    return hand


def drawn(state: State) -> MoneyCard:
    """Return the card with which this turn began; ValueError where there is none or it is hidden from this fold."""
    if state.drawn is None:
        raise ValueError(f"no card was drawn in deal {state.deal}, or it is hidden from this fold")
    return state.drawn
