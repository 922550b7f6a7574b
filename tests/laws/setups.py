"""How the tables of the laws are set up: every option at each value, every legal number of seats, by fixed seeds.

Options are chosen so that every two values that go together come up together. `make laws` plays thousands of
deals and every number of seats with every number of bots; unset, each of these comes up once.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from msgspec import inspect, to_builtins

from service import games
from service.game import AnyGame, Refused
from tests.laws.audience import statement
from tests.laws.covering import Row, cover, pieces
from tests.sizes import CI, FULL, sized

TOY = "tests.toy.service.toy"
MODULES = (TOY,)
"""The games of the laws that lie outside the tree."""

GAMES = games.find(*MODULES)

SERVED = [game for game in GAMES if CI or game.name == "toy"]
"""The games whose secrecy is held over HTTP: with all of them that takes the better part of a minute."""

AnyOptions = Any

# How many matches of a game are played at least, and after how many decisions one is left: one without end, and any.
MATCHES = 360 if FULL else 1
LONGEST = 1_500 if FULL else 120
MOST = 100_000 if FULL else 800


class Setup(NamedTuple):
    """A table to be played: its game, options and seats, which of them bots take, and the seed of all that is random.

    `untaken` seats stay empty, so the host starts. `silence` and `resigning` are the odds that a move is the idle one,
    and that a person resigns instead, `contest` those that somebody disputes, pauses, looks or rules. A match that has
    not ended after `longest` decisions is left as it stands.
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
    contest: float = 0.0

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
    """Return the values of every option: all of them, of an integer its bounds and what it usually is."""
    described = inspect.type_info(game.projection.options)
    assert isinstance(described, inspect.StructType)
    return {field.name: _values(field.type, field.default) for field in described.fields}


def _values(kind: inspect.Type, usual: object) -> tuple[object, ...]:
    match kind:
        case inspect.Metadata(inner):
            return _values(inner, usual)
        case inspect.LiteralType(values):
            return values
        case inspect.BoolType():
            return (False, True)
        case inspect.IntType(ge=int(least), le=int(most)):
            # Where an integer is one of several kinds of value, what it counts is there once at least.
            between = usual if isinstance(usual, int) else least + 1
            return tuple(sorted({least, between, most}))
        case inspect.UnionType(members):
            return tuple(value for member in members for value in _values(member, usual))
        case _:
            raise NotImplementedError(f"an option is one of {kind}, of which the laws know no values")


def _usual(game: AnyGame) -> Row:
    usual: Row = to_builtins(game.projection.options())
    return usual


def _options(game: AnyGame, row: Row) -> AnyOptions:
    return game.projection.options(**row)


def is_allowed(game: AnyGame, options: AnyOptions) -> bool:
    """Tell whether a table may be opened with these options."""
    try:
        game.check(options)
    except Refused:
        return False
    return True


def unlawful(game: AnyGame) -> Iterator[AnyOptions]:
    """Yield options that contradict each other: the usual ones, but for two at most."""
    usual = _usual(game)
    for piece in pieces(values_of(game), 2):
        options = _options(game, {**usual, **dict(piece)})
        if not is_allowed(game, options):
            yield options


def covering(game: AnyGame, together: int) -> list[AnyOptions]:
    """Return few combinations in which every `together` values come up that may, the usual options first."""
    rows = cover(values_of(game), _usual(game), lambda row: is_allowed(game, _options(game, row)), together)
    return [_options(game, row) for row in rows]


@cache
def setups() -> tuple[Setup, ...]:
    """Return the tables that every law is held against."""
    return tuple(setup for game in GAMES for setup in _of_game(game))


def _of_game(game: AnyGame) -> Iterator[Setup]:
    chosen = covering(game, sized(1, 2, 2))
    tables = sittings(game, 2 if FULL else 1)
    # Every option, or pair of them, and every sitting come up, whichever are more.
    for turn in range(max(len(chosen), len(tables), MATCHES // len(chosen) * len(chosen))):
        options = chosen[turn % len(chosen)]
        yield Setup(
            game.name,
            options,
            *tables[turn % len(tables)],
            seed=turn,
            silence=(0.1, 0.6, 0.1, 0.9)[turn % 4],
            resigning=(0.004, 0.0, 0.02)[turn % 3],
            longest=LONGEST if is_endless(game.name, options) else MOST,
            contest=(0.0, 0.1)[turn % 2],
        )


def sittings(game: AnyGame, together: int) -> list[tuple[int, int, int]]:
    """Return few numbers of seats, bots and untaken seats, in which every `together` of them come up that may."""
    least, most, usual = game.seats

    def is_sitting(row: Row) -> bool:
        seats, bots, untaken = _sitting(row)
        taken = seats - untaken
        return taken >= least and bots in {0, 1, taken - 1, taken} and (untaken == 0 or bots < taken)

    values = {"seats": range(least, most + 1), "bots": range(most + 1), "untaken": range(most - least + 1)}
    return [_sitting(row) for row in cover(values, {"seats": usual, "bots": 0, "untaken": 0}, is_sitting, together)]


def _sitting(row: Mapping[str, Any]) -> tuple[int, int, int]:
    return row["seats"], row["bots"], row["untaken"]


def is_endless(game: str, options: AnyOptions) -> bool:
    """Tell whether a match with these options is stated to go on for ever."""
    endless = statement(game).endless
    return bool(endless) and all(getattr(options, name) in values for name, values in endless.items())
