"""What players may contest, and what arbiters may do about it, while play goes on and after."""

import pytest

from events.table import DisputeFiled, Ended, Looked, Opened, Paused, Places, Resumed, Ruled, Scores, Seats
from projections.table import Dispute as Disputed
from projections.table import Look as Looking
from service.disputes import LOOK_MS, MOST, WINDOW_MS, Dispute, Look, Pause, Resume, Rule, forfeited
from service.game import AnyTable, Command, NotSeated, Refused
from service.referee import Leave, Resign, Sit
from tests.service.refereed import ADA, BOB, PLAYED, SEED, START, Said, create, say, table_of
from tests.toy.service.toy import Pledge

FILED: Said = ("ada", Dispute(first=1, last=3, reason="rules"))
PAUSED: Said = ("ruth", Pause())
UPHELD = Rule(dispute=1, verdict="upheld")
ENDED: tuple[Said, ...] = (("bob", Resign()), ("cy", Resign()))


def filed_at_the_end() -> tuple[Said, ...]:
    """Return a table whose play has ended and is disputed."""
    return (*PLAYED, *ENDED, FILED)


def corrected(
    *, scores: Scores | None = None, places: Places | None = None, forfeits: Seats = (), deal: int | None = None
) -> Rule:
    """Return a ruling that corrects."""
    return Rule(dispute=1, verdict="corrected", scores=scores, places=places, forfeits=forfeits, deal=deal)


REFUSED: list[tuple[str, tuple[Said, ...], str, Command]] = [
    ("not_seated", PLAYED, "dan", FILED[1]),
    ("not_seated", (ADA, BOB, ("cy", Sit()), ("cy", Leave()), ("dan", Sit()), START), "cy", FILED[1]),
    ("not_started", (ADA, BOB), "ada", FILED[1]),
    ("dispute_open", (*PLAYED, FILED), "ada", FILED[1]),
    ("no_such_versions", PLAYED, "ada", Dispute(first=3, last=2, reason="rules")),
    ("no_such_versions", PLAYED, "ada", Dispute(first=1, last=6, reason="rules")),
    ("no_such_versions", (*PLAYED, FILED), "ruth", Look(dispute=1, first=1, last=7)),
    ("arbiter_concerned", PLAYED, "hal", Pause()),
    ("arbiter_concerned", PLAYED, "bob", Pause()),
    ("arbiter_concerned", (*PLAYED, FILED), "bob", Look(dispute=1, first=1, last=3)),
    ("arbiter_concerned", (*PLAYED, ("bob", Resign()), FILED), "bob", UPHELD),
    ("arbiter_concerned", (ADA, ("bob", Sit()), ("bob", Leave()), ("cy", Sit()), START), "bob", Pause()),
    ("not_started", (ADA, BOB), "ruth", Pause()),
    ("not_started", (ADA, BOB), "ruth", Resume()),
    ("paused", (*PLAYED, PAUSED), "ruth", Pause()),
    ("paused", (*PLAYED, PAUSED), "ada", Pledge(card="R1")),
    ("not_paused", PLAYED, "ruth", Resume()),
    ("ended", (*PLAYED, *ENDED), "ruth", Pause()),
    ("ended", (*PLAYED, *ENDED), "ruth", Resume()),
    ("no_such_dispute", PLAYED, "ruth", Look(dispute=1, first=1, last=3)),
    ("no_such_dispute", (*PLAYED, FILED), "ruth", Rule(dispute=2, verdict="upheld")),
    ("dispute_closed", (*PLAYED, FILED, ("ruth", UPHELD)), "ruth", UPHELD),
    ("dispute_closed", (*PLAYED, FILED, ("ruth", UPHELD)), "ruth", Look(dispute=1, first=1, last=3)),
    ("ruling_contradicts_itself", (*PLAYED, FILED), "ruth", corrected()),
    ("ruling_contradicts_itself", (*PLAYED, FILED), "ruth", corrected(forfeits=(1, 1))),
    ("ruling_contradicts_itself", (*PLAYED, FILED), "ruth", corrected(forfeits=(1,), deal=1)),
    ("ruling_contradicts_itself", (*PLAYED, FILED), "ruth", Rule(dispute=1, verdict="replayed")),
    ("ruling_contradicts_itself", (*PLAYED, FILED), "ruth", Rule(dispute=1, verdict="upheld", deal=1)),
    ("ruling_contradicts_itself", (*PLAYED, FILED), "ruth", Rule(dispute=1, verdict="annulled", forfeits=(0,))),
    ("not_ended", (*PLAYED, FILED), "ruth", corrected(places=(1, 2, 3))),
    ("one_for_each_seat", (*PLAYED, FILED), "ruth", corrected(scores=(1, 2))),
    ("one_for_each_seat", (*PLAYED, FILED), "ruth", corrected(scores=(1, 2, None))),
    ("one_for_each_seat", filed_at_the_end(), "ruth", corrected(places=(1, 2, None))),
    ("no_such_seat", (*PLAYED, FILED), "ruth", corrected(forfeits=(3,))),
    ("resigned", (*PLAYED, ("bob", Resign()), FILED), "ruth", corrected(forfeits=(1,))),
    ("ended", filed_at_the_end(), "ruth", Rule(dispute=1, verdict="replayed", deal=1)),
]

SHOWN = frozenset(reason for reason, *_ in REFUSED) | {"dispute_window_over", "disputes_exhausted"}
"""The reasons that are shown here."""


@pytest.mark.parametrize(("reason", "said", "who", "command"), REFUSED)
def test_what_may_not_be_contested_or_ruled_is_refused_with_the_reason(
    reason: str, said: tuple[Said, ...], who: str, command: Command
) -> None:
    table = table_of(create(), *said)
    before = repr(table)
    with pytest.raises(Refused) as refused:
        say(table, who, command)
    assert refused.value.reason == reason
    assert isinstance(refused.value, NotSeated) == (reason == "not_seated")
    assert repr(table) == before


def test_a_dispute_names_what_is_contested_and_who_contests_it() -> None:
    table = table_of(create(), *PLAYED)
    assert say(table, *FILED) == (DisputeFiled(1, 1, 3, "rules", None),)
    assert table.disputes == [Disputed(1, "ada", 6, 1, 3, "rules", None)]
    assert say(table, "bob", Dispute(first=5, last=6, reason="conduct")) == (DisputeFiled(2, 5, 6, "conduct", None),)
    assert say(table, "ada", Pledge(card="R1"))


def test_who_gave_up_may_contest_it_and_so_may_who_has_been_ruled_on() -> None:
    table = table_of(create(), *PLAYED, ("ada", Resign()), FILED, ("ruth", UPHELD))
    assert say(table, *FILED) == (DisputeFiled(2, 1, 3, "rules", None),)


@pytest.mark.parametrize(("late_ms", "refused"), [(0, False), (1, True)])
def test_a_dispute_may_be_filed_until_thirty_days_after_the_end(late_ms: int, refused: bool) -> None:
    table = table_of(create(), *PLAYED, *ENDED)
    at = table.at + WINDOW_MS + late_ms
    if refused:
        with pytest.raises(Refused, match="dispute_window_over"):
            say(table, *FILED, at)
    else:
        say(table, *FILED, at)
        # What is ruled on late does not make the window begin anew.
        say(table, "ruth", UPHELD, at + 5)
        with pytest.raises(Refused, match="dispute_window_over"):
            say(table, *FILED, at + 5)


def test_a_table_has_a_thousand_disputes_at_most() -> None:
    table = table_of(create(), *PLAYED, FILED, ("ruth", UPHELD))
    table.disputes = table.disputes * MOST
    with pytest.raises(Refused, match="disputes_exhausted"):
        say(table, *FILED)


def test_a_pause_stops_play_and_the_same_prompt_stands_again_after_it() -> None:
    table = table_of(create(), *PLAYED, ("ada", Pledge(card="R1")))
    turn, prompted = table.turn, table.to_act
    assert say(table, *PAUSED) == (Paused(),)
    assert (table.status, table.to_act) == ("paused", ())
    assert say(table, *FILED)
    assert say(table, "ruth", Resume()) == (Resumed(),)
    assert (table.status, table.turn, table.to_act) == ("playing", turn, prompted)
    assert say(table, "bob", Pledge(card="R8", turn=turn))


def test_a_look_lasts_an_hour_and_a_further_one_is_another_event() -> None:
    table = table_of(create(), *PLAYED, FILED)
    look = Look(dispute=1, first=2, last=6)
    assert say(table, "ruth", look, 5_000) == (Looked(1, 2, 6, 5_000 + LOOK_MS),)
    assert say(table, "rob", look, 6_000) == (Looked(1, 2, 6, 6_000 + LOOK_MS),)
    assert table.looks == (Looking("ruth", 2, 6, 5_000 + LOOK_MS), Looking("rob", 2, 6, 6_000 + LOOK_MS))


def test_an_upheld_dispute_changes_nothing_but_that_it_is_closed() -> None:
    table = table_of(create(), *PLAYED, FILED)
    before = standing(table)
    assert say(table, "ruth", UPHELD) == (Ruled(1, "upheld", None, None, (), None, None),)
    assert standing(table) == before
    assert table.disputes[0].ruled == table.version


def standing(table: AnyTable) -> tuple[object, ...]:
    """Return what of a table a ruling may change."""
    return table.status, table.to_act, table.turn, table.scores, table.places, table.outcome, table.resigned


def test_an_annulled_table_ends_and_all_is_opened() -> None:
    table = table_of(create(), *PLAYED, FILED)
    _, *events = say(table, "ruth", Rule(dispute=1, verdict="annulled"))
    assert events[0] == Ended("annulled", (None, None, None))
    assert events[-1] == Opened(SEED.hex(), tuple(table.orders))
    assert (table.status, table.outcome, table.places) == ("ended", "annulled", (None, None, None))


def test_a_correction_after_the_end_states_scores_and_places() -> None:
    table = table_of(create(), *filed_at_the_end())
    say(table, "ruth", corrected(scores=(3, 2, 1), places=(3, 1, 2)))
    assert (table.outcome, table.scores, table.places) == ("adjudicated", (3, 2, 1), (3, 1, 2))


def test_an_annulment_after_the_end_takes_the_places_away() -> None:
    table = table_of(create(), *filed_at_the_end())
    assert len(say(table, "ruth", Rule(dispute=1, verdict="annulled"))) == 1
    assert (table.outcome, table.places) == ("annulled", (None, None, None))


@pytest.mark.parametrize(
    ("places", "forfeits", "moved"),
    [
        ((1, 2, 3), (0,), (3, 1, 2)),
        ((1, 1, 3), (0,), (3, 1, 2)),
        ((1, 2, None, 3), (0, 1), (3, 2, None, 1)),
        ((1, 2, 2), (2, 0), (2, 1, 3)),
    ],
)
def test_who_forfeits_goes_behind_all_others_and_they_move_up(
    places: tuple[int | None, ...], forfeits: tuple[int, ...], moved: tuple[int | None, ...]
) -> None:
    assert forfeited(places, forfeits) == moved
