"""Facts about the end of a deal of Chinchón: who lays out and lays off, in which order, and what may be laid.

Ids such as CC-R10 name the rulings that the rules of the game list.
"""

from typing import Literal

import pytest

from events.games.chinchon import (
    Closed,
    Exposed,
    ExposureBegan,
    LaidOff,
    LayOffBegan,
    Options,
    Passed,
)
from events.table import TurnBegan
from projections.games.chinchon import Exposing, LayingOff
from service.games.chinchon import (
    GAME,
    Auto,
    Close,
    Discard,
    DrawStock,
    EndTurn,
    Expose,
    LayOff,
    Pass,
    StayOut,
)
from tests.service.games.chinchon.match import Match, laid

RUN = "C4 C5 C6 O1 O2 O3 E1"
"""A run of copas, another of oros, and an ace."""
CHINCHON = "C3 C4 C5 C6 C7 C10 C11"
DULL = "O5 O7 E2 E4 E6 B1 B3"
DULL_HANDS = (DULL, "O1 O3 C1 E1 E3 B5 B7", "O2 O4 O6 C2 E5 B2 B6")
RUNS = laid("O1 O2 O3", "C4 C5 C6")


def asked(match: Match) -> list[tuple[int, int | None]]:
    """Return who is asked in which order from here to the end of the deal: who, and on whose combinations, if any."""
    deal, found = match.state.deal, []
    while match.state.deal == deal and match.table.status == "playing":
        phase = match.state.phase
        if isinstance(phase, Exposing | LayingOff):
            found.append((phase.seat, phase.on if isinstance(phase, LayingOff) else None))
        match.do(Pass() if isinstance(phase, LayingOff) else Expose())
    return found


class TestOrder:
    """CC-R10: each in turn order lays out, each of the others once has the opportunity to lay off on it."""

    def test_the_closers_combinations_lie_out_and_the_next_player_may_lay_off_on_them(self) -> None:
        match = Match().deal(RUN, stock="B12").plays(DrawStock())
        assert match.do(Close("B12")) == (
            Closed(0, "B12"),
            Exposed(0, RUNS, 1, chinchon=False),
            LayOffBegan(1, 0),
            TurnBegan((1,)),
        )

    def test_everybody_in_turn_order_has_one_opportunity_the_closer_too(self) -> None:
        match = Match().closed(RUN, "E10 E11 E12 O5 O7 C1 B3", "B5 B6 B7 E2 E4 O10 C12")
        assert asked(match) == [(1, 0), (2, 0), (1, None), (2, 1), (0, 1), (2, None), (0, 2), (1, 2)]

    def test_from_the_closer_on_whoever_has_the_forehand(self) -> None:
        match = Match().deal(DULL, RUN, "B5 B6 B7 E10 E12 O10 C12", stock="B12 B11").silent(2)
        match.plays(DrawStock(), Close("B11"))
        assert asked(match) == [(2, 1), (0, 1), (2, None), (0, 2), (1, 2), (0, None)]

    def test_an_opportunity_ends_by_a_word(self) -> None:
        match = Match().closed(RUN)
        assert match.do(Pass()) == (Passed(1), LayOffBegan(2, 0), TurnBegan((2,)))
        assert match.do(Pass()) == (Passed(2), ExposureBegan(1), TurnBegan((1,)))

    def test_nobody_is_asked_to_lay_off_where_nothing_was_laid_out(self) -> None:
        match = Match().closed(RUN, DULL, "B5 B6 B7 E10 E12 O10 C12")
        assert asked(match) == [(1, 0), (2, 0), (1, None), (2, None), (0, 2), (1, 2)]

    def test_nor_who_holds_no_cards(self) -> None:
        match = Match().closed("C4 C5 C6 O1 O2 O3 O4", "B5 B6 B7 E2 E4 O10 C12")
        assert asked(match) == [(1, 0), (2, 0), (1, None), (2, 1), (2, None)]

    def test_who_can_lay_nothing_off_is_asked_all_the_same(self) -> None:
        """To leave the question out would betray the hand."""
        match = Match().closed(RUN, "E10 O5 O7 E2 E4 B3 B10")
        assert match.to_act == 1
        assert match.legal() == [Auto(), Pass()]

    def test_and_who_has_nothing_to_lay_out(self) -> None:
        match = Match().closed(RUN, DULL).plays(Pass(), Pass())
        assert match.legal() == [Expose(())]
        assert match.do(Expose())[0] == Exposed(1, (), 7, chinchon=False)

    def test_who_holds_fewer_than_three_cards_lays_out_nothing_unasked(self) -> None:
        match = Match().closed("C4 C5 C6 O1 O2 O3 E1", "C1 C2 C3 C7 C10 C11 C12")
        match.plays(*(LayOff(card, 1) for card in ("C3", "C2", "C1", "C7", "C10")))
        assert match.do(Pass()) == (Passed(1), LayOffBegan(2, 0), TurnBegan((2,)))
        assert match.do(Pass()) == (
            Passed(2),
            Exposed(1, (), 2, chinchon=False),
            ExposureBegan(2),
            TurnBegan((2,)),
        )

    def test_one_with_three_is_asked(self) -> None:
        match = Match().closed("C4 C5 C6 O1 O2 O3 E1", "C1 C2 C3 C7 C10 C11 C12")
        match.plays(*(LayOff(card, 1) for card in ("C3", "C2", "C1", "C7")), Pass(), Pass())
        assert match.legal() == [Expose(laid("C10 C11 C12"))]

    @pytest.mark.parametrize(
        ("layoff", "order"),
        [
            ("phases", [(1, 0), (2, 0), (1, None), (2, 1), (0, 1), (2, None)]),
            ("closer", [(1, 0), (2, 0), (1, None), (2, None)]),
            ("none", [(1, None), (2, None)]),
        ],
    )
    def test_the_table_agrees_where_cards_may_be_laid_off(self, layoff: str, order: list[tuple[int, int]]) -> None:
        options = Options(layoff=layoff)  # type: ignore[arg-type] # one of its values
        assert asked(Match(options).closed(RUN, "B5 B6 B7 E10 E12 O10 C12", DULL)) == order

    def test_only_what_belongs_to_the_phase_is_taken(self) -> None:
        match = Match().closed(RUN)
        for command in (Expose(), DrawStock(), Discard("O1"), Close("O1"), EndTurn(), StayOut()):
            assert match.reason(command) == "not_now"
        assert match.reason(Pass(), 2) == "not_your_turn"
        match.plays(Pass(), Pass())
        for other in (Pass(), Auto(), LayOff("O1", 0), DrawStock()):
            assert match.reason(other) == "not_now"


class TestExpose:
    def exposing(self, hand: str) -> Match:
        return Match().closed(RUN, hand).plays(Pass(), Pass())

    def test_the_player_chooses_among_layouts_and_the_best_stands_first(self) -> None:
        match = self.exposing("O5 C7 E5 B5 B6 B7 B10")
        choices = ("O5 E5 B5", "B6 B7 B10"), ("B5 B6 B7 B10",), ("B5 B6 B7",)
        assert match.legal() == [Expose(laid(*choice)) for choice in choices]
        assert match.do(Expose(laid("B5 B6 B7 B10")))[0] == Exposed(1, laid("B5 B6 B7 B10"), 3, chinchon=False)

    def test_without_combinations_it_is_the_best(self) -> None:
        match = self.exposing("O5 C10 E5 B5 B6 B7 B10")
        assert match.do(Expose())[0] == Exposed(1, laid("O5 E5 B5", "B6 B7 B10"), 1, chinchon=False)

    @pytest.mark.parametrize(("sets", "may"), [("any", True), ("distinct_suits", False)])
    def test_with_two_packs_a_set_holds_a_suit_twice_where_that_is_agreed(self, sets: str, may: bool) -> None:
        """CC-R6, CC-12."""
        options = Options(sets=sets)  # type: ignore[arg-type] # one of its values
        match = Match(options, seats=5).closed(RUN, "E10 E10 B10 O5 O7 E2 B3").plays(*[Pass()] * 4)
        if may:
            assert match.legal() == [Expose(laid("E10 E10 B10"))]
        else:
            assert match.legal() == [Expose(())]
            assert match.reason(Expose(laid("E10 E10 B10"))) == "no_combination"

    def test_what_can_not_be_laid_out_is_refused_with_the_reason(self) -> None:
        match = self.exposing("O5 C10 E5 B5 B6 B7 B10")
        assert match.reason(Expose(laid("B1 B2 B3"))) == "card_not_held"
        assert match.reason(Expose(laid("O5 E5 B6"))) == "no_combination"
        assert match.reason(Expose(laid("O5 E5 B5"))) == "combination_left"
        assert match.reason(Expose(())) == "combination_left"
        assert match.reason(Expose(laid("O5 E5 B5", "B5 B6 B7"))) == "card_not_held"

    def test_what_is_laid_out_leaves_the_hand(self) -> None:
        match = self.exposing("O5 C10 E5 B5 B6 B7 B10").plays(Expose())
        assert match.view(1).hand == ("C10",)
        assert match.view(2).combinations[1] == laid("O5 E5 B5", "B6 B7 B10")

    def test_a_silent_player_lays_out_the_best(self) -> None:
        match = self.exposing("O5 C10 E5 B5 B6 B7 B10")
        assert GAME.idle(match.state, 1) == Expose()


class TestChinchon:
    """CC-R7 and CC-R11: seven cards in one combination, on which nobody lays anything."""

    def test_seven_cards_in_one_run_are_it_and_nobody_may_lay_off_on_it(self) -> None:
        """CC-44."""
        match = Match().deal(CHINCHON, "C12 O2 O5 O7 E2 E4 B3", stock="B12").plays(DrawStock())
        _, exposed, *rest = match.do(Close("B12"))
        assert exposed == Exposed(0, laid(CHINCHON), 0, chinchon=True)
        assert rest == [ExposureBegan(1), TurnBegan((1,))]
        assert match.reason(LayOff("C12", 0)) == "not_now"
        assert match.view(None).chinchon == (0,)

    def test_any_player_may_lay_it_out(self) -> None:
        match = Match().closed(RUN, "B1 B2 B3 B4 B5 B6 B7").plays(Pass(), Pass())
        assert match.do(Expose())[:2] == (
            Exposed(1, laid("B1 B2 B3 B4 B5 B6 B7"), 0, chinchon=True),
            ExposureBegan(2),
        )

    def test_or_the_closer_alone_and_then_cards_are_laid_off_on_anothers(self) -> None:
        match = Match(Options(chinchon_for="closer")).closed(RUN, "B1 B2 B3 B4 B5 B6 B7").plays(Pass(), Pass())
        assert match.do(Expose())[:2] == (
            Exposed(1, laid("B1 B2 B3 B4 B5 B6 B7"), 0, chinchon=False),
            LayOffBegan(2, 1),
        )

    def test_nobodys_is_it_then_where_nobody_closed(self) -> None:
        """Nor that of the player who chose the empty stock, and lays out first."""
        options = Options(chinchon_for="closer", recycles=0)
        match = Match(options, seats=4).deal(*DULL_HANDS, CHINCHON).emptied().plays(DrawStock())
        assert match.do(Expose())[0] == Exposed(3, laid(CHINCHON), 0, chinchon=False)

    @pytest.mark.parametrize(("what", "is_it"), [("one_combination", True), ("run_only", False)])
    def test_with_two_packs_it_may_be_a_set_where_that_is_agreed(self, what: str, is_it: bool) -> None:
        """CC-26."""
        options = Options(chinchon=what)  # type: ignore[arg-type] # one of its values
        match = Match(options, seats=5).deal("O5 O5 C5 C5 E5 E5 B5", stock="B12").plays(DrawStock())
        _, exposed, following, *_ = match.do(Close("B12"))
        assert exposed == Exposed(0, laid("O5 O5 C5 C5 E5 E5 B5"), 0, chinchon=is_it)
        assert following == (ExposureBegan(1) if is_it else LayOffBegan(1, 0))

    def test_a_run_of_seven_is_it_either_way(self) -> None:
        match = Match(Options(chinchon="run_only")).closed(CHINCHON)
        assert match.view(None).chinchon == (0,)

    def test_seven_in_two_combinations_are_not(self) -> None:
        match = Match().closed("C4 C5 C6 O1 O2 O3 O4")
        assert match.view(None).chinchon == ()

    def test_seven_left_of_eight_are_not(self) -> None:
        """CC-R13: an irregular hand never qualifies."""
        match = eight_of_which_one_is_laid_off(Options(mistakes="table"))
        assert match.do(Expose())[0] == Exposed(1, laid(CHINCHON), 0, chinchon=False)


def eight_of_which_one_is_laid_off(options: Options) -> Match:
    """Return a match whose seat 1 erred, laid one card off, and holds the seven of a Chinchón when it must lay out."""
    match = Match(options).deal("O1 O2 O3 E5 E6 E7 B1", CHINCHON, stock="B12 O4 B10").silent(3)
    match.plays(DrawStock(), DrawStock(), Discard("B10"), EndTurn()).silent(3).plays(DrawStock())
    assert match.state.irregular == (1,)
    return match.plays(Close(match.state.drawn or "B1"), LayOff("O4", 0), Pass(), Pass())


class TestLayOff:
    def on_the_run(self, hand: str, options: Options | None = None, seats: int = 3) -> Match:
        return Match(options, seats).closed(RUN, hand)

    def test_a_card_joins_a_combination_and_the_player_is_asked_again(self) -> None:
        match = self.on_the_run("C7 C10 O5 E2 E4 B3 B10")
        assert match.do(LayOff("C7", 1)) == (
            LaidOff(1, "C7", 0, 1, laid("C4 C5 C6 C7")[0], closed=False),
            TurnBegan((1,)),
        )
        assert match.view(1).hand == laid("O5 C10 E2 E4 B3 B10")[0]
        assert match.view(None).combinations[0] == laid("O1 O2 O3", "C4 C5 C6 C7")

    def test_each_card_that_fits_is_listed_with_where(self) -> None:
        match = self.on_the_run("C7 C3 O4 E2 E4 B3 B10")
        assert match.legal() == [Auto(), LayOff("O4", 0), LayOff("C3", 1), LayOff("C7", 1), Pass()]

    def test_an_inner_card_lies_there_before_an_outer_one(self) -> None:
        """CC-34."""
        match = self.on_the_run("C7 C10 O5 E2 E4 B3 B10")
        assert match.reason(LayOff("C10", 1)) == "does_not_fit"
        match.do(LayOff("C7", 1))
        assert LayOff("C10", 1) in match.legal()

    def test_what_can_not_be_laid_off_is_refused_with_the_reason(self) -> None:
        match = self.on_the_run("C7 C10 O5 E2 E4 B3 B10")
        assert match.reason(LayOff("C3", 1)) == "card_not_held"
        assert match.reason(LayOff("C7", 0)) == "does_not_fit"
        match = Match().closed("O1 O2 O3 O4 O5 C1 B2", "O6 O10 E2 E4 B3 B5 B10")
        assert match.reason(LayOff("O6", 1)) == "no_such_combination"

    def test_a_hand_that_is_empty_then_ends_the_opportunity(self) -> None:
        """All can see that there is nothing left to lay."""
        match = Match().closed("C4 C5 C6 O1 O2 O3 E1", "O4 O5 O6 B2 B3 B4 B6", "E2 E3 E4 E11 O12 O10 B11")
        match.plays(Pass(), Pass(), Expose(), Pass(), Pass())
        match.do(Expose())
        assert match.to_act == 0
        assert match.do(LayOff("E1", 0))[:3] == (
            LaidOff(0, "E1", 2, 0, laid("E1 E2 E3 E4")[0], closed=False),
            Passed(0),
            LayOffBegan(1, 2),
        )

    def test_with_two_packs_one_card_a_player_on_any_one_run_and_sets_are_free(self) -> None:
        match = Match(seats=5).closed("C4 C5 C6 O7 O7 E7 O1", "C7 C10 C3 B7 B7 E2 E4", face_down="O12")
        assert match.state.laid[0] == laid("O7 O7 E7", "C4 C5 C6")
        assert match.do(LayOff("C7", 1))[0] == LaidOff(1, "C7", 0, 1, laid("C4 C5 C6 C7")[0], closed=True)
        assert match.view(2).closed == (1,)
        assert match.reason(LayOff("C10", 1)) == "run_closed"
        assert match.legal() == [Auto(), LayOff("B7", 0), Pass()]
        assert match.do(LayOff("B7", 0))[0] == LaidOff(1, "B7", 0, 0, laid("O7 O7 E7 B7")[0], closed=False)
        match.plays(LayOff("B7", 0), Pass())
        assert match.view(None).closed == ()

    def test_the_next_player_may_lay_one_on_it_again(self) -> None:
        match = Match(seats=5).closed("C4 C5 C6 O1 O2 O3 O1", "C7 C1 O5 E2 E4 B3 B10", "C10 C1 O5 E2 E4 B3 B11")
        match.plays(LayOff("C7", 1), Pass())
        assert LayOff("C10", 1) in match.legal()

    def test_what_was_laid_off_counts_as_anybodys_place_to_lay_on(self) -> None:
        """CC-41: only who comes later finds the card that makes the place."""
        match = self.on_the_run("C10 O5 E2 E4 B3 B10 B1")
        assert match.legal() == [Auto(), Pass()]


class TestAuto:
    @pytest.mark.parametrize(("bonus", "laid_off"), [(0, 3), (10, 0)])
    def test_seven_linked_cards_stay_together_where_that_is_worth_points(
        self, bonus: Literal[0, 10], laid_off: int
    ) -> None:
        """All of them combine either way, with a combination less if the run goes onto the closer's."""
        match = Match(Options(linked_bonus=bonus)).closed("O2 O3 O4 C6 E6 B6 C1", "O5 O6 O7 E1 E2 E3 E4")
        assert sum(isinstance(event, LaidOff) for event in match.do(Auto())) == laid_off

    def test_the_cards_that_leave_the_fewest_points_are_laid_off_and_the_opportunity_ends(self) -> None:
        """CC-37: even where a set is broken up for it."""
        match = Match().closed("B2 B3 B4 O1 O2 O3 C2", "O5 C5 E5 B5 B6 C1 O12", face_down="B12")
        assert match.do(Auto()) == (
            LaidOff(1, "B5", 0, 1, laid("B2 B3 B4 B5")[0], closed=False),
            LaidOff(1, "B6", 0, 1, laid("B2 B3 B4 B5 B6")[0], closed=False),
            Passed(1),
            LayOffBegan(2, 0),
            TurnBegan((2,)),
        )

    def test_with_two_packs_it_lays_one_card_on_a_run(self) -> None:
        match = Match(seats=5).closed("C4 C5 C6 O1 O2 O3 O1", "C7 C10 O5 E2 E4 B3 B10", face_down="O12")
        assert match.do(Auto())[:2] == (
            LaidOff(1, "C7", 0, 1, laid("C4 C5 C6 C7")[0], closed=True),
            Passed(1),
        )

    def test_one_that_was_laid_before_counts(self) -> None:
        match = Match(seats=5).closed("C4 C5 C6 O1 O2 O3 O1", "C7 C10 O5 E2 E4 B3 B10", face_down="O12")
        match.do(LayOff("C7", 1))
        assert match.do(Auto())[0] == Passed(1)

    def test_it_never_breaks_what_would_be_chinchon(self) -> None:
        match = Match().closed("C4 C5 C6 O1 O2 O3 E1", "O4 O5 O6 O7 O10 O11 O12")
        assert match.do(Auto())[0] == Passed(1)

    def test_it_may_lay_the_last_card_off(self) -> None:
        match = Match().closed("C4 C5 C6 O1 O2 O3 E1", "B5 B6 B7 E10 E11 E12 B1", "E2 E3 E4 C11 O12 O10 B10")
        match.plays(Pass(), Pass(), Expose(), Pass(), Pass(), Expose())
        assert match.do(Auto())[:3] == (
            LaidOff(0, "E1", 2, 0, laid("E1 E2 E3 E4")[0], closed=False),
            Passed(0),
            LayOffBegan(1, 2),
        )

    def test_a_silent_player_does_so(self) -> None:
        assert GAME.idle(Match().closed(RUN).state, 1) == Auto()
