"""Players that are programs, found by their modules: each module here that ends in `BOT` is one.

A bot sees a view, the legal commands and a stream of draws of its own, and nothing else: so it can know no hidden
card. Its seat's player is `bot:<name>/<build>#<seat>`, never an account; a build that plays otherwise has a new number.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from service.chance import Draws
from service.game import AnyView, Command

Choose = Callable[[AnyView, Sequence[Command], Draws], Command]


class Bot(NamedTuple):
    """A program that picks one of the legal commands (never none) from what its seat may see."""

    name: str
    build: int
    choose: Choose

    @property
    def label(self) -> str:
        """The name with the build, as the log keeps it."""
        return f"{self.name}/{self.build}"


class Bots:
    """The bots that this process can seat."""

    def __init__(self, bots: Iterator[Bot]) -> None:
        """Take the bots; the newest build of a name is the one that is seated."""
        self._bots: dict[str, Bot] = {bot.name: bot for bot in sorted(bots, key=lambda bot: bot.build)}

    def __iter__(self) -> Iterator[Bot]:
        """Go through the bots by name."""
        return iter(self._bots[name] for name in sorted(self._bots))

    def named(self, name: str) -> Bot | None:
        """Return the newest build of a bot by its name (`anyone`) or label (`anyone/1`), None if there is none."""
        return self._bots.get(name.partition("/")[0])


def find() -> Bots:
    """Find the bots of this package."""
    names = (f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__))
    return Bots(importlib.import_module(name).BOT for name in names)
