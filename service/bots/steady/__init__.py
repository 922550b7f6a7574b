"""`steady`: knows the games it plays, and plays each with what a careful person does at the table.

What it knows of a game is in the module here that is named as the game; a game that has none is played as `anyone`
plays it, so that a game needs no strategy to be there. Every choice is made anew, from the view alone.
"""

import importlib
import pkgutil
from collections.abc import Mapping, Sequence

from service.bots import Bot, Choose, anyone
from service.chance import Draws
from service.game import AnyView, Command


def choose(view: AnyView, legal: Sequence[Command], draws: Draws) -> Command:
    """Pick the legal command that the game's strategy values most, any of them where the game has none."""
    return _STRATEGIES.get(view.game, anyone.choose)(view, legal, draws)


_STRATEGIES: Mapping[str, Choose] = {
    module.name: importlib.import_module(f"{__name__}.{module.name}").choose
    for module in pkgutil.iter_modules(__path__)
}

BOT = Bot("steady", 1, choose)
