"""Kowah reckoned by going through every way to split a hand, with nothing of the product.

The rule is that of the rules page, word by word: a pair of identical cards, two triplets of one rank or one honour,
and each triplet of the pair's rank of suits two, two and one with it.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import combinations, combinations_with_replacement

from tests.cases.kowah_notation import CARD, Card

SUITS = "CSM"
RANKS = "123456789"
HONOURS = ("OT", "RF", "WF")
EXTRAS = ("White Snake", "Green Snake", "Monk")
COPIES = 4
KINDS: tuple[Card, ...] = tuple(CARD[name] for name in [*(s + r for s in SUITS for r in RANKS), *HONOURS])
PACK = tuple(card for card in KINDS for _ in range(COPIES))
EIGHT = 8


def is_triplet(cards: Sequence[Card]) -> bool:
    """Return whether three cards are of one rank, or of one honour."""
    if cards[0] in HONOURS:
        return len(set(cards)) == 1
    return len({card[1] for card in cards}) == 1 and not any(card in HONOURS for card in cards)


def suits_suit(pair: Card, triplet: Sequence[Card]) -> bool:
    """Return whether a triplet, if it is of the pair's rank, makes two, two and one of the suits with it."""
    if pair in HONOURS or triplet[0] in HONOURS or pair[1] != triplet[0][1]:
        return True
    return sorted(Counter(card[0] for card in (pair, pair, *triplet)).values()) == [1, 2, 2]


def splits(hand: Sequence[Card]) -> Iterator[tuple[Card, tuple[Card, ...], tuple[Card, ...]]]:
    """Yield every way to split eight cards into two identical cards and two triplets."""
    for one, other in combinations(range(EIGHT), 2):
        if hand[one] != hand[other]:
            continue
        rest = [card for place, card in enumerate(hand) if place not in {one, other}]
        for places in combinations(range(1, 6), 2):
            first = (rest[0], *(rest[place] for place in places))
            second = tuple(card for place, card in enumerate(rest) if place not in {0, *places})
            if is_triplet(first) and is_triplet(second):
                yield hand[one], first, second


def waits(hand: Sequence[Card]) -> list[Card]:
    """Return the kinds of pair with which a hand is ready, in printed order."""
    if len(hand) != EIGHT:
        return []
    found = {pair for pair, *triplets in splits(hand) if all(suits_suit(pair, triplet) for triplet in triplets)}
    return sorted(found, key=KINDS.index)


@cache
def triplets() -> tuple[tuple[Card, ...], ...]:
    """Return every triplet, those of three suits first."""
    found = [three for three in combinations_with_replacement(KINDS, 3) if is_triplet(three)]
    return tuple(sorted(found, key=lambda three: -len(set(three))))


def ready_hands(pair: Card) -> Iterator[tuple[Card, ...]]:
    """Yield hands that are ready with this pair alone."""
    for one, other in combinations_with_replacement(triplets(), 2):
        hand = (pair, pair, *one, *other)
        if max(Counter(hand).values()) <= COPIES and waits(hand) == [pair]:
            yield hand


def live(kind: Card, hand: Sequence[Card], seen: Sequence[Card]) -> int:
    """Return how many copies of a kind are in no hand one knows of and have not gone by."""
    return COPIES - list(hand).count(kind) - list(seen).count(kind)
