"""Facts about seats of Chinchón whose players have resigned: they play on silently, and never for ever."""

from events.games.chinchon import (
    Discarded,
    Options,
    PotTaken,
    ReentriesClosed,
    ReentryAnswered,
    ReentryOffered,
    Staked,
    StockDrawn,
    TurnEnded,
    WentOut,
)
from events.table import Answered, Ended, Resigned, TurnBegan
from service.games.chinchon import DrawStock, Pass, Reenter, StayOut
from tests.service.games.chinchon.match import CHINCHON, FIVE_LEFT, HANDS, POINTS, Match


def window(*resigned: int, totals: tuple[int, ...] = (60, 101, 70, 120)) -> Match:
    """Return a match of four after a deal that left these totals, while who is out is asked."""
    match = Match(seats=4).given(Staked((0, 1, 2, 3), 4))
    before = (total - points for total, points in zip(totals, POINTS, strict=True))
    match.totals(*before).closed(*HANDS)
    for seat in resigned:
        match.resigns(seat)
    match.scored()
    return match


class TestSilence:
    def test_a_resigned_players_turn_is_part_of_the_decision_that_brings_it(self) -> None:
        match = Match().deal(stock="O4 B12").plays(DrawStock())
        match.resigns(1)
        _, drawn, discarded, prompt = match.do(match.legal()[-1])
        assert drawn == StockDrawn(1, "B12", 16)
        assert discarded == Discarded(1, "B12", 2)
        assert prompt == TurnBegan((2,))

    def test_with_mistakes_too(self) -> None:
        match = Match(Options(mistakes="table")).deal()
        events = match.resigns(0)
        assert [type(event) for event in events] == [Resigned, StockDrawn, Discarded, TurnEnded, TurnBegan]

    def test_at_the_end_of_a_deal_too(self) -> None:
        match = Match().closed("C4 C5 C6 O1 O2 O3 E1", "E10 E11 E12 O5 O7 C1 B3")
        match.resigns(1)
        assert match.to_act == 2
        match.do(Pass())
        assert match.view(None).combinations[1] == (("E10", "E11", "E12"),)

    def test_it_stays_out(self) -> None:
        match = window()
        assert match.resigns(1) == (Resigned(1), ReentryAnswered(1, reenter=False), Answered(1))
        events = match.do(Reenter(), 3)
        assert events[2] == ReentriesClosed((3,), (1,), 70)

    def test_the_last_of_them_brings_the_answers(self) -> None:
        match = window()
        match.do(Reenter(), 3)
        assert match.resigns(1)[3] == ReentriesClosed((3,), (1,), 70)
        assert match.state.deal == 2


class TestNobodyLeftIn:
    """Silent players alone could play on for ever, in one decision."""

    def test_a_match_ends_when_the_last_one_who_is_in_resigns(self) -> None:
        match = Match(seats=4).totals(0, 10, 101, 105).given(WentOut((2, 3))).deal()
        match.resigns(0)
        assert match.resigns(1)[:2] == (Resigned(1), Ended("finished", (4, 3, 1, 2)))

    def test_not_when_one_does_who_is_out(self) -> None:
        match = Match(seats=4).totals(0, 10, 101, 105).given(WentOut((2, 3))).deal()
        match.resigns(2)
        assert match.table.status == "playing"

    def test_not_while_somebody_may_come_back(self) -> None:
        match = window(0)
        match.resigns(2)
        assert match.table.status == "playing"
        match.do(Reenter(), 1)
        match.do(StayOut(), 3)
        assert match.state.order == (1, 2, 0)

    def test_but_once_nobody_does(self) -> None:
        match = window(0)
        match.resigns(2)
        match.do(StayOut(), 1)
        assert match.do(StayOut(), 3)[2:4] == (ReentriesClosed((), (1, 3), 70), Ended("finished", (4, 1, 3, 2)))
        assert match.events(PotTaken) == []

    def closed(self, options: Options) -> Match:
        """Return a match whose seat 4 is out; 1 will be by this deal; all others have resigned."""
        match = Match(options, seats=5).totals(0, 90, 0, 0, 105).given(WentOut((4,))).closed(*HANDS)
        for seat in (2, 3, 0):
            match.resigns(seat)
        return match

    def test_and_at_the_end_of_a_deal_that_puts_the_last_one_out(self) -> None:
        match = self.closed(Options(reentries=0))
        match.scored()
        assert match.events(Ended) == [Ended("finished", (3, 1, 5, 4, 2))]
        assert match.events(PotTaken) == []

    def test_after_those_who_are_out_were_asked(self) -> None:
        match = self.closed(Options())
        match.scored()
        assert match.events(ReentryOffered) == [ReentryOffered((1, 4), 49)]
        match.plays(Reenter(), StayOut())
        assert match.state.order == (1, 2, 3, 0)

    def test_the_only_one_left_of_all_ends_it_as_everywhere(self) -> None:
        match = Match(seats=3).deal()
        match.resigns(0)
        assert match.resigns(1)[:2] == (Resigned(1), Ended("finished", (3, 2, 1)))


class TestPot:
    def test_a_resigned_player_does_not_take_it(self) -> None:
        match = Match(seats=4).given(Staked((0, 1, 2, 3), 4)).totals(100, 100, 100, 100).closed(*HANDS)
        match.resigns(0)
        match.scored()
        assert match.events(PotTaken) == [PotTaken((1,), (4,))]
        assert match.table.places == (4, 1, 2, 3)

    def test_nor_win_by_chinchon(self) -> None:
        match = Match(Options(chinchon_wins="on")).closed(FIVE_LEFT, CHINCHON)
        match.resigns(1)
        match.scored()
        assert match.view(None).points[1] == -10
        assert match.events(PotTaken) == []
        assert match.state.deal == 2
