"""Facts about captures and the score of Chinkway."""

from typing import Any

import msgspec
import pytest

from events.base import By, Event
from events.cards import FrenchCard
from events.games.chinkway import (
    Captured,
    DealScored,
    Dealt,
    Declined,
    Options,
    TrickTaken,
)
from events.table import Ended, Scored, Shuffled, TurnBegan
from projections.games.chinkway import SEATS, Capturing, Discarding, Playing
from service.game import Ask
from service.games.chinkway import GAME, Capture, Decline, Play, capturable, quests, score
from tests.cases.chinkway_scene import CHANCE, Scene
from tests.service.games.chinkway.match import Match, chance, idle, reason, scene

QUEST = ["3C", "AH", "JC", "QD", "9D"]


class TestCapture:
    def trick(self, options: Options | None = None, **given: object) -> Scene:
        told = {"quest_cards": QUEST, "trick": ["5C", "8S", "2S", "TS", "JH"], "winner": "P2", "trump": "NT"}
        return scene(options, **told | given)

    def test_the_taker_may_capture_cards_of_the_quests_categories_or_decline(self) -> None:
        match = self.trick()
        assert match.state.phase == Capturing(1, ("C5", "HJ"), ("C5", "HJ"))
        assert list(GAME.legal(match.state, 1)) == [Capture("C5"), Capture("HJ"), Decline()]

    def test_a_refusal_says_what_is_wrong_with_the_card(self) -> None:
        match = self.trick()
        assert reason(match, Capture("CA")) == "card_not_in_trick"
        assert reason(match, Capture("S8")) == "category_not_in_quest"
        assert reason(match, Capture("C5"), 2) == "not_your_turn"
        assert reason(match, Play((match.state.hands[1] or [])[0])) == "not_now"
        surplus = self.trick(Options(surplus="refuse"), partner_has=["4C"])
        assert reason(surplus, Capture("C5")) == "part_already_met"

    def test_a_capture_counts_for_the_whole_side_and_its_taker_leads(self) -> None:
        match = self.trick()
        assert match.decide(1, {"type": "chinkway.capture", "card": "HJ"}) is None
        assert match.events[-2:] == [Captured(1, "HJ", "court", (1, 2)), TurnBegan((1,))]
        assert [sum(met.values()) for met in match.state.met] == [0, 1, 1, 0, 0]
        assert match.state.phase == Playing(1)

    def test_where_partners_are_summed_it_counts_for_the_taker_alone(self) -> None:
        match = self.trick(Options(team_scoring="sum"), partner_has=["KS"])
        assert match.decide(1, {"type": "chinkway.capture", "card": "HJ"}) is None
        assert match.last(Captured).credited == (1,)

    def test_a_surplus_capture_counts_for_nobody(self) -> None:
        match = self.trick(partner_has=["4C"])
        assert isinstance(match.state.phase, Capturing)
        assert match.state.phase.needed == ("HJ",)
        assert match.decide(1, {"type": "chinkway.capture", "card": "C5"}) is None
        assert match.last(Captured).credited == ()

    def test_declining_is_for_good(self) -> None:
        match = self.trick()
        assert match.decide(1, {"type": "chinkway.decline"}) is None
        assert match.events[-2:] == [Declined(1), TurnBegan((1,))]
        assert reason(match, Capture("C5")) == "not_now"

    @pytest.mark.parametrize(
        ("options", "given"),
        [
            (Options(), {"trick": ["5S", "8S", "2S", "TS", "4S"], "winner": "P5"}),
            (Options(surplus="refuse"), {"trick": ["5C", "8S", "2S", "TS", "4S"], "partner_has": ["4C"]}),
        ],
    )
    def test_where_no_card_may_be_captured_nobody_is_asked(self, options: Options, given: dict[str, Any]) -> None:
        match = self.trick(options, **given)
        taken = match.last(TrickTaken)
        assert taken.choices == ()
        assert match.events[-1] == TurnBegan((taken.seat,))
        assert match.state.phase == Playing(taken.seat)

    def test_what_other_sides_captured_does_not_matter(self) -> None:
        wanted, nothing = quests.count(["C3", "HA", "CJ"], "plain"), quests.count([], "plain")
        for surplus in ("allow", "refuse"):
            options = msgspec.convert({"surplus": surplus}, Options)
            assert capturable(["C5", "S2"], wanted, nothing, options) == (("C5",), ("C5",))

    def test_an_ace_is_captured_by_the_tables_reading(self) -> None:
        court, nothing = quests.count(["CJ"], "plain"), quests.count([], "plain")
        assert capturable(["CA", "SK"], court, nothing, Options())[0] == ("SK",)
        assert capturable(["CA", "SK"], court, nothing, Options(aces="court"))[0] == ("CA", "SK")


class TestScore:
    def test_a_deal_ends_with_its_score_and_the_next_deal(self) -> None:
        match = self.last_trick(deal=1)
        assert [type(event) for event in self.finish(match)] == [
            Captured, DealScored, Scored, Shuffled, Dealt, TurnBegan,
        ]  # fmt: skip
        dealt = match.last(Dealt)
        assert (dealt.deal, dealt.dealer, dealt.sides) == (2, 1, ((1,), (2, 3), (4, 0)))
        assert match.state.phase == Discarding(1)
        assert match.last(DealScored).points == (0, 0, 0, 15, 15)

    def test_the_last_deal_ends_the_match_and_level_totals_win_jointly(self) -> None:
        match = self.last_trick(deal=10)
        assert [type(event) for event in self.finish(match)] == [Captured, DealScored, Scored, Ended]
        # Seat 4 deals the tenth; its players 4 and 2 are seats 2 and 0.
        assert match.last(DealScored).totals == (20, 20, 15, 5, 0)
        assert match.last(Ended) == Ended("finished", (1, 1, 3, 4, 5))
        assert list(GAME.legal(match.state, 1)) == []
        assert reason(match, Decline(), 1) == "not_now"

    def test_a_forfeited_seat_comes_last_in_the_result(self) -> None:
        match = self.last_trick(deal=10)
        by = By(seat=match.state.phase.seat)
        *_, ended = GAME.decide(match.state, Ask(by, Capture("SJ"), 0, CHANCE, forfeits=(1,)))
        assert ended == Ended("finished", (1, 5, 2, 3, 4))

    def last_trick(self, deal: int) -> Scene:
        return scene(
            deal=deal,
            before={"A": 5, "B": 20, "C": 0, "D": 5, "E": 0},
            trick_number=10,
            quest_cards=["7S", "9H", "3H", "JC", "KH"],
            captured={"P4": ["4S", "TH", "2H", "QD"]},
            plays=[["P4", "KS"], ["P5", "9S"], ["P1", "3S"], ["P2", "JS"], ["P3", "8S"]],
            trump="NT",
        )

    def finish(self, match: Scene) -> list[Event]:
        before = len(match.events)
        assert match.state.phase.seat is not None
        assert match.decide(match.state.phase.seat, {"type": "chinkway.capture", "card": "SJ"}) is None
        return match.events[before:]

    def test_partners_pool_or_add_and_the_dealer_scores_alone(self) -> None:
        wanted = quests.count(["S7", "H9", "H3", "CJ", "HK"], "plain")
        hauls: list[list[FrenchCard]] = [["S4"], ["S5", "HT"], ["S6"], [], ["DQ"]]
        sides = ((0,), (1, 2), (3, 4))
        assert score(hauls, sides, wanted, Options()) == ((1, 2, 2, 1, 1), (1, 3, 3, 1, 1))
        assert score(hauls, sides, wanted, Options(team_scoring="sum")) == ((1, 2, 1, 0, 1), (1, 4, 4, 1, 1))

    def test_an_eleventh_deal_is_the_first_dealers_third(self) -> None:
        match = Match(Options(deals=11), chance(4))
        for _ in match.play(lambda _: idle(match)):
            pass
        dealers = [event.dealer for event in match.events(Dealt)]
        assert dealers == [(dealers[0] + deal) % SEATS for deal in range(11)]
        p1, p2, p3, p4, p5 = ((dealers[0] + place) % SEATS for place in range(SEATS))
        assert match.events(Dealt)[-1].sides == ((p1,), (p2, p4), (p3, p5))
