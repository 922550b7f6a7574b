"""How a deal of Chinchón comes about: the lot, whose turn follows whose, the shuffles (sections 2 and 3).

Sections cited here are those of the rules page, chinchon.en.md.
"""

from collections.abc import Iterator

from events.base import Event
from events.cards import SpanishCard
from events.games.chinchon import Dealt, ForehandDrawn, Staked
from events.table import Shuffled, TurnBegan
from projections.games.chinchon import HAND, State, printed
from service.chance import Shuffles, number
from service.games.chinchon.hands import pack_of
from service.rules.packs import hands
from service.rules.turns import turns_from

PROMPT = tuple(TurnBegan((seat,)) for seat in range(8))


def start(state: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the stakes, the lot for the first forehand, and the first deal."""
    yield Staked(state.taken, state.options.stake * len(state.taken))
    lot = chance.shuffle(state.taken, number(0, 0))
    yield Shuffled(number(0, 0), lot)
    yield ForehandDrawn(lot[0])
    yield from _deal(state, chance, 1, turns_from(state.taken, lot[0]))


def next_deal(state: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the deal after this one: the next seat that is in has the forehand; of the first, the one of the lot."""
    seats, forehand = state.still_in, state.forehand
    if state.deal:
        forehand = next((seat for seat in seats if seat > forehand), seats[0])
    yield from _deal(state, chance, state.deal + 1, turns_from(seats, forehand))


def again(then: State, _now: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the deal that begins in `then` once more: the same seats are in, the same one has the forehand."""
    return next_deal(then, chance)


def following(state: State, seat: int) -> int:
    """Return whose turn comes after this seat's."""
    return turns_from(state.order, seat)[1]


def _deal(state: State, chance: Shuffles, deal: int, order: tuple[int, ...]) -> Iterator[Event]:
    pack = chance.shuffle(pack_of(state), number(deal))
    yield Shuffled(number(deal), pack)
    dealt: list[tuple[SpanishCard, ...] | None] = [None] * state.seats
    for seat, hand in zip(order, hands(pack, (HAND,) * len(order)), strict=True):
        dealt[seat] = tuple(sorted(hand, key=printed))
    up, *stock = pack[HAND * len(order) :]
    yield Dealt(deal, order, tuple(dealt), up, tuple(stock), len(stock))
    yield PROMPT[order[0]]
