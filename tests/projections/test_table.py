"""What each neutral event adds to a table, and what of it everybody may see."""

from typing import Any

import pytest
from msgspec.structs import replace

from events.base import Event
from events.table import (
    Answered,
    Created,
    DealReplayed,
    DisputeFiled,
    Ended,
    Looked,
    Opened,
    Order,
    Paused,
    Resigned,
    Resumed,
    Ruled,
    Scored,
    SeatLeft,
    Seats,
    SeatTaken,
    Seeded,
    Shuffled,
    Started,
    TableEvent,
    TurnBegan,
)
from projections.table import Dispute, Look, Player, SeatView, Table, evolve, public, redact
from service.game import AnyTable

SEED, COMMITMENT = "5e" * 32, "c0" * 32
CREATED = Created("chinkway", "chinkway/1", 3, {"deals": 10}, "host", "hal", COMMITMENT)
ADA, BOT = SeatTaken(0, "ada", "mine", None), SeatTaken(2, "bot:anyone/1#2", "", "anyone/1")
SEATED = (CREATED, ADA, BOT)
PLAYED = (*SEATED, Started((0, 2)), TurnBegan((0, 2)))
ENDED = (*PLAYED, Ended("finished", (1, None, 2)))
FILED = DisputeFiled(1, 2, 3, "rules", None)
UPHELD = Ruled(1, "upheld", None, None, (), None, None)
SCORED = Ruled(1, "corrected", (3, None, 4), None, (), None, None)
PLACED = Ruled(1, "corrected", None, (2, None, 1), (0,), None, None)
ANNULLED = Ruled(1, "annulled", None, None, (), None, None)
DISPUTE = Dispute(1, "ada", 7, 0, 2, 3, "rules", None)


def ruled(ruling: Ruled) -> Dispute:
    """Return the dispute as it is closed by a ruling."""
    return replace(DISPUTE, ruling=ruling, ruled=7, ruled_at=0, arbiter="ada")


def table(*events: TableEvent, version: int = 7) -> AnyTable:
    """Return a table at which these events have happened, all at one version."""
    told: AnyTable = Table(id="a", version=version, by="ada")
    for event in events:
        evolve(told, event)
    return told


def fields(told: AnyTable) -> dict[str, Any]:
    return {name: getattr(told, name) for name in told.__struct_fields__}


@pytest.mark.parametrize(
    ("before", "event", "changed"),
    [
        (
            (),
            CREATED,
            {
                "game": "chinkway",
                "ruleset": "chinkway/1",
                "host": "hal",
                "start": "host",
                "players": [None, None, None],
                "scores": (None, None, None),
            },
        ),
        ((), Seeded(SEED), {"seed": SEED}),
        ((CREATED,), ADA, {"players": [Player("ada", "mine", None), None, None]}),
        ((CREATED,), BOT, {"players": [None, None, Player("bot:anyone/1#2", "", "anyone/1")]}),
        ((CREATED, ADA), SeatLeft(0, "ada"), {"players": [None, None, None], "former": {"ada": 0}}),
        (SEATED, Started((0, 2)), {"status": "playing", "scores": (0, None, 0)}),
        (SEATED, Shuffled(65_536, ("SQ", "HT")), {"orders": [Order(65_536, ("SQ", "HT"))]}),
        (SEATED, Shuffled(65_536, None), {}),
        (SEATED, TurnBegan((0, 2)), {"prompted": (0, 2), "turn": 7}),
        (PLAYED, Answered(2), {"prompted": (0,)}),
        (PLAYED, Scored(1, (5, None, -5), (5, None, -5)), {"scores": (5, None, -5)}),
        (PLAYED, Resigned(0), {"prompted": (2,), "resigned": (0,)}),
        ((*PLAYED, Resigned(2)), Resigned(0), {"prompted": (), "resigned": (2, 0)}),
        (
            PLAYED,
            Ended("finished", (1, None, 2)),
            {
                "status": "ended",
                "outcome": "finished",
                "places": (1, None, 2),
                "prompted": (),
                "ended_at": 0,
            },
        ),
        (PLAYED, Opened(SEED, ()), {"seed": SEED}),
        (PLAYED, FILED, {"disputes": [DISPUTE]}),
        (PLAYED, Paused(), {"status": "paused"}),
        ((*PLAYED, Paused()), Resumed(), {"status": "playing"}),
        (PLAYED, Looked(1, 2, 3, 99), {"looks": (Look(1, "ada", 0, 2, 3, 99),)}),
        ((*PLAYED, FILED), UPHELD, {"disputes": [ruled(UPHELD)]}),
        (
            (*PLAYED, FILED),
            SCORED,
            {"disputes": [ruled(SCORED)], "scores": (3, None, 4)},
        ),
        (
            (*ENDED, FILED),
            PLACED,
            {
                "disputes": [ruled(PLACED)],
                "outcome": "adjudicated",
                "places": (2, None, 1),
                "resigned": (0,),
            },
        ),
        (
            (*ENDED, FILED),
            ANNULLED,
            {
                "disputes": [ruled(ANNULLED)],
                "outcome": "annulled",
                "places": (None, None, None),
            },
        ),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Event) else "",
)
def test_an_event_changes_what_it_names_and_no_more(
    before: tuple[TableEvent, ...], event: TableEvent, changed: dict[str, Any]
) -> None:
    assert fields(table(*before, event)) == fields(table(*before)) | changed


def test_a_turn_stands_while_others_answer() -> None:
    told = table(*PLAYED)
    told.version = 8
    evolve(told, Answered(0))
    assert (told.turn, told.to_act) == (7, (2,))


def test_nonces_count_by_seat_and_those_of_untaken_seats_and_bots_are_empty() -> None:
    assert table(*SEATED).nonces == ("mine", "", "")
    assert table(*SEATED).taken == (0, 2)


@pytest.mark.parametrize(
    ("events", "player", "seat", "eyes"),
    [
        (PLAYED, "ada", 0, 0),
        (PLAYED, "bot:anyone/1#2", 2, 2),
        (PLAYED, "hal", None, None),
        ((CREATED, ADA, SeatLeft(0, "ada")), "ada", None, None),
        ((*PLAYED, Resigned(0)), "ada", 0, None),
    ],
    ids=["a person", "a bot", "the host", "who left", "who gave up"],
)
def test_a_player_has_a_seat_and_its_eyes(
    events: tuple[TableEvent, ...], player: str, seat: int | None, eyes: int | None
) -> None:
    assert table(*events).seat_of(player) == seat
    assert table(*events).eyes_of(player) == eyes


@pytest.mark.parametrize(
    ("event", "seen"),
    [
        (Seeded(SEED), Seeded(None)),
        (Shuffled(65_536, ("SQ", "HT")), Shuffled(65_536, None)),
        *(
            (event, event)
            for event in (
                *PLAYED,
                SeatLeft(0, "ada"),
                Answered(0),
                Scored(1, (1, None, 2), (1, None, 2)),
                Resigned(0),
                Ended("abandoned", (None, None, None)),
                Opened(SEED, (Order(65_536, ("SQ", "HT")),)),
                FILED,
                Paused(),
                Resumed(),
                Looked(1, 2, 3, 99),
                PLACED,
                DealReplayed(1, 2),
            )
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_everybody_sees_all_but_what_chance_keeps_sealed(event: TableEvent, seen: TableEvent) -> None:
    assert redact(event) == seen


def test_every_viewer_sees_the_same_of_the_table_but_for_whose_view_it_is() -> None:
    told = table(*PLAYED, Resigned(0))
    views = [public(told, seat) for seat in (None, 0, 2)]
    assert [view["you"] for view in views] == [None, 0, 2]
    assert views[0]["seats"] == (
        SeatView(0, "ada", None, resigned=True),
        SeatView(1, None, None, resigned=False),
        SeatView(2, "bot:anyone/1#2", "anyone/1", resigned=False),
    )
    for view in views:
        assert {**view, "you": None} == views[0]


@pytest.mark.parametrize("seats", [(), (0,), (2, 0)])
def test_a_prompt_replaces_the_one_before(seats: Seats) -> None:
    assert table(*PLAYED, TurnBegan(seats)).to_act == seats


def test_nobody_must_act_while_play_is_paused_and_the_prompt_stands_again_after_it() -> None:
    assert table(*PLAYED, Paused()).to_act == ()
    assert table(*PLAYED, Paused(), Resumed()).to_act == (0, 2)
