"""What is true of every game, whoever plays it: its options, its seats, its names, its silence."""

import re
from random import Random

import pytest
from msgspec import to_builtins

from events.base import By
from events.table import Ended, Opened
from projections import fold
from projections.table import Table
from service import bots
from service.game import REASONS, AnyGame, AnyTable, Ask, Refused
from service.game import tag_of as command_tag
from service.referee import Abandon, Create, Referee, Sit
from tests.laws.audience import events_of, statement, tag_of, view_of
from tests.laws.matches import has_ended, play
from tests.laws.setups import GAMES, LONGEST, AnyOptions, Setup, covering, is_endless, setups, unlawful, values_of

EVERY = pytest.mark.parametrize("game", list(GAMES), ids=lambda game: game.name)


def silent(game: AnyGame, options: AnyOptions) -> Setup:
    """Return a table at which nobody ever says anything."""
    longest = LONGEST if is_endless(game.name, options) else 100_000
    return Setup(game.name, options, game.seats.usual, 0, 0, seed=1, silence=1.0, resigning=0.0, longest=longest)


def opened(game: AnyGame, options: AnyOptions, seats: int) -> Ask:
    """Return the command that opens a table."""
    command = Create(
        game=game.name, ruleset=game.ruleset, seats=seats, options=to_builtins(options), start="full", bots=()
    )
    return Ask(By(role="host", player="host"), command, 1)


@EVERY
def test_every_option_is_played_at_each_value(game: AnyGame) -> None:
    ours = [setup.options for setup in setups() if setup.game == game.name]
    for name, values in values_of(game).items():
        assert {getattr(options, name) for options in ours} == set(values), name


@EVERY
def test_every_number_of_seats_is_played(game: AnyGame) -> None:
    ours = [setup for setup in setups() if setup.game == game.name]
    least, most, _ = game.seats
    assert {setup.seats for setup in ours} == set(range(least, most + 1))
    assert {setup.seats - setup.untaken for setup in ours} == set(range(least, most + 1))


@EVERY
def test_options_that_contradict_each_other_are_refused(game: AnyGame) -> None:
    for options in unlawful(game):
        with pytest.raises(Refused, match="options_conflict"):
            Referee().create(game, Table(id="a"), opened(game, options, game.seats.usual), bytes(32))


@EVERY
def test_the_usual_options_go_together(game: AnyGame) -> None:
    game.check(game.projection.options())


@EVERY
def test_other_numbers_of_seats_are_refused(game: AnyGame) -> None:
    for seats in {*range(1, 9)} - {*range(game.seats.least, game.seats.most + 1)}:
        with pytest.raises(Refused, match="seats_out_of_range"):
            Referee().create(game, Table(id="a"), opened(game, game.projection.options(), seats), bytes(32))


@EVERY
def test_a_match_in_which_all_are_silent_goes_to_its_end(game: AnyGame) -> None:
    """A table whose people are all gone must not stand still; without an end it goes on."""
    for options in covering(game, 1):
        match = play(silent(game, options))
        assert has_ended(match) != is_endless(game.name, options)


@EVERY
def test_the_same_setup_gives_the_same_match_twice(game: AnyGame) -> None:
    setup = silent(game, game.projection.options())._replace(silence=0.2)
    assert play(setup).stored == play(setup).stored


@EVERY
def test_events_and_commands_keep_their_tags(game: AnyGame) -> None:
    """A tag in a log can't be changed any more; a new one is stated too."""
    assert sorted(map(tag_of, events_of(game))) == sorted(statement(game.name).events)
    assert sorted(map(command_tag, game.command_types)) == sorted(statement(game.name).commands)


def test_neutral_events_keep_their_tags() -> None:
    assert sorted(map(tag_of, events_of(None))) == sorted(statement("table").events)


def test_a_tag_names_its_game_and_no_tag_comes_twice() -> None:
    tags = [tag_of(event) for game in (None, *GAMES) for event in events_of(game)]
    assert len(set(tags)) == len(tags)
    for game in GAMES:
        for tag in [*map(tag_of, events_of(game)), *map(command_tag, game.command_types)]:
            assert re.fullmatch(rf"{game.name}\.[a-z]+(_[a-z]+)*", tag)


@pytest.mark.parametrize("game", [None, *GAMES], ids=lambda game: game.name if game else "table")
def test_every_field_of_an_event_has_a_stated_audience(game: AnyGame | None) -> None:
    """A field that nobody thought about must not be shown to anybody."""
    events = statement(game.name if game else "table").events
    found = {tag_of(event): {*event.__struct_fields__} for event in events_of(game)}
    assert {tag: set(fields) for tag, fields in events.items()} == found


@EVERY
def test_every_field_of_a_view_has_a_stated_audience(game: AnyGame) -> None:
    assert set(statement(game.name).view) == set(view_of(game).__struct_fields__)


@EVERY
def test_a_table_abandoned_before_play_opens_its_seed_alone(game: AnyGame) -> None:
    table: AnyTable = Table(id="a")
    referee, host = Referee(), By(role="host", player="host")
    created = referee.create(game, table, opened(game, game.projection.options(), game.seats.usual), bytes(32))
    sat = Ask(By(player="ada"), Sit(), 2)
    for event in created:
        fold.evolve(game.projection, table, event)
    for event in referee.decide(game, table, sat):
        fold.evolve(game.projection, table, event)
    unplaced = (None,) * game.seats.usual
    assert referee.decide(game, table, Ask(host, Abandon(), 3)) == (
        Ended("abandoned", unplaced),
        Opened(bytes(32).hex(), ()),
    )


@EVERY
def test_a_games_reasons_are_codes_with_a_sentence_each(game: AnyGame) -> None:
    assert not set(REASONS) & set(game.reasons)
    for reason, sentence in game.reasons.items():
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", reason)
        assert re.fullmatch(r"[A-Z].+\.", sentence)


@EVERY
def test_a_rival_is_a_bot_that_can_be_seated(game: AnyGame) -> None:
    assert game.rival is None or bots.find().named(game.rival) is not None


@EVERY
def test_the_places_of_a_match_that_has_not_begun_are_level(game: AnyGame) -> None:
    seats = game.seats.most
    state = game.projection.begin(game.projection.options(), seats, tuple(range(seats)))
    assert game.places(state, ()) == (1,) * seats
    leaving = Random(game.name).sample(range(seats), 2)
    places = game.places(state, tuple(leaving))
    assert [places[seat] for seat in leaving] == [seats, seats - 1]
