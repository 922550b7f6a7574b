"""What `steady` does at Chinchón where one move is plainly best: seat 0 with a view made up card by card."""

import pytest

from events.games.chinchon import Options
from service import bots
from service.cli import arena
from service.cli.arena import Wanted
from service.game import Command
from service.games.chinchon.commands import (
    Auto,
    Close,
    Discard,
    DrawDiscard,
    DrawStock,
    EndTurn,
    Expose,
    LayOff,
    Pass,
    Reenter,
    StayOut,
)
from tests.service.bots.steady import cards, choice, seen

DRAWS = (DrawStock(), DrawDiscard())


def drawing(hand: str, up: str) -> Command:
    """Return how a turn begins with this hand and this card turned up."""
    return choice(seen("chinchon", 2, hand=cards(hand), up_card=up, discards=(up,), seen=(up,)), *DRAWS)


def discard(hand: str, gone: str = "", *more: Command, options: Options | None = None, **changed: object) -> Command:
    """Return what is done with eight cards in hand where these are gone and any card may be thrown."""
    held, pile = cards(hand), cards(gone)
    view = seen("chinchon", 2, options, **{"hand": held, "drew": 1, "discards": pile, "seen": pile, **changed})
    return choice(view, *more, *map(Discard, held))


@pytest.mark.parametrize(
    ("up", "drawn"), [("O5", DrawDiscard()), ("E6", DrawDiscard()), ("B12", DrawStock()), ("O1", DrawStock())]
)
def test_the_discard_is_taken_where_it_combines(up: str, drawn: Command) -> None:
    assert drawing("O7 C3 C5 E5 E7 B2 B11", up) == drawn


def test_what_combines_with_nothing_is_thrown_and_of_that_the_heaviest() -> None:
    assert discard("O5 C5 E5 O2 C2 B6 E11 E1") == Discard("E11")


def test_a_pair_is_broken_when_the_cards_it_waits_for_are_gone() -> None:
    assert discard("O5 C5 E5 O12 C12 B6 B7 E11") == Discard("E11")
    assert discard("O5 C5 E5 O12 C12 B6 B7 E11", "E12 B12") in {Discard("O12"), Discard("C12")}


def test_what_left_the_pile_is_held_by_others_until_a_new_stock_is_made_of_it() -> None:
    hand, gone = "O5 C5 E5 O12 C12 B6 B7 E11", cards("E12 B12")
    broken = {Discard("O12"), Discard("C12")}
    assert discard(hand, seen=gone) in broken
    assert discard(hand, seen=gone, recycled=1) == Discard("E11")
    assert discard(hand, "E12 B12", recycled=1) in broken


def test_who_may_close_closes_with_the_fewest_points() -> None:
    hand = "O5 C5 E5 B1 B2 B3 O2 C12"
    closings = (Close("C12", (("O5", "C5", "E5"),)), Close("C12", (("O5", "C5", "E5"), ("B1", "B2", "B3"))))
    assert discard(hand, "", *closings) == closings[1]
    assert discard(hand, "", *reversed(closings)) == closings[1]


def test_seven_cards_in_one_run_are_worth_more_than_none_left_over() -> None:
    hand = "O1 O2 O3 O4 O5 O6 O7 C1"
    apart, whole = Close("C1", (("O1", "O2", "O3"), ("O4", "O5", "O6", "O7"))), Close("C1", (cards(hand)[:7],))
    assert discard(hand, "", apart, whole) == whole


def test_who_lacks_one_card_of_chinchon_waits_only_where_it_wins_and_can_come() -> None:
    hand, close = "O1 O2 O3 O4 O5 O6 C1 C12", Close("C12", (("O1", "O2", "O3", "O4", "O5", "O6"),))
    wins = Options(chinchon_wins="on")
    assert discard(hand, "", close) == close
    assert discard(hand, "", close, options=wins) == Discard("C12")
    assert discard(hand, "O7", close, options=wins) == close
    assert discard(hand, "", close, options=wins, recycled=1) == close


def test_a_turn_ends_with_seven_cards_where_mistakes_may_be_made() -> None:
    table = Options(mistakes="table")
    seven = seen("chinchon", 2, table, hand=cards("O5 C5 E5 B1 B2 B3 C12"), drew=1, threw=1)
    assert choice(seven, Discard("C12"), EndTurn()) == EndTurn()
    eight = seen("chinchon", 2, table, hand=cards("O5 C5 E5 B1 B2 B3 C12 E7"), drew=2, threw=1)
    assert choice(eight, EndTurn(), Discard("O5"), Discard("C12")) == Discard("C12")
    one = seen("chinchon", 2, table, hand=cards("O5 C5 E5 B1 B2 B3 C12 E7"), drew=1, up_card="O12")
    assert choice(one, *DRAWS, Discard("C12")) == Discard("C12")


def test_the_layout_that_leaves_the_fewest_points_is_laid_out() -> None:
    hand = cards("O5 C5 E5 B5 B6 B7 O1")
    sets, both = Expose((("O5", "C5", "E5", "B5"),)), Expose((("O5", "C5", "E5"), ("B5", "B6", "B7")))
    assert choice(seen("chinchon", 2, phase="expose", hand=hand), sets, both) == both


def test_cards_are_laid_off_by_what_leaves_the_fewest_points() -> None:
    view = seen("chinchon", 2, phase="lay_off", hand=cards("O6 C1"))
    assert choice(view, LayOff("O6", 0), Pass(), Auto()) == Auto()


def test_who_is_out_comes_back_but_not_for_ever() -> None:
    answers = (StayOut(), Reenter())
    asked = [
        choice(seen("chinchon", 2, phase="reentry", hand=None, reentries=(times, 0), offered_total=60), *answers)
        for times in range(6)
    ]
    assert asked[0] == Reenter()
    assert asked[-1] == StayOut()
    assert asked == sorted(asked, key=lambda answer: isinstance(answer, StayOut))


def test_those_who_wait_for_one_anothers_cards_give_way() -> None:
    """Four hold all but eleven cards of one pack: what each waits for can be where it never leaves."""
    options = {"close_limit": 0, "limit": 70, "reentries": 0}
    four = arena.prepare(Wanted("chinchon", ["steady"], 4, options, 1, 6_000, None), bots.find())
    assert not arena.match(four, "a" * 26, bytes([4]) * 32).left
