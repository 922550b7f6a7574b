"""Matches in which `steady` sits on every seat, kept as the laws keep theirs; and views of a table, changed at will."""

from random import Random
from typing import Any

from msgspec import to_builtins
from msgspec.structs import replace

from events.base import By
from projections import fold
from projections.table import Table, View
from service import bots, games
from service.bots import Bot
from service.chance import bot_stream
from service.game import AnyGame, AnyTable, Ask, Command
from service.ids import new_id
from service.referee import Create, Referee
from tests.laws.matches import Asked, Driver, Match
from tests.laws.setups import AnyOptions, Setup, game_of


def _found() -> Bot:
    found = bots.find().named("steady")
    assert found is not None
    return found


STEADY = _found()
GAMES = games.find()


class Steady(Driver):
    """Plays a match in which every seat chooses as `steady` does."""

    def move(self) -> Asked:
        """Choose as the bot would on the first seat that is prompted."""
        seat = self.table.to_act[0]
        legal = list(self.game.legal(self.table.play, seat))
        draws = bot_stream(bytes(32), f"table:{self.table.id}", seat, self.table.version)
        chosen = STEADY.choose(self.game.projection.view(self.table, seat), legal, draws)
        assert chosen in legal, f"{chosen} is not legal at version {self.table.version}"
        return self.of(seat, chosen)


def played_by_steady(game: AnyGame, options: AnyOptions, seats: int, seed: int, longest: int = 400) -> Match:
    """Return a match of `steady` with itself, left after so many decisions."""
    setup = Setup(game.name, options, seats, 0, 0, seed, silence=0.0, resigning=0.0, longest=longest)
    random = Random(repr(setup))
    return Steady(setup, game_of(setup), random, Table(id=new_id(random.randbytes))).play()


def seen(game: str, seats: int, options: AnyOptions = None, **changed: object) -> View[Any]:
    """Return what seat 0 sees of a match that has just begun, but for what is stated otherwise."""
    found = GAMES.named(game)
    assert found is not None
    command = Create(
        game=game,
        ruleset=found.ruleset,
        seats=seats,
        options=to_builtins(options or found.projection.options()),
        start="full",
        bots=(STEADY.label,) * seats,
    )
    table: AnyTable = Table(id="a" * 26, version=1)
    for event in Referee().create(found, table, Ask(By(player="host"), command, 0), bytes(32)):
        fold.evolve(found.projection, table, event)
    return replace(found.projection.view(table, 0), **changed)


def cards(names: str) -> tuple[Any, ...]:
    """Return the cards that are named, of whatever pack."""
    return tuple(names.split())


def choice(view: View[Any], *legal: Command) -> Command:
    """Return what `steady` chooses of these commands, whatever it draws."""
    chosen = {STEADY.choose(view, legal, bot_stream(bytes(32), "table:a", 0, version)) for version in range(4)}
    (only,) = chosen
    return only
