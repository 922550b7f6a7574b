"""What `steady` does at Kowah where one move is plainly best: seat 0 with a view made up card by card."""

import pytest

from service.game import Command
from service.games.kowah.commands import Discard, DrawStock, TakeDiscard
from tests.service.bots.steady import cards, choice, seen

SEATS = 3


def drawing(hand: str, up: str) -> Command:
    """Return how a turn begins with this hand after this discard."""
    view = seen("kowah", SEATS, hand=cards(hand), discard=up, discards=(up,), seen=(up,))
    return choice(view, DrawStock(), TakeDiscard())


def discard(hand: str, *declared: Discard, gone: str = "", **changed: object) -> Command:
    """Return what is done with nine cards in hand where these are gone and any card may be thrown."""
    held, pile = cards(hand), cards(gone)
    view = seen("kowah", SEATS, **{"hand": held, "discards": pile, "seen": pile, **changed})
    return choice(view, *map(Discard, dict.fromkeys(held)), *declared)


@pytest.mark.parametrize(
    ("up", "drawn"), [("M3", TakeDiscard()), ("S7", TakeDiscard()), ("OT", DrawStock()), ("C9", DrawStock())]
)
def test_the_discard_is_taken_where_it_makes_a_triplet(up: str, drawn: Command) -> None:
    assert drawing("C2 C2 C3 S3 C7 M7 S5 RF", up) == drawn


def test_a_lone_card_is_thrown_before_one_of_a_pair_or_a_triplet() -> None:
    assert discard("C2 C2 C3 S3 M3 C7 M7 M6 RF") == Discard("RF")


def test_of_two_lone_cards_the_one_with_fewer_live_cards_is_thrown() -> None:
    gone = "C8 C8 S8 S8 S8 M8 M8"
    assert discard("C2 C2 C3 S3 M3 C7 M7 M6 M8", gone=gone) == Discard("M8")


def test_who_is_ready_declares_with_the_discard() -> None:
    hand = "C2 C2 C3 S3 M3 C7 M7 S7 RF"
    assert discard(hand, Discard("RF", "C2")) == Discard("RF", "C2")


def test_of_two_pairs_the_one_of_which_more_is_live_is_waited_with() -> None:
    hand = "C4 C4 S4 S4 M4 C7 M7 S7 RF"
    both = (Discard("RF", "C4"), Discard("RF", "S4"))
    assert discard(hand, *both, gone="C4") == both[1]
    assert discard(hand, *both, gone="S4") == both[0]


def test_nobody_declares_who_waits_for_what_is_gone() -> None:
    chosen = discard("C2 C2 C3 S3 M3 C7 M7 S7 RF", Discard("RF", "C2"), gone="C2 C2")
    assert isinstance(chosen, Discard)
    assert chosen.checki is None


def test_what_another_waits_for_is_not_thrown() -> None:
    hand = "C2 C2 C3 S3 M3 C7 M7 M6 RF"
    assert discard(hand) == Discard("RF")
    assert discard(hand, declared=(None, "RF", None)) != Discard("RF")
    ready = "C2 C2 C3 S3 M3 C7 M7 S7 RF"
    kept = discard(ready, Discard("RF", "C2"), declared=(None, "RF", None))
    assert isinstance(kept, Discard)
    assert kept.card != "RF"


def test_three_alike_are_no_triplet_beside_a_pair_of_their_rank() -> None:
    """M7 M7 M7 beside C7 C7 would be of two suits alone; so one of them goes before any of two pairs."""
    assert discard("C7 C7 M7 M7 M7 M2 M2 S2 S2") == Discard("M7")


def test_a_triplet_of_the_pairs_rank_is_of_both_other_suits() -> None:
    assert discard("C2 C2 S2 S2 M2 C7 M7 S7 C2") == Discard("C2")


def test_six_of_a_rank_are_two_triplets() -> None:
    assert discard("C5 C5 S5 S5 M5 M5 C2 C2 RF") == Discard("RF")
    assert drawing("C5 C5 S5 S5 M5 C2 C2 RF", "M5") == TakeDiscard()


def test_cards_that_others_show_are_not_waited_for() -> None:
    hand = "C4 C4 S4 S4 M4 C7 M7 S7 RF"
    both = (Discard("RF", "C4"), Discard("RF", "S4"))
    shown = (None, cards("C4 C4 C3 S3 M3 S9 M9 C9"), None)
    assert discard(hand, *both, declared=(None, "C3", None), shown=shown) == both[1]
    for order in (both, both[::-1]):
        assert discard(hand, *order, declared=(None, "S4", None)) == both[0]
