"""Facts about which eight cards are ready, and with which pairs.

Ids such as KW-R4 name the rulings that the rules page lists.
"""

import pytest

from service.game import Refused
from service.games.kowah import ready
from service.games.kowah.rules import REASONS
from tests.service.games.kowah.match import cards


@pytest.mark.parametrize(
    ("hand", "kinds"),
    [
        ("C5 S5 M5 C7 C7 S7 C2 C2", "C2"),  # KW-02: copies of a card may stand in a triplet
        ("C5 C5 S5 S5 M5 C8 S8 M8", "C5 S5"),  # KW-04: two of one suit, two of another, one of the third
        ("RF RF RF C8 S8 M8 S3 S3", "S3"),
        ("C4 S4 S4 C8 S8 M8 WF WF", "WF"),
        ("RF RF RF WF WF C3 C3 M3", "WF"),
        ("C4 C4 C4 S4 S4 M4 M9 M9", "M9"),  # KW-14: six of a rank are two triplets
        ("C4 C4 C4 C4 S4 M4 M9 M9", "M9"),
        ("C5 C5 M5 M5 S5 OT OT OT", "C5 M5"),
        ("C5 C5 S5 S5 S5 M5 M5 M5", "C5"),  # KW-16
        ("C5 C5 C5 C5 M5 M5 S5 S5", "S5 M5"),  # KW-101
        ("C9 C9 C9 M9 M9 M9 S1 S1", "S1"),
        ("C9 C9 C9 M3 M3 M3 S9 S9", ""),  # C9 C9 C9 beside S9 S9: 3-2-0
    ],
)
def test_a_hand_is_ready_with_each_pair_beside_which_two_triplets_stand(hand: str, kinds: str) -> None:
    assert ready.pairs(cards(hand)) == cards(kinds)
    assert ready.pairs(cards(hand)[::-1]) == cards(kinds)
    for kind in cards(kinds):
        ready.check(cards(hand), kind)


@pytest.mark.parametrize(
    ("hand", "kind", "reason"),
    [
        ("C5 S5 M5 C7 C7 S7 C2 C2", "C5", "no_pair"),
        ("C5 S5 M5 C7 C7 S7 C2 C2", "S2", "no_pair"),
        ("C5 S5 M5 C7 C7 S7 C2 C2", "C7", "no_triplets"),
        ("C1 C2 C3 C4 S4 M4 C9 C9", "C9", "no_triplets"),  # KW-19: a run is worth nothing
        ("OT C1 M1 C8 S8 M8 S3 S3", "S3", "no_triplets"),  # KW-R5: honours are no ones
        ("OT RF WF C8 S8 M8 S3 S3", "S3", "no_triplets"),
        ("C5 C5 C5 S5 M5 C8 S8 M8", "C5", "not_two_two_one"),  # KW-06: 3-1-1
        ("C5 C5 C5 C5 M5 C8 S8 M8", "C5", "not_two_two_one"),  # KW-07: 4-1-0
        ("S3 S3 S3 M3 M3 C7 S7 M7", "M3", "not_two_two_one"),  # KW-108: 3-2-0
        ("S3 S3 S3 M3 M3 C7 S7 M7", "S3", "not_two_two_one"),
        ("C5 C5 C5 C5 S5 S5 S5 M5", "C5", "not_two_two_one"),  # KW-17: 4-3-1
        ("C5 C5 C5 C5 S5 S5 S5 M5", "S5", "not_two_two_one"),
        ("C5 C5 S5 S5 S5 M5 M5 M5", "S5", "not_two_two_one"),
    ],
)
def test_a_hand_that_is_not_ready_with_a_pair_is_refused_for_what_it_lacks(hand: str, kind: str, reason: str) -> None:
    (pair,) = cards(kind)
    with pytest.raises(Refused) as refused:
        ready.check(cards(hand), pair)
    assert refused.value.reason == reason in REASONS
    assert pair not in ready.pairs(cards(hand))
