"""How the tables of the laws are set up: every option at each value, every legal number of seats, by fixed seeds.

Options are chosen so that every two values that go together come up together. `EVENFOLD_LAWS=full` plays thousands of
deals; unset, each such pair comes up once.
"""

import os
from collections.abc import Iterator
from functools import cache
from itertools import combinations, product
from random import Random
from typing import Any, NamedTuple

from msgspec import inspect, to_builtins

from service import games
from service.game import AnyGame, Refused
from tests.laws.audience import statement

FULL = os.environ.get("EVENFOLD_LAWS") == "full"
TOY = "tests.toy.service.toy"
MODULES = (TOY,)
"""The games of the laws that lie outside the tree."""

GAMES = games.find(*MODULES)

AnyOptions = Any

# How often each pair of options is played, and after how many decisions a match without end is left.
TIMES = 30 if FULL else 1
LONGEST = 1_500 if FULL else 240


class Setup(NamedTuple):
    """A table to be played: its game, options and seats, which of them bots take, and the seed of all that is random.

    `untaken` seats stay empty, so the host starts. `silence` and `resigning` are the odds that a move is the idle one,
    and that a person resigns instead. A match that has not ended after `longest` decisions is left as it stands.
    """

    game: str
    options: AnyOptions
    seats: int
    bots: int
    untaken: int
    seed: int
    silence: float
    resigning: float
    longest: int

    def __str__(self) -> str:
        """Return what a test's id shows."""
        own = self.options == type(self.options)()
        chosen = "usual" if own else ",".join(f"{name}={value}" for name, value in _unusual(self.options))
        return f"{self.game}[{chosen}]-{self.seats}seats-{self.bots}bots-{self.untaken}empty-{self.seed}"


def _unusual(options: AnyOptions) -> Iterator[tuple[str, object]]:
    usual = type(options)()
    for name in options.__struct_fields__:
        if getattr(options, name) != getattr(usual, name):
            yield name, getattr(options, name)


def game_of(setup: Setup) -> AnyGame:
    """Return the game that is played."""
    game = GAMES.named(setup.game)
    assert game is not None, setup
    return game


def values_of(game: AnyGame) -> dict[str, tuple[object, ...]]:
    """Return every value of every option; of an integer its bounds."""
    described = inspect.type_info(game.projection.options)
    assert isinstance(described, inspect.StructType)
    return {field.name: _values(field.type) for field in described.fields}


def _values(kind: inspect.Type) -> tuple[object, ...]:
    match kind:
        case inspect.Metadata(inner):
            return _values(inner)
        case inspect.LiteralType(values):
            return values
        case inspect.BoolType():
            return (False, True)
        case inspect.IntType(ge=int(least), le=int(most)):
            return (least, most)
        case _:
            raise NotImplementedError(f"an option is one of {kind}, of which the laws know no values")


def lawful(game: AnyGame) -> tuple[AnyOptions, ...]:
    """Return every combination of options that the game allows."""
    return tuple(options for options in _combinations(game) if is_allowed(game, options))


def unlawful(game: AnyGame) -> tuple[AnyOptions, ...]:
    """Return every combination of options that contradict each other."""
    return tuple(options for options in _combinations(game) if not is_allowed(game, options))


def _combinations(game: AnyGame) -> Iterator[AnyOptions]:
    values = values_of(game)
    for chosen in product(*values.values()):
        yield game.projection.options(**dict(zip(values, chosen, strict=True)))


def is_allowed(game: AnyGame, options: AnyOptions) -> bool:
    """Tell whether a table may be opened with these options."""
    try:
        game.check(options)
    except Refused:
        return False
    return True


def covering(game: AnyGame, together: int) -> list[AnyOptions]:
    """Return few combinations in which every `together` values come up that may, the usual options first."""
    order = list(lawful(game))
    left = {piece for options in order for piece in _pieces(options, together)}
    Random(game.name).shuffle(order)
    chosen = [game.projection.options()]
    left -= _pieces(chosen[0], together)
    while left:
        chosen.append(max(order, key=lambda options: len(left & _pieces(options, together))))
        left -= _pieces(chosen[-1], together)
    return chosen


@cache
def _pieces(options: AnyOptions, together: int) -> frozenset[tuple[tuple[str, object], ...]]:
    return frozenset(combinations(to_builtins(options).items(), together))


def setups() -> list[Setup]:
    """Return the tables that every law is held against."""
    return [setup for game in GAMES for setup in _of_game(game)]


def _of_game(game: AnyGame) -> Iterator[Setup]:
    chosen = covering(game, 2) * TIMES
    tables = list(_sittings(game))
    allowed = lawful(game)
    # Every pair of options and every sitting come up, whichever are more.
    for turn in range(max(len(chosen), len(tables))):
        random = Random(f"{game.name} {turn}")
        options = chosen[turn] if turn < len(chosen) else random.choice(allowed)
        yield Setup(
            game.name,
            options,
            *(tables[turn] if turn < len(tables) else random.choice(tables)),
            seed=turn,
            silence=(0.1, 0.6, 0.1, 0.9)[turn % 4],
            resigning=(0.004, 0.0, 0.02)[turn % 3],
            longest=LONGEST if is_endless(game.name, options) else 100_000,
        )


def _sittings(game: AnyGame) -> Iterator[tuple[int, int, int]]:
    """Yield every number of seats, bots and untaken seats that goes together."""
    for seats in range(game.seats.least, game.seats.most + 1):
        for untaken in range(seats - game.seats.least + 1):
            taken = seats - untaken
            for bots in sorted({0, 1, taken - 1, taken}):
                if untaken == 0 or bots < taken:
                    yield seats, bots, untaken


def is_endless(game: str, options: AnyOptions) -> bool:
    """Tell whether a match with these options is stated to go on for ever."""
    endless = statement(game).endless
    return bool(endless) and all(getattr(options, name) == value for name, value in endless.items())
