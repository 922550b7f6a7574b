"""`steady` plays any game by its rules and by what it sees, plays it to its end, and better than `anyone`."""

from itertools import islice

import pytest

from service import bots, games
from service.bots import anyone
from service.chance import bot_stream
from service.cli import arena
from service.cli.arena import Wanted
from service.game import AnyGame
from tests.laws.matches import play
from tests.laws.setups import TOY, Setup, covering
from tests.laws.worlds import a_choice_needs_no_secrets
from tests.service.bots.steady import GAMES, STEADY, played_by_steady
from tests.sizes import FULL

EVERY = pytest.mark.parametrize("game", list(GAMES), ids=lambda game: game.name)


@EVERY
def test_a_choice_needs_no_secrets_where_steady_plays(game: AnyGame) -> None:
    """Law 3. The laws hold it in matches of random moves; here hands are as good as `steady` makes them."""
    worlds = 0
    for seed in range(20 if FULL else 2):
        options = covering(game, 1)[seed % len(covering(game, 1))]
        match = played_by_steady(game, options, game.seats.usual, seed, longest=90)
        worlds += a_choice_needs_no_secrets(match, [STEADY], probes=24 if FULL else 12)
    assert worlds > 0


@EVERY
def test_a_match_of_steady_and_anyone_comes_to_its_end(game: AnyGame) -> None:
    """Whatever the options and however many play: a thousand deals at full size, one match of each value else."""
    least, most, _ = game.seats
    chosen = covering(game, 2 if FULL else 1)
    known = bots.find()
    deals, number = 0, 0
    while number < len(chosen) or (FULL and deals < 1_000):
        options = chosen[number % len(chosen)]
        seats = least + number % (most - least + 1)
        names = (["steady"], ["steady", "anyone"], ["anyone", "steady", "steady"])[number // 2 % 3][:seats]
        stated = {name: getattr(options, name) for name in options.__struct_fields__}
        prepared = arena.prepare(Wanted(game.name, names, seats, stated, 1, 50_000, None), known)
        result = arena.match(prepared, "a" * 26, number.to_bytes(32))
        assert not result.left, f"{options} by {names} on {seats} seats"
        deals += result.deals
        number += 1
    assert deals >= number


@pytest.mark.parametrize(
    ("game", "seats", "options", "rounds"),
    [
        ("chinkway", 5, {"partners": "five", "deals": 5}, 4),
        ("chinchon", 2, {}, 4),
        ("chinchon", 4, {"limit": 70}, 4),
        ("kowah", 2, {}, 12),
        ("kowah", 3, {}, 8),
    ],
)
def test_steady_beats_anyone(game: str, seats: int, options: dict[str, bool | int | str], rounds: int) -> None:
    """By places, with an interval that is clear of nothing: the same cards on every seat."""
    prepared = arena.prepare(Wanted(game, ["steady", "anyone"], seats, options, 1, 50_000, None), bots.find())
    played = list(islice(arena.rounds(prepared, seed=1), 20 * rounds if FULL else rounds))
    place, wins, _ = arena.of_pair(played, "steady/1", "anyone/1")
    # Where all rounds came out alike there is no interval.
    assert place.mean + (place.within or 0) < 0
    assert wins.mean - (wins.within or 0) > 0


def test_a_game_without_a_strategy_is_played_as_anyone_plays_it() -> None:
    toy = games.find(TOY).named("toy")
    assert toy is not None
    setup = Setup("toy", toy.projection.options(), toy.seats.usual, 0, 0, 1, silence=0.1, resigning=0.0, longest=60)
    chosen = 0
    for table, _, _ in play(setup).versions():
        for seat in table.to_act:
            view, legal = toy.projection.view(table, seat), list(toy.legal(table.play, seat))
            draws = [bot_stream(bytes(32), "table:a", seat, table.version) for _ in range(2)]
            assert STEADY.choose(view, legal, draws[0]) == anyone.choose(view, legal, draws[1])
            chosen += 1
    assert chosen
