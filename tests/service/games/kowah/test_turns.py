"""Facts about the start of a deal of Kowah and the turns of those who have not declared."""

from collections.abc import Sequence
from typing import TypeVar

import pytest

from events.games.kowah import Dealt, Discarded, DiscardTaken, FirstDrawn, Options, StockDrawn
from events.table import Shuffled, TurnBegan
from projections.games.kowah import Discarding, begin
from service.chance import number
from service.games.kowah import GAME, Checki, Discard, DrawStock, TakeDiscard
from service.games.kowah.deals import PACK
from tests.service.games.kowah.match import DULL, NINES, TWOS, Match, cards
from tests.stated import Stated

T = TypeVar("T")


class TestStart:
    def test_the_lot_names_who_plays_first_and_eight_cards_come_off_whole(self) -> None:
        lot, first, shuffled, dealt, prompt = GAME.start(
            begin(Options(), 3, (0, 1, 2)), Stated({0: (2, 0, 1), number(1): PACK})
        )
        assert (lot, first, shuffled) == (Shuffled(0, (2, 0, 1)), FirstDrawn(2), Shuffled(number(1), PACK))
        assert dealt == Dealt(1, (2, 0, 1), (PACK[8:16], PACK[16:24], PACK[:8]), PACK[24:], 96)
        assert prompt == TurnBegan((2,))

    def test_hands_lie_in_printed_order_however_they_were_dealt(self) -> None:
        events = list(GAME.start(begin(Options(), 2, (0, 1)), Stated({0: (0, 1), number(1): PACK[::-1]})))
        dealt = events[3]
        assert isinstance(dealt, Dealt)
        assert dealt.hands == (PACK[112:], PACK[104:112])

    def test_untaken_seats_are_skipped(self) -> None:
        events = list(GAME.start(begin(Options(), 6, (1, 3, 4)), Stated({0: (4, 1, 3), number(1): PACK})))
        dealt = events[3]
        assert isinstance(dealt, Dealt)
        assert dealt.order == (4, 1, 3)
        assert [seat for seat, hand in enumerate(dealt.hands) if hand] == [1, 3, 4]

    def test_the_pack_holds_four_of_each_kind_side_by_side_before_it_is_shuffled(self) -> None:
        """KW-01; the pack's order before a shuffle counts, for whoever checks it."""
        packs: list[object] = []

        class Noting(Stated):
            def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
                packs.append(tuple(pack))
                return super().shuffle(pack, c)

        list(GAME.start(begin(Options(), 3, (0, 1, 2)), Noting({0: (0, 1, 2), number(1): PACK})))
        assert packs == [(0, 1, 2), PACK]
        assert len(PACK) == 120
        assert PACK[:5] == cards("C1 C1 C1 C1 C2")
        assert PACK[-12:] == cards("OT OT OT OT RF RF RF RF WF WF WF WF")


class TestDraw:
    def test_the_top_of_the_stock_comes_into_the_hand_unseen_by_others(self) -> None:
        """KW-34."""
        match = Match().deal(stock="C2 WF")
        assert match.do(DrawStock()) == (StockDrawn(0, "C2", 95), TurnBegan((0,)))
        assert match.view(0).hand == cards("C1 C2 C6 S1 S4 S6 S9 M4 OT")
        assert [match.view(viewer).drawn for viewer in match.viewers] == [None, "C2", None, None]
        assert match.view(1).held == (9, 8, 8)
        assert match.state.phase == Discarding(0)

    def test_the_latest_discard_comes_into_the_hand_and_all_saw_it(self) -> None:
        match = Match().deal(stock="S7").plays(DrawStock(), Discard("S7"))
        assert match.view(2).discard == "S7"
        assert match.do(TakeDiscard()) == (DiscardTaken(1, "S7"), TurnBegan((1,)))
        assert match.view(1).hand == tuple(sorted((*cards(DULL[1]), "S7"), key=PACK.index))
        view = match.view(None)
        assert (view.drawn, view.discard, view.thrown_by, view.discards) == ("S7", None, None, ())

    def test_the_first_turn_of_a_deal_has_no_discard_to_take(self) -> None:
        match = Match().deal()
        assert match.legal() == [DrawStock()]
        assert match.reason(TakeDiscard()) == "no_discard"

    def test_nothing_is_thrown_before_and_nothing_drawn_twice(self) -> None:
        match = Match().deal(stock="S7 S7")
        assert match.reason(Discard("C1")) == "draw_first"
        match.plays(DrawStock())
        assert match.reason(DrawStock()) == match.reason(TakeDiscard()) == "already_drawn"
        match.plays(Discard("S7"), TakeDiscard())
        assert match.reason(DrawStock()) == match.reason(TakeDiscard()) == "already_drawn"

    def test_only_who_is_at_turn_does(self) -> None:
        """KW-21."""
        match = Match().deal(stock="S7").plays(DrawStock(), Discard("S7"))
        for command in (TakeDiscard(), DrawStock(), Discard("C3")):
            assert match.reason(command, 2) == match.reason(command, 0) == "not_your_turn"
        assert match.legal(2) == []


class TestDiscard:
    def test_one_card_goes_face_up_and_the_next_in_turn_is_prompted(self) -> None:
        match = Match().deal(stock="S7").plays(DrawStock())
        assert match.do(Discard("C1")) == (Discarded(0, "C1", 1), TurnBegan((1,)))
        assert match.view(0).hand == cards("C6 S1 S4 S6 S7 S9 M4 OT")
        assert (match.view(1).discard, match.view(1).thrown_by, match.view(1).held) == ("C1", 0, (8, 8, 8))

    def test_turns_go_clockwise_over_the_seats_that_are_taken(self) -> None:
        match = Match(seats=6, taken=(1, 2, 5)).deal()
        turns = []
        for _ in range(7):
            turns.append(match.to_act)
            match.silent(2)
        assert turns == [1, 2, 5, 1, 2, 5, 1]

    def test_a_card_that_is_not_held_is_refused(self) -> None:
        match = Match().deal(stock="S7").plays(DrawStock())
        assert match.reason(Discard("WF")) == "card_not_held"

    def test_a_discard_that_was_taken_may_be_thrown_again(self) -> None:
        """KW-R11."""
        match = Match().deal(stock="S7").plays(DrawStock(), Discard("S7"), TakeDiscard(), Discard("S7"))
        assert match.to_act == 2
        assert match.view(2).seen == ("S7",)

    def test_each_card_is_listed_once_and_with_every_declaration_that_may_go_with_it(self) -> None:
        match = Match().deal(TWOS, stock="C2").plays(DrawStock())
        listed = match.legal()
        alone = [*map(Discard, dict.fromkeys(cards("C2 C5 C7 S5 S7 M5")))]
        # Without S7 there are three C2 and three fives beside C7 C7.
        assert set(listed) == {*alone, Discard("C2", "C2"), Discard("S7", "C7")}
        assert len(listed) == len(alone) + 2


class TestLoopGuard:
    @pytest.mark.parametrize("seats", [2, 3, 6])
    def test_after_three_rounds_begun_from_the_discards_one_begins_from_the_stock(self, seats: int) -> None:
        match = Match(seats=seats, chance=Stated({0: range(seats), number(1): PACK})).started().silent(2)
        for taken in range(3 * seats):
            assert match.legal() == [DrawStock(), TakeDiscard()], taken
            assert not match.view(None).must_draw_stock
            match.plays(TakeDiscard()).silent()
        assert match.legal() == [DrawStock()]
        assert match.reason(TakeDiscard()) == "stock_must_be_drawn"
        assert match.view(None).must_draw_stock
        match.plays(DrawStock())
        assert not match.view(None).must_draw_stock
        match.silent()
        assert match.legal() == [DrawStock(), TakeDiscard()]

    def test_a_draw_from_the_stock_begins_the_count_anew(self) -> None:
        match = Match(seats=2).deal().silent(2)
        for _ in range(5):
            match.plays(TakeDiscard()).silent()
        match.silent(2)
        for _ in range(6):
            match.plays(TakeDiscard()).silent()
        assert match.reason(TakeDiscard()) == "stock_must_be_drawn"


class TestOrderOfReasons:
    def test_whose_turn_it_is_comes_first_then_the_phase_then_the_cards(self) -> None:
        match = Match().deal(TWOS, NINES, stock="S9")
        assert match.reason(Checki("C2")) == "declare_after_discard"
        assert match.reason(Checki("C2"), 1) == "not_your_turn"
        match.plays(DrawStock())
        assert match.reason(Checki("C2")) == "declare_after_discard"
        assert match.reason(Discard("WF", "C9")) == "card_not_held"
        assert match.view(None).phase == "discard"
        match.plays(Discard("S9"))
        assert match.view(None).phase == "draw"
