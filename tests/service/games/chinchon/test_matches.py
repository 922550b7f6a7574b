"""Facts about whole matches of Chinchón, by every number of players and every option at each of its values.

`Match` holds at every version that no card is lost or made, and that views need no secrets.
"""

import random
from functools import cache
from typing import Any, get_args

import msgspec
import pytest

from events.base import MAX_EVENTS, Event
from events.games.chinchon import ChinchonEvent, DealScored, Options, PotTaken, ReentriesClosed, Staked, WentOut
from events.table import Ended, Scored
from projections.games.chinchon import Turn
from service.chance import Chance
from service.game import Command
from service.games.chinchon import Close, Discard, DrawDiscard, DrawStock, EndTurn, LayOff
from service.games.chinchon.hands import melds_of
from tests.service.games.chinchon.match import Match

CHANGES: list[dict[str, Any]] = [
    {},
    {"pack": 48},
    {"limit": 70},
    {"elimination": "reach"},
    {"stake": 0},
    {"stake": 100},
    {"reentries": 0},
    {"reentries": "unlimited"},
    {"floor_zero": "on"},
    {"courts": "ten"},
    {"courts": "ten", "pack": 48},
    {"sets": "distinct_suits"},
    {"chinchon": "run_only"},
    {"chinchon_for": "closer"},
    {"chinchon_wins": "on"},
    {"linked_bonus": 10},
    {"close_limit": 0, "recycles": 1},
    {"close_limit": 10},
    {"first_round_close": "no"},
    {"layoff": "closer"},
    {"layoff": "none"},
    {"recycle": "keep_top", "close_limit": 0},
    {"recycles": 0},
    {"recycles": 2},
    {"mistakes": "table", "recycles": 0},
    {"mistakes": "table", "recycles": 1, "recycle": "keep_top", "pack": 48},
    {"direction": "clockwise"},
]
"""Every option at each of its values, the others at their defaults but for few re-entries."""

PLAYED = [
    pytest.param(Options(**{"reentries": 1, **change}), 2 + place % 7, id=str(change))
    for place, change in enumerate(CHANGES)
]
EVERY = pytest.mark.parametrize(("options", "seats"), PLAYED)
LONGEST = 2_000


@cache
def played(options: Options, seats: int) -> Match:
    """Play a match of players who want to win to its end."""
    match, draws = begun(options, seats), random.Random(1)
    while match.table.status == "playing" and len(match.entries) < LONGEST:
        seat = draws.choice(match.table.to_act)
        match.do(choice(match, seat, draws), seat)
    return match


def begun(options: Options, seats: int, seed: int = 1) -> Match:
    chance = Chance(random.Random(seed).randbytes(32), "table:t", ("",) * seats)
    return Match(options, seats, chance=chance).started()


def choice(match: Match, seat: int, draws: random.Random) -> Command:
    """Choose for a seat: close and lay off where one can, draw and throw for the best layout; now and then err."""
    legal = match.legal(seat)
    wanted = [command for command in legal if isinstance(command, Close | LayOff)]
    if wanted or not isinstance(match.state.phase, Turn) or draws.random() < 0.02:
        return draws.choice(wanted or legal)
    hand, melds = match.state.hands[seat] or [], melds_of(match.state)
    if match.state.phase.drew == 0:
        up = match.state.discards[-1]
        helps = min(melds.points_without([*hand, up])) < melds.best(hand).points - 4
        return DrawDiscard() if helps and DrawDiscard() in legal else DrawStock()
    if match.state.phase.threw:
        return EndTurn()
    without = dict(zip(hand, melds.points_without(hand), strict=True))
    return Discard(min(hand, key=without.__getitem__))


@EVERY
def test_a_match_ends(options: Options, seats: int) -> None:
    match = played(options, seats)
    assert [event.outcome for event in match.events(Ended)] == ["finished"]
    assert 1 in (match.table.places or ())


@EVERY
def test_the_pot_is_what_was_staked_and_is_taken_whole(options: Options, seats: int) -> None:
    match = played(options, seats)
    staked = sum(len(event.seats) * options.stake for event in match.events(Staked))
    (taken,) = match.events(PotTaken)
    assert match.view(None).pot == sum(taken.shares) == staked
    assert [place for seat, place in enumerate(match.table.places or ()) if seat in taken.seats] == [1] * len(
        taken.seats
    )


@EVERY
def test_scores_add_up_but_for_who_came_back(options: Options, seats: int) -> None:
    totals = [0] * seats
    for event in (event for entry in played(options, seats).entries for event in entry.events):
        match event:
            case DealScored(_, points, told):
                totals = [total + (gained or 0) for total, gained in zip(totals, points, strict=True)]
                if options.floor_zero == "on":
                    totals = [max(0, total) for total in totals]
                assert told == tuple(totals)
            case ReentriesClosed(back, _, total):
                totals = [total if seat in back else old for seat, old in enumerate(totals)]
            case Scored(_, _, scores):
                assert scores == tuple(totals)
            case _:
                pass


@EVERY
def test_who_is_out_plays_in_no_deal_until_they_come_back(options: Options, seats: int) -> None:
    out: set[int] = set()
    for event in (event for entry in played(options, seats).entries for event in entry.events):
        match event:
            case WentOut(leaving):
                assert not out & set(leaving)
                out |= set(leaving)
            case ReentriesClosed(back, staying, _):
                assert out == {*back, *staying} or options.reentries != "unlimited"
                out -= set(back)
            case DealScored(_, points):
                assert {seat for seat, gained in enumerate(points) if gained is None} == out
            case _:
                pass


def test_all_that_can_happen_does_in_these_matches() -> None:
    """Without it a match could show little and nobody would notice."""
    told = {type(event) for case in PLAYED for entry in played(*case.values).entries for event in entry.events}
    assert set(get_args(ChinchonEvent)) <= told


@pytest.mark.parametrize("seats", range(2, 9))
def test_a_match_of_silent_players_ends_where_the_stock_does(seats: int) -> None:
    match = begun(Options(recycles=0), seats)
    while match.table.status == "playing":
        match.silent()
    assert match.events(PotTaken)


@pytest.mark.parametrize("seats", range(2, 9))
def test_a_decision_is_bounded_however_many_have_resigned(seats: int) -> None:
    """What a resigned player would be asked is part of another's decision, which may hold only so many events."""
    match, draws = begun(Options(reentries=0), seats), random.Random(seats)
    while match.table.status == "playing" and len(match.entries) < 400:
        staying = [seat for seat in match.taken if seat not in match.table.resigned]
        if len(staying) > 2 or (len(staying) == 2 and len(match.entries) > 300):
            match.resigns(draws.choice(staying))
        else:
            seat = draws.choice(match.table.to_act)
            match.do(choice(match, seat, draws), seat)
    assert match.table.status == "ended"
    assert max(len(entry.events) for entry in match.entries) < MAX_EVENTS // 2


@EVERY
def test_every_event_can_be_read_back(options: Options, seats: int) -> None:
    """What a decision states keeps within the bounds of its types, or the log could not be read."""
    for entry in played(options, seats).entries:
        for event in entry.events:
            kind: type[Event] = type(event)
            assert msgspec.json.decode(msgspec.json.encode(event), type=kind) == event


@EVERY
def test_every_view_keeps_within_its_bounds(options: Options, seats: int) -> None:
    match = played(options, seats)
    for viewer in match.viewers:
        view = msgspec.structs.replace(match.view(viewer), table="z" * 26, head="0" * 64)
        assert msgspec.json.decode(msgspec.json.encode(view), type=type(view)) == view


def test_who_begins_a_turn_is_the_next_who_is_in() -> None:
    match = begun(Options(), 4)
    for seat in (match.state.order * 3)[:12]:
        assert match.state.phase == Turn(seat, 0, 0)
        match.silent(2)
