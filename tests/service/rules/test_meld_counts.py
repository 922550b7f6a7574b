"""How many hands there are of each kind, in one pack: the numbers of the rules page, section 2.4, hand by hand.

What loose cards a hand leaves does not depend on which suit is which. So of hands that differ in that alone one is
laid out, and counted as often as there are such hands: up to 24 times.

At small size (`make test`) the hands that leave few points are counted from the other side: made of
combinations and of loose cards that count no more. At full size every hand is laid out, which takes some minutes.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import chain, combinations
from math import comb, factorial, prod
from typing import NamedTuple

import pytest

from events.cards import SPANISH, SPANISH_40
from service.rules.melds import Melds
from tests.service.rules.naive import Naive
from tests.sizes import FULL


class Numbers(NamedTuple):
    """A row of the table: hands of seven cards; `by_points` for 0, 1, 2 … points. Hands of eight."""

    chinchon: int
    linked: int
    points: int
    by_points: tuple[int, ...]
    closing: int
    closing_linked: int
    making_chinchon: int


NUMBERS = {
    40: Numbers(
        16,
        2_032,
        647_019_328,
        (2048, 7128, 7056, 7084, 7616, 8432, 11412, 15108, 23400, 32376, 44428),
        921_999,
        64_323,
        516,
    ),
    48: Numbers(
        24,
        3_312,
        3_114_379_920,
        (3336, 11432, 11344, 11388, 12144, 13280, 17248, 22304, 33152, 45064, 61512),
        1_951_376,
        131_204,
        964,
    ),
}

PACKS: Mapping[int, Sequence[str]] = {40: SPANISH_40, 48: SPANISH}
VALUES: Mapping[int, Mapping[str, int]] = {
    40: {card: min(int(card[1:]), 7) + max(0, int(card[1:]) - 9) for card in SPANISH_40},
    48: {card: int(card[1:]) for card in SPANISH},
}

Cards = tuple[str, ...]
Kind = tuple[int, ...]
"""What a hand holds of each suit, a bit a rank; of the hands of one kind the one where these do not rise."""


def hand_of(pack: Sequence[str], kind: Kind) -> Cards:
    return tuple(chain(*(own[choice] for own, choice in zip(_by_suit(tuple(pack)), kind, strict=True))))


@cache
def _by_suit(pack: Cards) -> list[list[Cards]]:
    """Return for each suit the cards that each choice of ranks is."""
    ranks = len(pack) // 4
    suits = [pack[start : start + ranks] for start in range(0, len(pack), ranks)]
    return [
        [tuple(card for place, card in enumerate(suit) if choice >> place & 1) for choice in range(1 << ranks)]
        for suit in suits
    ]


def kinds(pack: Sequence[str], size: int) -> Iterator[tuple[Cards, int]]:
    """Yield one hand of each kind, and how many hands are of it."""
    ranks = len(pack) // 4
    by_count = [[choice for choice in range(1 << ranks) if choice.bit_count() == count] for count in range(size + 1)]

    def choices(left: int, most: int, suits: int) -> Iterator[Kind]:
        for count in range(left + 1) if suits > 1 else (left,):
            for choice in by_count[count][: bisect_right(by_count[count], most)]:
                if suits == 1:
                    yield (choice,)
                else:
                    for others in choices(left - count, choice, suits - 1):
                        yield (choice, *others)

    for kind in choices(size, 1 << ranks, 4):
        yield hand_of(pack, kind), factorial(4) // prod(map(factorial, Counter(kind).values()))


def kinds_of(pack: Sequence[str], hands: Iterable[int]) -> Iterator[tuple[Cards, int]]:
    """Yield one hand of each kind that is among some, a bit a card, and how many of those are of it."""
    ranks = len(pack) // 4
    every = (1 << ranks) - 1
    found = Counter(
        tuple(sorted((hand >> start & every for start in range(0, len(pack), ranks)), reverse=True)) for hand in hands
    )
    for kind, many in found.items():
        yield hand_of(pack, kind), many


def made(pack: int, size: int, most: int) -> set[int]:
    """Return the hands made of one or two combinations and of other cards of at most so many points, a bit a card."""
    naive = Naive(PACKS[pack], VALUES[pack])
    bits = {card: 1 << place for place, card in enumerate(naive.pack)}
    found = [sum(map(bits.__getitem__, cards)) for cards in _combinations(naive, size)]
    laid = {*found, *(one | other for one, other in combinations(found, 2) if not one & other)}
    cheap = [card for card in naive.pack if naive.values[card] <= most]
    loose = [
        [sum(map(bits.__getitem__, cards)) for cards in combinations(cheap, count) if _points(naive, cards) <= most]
        for count in range(size - 2)
    ]
    return {
        cards | others
        for cards in laid
        if cards.bit_count() <= size
        for others in loose[size - cards.bit_count()]
        if not cards & others
    }


def _points(naive: Naive, cards: Cards) -> int:
    return sum(naive.values[card] for card in cards)


def _combinations(naive: Naive, size: int) -> list[Cards]:
    """Return the sets and runs of up to so many cards."""
    groups = [[card for card in naive.pack if card[0] == suit] for suit in "OCEB"]
    groups += [[card for card in naive.pack if card[1:] == first[1:]] for first in groups[0]]
    return [
        cards
        for group in groups
        for count in range(3, size + 1)
        for cards in combinations(group, count)
        if naive.combine(cards)
    ]


@cache
def melds_of(pack: int) -> Melds[str]:
    return Melds(PACKS[pack], VALUES[pack])


def can_make_one(melds: Melds[str], hand: Cards) -> bool:
    """Tell whether all cards but one are one combination."""
    return any(melds.is_combination(hand[:place] + hand[place + 1 :]) for place in range(len(hand)))


def by_points(melds: Melds[str], hands: Iterable[tuple[Cards, int]]) -> Counter[int]:
    found: Counter[int] = Counter()
    for hand, many in hands:
        found[melds.best(hand).points] += many
    return found


@pytest.mark.parametrize("size", [7, 8])
def test_the_kinds_of_hands_are_all_hands(size: int) -> None:
    small = [card for card in SPANISH_40 if int(card[1:]) in {1, 2, 6, 7, 10}]
    assert sum(many for _, many in kinds(small, size)) == comb(20, size)


def test_hands_of_one_kind_leave_as_many_points() -> None:
    small = [card for card in SPANISH_40 if int(card[1:]) in {5, 6, 7, 10}]
    every = ((hand, 1) for hand in combinations(small, 7))
    assert by_points(melds_of(40), every) == by_points(melds_of(40), kinds(small, 7))


@pytest.mark.parametrize("pack", [40, 48])
def test_as_many_hands_of_seven_leave_few_points_as_can_be_made(pack: int) -> None:
    numbers, melds = NUMBERS[pack], melds_of(pack)
    most = 10 if FULL else 5
    hands = list(kinds_of(PACKS[pack], made(pack, 7, most)))
    assert by_points(melds, hands) == dict(enumerate(numbers.by_points[: most + 1]))
    linked: Counter[int] = Counter()
    for hand, many in hands:
        layout = melds.best(hand)
        if not layout.loose:
            linked[len(layout.combinations)] += many
    assert linked == {1: numbers.chinchon, 2: numbers.linked}


@pytest.mark.parametrize("pack", [40, 48])
def test_as_many_hands_of_eight_close_with_nothing_loose_as_can_be_made(pack: int) -> None:
    numbers, melds = NUMBERS[pack], melds_of(pack)
    cards = [1 << place for place in range(pack)]
    hands = {hand | card for hand in made(pack, 7, 0) for card in cards if not hand & card}
    assert len(hands) == numbers.closing_linked
    closing = [(hand, many) for hand, many in kinds_of(PACKS[pack], hands) if min(melds.points_without(hand)) == 0]
    assert sum(many for _, many in closing) == numbers.closing_linked
    assert sum(many for hand, many in closing if can_make_one(melds, hand)) == numbers.making_chinchon


@pytest.mark.skipif(not FULL, reason="lays out every kind of hand: at full size only")
@pytest.mark.parametrize("pack", [40, 48])
def test_of_all_hands_of_seven_as_many_leave_each_number_of_points(pack: int) -> None:
    numbers = NUMBERS[pack]
    found = by_points(melds_of(pack), kinds(PACKS[pack], 7))
    assert found.total() == comb(pack, 7)
    assert tuple(found[points] for points in range(11)) == numbers.by_points
    assert sum(points * many for points, many in found.items()) == numbers.points


@pytest.mark.skipif(not FULL, reason="lays out every kind of hand: at full size only")
@pytest.mark.parametrize("pack", [40, 48])
def test_of_all_hands_of_eight_as_many_can_close(pack: int) -> None:
    numbers, melds = NUMBERS[pack], melds_of(pack)
    found: Counter[str] = Counter()
    for hand, many in kinds(PACKS[pack], 8):
        least = min(melds.points_without(hand))
        found["hands"] += many
        if least <= 5:
            found["closing"] += many
        if least == 0:
            found["linked"] += many
            found["chinchon"] += many * can_make_one(melds, hand)
    assert found == {
        "hands": comb(pack, 8),
        "closing": numbers.closing,
        "linked": numbers.closing_linked,
        "chinchon": numbers.making_chinchon,
    }
