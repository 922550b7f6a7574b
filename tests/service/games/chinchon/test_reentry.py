"""Facts about the end of a match of Chinchón: coming back for a stake, who takes the pot, places.

Ids such as CC-R14 name the rulings that the rules of the game list.
"""

import msgspec
import pytest

from events.base import Event
from events.games.chinchon import (
    Closed,
    Dealt,
    Opened,
    Options,
    PotTaken,
    ReentriesClosed,
    ReentryAnswered,
    ReentryOffered,
    Staked,
    WentOut,
)
from events.table import Answered, DisputeFiled, Ended, Ruled, Scored, Shuffled, TableEvent, TurnBegan
from projections.games.chinchon import Answering
from service.games.chinchon import GAME, Auto, DrawStock, Reenter, StayOut
from service.games.chinchon.pot import places
from service.games.chinchon.reentry import MOST_TOKENS
from tests.service.games.chinchon.match import HANDS, POINTS, Match


def after(*totals: int, options: Options | None = None, pot: int = 4) -> Match:
    """Return a match of four at the end of the deal that seat 0 closed, with these totals after it."""
    match = Match(options, seats=4).given(Staked((0, 1, 2, 3), pot))
    before = (total - points for total, points in zip(totals, POINTS, strict=True))
    match.totals(*before).closed(*HANDS).scored()
    return match


def corrected(*scores: int) -> Ruled:
    """Return a ruling that states these scores."""
    return Ruled(1, "corrected", scores, None, (), None, None)


def decoded(events: tuple[Event, ...]) -> tuple[Event, ...]:
    """Return events as they are read back from a log."""
    kinds = TableEvent | GAME.projection.events
    read: tuple[Event, ...] = msgspec.json.decode(msgspec.json.encode(events), type=tuple[kinds, ...])  # type: ignore[valid-type] # known at run time
    return read


def last(match: Match) -> tuple[Event, ...]:
    """Return what the last decision brought."""
    return match.entries[-1].events


class TestOffer:
    def test_everybody_who_is_out_is_asked_before_play_goes_on(self) -> None:
        match = after(60, 101, 70, 120)
        assert last(match)[-3:] == (WentOut((1, 3)), ReentryOffered((1, 3), 70), TurnBegan((1, 3)))
        assert match.table.to_act == (1, 3)
        assert match.legal(1) == match.legal(3) == [StayOut(), Reenter()]

    def test_so_are_those_who_went_out_before(self) -> None:
        match = Match(seats=4).totals(0, 0, 0, 101).given(WentOut((3,)))
        match.closed(*HANDS[:3]).scored()
        assert match.events(ReentryOffered) == [ReentryOffered((3,), 40)]

    def test_before_a_winner_is_named_and_with_two_players_too(self) -> None:
        match = Match(seats=2).totals(0, 90).closed(*HANDS[:2])
        match.scored()
        assert match.events(ReentryOffered) == [ReentryOffered((1,), 5)]
        assert match.events(PotTaken) == []

    def test_nobody_is_where_nobody_is_in(self) -> None:
        """CC-51."""
        match = after(101, 102, 103, 104)
        assert match.events(ReentryOffered) == []
        assert match.table.status == "ended"

    @pytest.mark.parametrize(("reentries", "offered"), [("unlimited", True), (2, True), (1, False), (0, False)])
    def test_who_has_come_back_as_often_as_agreed_is_not(self, reentries: int, offered: bool) -> None:
        match = Match(Options(reentries=reentries), seats=4)
        match.totals(0, 101, 0, 0).given(WentOut((1,))).given(ReentriesClosed((1,), (), 0))
        assert match.view(None).reentries == (0, 1, 0, 0)
        match.totals(0, 90, 0, 0).closed(*HANDS).scored()
        assert bool(match.events(ReentryOffered)) == offered

    def test_nor_anybody_who_could_bring_the_pot_above_what_it_holds(self) -> None:
        assert after(60, 101, 70, 80, pot=MOST_TOKENS - 4).events(ReentryOffered)
        assert not after(60, 101, 70, 80, pot=MOST_TOKENS - 3).events(ReentryOffered)


class TestAnswers:
    def test_the_first_one_waits_for_the_others_and_nobody_sees_it(self) -> None:
        match = after(60, 101, 70, 120)
        assert match.do(Reenter(), 3) == (ReentryAnswered(3, reenter=True), Answered(3))
        assert match.table.to_act == (1,)
        assert match.view(1).answered == (3,)
        assert GAME.projection.redact(ReentryAnswered(3, reenter=True), 1) == ReentryAnswered(3, None)
        assert match.reason(Reenter(), 3) == "not_your_turn"

    def test_the_last_one_states_them_all_and_play_goes_on(self) -> None:
        match = after(60, 101, 70, 120)
        match.do(Reenter(), 3)
        answered, own, closed, staked, scored, shuffled, dealt, prompt = match.do(StayOut(), 1)
        assert (answered, own) == (ReentryAnswered(1, reenter=False), Answered(1))
        assert closed == ReentriesClosed((3,), (1,), 70)
        assert staked == Staked((3,), 5)
        assert scored == Scored(1, (0, 0, 0, -50), (60, 101, 70, 70))
        assert isinstance(shuffled, Shuffled)
        assert isinstance(dealt, Dealt)
        assert dealt.order == (2, 3, 0)
        assert prompt == TurnBegan((2,))
        assert match.view(None).scores == (60, 101, 70, 70)
        assert match.view(None).out == (1,)

    def test_all_come_back_with_the_highest_total_of_those_who_never_left(self) -> None:
        match = after(60, 101, 70, 120).plays(Reenter(), Reenter())
        assert match.view(None).scores == (60, 70, 70, 70)
        assert match.view(None).pot == 6

    def test_a_correction_while_they_are_asked_is_of_what_they_come_back_with_too(self) -> None:
        match = after(60, 101, 70, 120)
        match.do(Reenter(), 3)
        match.given(DisputeFiled(1, 1, 1, "rules", None))
        match.given(corrected(-1_000_000, 101, -5, 1_000_000))
        assert match.view(1).offered_total == -5
        events = match.do(Reenter(), 1)
        assert events[2] == ReentriesClosed((1, 3), (), -5)
        assert events[4] == Scored(1, (0, -106, 0, -1_000_005), (-1_000_000, -5, -5, -5))
        assert decoded(events) == events

    def test_the_stake_is_what_was_agreed(self) -> None:
        match = after(60, 101, 70, 80, options=Options(stake=7)).plays(Reenter())
        assert match.events(Staked)[-1] == Staked((1,), 11)

    def test_who_stays_out_pays_nothing_and_no_score_is_told(self) -> None:
        match = after(60, 101, 70, 80)
        events = match.do(StayOut())
        assert events[:3] == (ReentryAnswered(1, reenter=False), Answered(1), ReentriesClosed((), (1,), 80))
        assert isinstance(events[3], Shuffled)

    def test_untaken_seats_have_no_score(self) -> None:
        match = Match(seats=5, taken=(0, 2, 4)).totals(0, 90, 0)
        match.closed(*HANDS[:3]).scored()
        match.do(Reenter())
        assert match.events(Scored)[-1] == Scored(1, (0, None, -74, None, 0), (5, None, 40, None, 40))

    def test_only_an_answer_is_taken(self) -> None:
        match = after(60, 101, 70, 120)
        assert match.reason(DrawStock(), 1) == match.reason(Auto(), 1) == "not_now"
        assert match.reason(Reenter(), 0) == "not_your_turn"

    def test_a_silent_player_stays_out(self) -> None:
        match = after(60, 101, 70, 120)
        assert isinstance(match.state.phase, Answering)
        assert GAME.idle(match.state, 1) == StayOut()


class TestPot:
    def test_the_last_one_in_takes_it(self) -> None:
        """CC-47."""
        match = after(104, 99, 130, 120, options=Options(reentries=0))
        assert last(match)[-4:-2] == (PotTaken((1,), (4,)), Ended("finished", (2, 1, 4, 3)))
        assert match.view(None).shares == (0, 4, 0, 0)

    def test_once_nobody_comes_back(self) -> None:
        match = after(104, 99, 130, 120).plays(StayOut(), StayOut())
        assert match.table.status == "playing"
        match.do(StayOut())
        assert match.events(PotTaken) == [PotTaken((1,), (4,))]

    def test_where_a_deal_puts_all_out_the_lowest_total_does(self) -> None:
        """CC-R15."""
        match = after(120, 108, 101, 130)
        assert match.events(WentOut) == [WentOut((2, 1, 0, 3))]
        assert match.events(PotTaken) == [PotTaken((2,), (4,))]
        assert match.table.places == (3, 2, 1, 4)

    def test_of_several_the_closer(self) -> None:
        """CC-52."""
        assert after(104, 104, 120, 104).events(PotTaken) == [PotTaken((0,), (4,))]

    def test_else_they_share_it_odd_tokens_to_the_first_in_turn_order(self) -> None:
        match = after(110, 104, 104, 104, pot=5)
        assert match.events(PotTaken) == [PotTaken((1, 2, 3), (2, 2, 1))]
        assert match.table.places == (4, 1, 1, 1)
        assert match.view(None).shares == (0, 2, 2, 1)

    def test_who_was_out_before_has_no_part_in_it(self) -> None:
        match = Match(seats=4).given(Staked((0, 1, 2, 3), 4)).totals(100, 100, 90, 101).given(WentOut((3,)))
        match.closed(*HANDS[:3]).scored()
        assert match.events(PotTaken) == [PotTaken((0,), (4,))]
        assert match.table.places == (1, 2, 3, 4)

    def test_at_the_end_the_closing_cards_lie_open(self) -> None:
        match = after(104, 99, 130, 120, options=Options(reentries=0))
        (closed,) = match.events(Closed)
        (opened,) = match.events(Opened)
        assert [(card.deal, card.seat, card.card) for card in opened.closing_cards] == [(1, 0, closed.card)]
        assert match.view(None).closing_cards == opened.closing_cards


class TestPlaces:
    def test_who_is_in_stands_before_who_is_out_a_later_deal_before_an_earlier_and_totals_decide(self) -> None:
        match = Match(seats=6, taken=(0, 1, 2, 4, 5)).totals(50, 101, 60, 0, 0).given(WentOut((1,)))
        match.deal(deal=2).totals(70, 101, 60, 130, 60).given(WentOut((4,)))
        assert places(match.state, ()) == (3, 5, 1, None, 4, 1)

    def test_forfeited_seats_stand_after_all_others_who_gave_up_first_last(self) -> None:
        match = Match(seats=4).totals(50, 60, 70, 101).given(WentOut((3,)))
        assert places(match.state, (0, 1)) == (4, 3, 1, 2)
