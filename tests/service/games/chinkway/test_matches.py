"""Facts about whole matches of Chinkway, played at random and by silence, under every option."""

import random
from collections import Counter
from collections.abc import Iterator
from typing import get_args

import msgspec
import pytest

from events.cards import FRENCH
from events.games.chinkway import (
    Captured,
    DealScored,
    Dealt,
    Declined,
    Options,
    Played,
    QuestTurned,
    TrickTaken,
    Trump,
)
from events.table import Ended, Scored, TurnBegan
from projections import fold
from projections.games.chinkway import SEATS, Capturing, State
from projections.table import Table
from service.game import Command, Refused
from service.games.chinkway import GAME, Capture, Declare, Decline, Discard, Play
from tests.service.games.chinkway.match import EVERY_OPTION, VIEWERS, Match, chance, idle

PACKS = Counter([*FRENCH, *(f"q:{card}" for card in FRENCH)])

MATCHES = [
    pytest.param(options, seed, id=f"{number}-{seed}")
    for number, options in enumerate(EVERY_OPTION)
    for seed in range(2)
]


def at_random(options: Options, seed: int) -> Iterator[Match]:
    """Play a random match; yield it at each of its versions from the first deal on."""
    match = Match(options, chance(seed))
    yield match
    for _ in match.play(random.Random(seed).choice):
        yield match


@pytest.mark.parametrize(("options", "seed"), MATCHES)
def test_what_a_viewer_sees_is_the_same_folded_from_the_log_and_from_redacted_decisions(
    options: Options, seed: int
) -> None:
    for match in at_random(options, seed):
        for viewer in VIEWERS:
            assert match.view(viewer) == GAME.projection.view(match.seen[viewer], viewer)
    for event in GAME.reveal(match.state):
        match.append(event)
    assert all(match.view(viewer) == GAME.projection.view(match.seen[viewer], viewer) for viewer in VIEWERS)
    assert [discard.cards is None for discard in match.view(None).discards] == [False] * options.deals
    assert len(match.view(None).removed or ()) == (0 if options.quest_removed == "none" else 2)


@pytest.mark.parametrize(("options", "seed"), MATCHES)
def test_no_card_is_lost_or_made(options: Options, seed: int) -> None:
    for match in at_random(options, seed):
        assert Counter(GAME.projection.cards(match.state)) == PACKS


@pytest.mark.parametrize(("options", "seed"), MATCHES)
def test_parts_and_points_keep_within_their_bounds(options: Options, seed: int) -> None:
    tricks: Counter[int] = Counter()
    captures: Counter[int] = Counter()
    match = Match(options, chance(seed))
    for events in match.play(random.Random(seed).choice):
        tricks.update(event.seat for event in events if isinstance(event, TrickTaken))
        captures.update(event.seat for event in events if isinstance(event, Captured))
        for scored in (event for event in events if isinstance(event, DealScored)):
            assert tricks.total() == 10
            assert captures.total() <= 10
            sides = next(e.sides for e in match.events(Dealt) if e.deal == scored.deal)
            for side in sides:
                taken = sum(tricks[seat] for seat in side)
                parts = sum(scored.parts[seat] for seat in (side if options.team_scoring == "sum" else side[:1]))
                assert parts <= taken
                assert len({scored.points[seat] for seat in side}) == 1
            assert max(scored.parts) <= 5
            if options.team_scoring == "pooled":
                assert sum(scored.points[side[0]] == 15 for side in sides) <= 2
            tricks.clear()
            captures.clear()


@pytest.mark.parametrize(("options", "seed"), MATCHES)
def test_the_parts_shown_live_are_those_that_score(options: Options, seed: int) -> None:
    match = Match(options, chance(seed))
    shown = [0] * SEATS
    choose = random.Random(seed).choice
    while legal := match.legal():
        command = choose(legal)
        phase = match.state.phase
        before = [sum(met.values()) for met in match.state.met]
        events = match.do(command)
        for event in events:
            if isinstance(event, Captured):
                assert isinstance(phase, Capturing)
                assert (event.credited != ()) == (event.card in phase.needed)
                before = [met + (seat in event.credited) for seat, met in enumerate(before)]
            if isinstance(event, DealScored):
                shown = before
                assert event.parts == tuple(shown)


@pytest.mark.parametrize("options", EVERY_OPTION)
def test_every_command_of_the_finite_domain_is_accepted_exactly_if_it_is_listed(options: Options) -> None:
    match = Match(options, chance(7))
    choose = random.Random(7)
    domain: list[Command] = [Decline(), *map(Declare, get_args(Trump))]
    domain += [*map(Play, FRENCH), *map(Capture, FRENCH)]
    for _ in range(150):
        legal = match.legal()
        assert legal
        for command in [*domain, *(Discard((a, b)) for a in FRENCH[::5] for b in FRENCH[::7])]:
            listed = command in legal
            if isinstance(command, Discard):
                listed = listed or Discard((command.cards[1], command.cards[0])) in legal
            assert accepted(match, command) == listed, command
        for other in range(SEATS):
            if other != match.state.phase.seat:
                assert list(GAME.legal(match.state, other)) == []
                assert not accepted(match, legal[0], other)
        match.do(choose.choice(legal))


def accepted(match: Match, command: Command, seat: int | None = None) -> bool:
    try:
        tuple(GAME.decide(match.state, match.ask(command, seat)))
    except Refused:
        return False
    return True


@pytest.mark.parametrize("options", EVERY_OPTION)
def test_deciding_and_looking_change_nothing(options: Options) -> None:
    match = Match(options, chance(3))
    choose = random.Random(3).choice
    while legal := match.legal():
        command = choose(legal)
        before = msgspec.json.encode(match.state)
        ask = match.ask(command)
        assert tuple(GAME.decide(match.state, ask)) == tuple(GAME.decide(match.state, ask))
        for seat in range(SEATS):
            GAME.idle(match.state, seat)
            list(GAME.legal(match.state, seat))
        for viewer in VIEWERS:
            match.view(viewer)
        GAME.places(match.state, ())
        list(GAME.reveal(match.state))
        assert msgspec.json.encode(match.state) == before
        match.do(command)


@pytest.mark.parametrize("options", EVERY_OPTION)
def test_a_match_of_silent_players_comes_to_its_end(options: Options) -> None:
    match = Match(options, chance(5))
    for _ in match.play(lambda _: idle(match)):
        assert len(match.entries) < 1000
    (ended,) = match.events(Ended)
    assert ended.outcome == "finished"
    assert len(match.events(DealScored)) == options.deals
    captured, declined = match.events(Captured), match.events(Declined)
    assert bool(captured) == (options.capture_timeout == "first_needed")
    assert all(event.credited for event in captured)
    assert captured or declined


@pytest.mark.parametrize("options", EVERY_OPTION)
def test_every_decision_ends_in_one_prompt_or_the_end(options: Options) -> None:
    match = Match(options, chance(11))
    for events in match.play(random.Random(11).choice):
        prompts = [event for event in events if isinstance(event, TurnBegan | Ended)]
        assert prompts == [events[-1]]
        seat = match.state.phase.seat
        assert match.table.to_act == (() if seat is None else (seat,))


@pytest.mark.parametrize("options", EVERY_OPTION)
def test_the_log_folds_to_the_same_match_again(options: Options) -> None:
    match = Match(options, chance(13))
    for _ in match.play(random.Random(13).choice):
        pass
    again: Table[State, Options] = Table(id="t")
    for entry in match.entries:
        stored = GAME.projection.decode(msgspec.json.encode(entry))
        assert stored.events == entry.events
        fold.add(GAME.projection, again, stored, b"")
    assert again == match.table


def test_scores_and_places_follow_from_the_deals() -> None:
    match = Match(Options(), chance(17))
    for _ in match.play(random.Random(17).choice):
        pass
    scored = match.events(Scored)
    assert [event.deal for event in scored] == list(range(1, 11))
    totals = [sum(event.points[seat] or 0 for event in scored) for seat in range(SEATS)]
    assert match.table.scores == tuple(totals) == match.state.totals
    assert match.table.places == tuple(1 + sum(other > own for other in totals) for own in totals)


def test_hands_go_down_to_nothing_and_nobody_plays_a_card_twice() -> None:
    match = Match(Options(), chance(19))
    for _ in match.play(random.Random(19).choice):
        pass
    assert match.state.hands == [[]] * SEATS
    played = [event.card for event in match.events(Played)]
    assert len(played) == 500
    for deal in range(10):
        assert len(set(played[50 * deal : 50 * deal + 50])) == 50


def test_a_used_up_quest_pack_shows_every_card_that_was_not_removed_once() -> None:
    match = Match(Options(), chance(23))
    for _ in match.play(random.Random(23).choice):
        pass
    turned = [card for event in match.events(QuestTurned) for card in event.cards]
    assert sorted([*turned, *(match.state.removed or ())]) == sorted(FRENCH)
