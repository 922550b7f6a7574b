"""The cards of a table of Chinchón: its pack, what cards count, which combine, and how layouts are named.

Sections cited here are those of the rules page, chinchon.en.md.
"""

from collections.abc import Sequence
from functools import cache

from events.cards import SPANISH, SPANISH_40, SpanishCard
from events.games.chinchon import Options
from projections.games.chinchon import State, printed
from service.game import Refused
from service.games.chinchon.commands import Laid
from service.rules.melds import Fault, Layout, Melds, NoLayout

ONE_PACK_FOR = 4
"""How many may start with one pack; five and more play with two (section 2)."""

SMALL_PACK = 40
COURTS = ("10", "11", "12")
"""Sota, caballo, rey."""

TEN = 10
"""What each of them counts with `courts=ten`."""

_REASONS: dict[Fault, str] = {
    "not_held": "card_not_held",
    "no_combination": "no_combination",
    "combines_further": "combination_left",
}


def packs_of(state: State) -> int:
    """Return how many packs are shuffled together, by the players who started the match."""
    return packs_for(len(state.taken))


def packs_for(players: int) -> int:
    """Return how many packs are shuffled together where so many players start."""
    return 1 if players <= ONE_PACK_FOR else 2


def pack_of(state: State) -> tuple[SpanishCard, ...]:
    """Return all cards in printed order, copies side by side."""
    return tuple(card for card in _pack(state.options) for _ in range(packs_of(state)))


def melds_of(state: State) -> Melds[SpanishCard]:
    """Return what combines at this table, and what its cards count."""
    return melds_at(state.options, len(state.taken))


def melds_at(options: Options, players: int) -> Melds[SpanishCard]:
    """Return what combines, and what cards count, at a table of these options that so many players begin."""
    return _melds(options.pack, options.courts, options.sets, packs_for(players))


@cache
def _melds(pack: int, courts: str, sets: str, packs: int) -> Melds[SpanishCard]:
    options = Options(pack=pack, courts=courts, sets=sets)  # type: ignore[arg-type] # they were an Options' own
    cards = _pack(options)
    values = {card: value_of(options, card) for card in cards}
    return Melds(cards, values, packs=packs, distinct_suits=sets == "distinct_suits")


def _pack(options: Options) -> tuple[SpanishCard, ...]:
    return SPANISH_40 if options.pack == SMALL_PACK else SPANISH


def value_of(options: Options, card: SpanishCard) -> int:
    """Return what a loose card counts (section 2)."""
    rank = card[1:]
    if rank not in COURTS:
        return int(rank)
    if options.courts == "ten":
        return TEN
    # A pack of 40 has no 8 and 9, and its sota counts 8.
    return int(rank) - 2 if options.pack == SMALL_PACK else int(rank)


def hand_of(state: State, seat: int) -> list[SpanishCard]:
    """Return a seat's hand; ValueError where it is hidden from this fold."""
    hand = state.hands[seat]
    if hand is None:
        raise ValueError(f"the hand of seat {seat} in deal {state.deal} is hidden from this fold")
    return hand


def layout_of(state: State, hand: Sequence[SpanishCard], combinations: Laid | None) -> Layout[SpanishCard]:
    """Return the layout of these combinations, the best for None; raise Refused where they can't be laid out so."""
    melds = melds_of(state)
    if combinations is None:
        return melds.best(hand)
    try:
        layout = melds.arrange(hand, combinations)
    except NoLayout as no:
        raise Refused(_REASONS[no.fault]) from no
    # In whatever order they are named it is one layout, so that each is listed once.
    return layout._replace(combinations=tuple(sorted(layout.combinations, key=_in_print)))


def _in_print(combination: Sequence[SpanishCard]) -> list[int]:
    return [printed(card) for card in combination]
