"""Facts about the start of a deal of Chinchón and its turns: draw, throw, end the turn; close.

Ids such as CC-R13 name the rulings that the rules of the game list.
"""

import pytest

from events.cards import SPANISH, SPANISH_40
from events.games.chinchon import (
    Closed,
    Dealt,
    Discarded,
    Exposed,
    ForehandDrawn,
    HandIrregular,
    Options,
    Staked,
    StockDrawn,
    TurnEnded,
    UpCardTaken,
    WentOut,
)
from events.table import Shuffled, TurnBegan
from projections.games.chinchon import Turn, begin
from service.chance import number
from service.games.chinchon import (
    GAME,
    Close,
    Discard,
    DrawDiscard,
    DrawStock,
    EndTurn,
    Expose,
    LayOff,
    Pass,
    Reenter,
)
from tests.service.games.chinchon.match import Match, Packs, cards, laid
from tests.stated import Stated

FIVE_LEFT = "O2 O3 O4 O5 O6 C1 E4"
TABLE = Options(mistakes="table")


class TestStart:
    def test_everybody_stakes_the_lot_names_the_forehand_and_seven_cards_come_off_whole(self) -> None:
        orders = {0: (2, 0, 1), number(1): SPANISH_40}
        staked, lot, forehand, shuffled, dealt, prompt = GAME.start(
            begin(Options(stake=3), 3, (0, 1, 2)), Stated(orders)
        )
        assert (staked, lot, forehand) == (Staked((0, 1, 2), 9), Shuffled(0, (2, 0, 1)), ForehandDrawn(2))
        assert shuffled == Shuffled(number(1), SPANISH_40)
        hands = (SPANISH_40[7:14], SPANISH_40[14:21], SPANISH_40[:7])
        assert dealt == Dealt(1, (2, 0, 1), hands, SPANISH_40[21], SPANISH_40[22:], 18)
        assert prompt == TurnBegan((2,))

    def test_hands_lie_in_printed_order_however_they_were_dealt(self) -> None:
        orders = {0: (0, 1), number(1): SPANISH_40[::-1]}
        dealt = list(GAME.start(begin(Options(), 2, (0, 1)), Stated(orders)))[4]
        assert isinstance(dealt, Dealt)
        assert dealt.hands == (SPANISH_40[33:], SPANISH_40[26:33])
        assert dealt.up == SPANISH_40[25]

    def test_untaken_seats_are_skipped(self) -> None:
        orders = {0: (6, 1, 3), number(1): SPANISH_40}
        events = list(GAME.start(begin(Options(), 8, (1, 3, 6)), Stated(orders)))
        dealt = events[4]
        assert isinstance(dealt, Dealt)
        assert dealt.order == (6, 1, 3)
        assert [seat for seat, hand in enumerate(dealt.hands) if hand] == [1, 3, 6]

    @pytest.mark.parametrize(("pack", "printed"), [(40, SPANISH_40), (48, SPANISH)])
    @pytest.mark.parametrize("seats", [4, 5])
    def test_five_and_more_play_with_two_packs_whose_copies_lie_side_by_side(
        self, pack: int, printed: tuple[str, ...], seats: int
    ) -> None:
        """Shuffle/1 counts a card's place from there."""
        whole = tuple(card for card in printed for _ in range(1 if seats < 5 else 2))
        options = Options(pack=48 if pack == 48 else 40)
        stated = Packs({0: tuple(range(seats)), number(1): whole})
        tuple(GAME.start(begin(options, seats, tuple(range(seats))), stated))
        assert stated.packs[number(1)] == whole


class TestDraw:
    def test_the_top_of_the_stock_comes_into_the_hand(self) -> None:
        match = Match().deal("O1 O3 O5 C2 C4 E6 B7", stock="O4 B1")
        assert match.do(DrawStock()) == (StockDrawn(0, "O4", 17), TurnBegan((0,)))
        assert match.view(0).hand == cards("O1 O3 O4 O5 C2 C4 E6 B7")
        assert match.state.phase == Turn(0, 1, 0)

    def test_the_last_discard_comes_into_the_hand(self) -> None:
        match = Match().deal(up="E5")
        assert match.do(DrawDiscard()) == (UpCardTaken(0, "E5"), TurnBegan((0,)))
        assert match.view(1).up_card is None

    def test_nothing_is_thrown_or_closed_before(self) -> None:
        match = Match().deal("O1 O3 O5 C2 C4 E6 B7")
        assert match.legal() == [DrawStock(), DrawDiscard()]
        assert match.reason(Discard("O1")) == "draw_first"
        assert match.reason(Close("O1")) == "draw_first"

    def test_a_second_one_is_refused(self) -> None:
        """CC-R13, mistakes=refuse."""
        match = Match().deal().plays(DrawStock())
        assert match.reason(DrawStock()) == "already_drawn"
        assert match.reason(DrawDiscard()) == "already_drawn"

    def test_only_who_is_at_turn_does_and_only_what_belongs_to_a_turn(self) -> None:
        match = Match().deal()
        assert match.reason(DrawStock(), 1) == "not_your_turn"
        assert match.legal(1) == []
        for command in (Expose(), LayOff("O1", 0), Pass(), Reenter()):
            assert match.reason(command) == "not_now"


class TestDiscard:
    def test_one_card_goes_face_up_and_the_next_in_order_is_at_turn(self) -> None:
        match = Match().deal("O1 O3 O5 C2 C4 E6 B7", stock="B12").plays(DrawStock())
        assert match.do(Discard("O3")) == (Discarded(0, "O3", 1), TurnBegan((1,)))
        assert match.view(2).up_card == "O3"
        assert match.view(0).hand == cards("O1 O5 C2 C4 E6 B7 B12")

    def test_after_the_dealer_the_forehand_is_at_turn(self) -> None:
        match = Match().deal().silent(5)
        (discarded, _) = match.do(GAME.idle(match.state, 2))
        assert isinstance(discarded, Discarded)
        assert discarded.next == 0

    def test_the_card_just_taken_may_be_thrown_back(self) -> None:
        """CC-R17."""
        match = Match().deal(up="E5").plays(DrawDiscard())
        assert Discard("E5") in match.legal()
        match.do(Discard("E5"))
        assert match.view(None).discards == ("E5",)

    def test_each_card_of_the_hand_is_listed_and_no_other_may_be_thrown(self) -> None:
        match = Match().deal("O1 O3 O5 C2 C4 E6 B7", stock="B12").plays(DrawStock())
        assert match.legal() == [Discard(card) for card in cards("O1 O3 O5 C2 C4 E6 B7 B12")]
        assert match.reason(Discard("O2")) == "card_not_held"

    def test_of_two_alike_one_is_thrown_and_it_is_listed_once(self) -> None:
        """CC-101."""
        match = Match(seats=5).deal("C7 C7 O7 E1 B2 B4 E10", stock="O12").plays(DrawStock())
        assert match.legal().count(Discard("C7")) == 1
        match.do(Discard("C7"))
        assert match.view(0).hand == cards("O7 O12 C7 E1 E10 B2 B4")

    def test_where_no_mistakes_are_made_it_ends_the_turn(self) -> None:
        match = Match().deal()
        assert match.reason(EndTurn()) == "turn_ends_by_discard"
        match.do(DrawStock())
        assert match.reason(EndTurn()) == "turn_ends_by_discard"


class TestLoopGuard:
    """Referee's ruling 5: not more than three turns a player in a row are begun from the discards."""

    def loop(self, match: Match, turns: int) -> Match:
        for _ in range(turns):
            match.do(DrawDiscard())
            taken = match.state.drawn
            assert taken is not None
            match.do(Discard(taken))
        return match

    def test_after_three_rounds_the_stock_must_be_drawn_from(self) -> None:
        match = self.loop(Match().deal(), 8)
        assert DrawDiscard() in match.legal()
        assert not match.view(None).must_draw_stock
        self.loop(match, 1)
        assert match.view(None).must_draw_stock
        assert match.legal() == [DrawStock()]
        assert match.reason(DrawDiscard()) == "stock_must_be_drawn"

    def test_a_turn_from_the_stock_begins_the_count_anew(self) -> None:
        match = self.loop(Match().deal(), 8).silent(2)
        self.loop(match, 8)
        assert DrawDiscard() in match.legal()
        self.loop(match, 1)
        assert match.legal() == [DrawStock()]

    def test_so_does_a_deal(self) -> None:
        match = self.loop(Match().deal(), 9).totals(0, 0, 0).deal(deal=2)
        assert DrawDiscard() in match.legal()

    def test_only_players_of_the_deal_count(self) -> None:
        match = Match().totals(101, 0, 0).given(WentOut((0,))).deal()
        self.loop(match, 6)
        assert match.legal() == [DrawStock()]

    def test_with_mistakes_a_second_draw_neither_counts_nor_is_held_to_it(self) -> None:
        match = Match(TABLE, seats=2).deal()
        for turn in range(6):
            match.plays(DrawDiscard(), DrawStock() if turn < 5 else DrawDiscard())
            drawn = match.state.drawn
            assert drawn is not None
            match.plays(Discard(drawn), Discard((match.view(match.to_act).hand or ())[0]), EndTurn())
        assert match.legal() == [DrawStock()]


class TestMistakes:
    """CC-R13, mistakes=table: one or two draws, then one or two discards, then the end of the turn."""

    def table(self, hand: str = "O1 O3 O5 C2 C4 E6 B7") -> Match:
        return Match(TABLE).deal(hand, stock="B12 E10 E3")

    def test_one_of_each_leaves_seven_cards(self) -> None:
        match = self.table().plays(DrawStock())
        assert match.do(Discard("O1")) == (Discarded(0, "O1", None), TurnBegan((0,)))
        assert match.do(EndTurn()) == (TurnEnded(0, 1), TurnBegan((1,)))

    def test_two_of_each_leave_seven_cards_too(self) -> None:
        match = self.table().plays(DrawStock(), DrawStock(), Discard("O1"), Discard("O3"))
        assert match.do(EndTurn()) == (TurnEnded(0, 1), TurnBegan((1,)))

    @pytest.mark.parametrize(
        ("commands", "size"),
        [
            ([DrawStock(), DrawStock(), Discard("O1")], 8),
            ([DrawStock(), DrawDiscard(), Discard("O1")], 8),
            ([DrawStock(), Discard("O1"), Discard("O3")], 6),
        ],
    )
    def test_eight_or_six_cards_at_its_end_are_irregular(self, commands: list[DrawStock], size: int) -> None:
        match = self.table().plays(*commands)
        assert match.do(EndTurn()) == (HandIrregular(0, size), TurnEnded(0, 1), TurnBegan((1,)))
        assert match.view(None).irregular == (0,)

    def test_nine_can_not_be_kept(self) -> None:
        match = self.table().plays(DrawStock(), DrawStock())
        assert match.reason(EndTurn()) == "discard_first"
        assert match.reason(DrawStock()) == "already_drawn"
        assert match.reason(DrawDiscard()) == "already_drawn"

    def test_a_turn_does_not_end_before_a_draw_and_a_discard(self) -> None:
        match = self.table()
        assert match.reason(EndTurn()) == "draw_first"
        match.do(DrawStock())
        assert match.reason(EndTurn()) == "discard_first"
        assert EndTurn() not in match.legal()
        match.do(Discard("O1"))
        assert match.legal()[0] == EndTurn()

    def test_draws_come_before_discards_of_which_there_are_two(self) -> None:
        match = self.table().plays(DrawStock(), Discard("O1"))
        for command in (DrawStock(), DrawDiscard(), Close("O3")):
            assert match.reason(command) == "already_discarded"
        match.do(Discard("O3"))
        assert match.reason(Discard("O5")) == "already_discarded"
        assert match.legal() == [EndTurn()]

    def test_nobody_closes_after_a_second_draw(self) -> None:
        match = self.table(FIVE_LEFT).plays(DrawStock())
        assert any(isinstance(command, Close) for command in match.legal())
        match.do(DrawStock())
        assert match.reason(Close("B12")) == "drawn_twice"
        assert not any(isinstance(command, Close) for command in match.legal())

    @pytest.mark.parametrize(
        ("commands", "size"),
        [
            ([DrawStock(), DrawStock(), Discard("B12"), EndTurn()], 8),
            ([DrawStock(), Discard("B12"), Discard("E4"), EndTurn()], 6),
        ],
    )
    def test_an_irregular_hand_draws_one_throws_one_and_never_closes(
        self, commands: list[DrawStock], size: int
    ) -> None:
        match = self.table(FIVE_LEFT).plays(*commands).silent(6)
        assert match.reason(Close("O2")) == "irregular_hand"
        match.do(DrawStock())
        assert match.reason(DrawStock()) == match.reason(DrawDiscard()) == "irregular_hand"
        assert match.reason(Close("C1")) == "irregular_hand"
        assert {type(command) for command in match.legal()} == {Discard}
        match.do(Discard("C1"))
        assert match.reason(Discard("O2")) == "irregular_hand"
        assert match.legal() == [EndTurn()]
        assert match.do(EndTurn()) == (TurnEnded(0, 1), TurnBegan((1,)))
        assert match.state.held[0] == size

    def test_it_is_regular_again_in_the_next_deal(self) -> None:
        match = self.table().plays(DrawStock(), Discard("O1"), Discard("O3"), EndTurn())
        match.totals(0, 0, 0).deal(FIVE_LEFT, stock="B12", deal=2).plays(DrawStock())
        assert match.view(None).irregular == ()
        match.do(Close("B12"))


class TestClose:
    def closing(self, options: Options | None = None, hand: str = FIVE_LEFT, stock: str = "B12") -> Match:
        return Match(options).deal(hand, stock=stock).plays(DrawStock())

    def test_one_card_goes_face_down_and_what_combines_is_laid_out(self) -> None:
        closed, exposed, *_ = self.closing().do(Close("B12"))
        assert closed == Closed(0, "B12")
        assert exposed == Exposed(0, laid("O2 O3 O4 O5 O6"), 2, chinchon=False)

    def test_up_to_five_points_may_be_left_over_in_any_number_of_cards(self) -> None:
        """CC-27, CC-29."""
        match = self.closing()
        assert match.reason(Close("E4")) == "deadwood_over_limit"
        assert match.reason(Close("C1")) == "deadwood_over_limit"
        assert match.reason(Close("O2")) == "deadwood_over_limit"
        assert [c for c in match.legal() if isinstance(c, Close)] == [Close("B12", laid("O2 O3 O4 O5 O6"))]

    @pytest.mark.parametrize(("limit", "may"), [(0, False), (4, False), (5, True), (10, True)])
    def test_the_table_agrees_how_many(self, limit: int, may: bool) -> None:
        match = self.closing(Options(close_limit=limit))
        assert (Close("B12", laid("O2 O3 O4 O5 O6")) in match.legal()) == may
        if not may:
            assert match.reason(Close("B12")) == "deadwood_over_limit"
            assert match.reason(Close("B12", laid("O2 O3 O4 O5 O6"))) == "deadwood_over_limit"

    def test_the_player_says_which_combinations_in_whatever_order(self) -> None:
        match = self.closing(hand="O5 C5 E5 B5 B6 B7 B4")
        own = Close("B12", ((*cards("B7 B5 B6 B4"),), (*cards("E5 O5 C5"),)))
        _, exposed, *_ = match.do(own)
        assert exposed == Exposed(0, laid("O5 C5 E5", "B4 B5 B6 B7"), 0, chinchon=False)

    def test_every_layout_within_the_limit_is_listed_for_every_card_face_down(self) -> None:
        match = self.closing(hand="O5 C5 E5 B5 B6 B7 B4", stock="B12")
        closes = [command for command in match.legal() if isinstance(command, Close)]
        assert Close("B12", laid("O5 C5 E5", "B4 B5 B6 B7")) in closes
        assert Close("B12", laid("O5 C5 E5 B5", "B6 B7 B4")) not in closes
        assert len(closes) == len(set(closes))
        assert all(isinstance(match.referee.decide(GAME, match.table, match.ask(each))[0], Closed) for each in closes)

    def test_without_combinations_the_best_layout_is_laid_out(self) -> None:
        match = self.closing(hand="O5 C5 E5 B5 B6 B7 B4")
        first = next(c for c in match.legal() if isinstance(c, Close) and c.face_down == "B12")
        asked = [match.referee.decide(GAME, match.table, match.ask(command)) for command in (first, Close("B12"))]
        assert asked[0] == asked[1]

    def test_a_card_of_a_combination_may_go_face_down(self) -> None:
        """CC-31."""
        match = self.closing(hand="O5 C5 E5 B5 B1 B2 B3", stock="B4")
        _, exposed, *_ = match.do(Close("B5"))
        assert exposed == Exposed(0, laid("O5 C5 E5", "B1 B2 B3 B4"), 0, chinchon=False)

    def test_what_can_not_be_laid_out_is_refused_with_the_reason(self) -> None:
        match = self.closing(hand="O2 O3 O4 C1 E1 B1 E4")
        assert match.reason(Close("O12")) == "card_not_held"
        assert match.reason(Close("B12", laid("O2 O3 O4 O5"))) == "card_not_held"
        assert match.reason(Close("O2", laid("O2 O3 O4"))) == "card_not_held"
        assert match.reason(Close("B12", laid("O2 O3 E4"))) == "no_combination"
        assert match.reason(Close("B12", laid("O2 O3 O4"))) == "combination_left"
        assert match.reason(Close("B12", laid("O2 O3 O4", "O2 O3 O4"))) == "card_not_held"

    def test_where_agreed_nobody_closes_in_their_own_first_turn(self) -> None:
        match = self.closing(Options(first_round_close="no"))
        assert match.reason(Close("B12")) == "first_round"
        assert not any(isinstance(command, Close) for command in match.legal())
        match.plays(Discard("B12")).silent(4).plays(DrawStock())
        assert match.state.turns == [2, 1, 1]
        assert match.do(Close(match.state.drawn or "O1"))

    def test_before_the_second_turns_draw_the_draw_is_what_is_missing(self) -> None:
        match = self.closing(Options(first_round_close="no")).plays(Discard("B12")).silent(4)
        assert match.reason(Close("O2")) == "draw_first"


class TestIdle:
    def test_a_silent_player_draws_from_the_stock_and_throws_what_came(self) -> None:
        match = Match().deal(up="E5", stock="O4")
        assert GAME.idle(match.state, 0) == DrawStock()
        match.do(DrawStock())
        assert GAME.idle(match.state, 0) == Discard("O4")

    def test_or_what_was_taken(self) -> None:
        match = Match().deal(up="E5").plays(DrawDiscard())
        assert GAME.idle(match.state, 0) == Discard("E5")

    def test_and_ends_the_turn_where_mistakes_are_made(self) -> None:
        match = Match(TABLE).deal(stock="O4").silent(2)
        assert GAME.idle(match.state, 0) == EndTurn()
        match.silent()
        assert match.to_act == 1

    def test_a_silent_player_never_closes(self) -> None:
        match = Match().deal(FIVE_LEFT, stock="B12").silent(2)
        assert match.to_act == 1

    def test_who_is_not_asked_has_one_too(self) -> None:
        assert GAME.idle(Match().deal().plays(DrawStock()).state, 2) == DrawStock()
