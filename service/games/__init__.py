"""The games that can be played, found by their modules: each module or package here ends in `GAME`.

A module elsewhere counts too when the settings name it; so a game can live outside the tree.
"""

import importlib
import pkgutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from service.game import AnyGame, Game

# Names that the API's routes use, never a game's.
RESERVED = frozenset(
    [
        "table",
        "tournament",
        "players",
        "tables",
        "tournaments",
        "ladders",
        "webhooks",
        "tokens",
        "tickets",
        "games",
        "me",
    ]
)


class Games:
    """Every ruleset of every game that this process can referee."""

    def __init__(self, games: Iterable[AnyGame]) -> None:
        """Take the games; raise ValueError for a reserved name or a ruleset that comes twice."""
        self._rulesets: dict[str, AnyGame] = {}
        self._current: dict[str, AnyGame] = {}
        for game in sorted(games, key=_age):
            if game.name in RESERVED:
                message = f"{game.name!r} is a reserved name and can't be a game's"
                raise ValueError(message)
            if game.ruleset in self._rulesets:
                message = f"the ruleset {game.ruleset!r} is there twice"
                raise ValueError(message)
            self._rulesets[game.ruleset] = self._current[game.name] = game

    def __iter__(self) -> Iterator[AnyGame]:
        """Go through the games, each at its newest ruleset, by name."""
        return iter(self._current[name] for name in sorted(self._current))

    def named(self, name: str) -> AnyGame | None:
        """Return the game new tables of this name play, None if there is none."""
        return self._current.get(name)

    def ruled(self, ruleset: str) -> AnyGame:
        """Return the ruleset a table is pinned to; raise KeyError if this process does not know it."""
        return self._rulesets[ruleset]


def find(*modules: str) -> Games:
    """Find the games of this package and of the modules named; raise ImportError where one has no GAME."""
    names = [f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)]
    return Games(_game_of(name) for name in (*names, *modules))


def _game_of(module: str) -> AnyGame:
    game = getattr(importlib.import_module(module), "GAME", None)
    if not isinstance(game, Game):
        message = f"the module {module} ends in no GAME"
        raise ImportError(message)  # noqa: TRY004 a module without a game can't be imported as one
    return game


def _age(game: AnyGame) -> tuple[str, int]:
    name, _, number = game.ruleset.partition("/")
    return name, int(number)


def rules_pages(game: AnyGame) -> dict[str, Path]:
    """Return a game's rules pages by language: the files `<game>.<language>.md` beside the module that decides it."""
    source = sys.modules[game.decide.__module__].__file__
    if source is None:
        return {}
    return {page.suffixes[-2].lstrip("."): page for page in sorted(Path(source).parent.glob(f"{game.name}.*.md"))}
