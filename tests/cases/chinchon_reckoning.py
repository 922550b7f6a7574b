"""Hands of Chinchón reckoned by brute force, apart from the product: what combines, what is left, what it counts.

Slow and plain on purpose. Cards have the product's names, and a card that is there twice stands in a hand twice.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations

from events.cards import SPANISH, SPANISH_40, SpanishCard
from events.games.chinchon import Options

SUITS = "OCEB"
LEAST = 3


def rank_of(card: SpanishCard) -> int:
    return int(card[1:])


def pack_of(options: Options, decks: int) -> list[SpanishCard]:
    """Return every card that is in play."""
    return list(SPANISH_40 if options.pack == 40 else SPANISH) * decks


def value_of(card: SpanishCard, options: Options) -> int:
    rank = rank_of(card)
    if options.courts == "ten":
        return min(rank, 10)
    return rank if options.pack == 48 or rank < 8 else rank - 2


def sum_of(cards: Sequence[SpanishCard], options: Options) -> int:
    return sum(value_of(card, options) for card in cards)


def is_run(cards: Sequence[SpanishCard], options: Options) -> bool:
    order = [1, 2, 3, 4, 5, 6, 7, 10, 11, 12] if options.pack == 40 else list(range(1, 13))
    places = sorted(order.index(rank_of(card)) for card in cards)
    one_suit = len({card[0] for card in cards}) == 1
    return len(cards) >= LEAST and one_suit and places == list(range(places[0], places[0] + len(places)))


def is_set(cards: Sequence[SpanishCard], options: Options) -> bool:
    suits = {card[0] for card in cards}
    one_rank = len({card[1:] for card in cards}) == 1
    return len(cards) >= LEAST and one_rank and (options.sets == "any" or len(suits) == len(cards))


def combines(cards: Sequence[SpanishCard], options: Options) -> bool:
    return is_run(cards, options) or is_set(cards, options)


def layouts(hand: Sequence[SpanishCard], options: Options) -> Iterator[tuple[tuple[tuple[int, ...], ...], int]]:
    """Yield each way to lay combinations out, none too, as places in the hand, and what the rest of it counts."""
    possible = tuple(
        places
        for size in range(LEAST, len(hand) + 1)
        for places in combinations(range(len(hand)), size)
        if combines([hand[place] for place in places], options)
    )
    pairs = [(a, b) for a, b in combinations(possible, 2) if not {*a} & {*b}]
    for layout in ((), *((one,) for one in possible), *pairs):
        laid = {place for places in layout for place in places}
        yield layout, sum_of([card for place, card in enumerate(hand) if place not in laid], options)


@cache
def _least(hand: tuple[SpanishCard, ...], options: Options) -> int:
    return min(left for _, left in layouts(hand, options))


def least(hand: Sequence[SpanishCard], options: Options) -> int:
    """Return the fewest points that the loose cards of a hand may count."""
    return _least(tuple(sorted(hand)), options)


def has_combination(hand: Sequence[SpanishCard], options: Options) -> bool:
    """Return whether any three cards of a hand combine: whatever combines holds three that do."""
    return any(combines(three, options) for three in combinations(hand, LEAST))


def fits(card: SpanishCard, combination: Sequence[SpanishCard], options: Options) -> bool:
    return combines([*combination, card], options)


@cache
def _least_after(
    hand: tuple[SpanishCard, ...], table: tuple[tuple[SpanishCard, ...], ...], touched: frozenset[int], options: Options
) -> int:
    best = least(hand, options)
    for card in sorted({*hand}):
        rest = list(hand)
        rest.remove(card)
        for place, combination in enumerate(table):
            # `touched` is None-like where there is no limit: the number -1 stands in it.
            if (place in touched and is_run(combination, options)) or not fits(card, combination, options):
                continue
            after = (*table[:place], tuple(sorted([*combination, card])), *table[place + 1 :])
            marked = touched if -1 in touched else touched | {place}
            best = min(best, _least_after(tuple(rest), after, marked, options))
    return best


def least_after_laying_off(
    hand: Sequence[SpanishCard], table: Sequence[Sequence[SpanishCard]], options: Options, decks: int
) -> int:
    """Return the fewest points left after laying off on a table and laying out the rest.

    With two packs one card at most goes on any one run.
    """
    limit = frozenset[int]() if decks == 2 else frozenset({-1})
    return _least_after(tuple(sorted(hand)), tuple(tuple(sorted(c)) for c in table), limit, options)
