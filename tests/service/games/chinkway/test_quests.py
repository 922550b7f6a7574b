"""Facts about quests: categories, parts and what they are worth."""

from itertools import product

import pytest

from events.cards import FRENCH, FrenchCard
from service.games.chinkway import quests


@pytest.mark.parametrize(("aces", "plain", "court"), [("plain", 10, 12), ("court", 9, 16)])
def test_every_card_has_one_category(aces: str, plain: int, court: int) -> None:
    suits = dict.fromkeys(["spades", "hearts", "diamonds", "clubs"], plain)
    assert quests.count(FRENCH, aces) == {**suits, "court": court}


@pytest.mark.parametrize(
    ("card", "category"), [("S2", "spades"), ("HA", "hearts"), ("DT", "diamonds"), ("C9", "clubs")]
)
def test_a_plain_card_is_of_the_category_that_bears_its_suits_name(card: FrenchCard, category: str) -> None:
    assert quests.CATEGORY["plain"][card] == category


def test_the_court_cards_are_jacks_queens_and_kings() -> None:
    assert list(dict.fromkeys(card[1] for card in quests.COURT_CARDS)) == ["J", "Q", "K"]
    assert len(quests.COURT_CARDS) == 12


def test_parts_are_no_more_than_the_quest_has_of_each_category() -> None:
    wanted = quests.count(["S7", "H9", "H3", "CJ", "HK"], "plain")
    assert quests.parts([], wanted, "plain") == 0
    assert quests.parts(["S4", "S5", "S6"], wanted, "plain") == 1
    assert quests.parts(["HT", "H2", "H4"], wanted, "plain") == 2
    assert quests.parts(["D2", "C2"], wanted, "plain") == 0
    assert quests.parts(["S4", "HT", "H2", "SJ", "DQ", "SA"], wanted, "plain") == 5


def test_parts_met_never_fall_with_another_capture() -> None:
    wanted = quests.count(["S7", "H9", "H3", "CJ", "HA"], "court")
    haul: list[FrenchCard] = []
    met = [0]
    for card in ("SA", "S2", "H3", "H4", "H5", "CA", "DK"):
        haul.append(card)
        met.append(quests.parts(haul, wanted, "court"))
    assert met == [0, 1, 2, 3, 4, 4, 5, 5]


def test_points_are_triangular() -> None:
    assert [quests.points(met) for met in range(6)] == [0, 1, 3, 6, 10, 15]


def test_a_card_meets_a_part_exactly_if_both_are_of_one_category() -> None:
    for aces, captured, wanted in product(("plain", "court"), FRENCH[:26], FRENCH[:26]):
        same = quests.CATEGORY[aces][captured] == quests.CATEGORY[aces][wanted]
        assert quests.parts([captured], quests.count([wanted], aces), aces) == same
