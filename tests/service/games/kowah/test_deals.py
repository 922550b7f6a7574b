"""Facts about how a deal of Kowah ends: who wins it, or that the stock does; about series, places and resigning."""

from typing import Literal

import pytest

from events.games.kowah import (
    DealScored,
    Dealt,
    Declared,
    Discarded,
    FinalHands,
    How,
    Opened,
    Options,
    StockDrawn,
    StockEnded,
    StockTurned,
    Won,
)
from events.table import Ended, Scored, Shuffled, TurnBegan
from events.table import Opened as AllOpened
from service.chance import number
from service.games.kowah import Checki, Discard, DrawStock, TakeDiscard
from tests.service.games.kowah.match import DULL, FIVES, NINES, TWOS, Match, cards

# Seat 0 waits for C2, and the two that are left lie elsewhere than in the stock.
HOLDING = (TWOS, "C2 C2 S1 S4 S6 S9 M4 OT")


def to_the_last(match: Match, seat: int) -> Match:
    """Let seat 0 of three declare with C2, and this seat come to draw the last card of the stock."""
    match.declared(0, "C2")
    # Of 96 cards seat 2 would draw the last; each turn begun from the discards brings it to the next seat.
    for _ in range((seat - 2) % 3):
        match.plays(TakeDiscard(), Discard("S9"))
    match.run_down(1)
    assert match.to_act == seat
    return match


class TestWins:
    def test_self_drawn_it_is_triple(self) -> None:
        """KW-26."""
        match = Match().deal(TWOS, stock="S9 S8 S8 C2").declared(0, "C2").silent(4)
        events = match.do(DrawStock())
        won = Won(0, "C2", "self_draw", 0, 3)
        assert events[:4] == (
            StockTurned(0, "C2", 92),
            won,
            DealScored(1, 0, "self_draw", 3),
            Scored(1, (3, 0, 0), (3, 0, 0)),
        )
        assert events[4] == Ended("finished", (1, 2, 2))

    @pytest.mark.parametrize("by", [1, 2])
    def test_drawn_by_an_opponent_it_is_single_and_comes_before_any_discard(self, by: int) -> None:
        """KW-27, KW-29."""
        match = Match().deal(TWOS, stock="S9" + " S8" * (by - 1) + " C2").declared(0, "C2").silent(2 * (by - 1))
        events = match.do(DrawStock())
        assert events[1:3] == (Won(0, "C2", "opponent_draw", by, 1), DealScored(1, 0, "opponent_draw", 1))
        assert match.table.scores == (1, 0, 0)
        assert match.table.to_act == ()

    def test_thrown_by_an_opponent_it_is_double_and_comes_before_all_else(self) -> None:
        """KW-36: the thrower would be ready too."""
        match = Match().deal(TWOS, "C1 C2 C3 S1 S3 M1 M3 M9", stock="S9 M9").declared(0, "C2").plays(DrawStock())
        assert Discard("C2", "M9") in match.legal()
        events = match.do(Discard("C2", "M9"))
        assert events[:3] == (
            Discarded(1, "C2", None),
            Won(0, "C2", "opponent_discard", 1, 2),
            DealScored(1, 0, "opponent_discard", 2),
        )
        assert match.events(Declared) == [Declared(0, "C2", ("C2",), None)]
        assert match.table.scores == (2, 0, 0)

    def test_nobody_wins_on_their_own_discard(self) -> None:
        """KW-37."""
        match = Match().deal(TWOS, stock="C2 S8").plays(DrawStock())
        assert match.do(Discard("C2", "C2"))[-1] == TurnBegan((1,))
        assert match.do(DrawStock())[-1] == TurnBegan((1,))
        # The next player may take it, for a taken card is not drawn.
        assert Match().deal(TWOS, stock="C2 S8").plays(DrawStock(), Discard("C2", "C2"), TakeDiscard()).to_act == 1

    def test_only_the_pair_that_was_named_wins(self) -> None:
        """KW-31."""
        match = Match().deal(FIVES, stock="S9 S5 C5").declared(0, "C5")
        assert match.do(DrawStock())[-1] == TurnBegan((1,))
        assert match.do(Discard("S5"))[-1] == TurnBegan((2,))
        assert match.do(DrawStock())[1] == Won(0, "C5", "opponent_draw", 2, 1)

    def test_with_either_pair_the_other_wins_too(self) -> None:
        """KW-111."""
        match = Match(Options(either_pair="on")).deal(FIVES, stock="S9 S5").declared(0, "C5")
        assert match.do(DrawStock())[1] == Won(0, "S5", "opponent_draw", 1, 1)

    def test_of_two_who_wait_each_wins_by_the_own_card(self) -> None:
        """KW-115."""
        match = Match().deal(TWOS, DULL[1], NINES, stock="S9 S8 C8 M9").declared(0, "C2").declared(2, "M9")
        assert match.do(DrawStock())[1] == Won(2, "M9", "opponent_draw", 0, 1)
        match = Match().deal(TWOS, DULL[1], NINES, stock="S9 S8 C8 C2").declared(0, "C2").declared(2, "M9")
        assert match.do(DrawStock())[1] == Won(0, "C2", "self_draw", 0, 3)

    def test_before_anybody_declares_no_card_wins(self) -> None:
        match = Match().deal(TWOS, stock="C2").plays(DrawStock())
        assert match.events(StockDrawn)
        assert match.table.status == "playing"

    def test_a_card_that_was_drawn_before_the_declaration_wins_when_it_is_thrown(self) -> None:
        match = Match(seats=2).deal(DULL[1], TWOS, stock="C2 S9").plays(DrawStock(), Discard("C3"))
        match.plays(DrawStock(), Discard("S9", "C2"), DrawStock())
        assert match.do(Discard("C2"))[1] == Won(1, "C2", "opponent_discard", 0, 2)


class TestStockEnd:
    def test_the_last_card_drawn_without_a_win_ends_the_deal_at_once(self) -> None:
        """KW-41."""
        match = Match().deal(*HOLDING, stock="S9", last="S8").declared(0, "C2").run_down(1)
        seat = match.to_act
        assert match.do(DrawStock())[:5] == (
            StockTurned(seat, "S8", 0),
            StockEnded(),
            DealScored(1, None, None, 0),
            Scored(1, (0, 0, 0), (0, 0, 0)),
            Ended("finished", (1, 1, 1)),
        )

    def test_so_it_does_where_nobody_has_declared_and_the_card_stays_hidden(self) -> None:
        match = Match().deal(last="S8").run_down(1)
        seat = match.to_act
        assert match.do(DrawStock())[:2] == (StockDrawn(seat, "S8", 0), StockEnded())
        assert match.view(None).final_hands[0].hands[seat] == match.state.final[0].hands[seat]

    @pytest.mark.parametrize("last_discard", ["off", "on"])
    @pytest.mark.parametrize(
        ("seat", "how", "multiplier"), [(0, "self_draw", 3), (1, "opponent_draw", 1), (2, "opponent_draw", 1)]
    )
    def test_the_last_card_may_win(
        self, last_discard: Literal["off", "on"], seat: int, how: How, multiplier: int
    ) -> None:
        """KW-42, KW-116."""
        match = Match(Options(last_discard=last_discard)).deal(TWOS, "C2 S1 S1 S4 S6 S9 M4 OT", stock="S9", last="C2")
        to_the_last(match, seat)
        assert match.do(DrawStock())[1] == Won(0, "C2", how, seat, multiplier)

    def test_a_last_discard_follows_where_that_is_agreed(self) -> None:
        """KW-R9, last_discard=on."""
        match = Match(Options(last_discard="on")).deal(*HOLDING, stock="S9", last="S8").declared(0, "C2").run_down(1)
        seat = match.to_act
        assert match.do(DrawStock()) == (StockTurned(seat, "S8", 0), TurnBegan((seat,)))
        assert match.do(Discard("S8"))[:3] == (Discarded(seat, "S8", None), StockEnded(), DealScored(1, None, None, 0))

    def test_a_last_discard_may_win(self) -> None:
        match = Match(Options(last_discard="on")).deal(*HOLDING, stock="S9", last="S8")
        to_the_last(match, 1).plays(DrawStock())
        assert match.do(Discard("C2"))[1] == Won(0, "C2", "opponent_discard", 1, 2)

    def test_nobody_declares_with_the_last_discard(self) -> None:
        match = Match(Options(last_discard="on"), seats=2).deal(TWOS, TWOS.replace("C2", "M2"), last="S8").run_down(1)
        seat = match.to_act
        match.plays(DrawStock())
        assert not any(isinstance(command, Discard) and command.checki for command in match.legal())
        assert match.reason(Discard("S8", "C2" if seat == 0 else "M2")) == "nothing_to_come"
        assert match.do(Discard("S8"))[:2] == (Discarded(seat, "S8", None), StockEnded())
        assert not match.events(Declared)


class TestSeries:
    def test_one_deal_is_played_where_nothing_is_said(self) -> None:
        match = Match().deal(last="S8").run_down(1).plays(DrawStock())
        assert match.table.status == "ended"
        assert match.view(None).deals == 1

    def test_the_first_player_moves_on_by_one_seat_that_is_taken(self) -> None:
        """KW-R12."""
        match = Match(Options(series=4), seats=5, taken=(0, 2, 3)).deal()
        while match.table.status == "playing":
            match.silent()
        firsts = [dealt.order for dealt in match.events(Dealt)]
        assert firsts == [(0, 2, 3), (2, 3, 0), (3, 0, 2), (0, 2, 3)]
        assert [event.c for event in match.events(Shuffled)] == [number(2), number(3), number(4)]

    def test_scores_are_the_last_deals_and_all_share_the_first_place(self) -> None:
        match = Match(Options(series=2)).deal(TWOS, stock="S9 C2").declared(0, "C2").plays(DrawStock())
        assert match.table.scores == (1, 0, 0)
        assert match.state.deal == 2
        while match.table.status == "playing":
            match.silent()
        assert match.table.scores == (0, 0, 0)
        assert match.table.places == (1, 1, 1)
        assert [(one.deal, one.winner, one.how, one.multiplier) for one in match.view(None).results] == [
            (1, 0, "opponent_draw", 1),
            (2, None, None, 0),
        ]

    def test_whoever_wins_the_last_deal_all_share_the_first_place(self) -> None:
        match = Match(Options(series=2)).deal(last="S8").run_down(1).plays(DrawStock())
        match.deal(TWOS, stock="S9 C2").declared(0, "C2").plays(DrawStock())
        assert match.table.scores == (1, 0, 0)
        assert match.table.places == (1, 1, 1)

    def test_a_new_deal_begins_without_declarations_and_discards(self) -> None:
        match = Match(Options(series=2, show="hand")).deal(TWOS, stock="S9 C2").declared(0, "C2").plays(DrawStock())
        view = match.view(0)
        assert (view.deal, view.declared, view.shown, view.waits) == (2, (None,) * 3, (None,) * 3, ())
        assert (view.discards, view.discard, view.seen, view.stock) == ((), None, (), 96)
        assert match.reason(Checki("C2"), 0) == "not_your_turn"


class TestEnd:
    def test_the_hands_of_every_deal_are_opened_at_the_end_and_not_before(self) -> None:
        match = Match(Options(series=2)).deal(TWOS, stock="S9 C2").declared(0, "C2").plays(DrawStock())
        assert match.view(0).final_hands == ()
        while match.table.status == "playing":
            match.silent()
        first, second = match.view(None).final_hands
        nine = tuple(sorted((*cards(DULL[1]), "C2"), key=cards("C2 C3 C4 S3 S6 S8 M6 M7 RF").index))
        assert first == FinalHands(1, (cards(TWOS), nine, cards(DULL[2])))
        assert (second.deal, sorted(len(hand or ()) for hand in second.hands)) == (2, [8, 8, 9])

    def test_a_deal_under_way_is_opened_too(self) -> None:
        match = Match().deal(TWOS, stock="S9").plays(DrawStock())
        match.resigns(1)
        match.resigns(2)
        (opened,) = match.events(Opened)
        assert opened.hands[0].hands[0] == cards("C2 C2 C5 C7 C7 S5 S7 S9 M5")
        assert match.view(None).phase == "over"
        assert isinstance(match.entries[-1].events[-1], AllOpened)

    def test_nothing_is_legal_once_play_has_ended(self) -> None:
        match = Match().deal(last="S8").run_down(1).plays(DrawStock())
        for seat in range(3):
            assert match.listed(seat) == ()
            assert match.legal(seat) == []
            assert match.reason(DrawStock(), seat) == "ended"


class TestResigning:
    def test_a_seat_that_was_given_up_draws_and_throws_what_it_drew(self) -> None:
        match = Match().deal(stock="S9 M2 M9").silent(2)
        events = match.resigns(1)
        assert events[1:] == (StockDrawn(1, "M2", 94), Discarded(1, "M2", 2), TurnBegan((2,)))

    def test_one_that_has_declared_wins_all_the_same_and_ranks_last(self) -> None:
        match = Match().deal(TWOS, stock="S9 S8 C2").declared(0, "C2")
        match.resigns(0)
        match.silent(2)
        events = match.do(DrawStock())
        assert events[1] == Won(0, "C2", "opponent_draw", 2, 1)
        assert match.table.places == (3, 1, 1)

    def test_who_resigned_earlier_ranks_lower(self) -> None:
        match = Match(seats=4).deal(TWOS)
        for seat in (2, 1, 3):
            match.resigns(seat)
        assert match.table.places == (1, 3, 4, 2)

    def test_a_silent_player_declares_nothing(self) -> None:
        match = Match().deal(TWOS, FIVES, NINES, last="S8").run_down(1).plays(DrawStock())
        assert len(match.events(StockDrawn)) == 96
        assert not match.events(Declared)
