"""What players may contest, and what arbiters may do about it, while play goes on and after."""

import pytest

from events.table import DisputeFiled, Looked, Paused, Places, Resumed, Scores, Seats
from projections.table import Dispute as Disputed
from projections.table import Look as Looking
from service.disputes import MOST, Dispute, Look, Pause, Resume, Rule
from service.game import REASONS, Command, NotSeated, Refused
from service.referee import Leave, Resign, Sit
from tests.service.test_referee import ADA, BOB, PLAYED, START, UNOPENED, Said, create, deal, refusal, say, table_of
from tests.service.test_referee import REFUSED as REFUSED_BESIDES
from tests.toy.service.toy import Pledge

HOUR_MS = 60 * 60 * 1_000
THIRTY_DAYS_MS = 30 * 24 * HOUR_MS

FILED: Said = ("ada", Dispute(first=1, last=3, reason="rules"))
PAUSED: Said = ("ruth", Pause())
UPHELD = Rule(dispute=1, verdict="upheld")
ENDED: tuple[Said, ...] = (("bob", Resign()), ("cy", Resign()))


def filed_at_the_end() -> tuple[Said, ...]:
    """Return a table whose play has ended and is disputed."""
    return (*PLAYED, *ENDED, FILED)


def corrected(
    *, scores: Scores | None = None, places: Places | None = None, forfeits: Seats = (), dispute: int = 1
) -> Rule:
    """Return a ruling that corrects."""
    return Rule(dispute=dispute, verdict="corrected", scores=scores, places=places, forfeits=forfeits)


ANNULLED: tuple[Said, ...] = (("ruth", Rule(dispute=1, verdict="annulled")), FILED)


BOTH = Rule(dispute=1, verdict="corrected", forfeits=(1,), deal=1)

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
    (
        "ruling_contradicts_itself",
        (*PLAYED, FILED),
        "ruth",
        Rule(dispute=1, verdict="corrected", forfeits=(1,), deal=1),
    ),
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
    ("no_such_places", filed_at_the_end(), "ruth", corrected(places=(1, 3, 3))),
    ("places_missing", (*filed_at_the_end(), *ANNULLED), "ruth", corrected(scores=(1, 2, 3), dispute=2)),
    ("no_such_deal", (*PLAYED, FILED), "ruth", Rule(dispute=1, verdict="replayed", deal=0)),
    ("no_such_deal", (*PLAYED, FILED), "ruth", Rule(dispute=1, verdict="replayed", deal=2)),
    ("deal_too_old", (*PLAYED, *deal(0), *deal(1), FILED), "ruth", Rule(dispute=1, verdict="replayed", deal=1)),
]

ELSEWHERE = {
    "dispute_window_over",
    "disputes_exhausted",
    "deal_without_players",
    "deals_exhausted",
    "no_running_scores",
}
"""What is shown below, and in test_rulings.py."""


@pytest.mark.parametrize(("reason", "said", "who", "command"), REFUSED)
def test_what_may_not_be_contested_or_ruled_is_refused_with_the_reason(
    reason: str, said: tuple[Said, ...], who: str, command: Command
) -> None:
    refused = refusal(said, who, command)
    assert refused.reason == reason
    assert isinstance(refused, NotSeated) == (reason == "not_seated")


def test_every_reason_that_a_table_can_give_is_shown() -> None:
    shown = {reason for reason, *_ in (*REFUSED, *REFUSED_BESIDES, *UNOPENED)} | ELSEWHERE
    # This one is not the referee's to give.
    assert shown == REASONS.keys() - {"no_such_bot"}


def test_a_dispute_names_what_is_contested_and_who_contests_it() -> None:
    table = table_of(create(), *PLAYED)
    assert say(table, *FILED) == (DisputeFiled(1, 1, 3, "rules", None),)
    assert table.disputes == [Disputed(1, "ada", 6, 1, 1, 3, "rules", None)]
    assert say(table, "bob", Dispute(first=5, last=6, reason="conduct")) == (DisputeFiled(2, 5, 6, "conduct", None),)
    assert say(table, "ada", Pledge(card="R1"))


def test_who_gave_up_may_contest_it_and_so_may_who_has_been_ruled_on() -> None:
    table = table_of(create(), *PLAYED, ("ada", Resign()), FILED, ("ruth", UPHELD))
    assert say(table, *FILED) == (DisputeFiled(2, 1, 3, "rules", None),)


@pytest.mark.parametrize(("late_ms", "refused"), [(0, False), (1, True)])
def test_a_dispute_may_be_filed_until_thirty_days_after_the_end(late_ms: int, refused: bool) -> None:
    table = table_of(create(), *PLAYED, *ENDED)
    at = table.at + THIRTY_DAYS_MS + late_ms
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
    assert say(table, "ruth", look, 5_000) == (Looked(1, 2, 6, 5_000 + HOUR_MS),)
    assert say(table, "rob", look, 6_000) == (Looked(1, 2, 6, 6_000 + HOUR_MS),)
    assert table.looks == (
        Looking(1, "ruth", 5_000, 2, 6, 5_000 + HOUR_MS),
        Looking(1, "rob", 6_000, 2, 6, 6_000 + HOUR_MS),
    )
