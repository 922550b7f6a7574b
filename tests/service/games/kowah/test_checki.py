"""Facts about declaring, and about what a player who has declared may do."""

import pytest

from events.games.kowah import Declared, Discarded, Options, StockDrawn, StockTurned
from events.table import TurnBegan
from projections.table import Player
from service.actions import actions
from service.games.kowah import GAME, Checki, Discard, DrawStock, TakeDiscard
from service.reactors.bots import bot_to_act
from tests.service.games.kowah.match import DULL, FIVES, NINES, TWOS, Match, cards


def thrown(*hands: str, options: Options | None = None) -> Match:
    """Return a table at which the first player drew and threw a card that nobody needs."""
    return Match(options).deal(*(hands or (TWOS,)), stock="S9 M1").plays(DrawStock(), Discard("S9"))


class TestWithTheDiscard:
    def test_it_is_declared_in_the_same_breath(self) -> None:
        match = Match().deal(TWOS, stock="S9").plays(DrawStock())
        events = match.do(Discard("S9", "C2"))
        assert events == (Discarded(0, "S9", 1), Declared(0, "C2", ("C2",), None), TurnBegan((1,)))
        assert match.view(None).declared == ("C2", None, None)

    @pytest.mark.parametrize(
        ("hand", "kind", "reason"),
        [
            (TWOS, "C5", "no_pair"),
            (TWOS, "C7", "no_triplets"),
            ("C5 C5 C5 S5 M5 C8 S8 M8", "C5", "not_two_two_one"),
        ],
    )
    def test_what_is_not_ready_is_refused_and_nothing_is_thrown(self, hand: str, kind: str, reason: str) -> None:
        match = Match().deal(hand, stock="S9").plays(DrawStock())
        (pair,) = cards(kind)
        assert match.reason(Discard("S9", pair)) == reason
        assert match.view(0).held == (9, 8, 8)

    def test_the_eight_that_stay_are_judged(self) -> None:
        """The hand of nine holds all that is wanted; what is thrown breaks it."""
        match = Match().deal(TWOS, stock="S9").plays(DrawStock())
        assert match.reason(Discard("C2", "C2")) == "no_pair"
        assert match.reason(Discard("M5", "C2")) == "no_triplets"

    def test_it_is_a_choice_that_may_be_taken_later(self) -> None:
        """KW-24."""
        match = thrown().silent(4)
        assert match.view(0).declared == (None, None, None)
        match.plays(DrawStock())
        assert any(isinstance(command, Discard) and command.checki == "C2" for command in match.legal())


class TestAfterTheDiscard:
    def test_the_thrower_may_declare_until_the_next_player_acts(self) -> None:
        match = thrown()
        assert match.do(Checki("C2"), 0) == (Declared(0, "C2", ("C2",), None),)
        assert match.view(1).declared == ("C2", None, None)

    @pytest.mark.parametrize("acts", [DrawStock(), TakeDiscard()])
    def test_then_it_is_too_late(self, acts: DrawStock | TakeDiscard) -> None:
        """KW-118."""
        match = thrown().plays(acts)
        assert match.reason(Checki("C2"), 0) == "not_your_turn"
        assert match.listed(0) == ()
        match.silent()
        assert match.reason(Checki("C2"), 0) == "not_your_turn"
        assert match.listed(0) == ()

    def test_the_prompt_of_the_next_player_stands_and_its_turn_with_it(self) -> None:
        match = thrown()
        before = match.table.turn
        match.do(Checki("C2", turn=before), 0)
        assert (match.table.to_act, match.table.turn, match.table.version) == ((1,), before, before + 1)
        match.do(DrawStock(turn=before))

    def test_it_is_listed_though_the_thrower_is_not_prompted(self) -> None:
        match = thrown()
        assert match.view(0).to_act == (1,)
        found = actions(GAME, match.table, 0)
        assert found.legal == (Checki("C2", turn=match.table.turn),)
        assert {one.type: one.reason for one in found.refused} == dict.fromkeys(
            ("kowah.draw_stock", "kowah.take_discard", "kowah.discard"), "not_your_turn"
        )
        assert match.listed(2) == ()

    def test_nothing_tells_the_others_whether_the_thrower_could(self) -> None:
        """The same turn, once with a hand that is ready and once with another."""
        match, other = thrown(TWOS), thrown("C2 C2 C5 C7 C7 S5 S7 M6")
        assert match.listed(0)
        assert not other.listed(0)
        for viewer in (None, 1, 2):
            assert match.view(viewer) == other.view(viewer)
            for seat in (1, 2):
                assert actions(GAME, match.table, seat) == actions(GAME, other.table, seat)
            assert match.reason(Checki("C2"), 2) == other.reason(Checki("C2"), 2) == "not_your_turn"

    def test_a_bot_is_moved_when_it_is_prompted_and_not_for_what_it_may_do_besides(self) -> None:
        match = thrown()
        match.table.players[0] = Player("bot:anyone/1#0", "", "anyone/1")
        assert match.listed(0)
        assert bot_to_act(match.table) is None

    def test_what_is_not_ready_is_refused_for_what_it_lacks(self) -> None:
        """KW-110."""
        match = thrown()
        assert match.reason(Checki("C7"), 0) == "no_triplets"
        assert match.reason(Checki("S2"), 0) == "no_pair"
        assert thrown(DULL[0]).listed(0) == ()

    def test_it_is_not_said_twice_and_not_taken_back(self) -> None:
        """KW-R3."""
        match = thrown()
        match.do(Checki("C2"), 0)
        assert match.reason(Checki("C2"), 0) == "already_declared"
        assert match.listed(0) == ()
        match.silent(4).plays(DrawStock())
        card = match.state.drawn
        assert card is not None
        assert match.reason(Discard(card, "C2")) == "already_declared"

    def test_no_dealt_hand_is_declared_before_its_first_discard(self) -> None:
        """KW-44."""
        match = Match().deal(TWOS, NINES)
        assert match.reason(Checki("C2")) == "declare_after_discard"
        assert match.reason(Checki("M9"), 1) == "not_your_turn"
        assert match.listed(1) == ()

    def test_where_the_next_seat_is_given_up_it_has_acted_at_once(self) -> None:
        match = Match().deal(TWOS, stock="S9")
        match.resigns(1)
        match.plays(DrawStock(), Discard("S9"))
        assert match.to_act == 2
        assert match.reason(Checki("C2"), 0) == "not_your_turn"

    def test_who_gives_up_meanwhile_may_not(self) -> None:
        match = thrown()
        match.resigns(0)
        assert match.listed(0) == ()
        assert match.reason(Checki("C2"), 0) == "resigned"

    def test_of_two_players_each_may(self) -> None:
        match = Match(seats=2).deal(TWOS, NINES, stock="S9 S8").plays(DrawStock(), Discard("S9"))
        match.do(Checki("C2"), 0)
        match.plays(DrawStock(), Discard("S8"))
        match.do(Checki("M9"), 1)
        assert match.view(None).declared == ("C2", "M9")


class TestDeclared:
    def test_draws_are_seen_by_all_from_then_on(self) -> None:
        """KW-120."""
        match = thrown()
        match.do(Checki("C2"), 0)
        assert match.do(DrawStock()) == (StockTurned(1, "M1", 95 - 1), TurnBegan((1,)))
        assert [match.view(viewer).drawn for viewer in match.viewers] == ["M1"] * 4
        assert match.view(2).seen == ("S9", "M1")
        assert match.view(2).hand is not None
        match.plays(Discard("C4"))
        assert match.view(2).seen == ("S9", "M1", "C4")

    def test_a_draw_before_stays_with_who_drew_it(self) -> None:
        match = thrown()
        assert match.events(StockDrawn) == [StockDrawn(0, "S9", 95)]
        match.do(Checki("C2"), 0)
        match.plays(DrawStock(), Discard("M1"))
        assert match.view(None).seen == ("S9", "M1")

    def test_only_the_card_that_was_drawn_may_be_thrown(self) -> None:
        """KW-32."""
        match = Match().deal(TWOS, stock="S9 S8 S8 M9").declared(0, "C2").silent(4).plays(DrawStock())
        assert match.legal() == [Discard("M9")]
        assert match.reason(Discard("M5")) == "hand_declared"
        match.plays(Discard("M9"))
        assert match.view(0).hand == cards(TWOS)

    def test_no_discard_may_be_taken(self) -> None:
        """KW-R6."""
        match = Match().deal(TWOS, stock="S9 S8 S8").declared(0, "C2").silent(4)
        assert match.legal() == [DrawStock()]
        assert match.reason(TakeDiscard()) == "hand_declared"
        assert match.view(None).must_draw_stock

    def test_others_may_take_what_it_throws(self) -> None:
        """KW-113."""
        match = Match().deal(TWOS, stock="S9").declared(0, "C2")
        assert match.legal() == [DrawStock(), TakeDiscard()]

    def test_the_pair_is_shown_and_no_other_card(self) -> None:
        """KW-R2, show=pair."""
        match = Match().deal(TWOS, stock="S9").declared(0, "C2")
        for viewer in (None, 1, 2):
            view = match.view(viewer)
            assert (view.declared, view.shown, view.waits) == (("C2", None, None), (None, None, None), ())
        assert match.view(0).waits == ("C2",)

    def test_the_whole_hand_is_shown_where_that_is_agreed(self) -> None:
        """KW-R2, show=hand."""
        match = Match(Options(show="hand")).deal(TWOS, stock="S9").declared(0, "C2")
        assert match.events(Declared) == [Declared(0, "C2", ("C2",), cards(TWOS))]
        assert match.view(None).shown == (cards(TWOS), None, None)

    def test_what_else_the_hand_waits_for_is_the_players_own(self) -> None:
        """KW-R4, either_pair=on."""
        match = Match(Options(either_pair="on")).deal(FIVES, stock="S9").declared(0, "S5")
        assert match.view(0).waits == cards("C5 S5")
        assert [match.view(viewer).waits for viewer in (None, 1, 2)] == [()] * 3
        assert match.view(None).declared[0] == "S5"
