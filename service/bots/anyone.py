"""`anyone`: plays any legal command of any game, each equally likely."""

from collections.abc import Sequence

from service.bots import Bot
from service.chance import Draws
from service.game import AnyView, Command


def choose(_view: AnyView, legal: Sequence[Command], draws: Draws) -> Command:
    """Pick any of the legal commands."""
    return legal[draws.draw(len(legal))]


BOT = Bot("anyone", 1, choose)
