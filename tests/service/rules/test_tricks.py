"""Facts about tricks."""

from itertools import pairwise

import pytest

from events.cards import FRENCH, FrenchCard
from service.rules import tricks


def test_the_two_is_lowest_and_the_ace_highest() -> None:
    for suit in range(4):
        ranks = [tricks.RANK[card] for card in FRENCH[13 * suit : 13 * suit + 13]]
        assert ranks == list(range(13))


@pytest.mark.parametrize(
    ("cards", "trump", "taker"),
    [
        (["S9", "SK", "S2", "SA", "SJ"], "NT", 3),
        (["S9", "HA", "S2", "DA", "CA"], "NT", 0),
        (["SA", "H2", "SK", "SQ", "SJ"], "H", 1),
        (["SA", "H2", "SK", "HT", "H9"], "H", 3),
        (["H3", "SA", "H2", "DA", "C4"], "H", 0),
        (["S9", "HA", "ST", "DA", "CA"], "C", 4),
        (["S9", "HA", "ST", "DA", "SJ"], "C", 4),
    ],
)
def test_the_highest_trump_else_the_highest_of_the_suit_led_takes_the_trick(
    cards: list[FrenchCard], trump: str, taker: int
) -> None:
    assert tricks.taker(cards, trump) == taker


def test_of_two_cards_of_the_suit_led_the_higher_takes_the_trick_whatever_lies_between() -> None:
    for suit in range(4):
        for low, high in pairwise(FRENCH[13 * suit : 13 * suit + 13]):
            assert tricks.taker([low, high], "NT") == 1
            assert tricks.taker([high, low], high[0]) == 0


def test_cards_of_a_suit_keep_the_order_of_the_hand() -> None:
    hand: list[FrenchCard] = ["SA", "H2", "S3", "D4"]
    assert tricks.of_suit(hand, "S") == ["SA", "S3"]
    assert tricks.of_suit(hand, "C") == []
    assert tricks.of_suit(hand, "NT") == []
