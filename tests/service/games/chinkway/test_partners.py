"""Facts about partners that change: every schedule of the game's rules page."""

from collections import Counter
from itertools import combinations

import pytest

from service.games.chinkway.partners import dealer_of, sides_of

# Dealer, side and side of each deal, as the rules list them for a first dealer A.
EARLY = ["A:BC/DE", "B:CD/EA", "C:DE/AB", "D:EA/BC", "E:AB/CD"]
SWITCH = [*EARLY, "A:BD/CE", "B:CE/DA", "C:DA/EB", "D:EB/AC", "E:AC/BD", "A:BD/CE"]
FIXED = [*EARLY, *EARLY, "A:BC/DE"]
FIVE = ["A:BE/CD", "B:CA/DE", "C:DB/EA", "D:EC/AB", "E:AD/BC"]


def named(partners: str, deal: int, first: int = 0) -> str:
    sides = sides_of(partners, deal, dealer_of(first, deal))
    dealer, one, other = ("".join("ABCDE"[seat] for seat in side) for side in sides)
    return f"{dealer}:{one}/{other}"


@pytest.mark.parametrize(("partners", "schedule"), [("switch", SWITCH), ("fixed", FIXED), ("five", FIVE)])
def test_the_schedule_is_that_of_the_rules(partners: str, schedule: list[str]) -> None:
    assert [named(partners, deal) for deal in range(1, len(schedule) + 1)] == schedule


def test_the_schedule_turns_with_the_first_dealer() -> None:
    turned = str.maketrans("ABCDE", "CDEAB")
    assert [named("switch", deal, 2) for deal in range(1, 12)] == [line.translate(turned) for line in SWITCH]


@pytest.mark.parametrize(
    ("partners", "deals", "times"),
    [("switch", 10, {2}), ("five", 5, {1}), ("fixed", 10, {0, 4})],
)
def test_each_two_are_partners_as_often_as_the_rules_say(partners: str, deals: int, times: set[int]) -> None:
    sides = [sides_of(partners, deal, dealer_of(0, deal)) for deal in range(1, deals + 1)]
    together = Counter(tuple(sorted(side)) for lone in sides for side in lone if len(side) == 2)
    assert {together[pair] for pair in combinations(range(5), 2)} == times
    assert set(Counter(side[0][0] for side in sides).values()) == {deals // 5}


@pytest.mark.parametrize("partners", ["switch", "fixed", "five"])
def test_every_seat_is_on_exactly_one_side(partners: str) -> None:
    for deal in range(1, 12):
        for first in range(5):
            sides = sides_of(partners, deal, dealer_of(first, deal))
            assert sorted(seat for side in sides for seat in side) == [0, 1, 2, 3, 4]
