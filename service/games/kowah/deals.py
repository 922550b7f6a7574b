"""How a deal of Kowah comes about, and what it comes to (sections 2, 3 and 6).

Sections cited here are those of the rules page, kowah.en.md.
"""

from collections.abc import Iterator, Sequence

from events.base import Event
from events.cards import MONEY, MoneyCard
from events.games.kowah import SEATS, DealScored, Dealt, FirstDrawn, How, StockEnded, Won
from events.table import Ended, Scored, Shuffled, TurnBegan
from projections.games.kowah import HAND, State, points_of, printed
from service.chance import Shuffles, number
from service.game import Ask
from service.rules.packs import hands
from service.rules.standing import highest_wins
from service.rules.turns import turns_from

COPIES = 4

PACK: tuple[MoneyCard, ...] = tuple(card for card in MONEY for _ in range(COPIES))
"""All cards in printed order, copies side by side."""

PROMPT = tuple(TurnBegan((seat,)) for seat in range(SEATS))

MULTIPLIER: dict[How, int] = {"self_draw": 3, "opponent_draw": 1, "opponent_discard": 2}


def start(state: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the lot for who plays first, and the first deal."""
    lot = chance.shuffle(state.taken, number(0, 0))
    yield Shuffled(number(0, 0), lot)
    yield FirstDrawn(lot[0])
    yield from _deal(state, chance, 1, turns_from(state.taken, lot[0]))


def again(then: State, _now: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the deal that begins in `then` once more, with the same first player."""
    return _next_deal(then, chance)


def _next_deal(state: State, chance: Shuffles) -> Iterator[Event]:
    order = turns_from(state.order, state.order[1]) if state.order else turns_from(state.taken, state.first or 0)
    return _deal(state, chance, state.deal + 1, order)


def _deal(state: State, chance: Shuffles, deal: int, order: tuple[int, ...]) -> Iterator[Event]:
    pack = chance.shuffle(PACK, number(deal))
    yield Shuffled(number(deal), pack)
    dealt: list[tuple[MoneyCard, ...] | None] = [None] * state.seats
    for seat, hand in zip(order, hands(pack, (HAND,) * len(order)), strict=True):
        dealt[seat] = tuple(sorted(hand, key=printed))
    stock = pack[HAND * len(order) :]
    yield Dealt(deal, order, tuple(dealt), stock, len(stock))
    yield PROMPT[order[0]]


def win(state: State, ask: Ask, won: Won) -> Iterator[Event]:
    """Yield the win of a deal, and what follows from it."""
    yield won
    yield from _over(state, ask, DealScored(state.deal, won.seat, won.how, won.multiplier))


def end_drawn(state: State, ask: Ask) -> Iterator[Event]:
    """Yield the end of the stock, with which a deal is drawn, and what follows from it."""
    yield StockEnded()
    yield from _over(state, ask, DealScored(state.deal, None, None, 0))


def _over(state: State, ask: Ask, scored: DealScored) -> Iterator[Event]:
    yield scored
    points = points_of(state, scored.winner, scored.multiplier)
    yield Scored(scored.deal, points, points)
    if state.deal < state.deals:
        yield from _next_deal(state, ask.chance)
    else:
        yield Ended("finished", _places(state, points, ask.forfeits))


def places(state: State, forfeits: tuple[int, ...]) -> tuple[int | None, ...]:
    """Return everybody's place if play ended now (section 6)."""
    last = state.results[-1] if state.results else None
    points = points_of(state, None, 0) if last is None else points_of(state, last.winner, last.multiplier)
    return _places(state, points, forfeits)


def _places(state: State, points: Sequence[int | None], forfeits: Sequence[int]) -> tuple[int | None, ...]:
    # Deals of a series are each for itself, so as a whole it is won by nobody.
    level = points if state.options.series == "off" else points_of(state, None, 0)
    return highest_wins(level, forfeits)
