"""What a ruling brings about: while play goes on by events of the same decision, after its end by what it states."""

from dataclasses import replace

import pytest

from events.table import (
    LAST_DEAL,
    Answered,
    DealReplayed,
    Ended,
    Opened,
    Resigned,
    Resumed,
    Ruled,
    Scored,
    Shuffled,
    TurnBegan,
)
from service.dealing import Dealing
from service.disputes import Dispute, Rule
from service.game import AnyTable, Ask, Refused
from service.referee import Resign, by_of
from tests.service.test_disputes import ENDED, FILED, PAUSED, UPHELD, corrected, filed_at_the_end
from tests.service.test_referee import PLAYED, REFEREE, SEED, Said, create, deal, say, table_of
from tests.toy.events.toy import Dealt, Pledged
from tests.toy.projections.toy import State
from tests.toy.service.toy import GAME, Pledge

ANOTHER: Said = ("bob", Dispute(first=1, last=2, reason="conduct"))


def replayed(place: int, dispute: int = 1) -> Said:
    """Return the ruling that a deal is played again."""
    return "ruth", Rule(dispute=dispute, verdict="replayed", deal=place)


def standing(table: AnyTable) -> tuple[object, ...]:
    """Return what of a table a ruling may change."""
    return table.status, table.to_act, table.turn, table.scores, table.places, table.outcome, table.resigned


def play(table: AnyTable) -> State:
    """Return the state of the toy."""
    assert isinstance(table.play, State)
    return table.play


def pack(number: int) -> int:
    """Return the number of the shuffle that makes a pack."""
    return 65_536 * number


class TestInPlay:
    """Everything follows at once."""

    def test_an_upheld_dispute_changes_nothing_but_that_it_is_closed(self) -> None:
        table = table_of(create(), *PLAYED, FILED)
        before = standing(table)
        assert say(table, "ruth", UPHELD) == (Ruled(1, "upheld", None, None, (), None, None),)
        assert standing(table) == before
        assert table.disputes[0].ruled == table.version

    def test_an_annulled_table_ends_and_all_is_opened(self) -> None:
        table = table_of(create(), *PLAYED, PAUSED, FILED)
        _, *events = say(table, "ruth", Rule(dispute=1, verdict="annulled"))
        assert events[0] == Ended("annulled", (None, None, None))
        assert events[-1] == Opened(SEED.hex(), tuple(table.orders))
        assert (table.status, table.outcome, table.places) == ("ended", "annulled", (None, None, None))

    def test_play_goes_on_from_corrected_scores(self) -> None:
        table = table_of(create(), *PLAYED, *deal(0), FILED, ("ruth", corrected(scores=(9, -3, 0))))
        assert table.scores == (9, -3, 0)
        *_, last = deal(1)
        for said in deal(1)[:-1]:
            say(table, *said)
        assert Scored(2, (0, 0, 0), (9, -3, 0)) in say(table, *last)

    def test_play_goes_on_from_the_highest_scores_that_can_be_stated(self) -> None:
        lay = ("ada", Pledge(card="R1")), ("bob", Pledge(card="R8")), ("cy", Pledge(card="G7"))
        most = corrected(scores=(1_000_000, 1_000_000, -1_000_000))
        table = table_of(create(bonus=True), *PLAYED, FILED, ("ruth", most), *lay, *deal(0)[3:])
        assert table.scores == (1_000_000, 1_000_005, -1_000_000)

    def test_scores_of_deals_that_add_to_nothing_are_not_corrected(self) -> None:
        table = table_of(create(), *PLAYED, FILED)
        each_for_itself = replace(GAME, projection=replace(GAME.projection, rescored=None))
        ask = Ask(by_of(table, "ruth", UPHELD), corrected(scores=(1, 2, 3)), 1)
        with pytest.raises(Refused, match="no_running_scores"):
            REFEREE.decide(each_for_itself, table, ask)

    def test_a_seat_that_is_forfeit_by_a_ruling_moves_by_itself_at_once(self) -> None:
        table = table_of(create(), *PLAYED, FILED)
        _, *events = say(table, "ruth", corrected(forfeits=(1,)))
        assert events == [Resigned(1), Pledged(1, "R8"), Answered(1)]
        assert (table.resigned, table.to_act) == ((1,), (0, 2))

    def test_play_ends_by_the_corrected_scores_where_one_seat_is_left(self) -> None:
        table = table_of(create(4), *PLAYED[:3], ("dan", PLAYED[0][1]), PLAYED[3], ("dan", Resign()), FILED)
        _, *events = say(table, "ruth", corrected(scores=(1, 5, 9, 7), forfeits=(2, 0)))
        assert events[:3] == [Resigned(2), Resigned(0), Ended("finished", (2, 1, 3, 4))]
        assert isinstance(events[-1], Opened)

    def test_all_seats_may_be_forfeit(self) -> None:
        table = table_of(create(), *PLAYED, PAUSED, FILED)
        _, *events = say(table, "ruth", corrected(forfeits=(0, 1, 2)))
        assert events[:4] == [Resigned(0), Resigned(1), Resigned(2), Ended("finished", (3, 2, 1))]
        assert not any(isinstance(event, Resumed) for event in events)

    def test_the_last_open_dispute_that_is_ruled_on_resumes_play(self) -> None:
        table = table_of(create(), *PLAYED, PAUSED, FILED, ANOTHER)
        assert len(say(table, "ruth", UPHELD)) == 1
        assert table.status == "paused"
        _, *events = say(table, "ruth", corrected(forfeits=(1,), dispute=2))
        assert events == [Resumed(), Resigned(1), Pledged(1, "R8"), Answered(1)]
        assert (table.status, table.to_act) == ("playing", (0, 2))

    def test_who_gives_up_while_play_is_paused_moves_at_once_too(self) -> None:
        table = table_of(create(), *PLAYED, PAUSED)
        assert say(table, "bob", Resign()) == (Resigned(1), Pledged(1, "R8"), Answered(1))
        assert (table.status, table.to_act, table.prompted) == ("paused", (), (0, 2))


class TestADealPlayedAgain:
    """It begins as it began, and is dealt under a number of its own."""

    def test_it_goes_back_to_its_beginning_and_is_dealt_under_the_next_number(self) -> None:
        table = table_of(create(), *PLAYED, *deal(0), *deal(1)[:4])
        began = table.beginnings[-1]
        say(table, *FILED)
        ruled, again, shuffled, dealt, prompt = say(table, *replayed(2))
        assert isinstance(ruled, Ruled)
        assert again == DealReplayed(2, 3)
        assert isinstance(shuffled, Shuffled)
        assert shuffled.c == pack(3)
        assert isinstance(dealt, Dealt)
        assert (dealt.deal, dealt.first) == (2, 1)
        assert prompt == TurnBegan((0, 1, 2))
        assert (table.to_act, table.turn) == ((0, 1, 2), table.version)
        assert table.beginnings[-1] == began
        assert [order.c for order in table.orders] == [0, pack(1), pack(2), pack(3)]

    def test_every_deal_after_it_is_as_far_ahead(self) -> None:
        table = table_of(create(), *PLAYED, FILED, replayed(1), *deal(0), *deal(1))
        assert [order.c for order in table.orders] == [0, *map(pack, (1, 2, 3, 4))]
        assert play(table).deal == 3
        assert [beginning.deal for beginning in table.beginnings] == [2, 3]

    def test_the_one_before_is_played_again_from_the_scores_that_it_began_with(self) -> None:
        lay = ("ada", Pledge(card="R1")), ("bob", Pledge(card="R8")), ("cy", Pledge(card="G7"))
        table = table_of(create(bonus=True), *PLAYED, *lay, *deal(0)[3:])
        assert table.scores == (0, 5, 0)
        say(table, *FILED)
        say(table, *replayed(1))
        assert (table.scores, play(table).totals, play(table).deal) == ((0, 0, 0), (0, 0, 0), 1)
        assert [beginning.deal for beginning in table.beginnings] == [1]

    def test_it_may_be_played_again_once_more(self) -> None:
        table = table_of(create(), *PLAYED, FILED, replayed(1), FILED, replayed(1, 2))
        assert table.orders[-1].c == pack(3)
        assert (table.dealt, table.ahead, play(table).deal) == (3, 2, 1)

    def test_scores_corrected_in_it_stand_when_it_is_played_again(self) -> None:
        table = table_of(create(), *PLAYED, *deal(0), FILED, ("ruth", corrected(scores=(4, 5, 6))), FILED)
        say(table, *replayed(2, 2))
        assert table.scores == play(table).totals == (4, 5, 6)

    def test_scores_corrected_after_it_are_taken_back_with_what_it_scored(self) -> None:
        lay = ("ada", Pledge(card="R1")), ("bob", Pledge(card="R8")), ("cy", Pledge(card="G7"))
        table = table_of(create(bonus=True), *PLAYED, *lay, *deal(0)[3:])
        for said in (FILED, ("ruth", corrected(scores=(7, 7, 7))), FILED, replayed(1, 2)):
            say(table, *said)
        assert table.scores == play(table).totals == (0, 0, 0)

    def test_scores_corrected_after_a_deal_that_gave_nothing_are_taken_back_too(self) -> None:
        table = table_of(create(), *PLAYED, *deal(0))
        assert table.scores == (0, 0, 0)
        for said in (FILED, ("ruth", corrected(scores=(100, 0, 0))), FILED, replayed(1, 2)):
            say(table, *said)
        assert table.scores == play(table).totals == (0, 0, 0)

    def test_seats_given_up_stay_so_and_move_by_themselves(self) -> None:
        table = table_of(create(), *PLAYED, FILED, ("bob", Resign()))
        *_, prompt, pledged, answered = say(table, *replayed(1))
        assert (prompt, pledged, answered) == (TurnBegan((0, 2)), Pledged(1, "R8"), Answered(1))

    def test_of_a_table_that_stays_paused_the_new_prompt_stands_until_it_is_resumed(self) -> None:
        table = table_of(create(), *PLAYED, ("ada", Pledge(card="R1")), PAUSED, FILED, ANOTHER)
        say(table, *replayed(1))
        assert (table.status, table.to_act, table.prompted) == ("paused", (), (0, 1, 2))
        assert say(table, "ruth", Rule(dispute=2, verdict="upheld"))[1:] == (Resumed(),)
        assert table.to_act == (0, 1, 2)

    def test_it_is_refused_where_all_who_played_it_have_given_up_since(self) -> None:
        """They would move silently, deal after deal, within this one decision."""
        table = table_of(create(), *PLAYED, FILED, ("bob", Resign()))
        only_bob_is_in = replace(GAME, in_play=lambda _: (1,))
        with pytest.raises(Refused, match="deal_without_players"):
            REFEREE.decide(only_bob_is_in, table, Ask(by_of(table, "ruth", UPHELD), replayed(1)[1], 1))

    def test_it_is_refused_where_no_number_is_left(self) -> None:
        table = table_of(create(), *PLAYED, FILED)
        table.dealt = LAST_DEAL
        with pytest.raises(Refused, match="deals_exhausted"):
            say(table, *replayed(1))

    def test_a_match_without_end_ends_with_the_last_deal_that_can_be_numbered(self) -> None:
        table = table_of(create(), *PLAYED)
        assert Dealing(REFEREE.chances, table).last_deal == LAST_DEAL
        for number, ends in ((LAST_DEAL - 1, False), (LAST_DEAL, True)):
            table = table_of(create(), *PLAYED, FILED, replayed(1), *deal(0)[:-1])
            play(table).deal, table.ahead, table.dealt = number - 1, 1, number
            assert any(isinstance(event, Ended) for event in say(table, *deal(0)[-1])) == ends


class TestAfterTheEnd:
    """Nothing follows; the ruling itself states what holds."""

    def test_a_correction_states_scores_and_places(self) -> None:
        table = table_of(create(), *filed_at_the_end())
        assert len(say(table, "ruth", corrected(scores=(3, 2, 1), places=(3, 1, 2)))) == 1
        assert (table.outcome, table.scores, table.places) == ("adjudicated", (3, 2, 1), (3, 1, 2))

    @pytest.mark.parametrize("ruling", [corrected(scores=(3, 2, 1)), corrected(forfeits=(0,))])
    def test_a_correction_without_places_is_refused(self, ruling: Rule) -> None:
        table = table_of(create(), *filed_at_the_end())
        with pytest.raises(Refused, match="places_missing"):
            say(table, "ruth", ruling)

    @pytest.mark.parametrize("places", [(1, 2, 3), (1, 1, 3)])
    def test_who_forfeits_afterwards_is_placed_behind_all_who_have_not(self, places: tuple[int, ...]) -> None:
        table = table_of(create(), *PLAYED, FILED, *ENDED)
        table.resigned = (2,)
        with pytest.raises(Refused, match="ruling_contradicts_itself"):
            say(table, "ruth", corrected(places=places, forfeits=(0,)))
        say(table, "ruth", corrected(places=(2, 1, 2), forfeits=(0,)))
        assert table.places == (2, 1, 2)

    def test_who_forfeits_afterwards_is_placed_as_the_ruling_states(self) -> None:
        table = table_of(create(), *filed_at_the_end())
        say(table, "ruth", corrected(places=(1, 2, 2), forfeits=(0,)))
        assert (table.outcome, table.places, table.resigned) == ("adjudicated", (1, 2, 2), (1, 2, 0))

    def test_an_annulment_takes_the_places_away(self) -> None:
        table = table_of(create(), *filed_at_the_end())
        assert len(say(table, "ruth", Rule(dispute=1, verdict="annulled"))) == 1
        assert (table.outcome, table.places) == ("annulled", (None, None, None))

    def test_a_dispute_filed_in_play_is_ruled_on_after_it(self) -> None:
        table = table_of(create(), *PLAYED, FILED, *ENDED, ("ruth", corrected(places=(2, 1, 3))))
        assert (table.outcome, table.places) == ("adjudicated", (2, 1, 3))
