"""The counts that section 5 of the rules page states, taken over all hands there are.

A ready hand is built here from a pair and two triplets, each triplet from the words of the rule; what the game's own
test finds is held against that. `make laws` goes through every hand there is besides.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import combinations_with_replacement
from math import comb, prod
from random import Random

import pytest

from events.cards import MONEY, MoneyCard
from projections.games.kowah import HAND
from service.games.kowah import ready
from service.games.kowah.deals import COPIES
from tests.sizes import FULL

Hand = tuple[MoneyCard, ...]
Waits = Mapping[Hand, frozenset[MoneyCard]]

HONOURS = ("OT", "RF", "WF")
NEAR = 4_000


def triplets() -> list[Hand]:
    """Return all threes of one rank, and of one honour."""
    of_rank: list[Hand] = [
        three
        for rank in range(1, 10)
        for three in combinations_with_replacement([card for card in MONEY if card[1:] == str(rank)], 3)
    ]
    return of_rank + [(card,) * 3 for card in MONEY if card in HONOURS]


def is_two_two_one(pair: MoneyCard, triplet: Hand) -> bool:
    """Tell whether a pair and a triplet of its rank are two, two and one of the three suits."""
    return sorted(Counter((pair, pair, *triplet)).values()) == [1, 2, 2]


def shares(pair: MoneyCard, triplet: Hand) -> bool:
    """Tell whether a triplet is of the pair's rank."""
    return pair not in HONOURS and pair[1:] == triplet[0][1:] and triplet[0] not in HONOURS


@cache
def waits(rule: str) -> Waits:
    """Return every hand that is ready, with all it could wait for, where a triplet of the pair's rank must be 2-2-1.

    By `each` rule every such triplet, by `some` one of them at least, by `none` none.
    """
    found: dict[Hand, set[MoneyCard]] = {}
    for one, other in combinations_with_replacement(triplets(), 2):
        for pair in MONEY:
            hand = tuple(sorted((pair, pair, *one, *other)))
            if max(Counter(hand).values()) > COPIES:
                continue
            held = [is_two_two_one(pair, triplet) for triplet in (one, other) if shares(pair, triplet)]
            if not held or rule == "none" or (all(held) if rule == "each" else any(held)):
                found.setdefault(hand, set()).add(pair)
    return {hand: frozenset(pairs) for hand, pairs in found.items()}


def ways(hand: Hand) -> int:
    """Return in how many ways the cards of the pack make this hand."""
    return prod(comb(COPIES, count) for count in Counter(hand).values())


def test_there_are_ninety_three_triplets() -> None:
    assert len(triplets()) == len(set(triplets())) == 93


@pytest.mark.parametrize(("rule", "count"), [("each", 100_416), ("some", 100_470), ("none", 111_702)])
def test_so_many_hands_are_ready(rule: str, count: int) -> None:
    assert len(waits(rule)) == count


def test_so_many_could_wait_with_either_of_two_pairs_and_none_with_more() -> None:
    assert Counter(map(len, waits("each").values())) == {1: 98_148, 2: 2_268}


def test_so_many_deals_are_ready() -> None:
    assert sum(map(ways, waits("each"))) == 262_860_516
    assert comb(len(MONEY) * COPIES, HAND) == 840_261_910_995


def test_the_game_finds_every_ready_hand_and_all_it_could_wait_for() -> None:
    for hand, pairs in waits("each").items():
        assert frozenset(ready.pairs(hand)) == pairs, hand


def test_the_game_finds_no_hand_ready_that_is_not() -> None:
    expected = waits("each")
    for hand in (*(set(waits("none")) - set(expected)), *near(Random(1))):
        assert frozenset(ready.pairs(hand)) == expected.get(hand, frozenset()), hand


def near(random: Random) -> Iterator[Hand]:
    """Yield hands that differ from a ready one by a card or two."""
    hands = list(waits("each"))
    for number in range(NEAR):
        hand = list(random.choice(hands))
        for _ in range(1 + number % 2):
            hand.remove(random.choice(hand))
            hand.append(random.choice([card for card in MONEY if hand.count(card) < COPIES]))
        yield tuple(sorted(hand))


@pytest.mark.skipif(not FULL, reason="there are 38 459 220 hands")
def test_of_all_hands_there_are_the_game_finds_those_ready() -> None:
    expected = waits("each")
    count = found = 0
    for hand in combinations_with_replacement(sorted(MONEY), HAND):
        if any(hand[place] == hand[place + COPIES] for place in range(HAND - COPIES)):
            continue
        count += 1
        if pairs := ready.pairs(hand):
            found += 1
            assert frozenset(pairs) == expected.get(hand), hand
    assert count == 38_459_220
    assert found == len(expected)
