"""Whom what concerns: event by event, and in matches of every game."""

from collections import Counter
from copy import copy
from typing import Any

import msgspec
import pytest

from events.base import By, Entry
from events.table import (
    Answered,
    Created,
    DealReplayed,
    DisputeFiled,
    Ended,
    Looked,
    Opened,
    Paused,
    Places,
    Resigned,
    Resumed,
    Ruled,
    Scored,
    SeatLeft,
    SeatTaken,
    Seeded,
    Shuffled,
    Started,
    StartRule,
    TableEvent,
    TurnBegan,
    Verdict,
)
from projections.inbox import Company, Told, add
from service.game import AnyTable
from tests.laws.matches import Match, has_ended, play
from tests.laws.setups import GAMES, Setup

TABLE, ADA, BOB, HAL = ("t" * 26, "a" * 26, "b" * 26, "h" * 26)

Decisions = tuple[tuple[TableEvent, ...], ...]


def created(start: StartRule = "full", host: str = HAL) -> TableEvent:
    return Created("chinkway", "chinkway/1", 3, {}, start, host, "0" * 64)


def taken(seat: int, player: str) -> TableEvent:
    return SeatTaken(seat, player, "", None)


BOT = SeatTaken(2, "bot:anyone/1#2", "", "anyone/1")
OPENED: Decisions = ((created(), Seeded("5e" * 32), BOT),)
BEGUN: Decisions = (*OPENED, (taken(0, ADA),), (taken(1, BOB), Started((0, 1, 2)), TurnBegan((0,))))


def entry(version: int, *events: TableEvent) -> bytes:
    by = By(seat=1, player=BOB)
    decision = Entry(1, f"table:{TABLE}", version, 1_000 + version, by, None, None, None, "", events)
    return msgspec.json.encode(decision)


def folded(decisions: Decisions) -> tuple[Company | None, tuple[Told, ...]]:
    """Return the table after these decisions, and what is told of the last."""
    company: Company | None = None
    told: tuple[Told, ...] = ()
    for version, events in enumerate(decisions, 1):
        company, told = add(company, entry(version, *events))
    return company, told


def plain(told: tuple[Told, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Return what is told to whom, without what is the same in all of it."""
    found = [(account, msgspec.to_builtins(notice)) for account, notice in told]
    same = {"number", "game", "table", "version", "at"}
    return [(account, {name: notice[name] for name in notice.keys() - same}) for account, notice in found]


def seated(seat: int) -> dict[str, Any]:
    return {"type": "seated", "seat": seat}


def started(seat: int | None) -> dict[str, Any]:
    return {"type": "table_started", "seat": seat}


def turn(seat: int, version: int) -> dict[str, Any]:
    return {"type": "your_turn", "seat": seat, "turn": version}


def over(seat: int | None, place: int | None, outcome: str = "finished") -> dict[str, Any]:
    return {"type": "table_ended", "outcome": outcome, "seat": seat, "place": place}


def ruled(verdict: Verdict, places: Places | None = None) -> TableEvent:
    return Ruled(1, verdict, None, places, (), None, None)


def ruling(verdict: Verdict, seat: int | None = None, place: int | None = None) -> dict[str, Any]:
    return {"type": "ruling", "dispute": 1, "verdict": verdict, "seat": seat, "place": place}


EVERYBODY = (ADA, BOB, HAL)
DISPUTE = {"type": "dispute", "dispute": 1, "first": 2, "last": 3, "reason": "outage"}
DISPUTED: Decisions = (*BEGUN, (DisputeFiled(1, 2, 3, "outage", None),))

FACTS: dict[str, tuple[Decisions, list[tuple[str, dict[str, Any]]]]] = {
    "a table that is opened concerns nobody yet": (OPENED, []),
    "who sits down": ((*OPENED, (taken(0, ADA),)), [(ADA, seated(0))]),
    "who stands up": ((*OPENED, (taken(0, ADA),), (SeatLeft(0, ADA),)), [(ADA, {"type": "unseated", "seat": 0})]),
    "the last to sit down, and with them the start and the first turn": (
        BEGUN,
        [
            (BOB, seated(1)),
            *((ADA, started(0)), (BOB, started(1)), (HAL, started(None))),
            (ADA, turn(0, 3)),
        ],
    ),
    "a host who sits there is told once": (
        (
            (created(host=ADA), taken(0, ADA), BOT),
            (taken(1, BOB), Started((0, 1, 2)), TurnBegan((1,))),
        ),
        [(BOB, seated(1)), (ADA, started(0)), (BOB, started(1)), (BOB, turn(1, 2))],
    ),
    "a host whose table is full and waits": (
        ((created("host"), BOT), (taken(0, ADA),), (taken(1, BOB),)),
        [(BOB, seated(1)), (HAL, {"type": "table_filled"})],
    ),
    "a host whose table still has room is told nothing": (
        ((created("host"), BOT), (taken(0, ADA),)),
        [(ADA, seated(0))],
    ),
    "a host who starts what is full is not told again that it is": (
        ((created("host"), BOT, taken(0, ADA), taken(1, BOB)), (Started((0, 1, 2)), TurnBegan((2,)))),
        [(ADA, started(0)), (BOB, started(1)), (HAL, started(None))],
    ),
    "all who must act": ((*BEGUN, (TurnBegan((0, 1, 2)),)), [(ADA, turn(0, 4)), (BOB, turn(1, 4))]),
    "nobody while others answer": ((*BEGUN, (TurnBegan((0, 1)),), (Answered(0),)), []),
    "nobody of a prompt that was answered at once": ((*BEGUN, (TurnBegan((1,)), TurnBegan((2,)))), []),
    "of two prompts the second": ((*BEGUN, (TurnBegan((0,)), TurnBegan((1,)))), [(BOB, turn(1, 4))]),
    "nobody of cards and scores": ((*BEGUN, (Shuffled(1, ("SQ",)), Scored(1, (1, 2, 3), (1, 2, 3)))), []),
    "nobody of a resignation": ((*BEGUN, (Resigned(0),)), []),
    "all who sat, and the host, of the end": (
        (*BEGUN, (Ended("finished", (2, 1, 3)), Opened("5e" * 32, ()))),
        [(ADA, over(0, 2)), (BOB, over(1, 1)), (HAL, over(None, None))],
    ),
    "who gave a seat up is told of the end and the place": (
        (*BEGUN, (Resigned(0),), (TurnBegan((1,)),), (Ended("finished", (3, 1, 2)),)),
        [(ADA, over(0, 3)), (BOB, over(1, 1)), (HAL, over(None, None))],
    ),
    "all who have a part, of a dispute": (
        (*BEGUN, (DisputeFiled(1, 2, 3, "outage", None),)),
        [(account, {**DISPUTE, "player": BOB}) for account in (ADA, BOB, HAL)],
    ),
    "of a look": (
        (*DISPUTED, (Looked(1, 2, 3, 9_000),)),
        [(account, {"type": "look", "dispute": 1, "first": 2, "last": 3, "until": 9_000}) for account in EVERYBODY],
    ),
    "of a pause": ((*BEGUN, (Paused(),)), [(account, {"type": "pause"}) for account in EVERYBODY]),
    "of no turn that comes while play is paused": ((*BEGUN, (Paused(),), (Resigned(0), TurnBegan((1,)))), []),
    "of the end of a pause, and whose turn it is again": (
        (*BEGUN, (Paused(),), (Resumed(),)),
        [*((account, {"type": "resume"}) for account in EVERYBODY), (ADA, turn(0, 3))],
    ),
    "of a ruling that has a deal played again, and whose turn it is": (
        (*DISPUTED, (ruled("replayed"), DealReplayed(1, 2), TurnBegan((1,)))),
        [(ADA, ruling("replayed", 0)), (BOB, ruling("replayed", 1)), (HAL, ruling("replayed")), (BOB, turn(1, 5))],
    ),
    "of a ruling after the end, and the place that came of it": (
        (*DISPUTED, (Ended("finished", (1, 2, 3)),), (ruled("corrected", (2, 1, 3)),)),
        [(ADA, ruling("corrected", 0, 2)), (BOB, ruling("corrected", 1, 1)), (HAL, ruling("corrected"))],
    ),
    "a table given up before play": (
        ((created(), taken(0, ADA)), (Ended("abandoned", (None, None, None)),)),
        [(ADA, over(0, None, "abandoned")), (HAL, over(None, None, "abandoned"))],
    ),
    "who stood up is told of nothing more": (
        (
            *((created(),), (taken(0, ADA),), (SeatLeft(0, ADA),)),
            (Ended("abandoned", (None, None, None)),),
        ),
        [(HAL, over(None, None, "abandoned"))],
    ),
    "who stood up and came back is told again": (
        (*OPENED, (taken(0, ADA),), (SeatLeft(0, ADA),), (taken(0, ADA),)),
        [(ADA, seated(0))],
    ),
}


@pytest.mark.parametrize("fact", FACTS)
def test_whom_a_decision_concerns(fact: str) -> None:
    decisions, expected = FACTS[fact]
    _, told = folded(decisions)
    assert plain(told) == expected
    for _, notice in told:
        assert (notice.game, notice.table, notice.version, notice.at, notice.number) == (
            "chinkway",
            TABLE,
            len(decisions),
            1_000 + len(decisions),
            0,
        )


@pytest.mark.parametrize(
    ("decisions", "since"),
    [
        (OPENED, 1_001),
        ((*OPENED, (taken(0, ADA),)), 1_002),
        (BEGUN, 1_003),
        ((*BEGUN, (Answered(1),)), 1_003),
        ((*BEGUN, (TurnBegan((1,)),)), 1_004),
    ],
    ids=["opened", "a seat taken", "the first prompt", "another answers", "the next prompt"],
)
def test_since_when_a_table_waits(decisions: Decisions, since: int) -> None:
    company, _ = folded(decisions)
    assert company is not None
    assert company.since == since


@pytest.mark.parametrize(
    ("decisions", "settled"),
    [
        (OPENED, ""),
        (BEGUN, HAL),
        ((*BEGUN, (Resigned(0),)), ADA + HAL),
        ((*BEGUN, (Ended("finished", (1, 2, 3)),)), ADA + BOB + HAL),
    ],
    ids=["open", "in play", "given up", "ended"],
)
def test_for_whom_a_table_will_never_wait(decisions: Decisions, settled: str) -> None:
    company, _ = folded(decisions)
    assert company is not None
    assert [account for account in (ADA, BOB, HAL) if company.is_settled_for(account)] == [
        account for account in (ADA, BOB, HAL) if account in settled
    ]


def test_an_event_without_a_table_is_no_table_of_ours() -> None:
    with pytest.raises(ValueError, match=r"no table\.created before version 2"):
        add(None, entry(2, TurnBegan((0,))))


SEATS = {"chinkway": 5, "chinchon": 4, "kowah": 4, "toy": 4}


@pytest.fixture(scope="module", params=[game.name for game in GAMES])
def match(request: pytest.FixtureRequest) -> Match:
    """Give a match of each game, with a bot, an empty seat where there may be one, and people who give up."""
    game = GAMES.named(request.param)
    assert game is not None
    seats = SEATS[game.name]
    untaken = int(seats > game.seats.least)
    setup = Setup(game.name, game.projection.options(), seats, 1, untaken, 7, 0.3, 0.004, 400)
    return play(setup)


def expected(before: AnyTable, table: AnyTable) -> Counter[tuple[str, str, int | None]]:
    """Return who is told what by the game's own fold, before a decision and after it."""
    people = {player.id: seat for seat, player in enumerate(table.players) if player is not None and player.bot is None}
    then = {player.id: seat for seat, player in enumerate(before.players) if player is not None and player.bot is None}
    told: Counter[tuple[str, str, int | None]] = Counter(
        (player, "seated", people[player]) for player in people.keys() - then.keys()
    )
    told.update((player, "unseated", then[player]) for player in then.keys() - people.keys())
    everybody = [*people.items(), *([(table.host, None)] if table.host not in people else [])]
    if table.status == "open" and table.start == "host" and None not in table.players:
        told[table.host, "table_filled", None] = 1
    if before.status == "open" and table.status != "open" and table.outcome != "abandoned":
        told.update((player, "table_started", seat) for player, seat in everybody)
    if before.status != "ended" == table.status:
        told.update((player, "table_ended", seat) for player, seat in everybody)
    if table.turn == table.version:
        told.update((player, "your_turn", seat) for player, seat in people.items() if seat in table.to_act)
    return told


def test_in_a_match_of_any_game_everybody_is_told_what_concerns_them_and_nothing_else(match: Match) -> None:
    company, kinds = None, Counter[str]()
    before = match.empty()
    for version, (table, _, stored) in enumerate(match.versions(), 1):
        company, told = add(company, stored.e)
        found = Counter(
            (account, str(notice.__struct_config__.tag), getattr(notice, "seat", None)) for account, notice in told
        )
        assert found == expected(before, table), f"at version {version}"
        assert company is not None
        assert (company.to_act, company.turn, company.status) == (table.to_act, table.turn, table.status)
        assert [seat.resigned for seat in company.seats] == [seat in table.resigned for seat in match.seats]
        kinds.update(kind for _, kind, _ in found)
        before = copy(table)
        before.players = list(table.players)
    assert {"seated", "unseated", "table_started", "your_turn"} <= kinds.keys()
    assert ("table_ended" in kinds) is has_ended(match)
