"""Chinkway: five players, partners who change with every deal, a quest that says which captured cards score.

commands   what players ask for
rules      which of it is legal, what it makes happen, the score; ends in `GAME`
quests     what a quest asks for, what meets it and what that is worth
partners   who deals, and who plays with whom

The rules page, chinkway.en.md, and the catalogue of words, chinkway.en.ftl, lie beside them.
"""

from service.games.chinkway.commands import Capture, ChinkwayCommand, Declare, Decline, Discard, Play
from service.games.chinkway.rules import GAME, capturable, playable, score

__all__ = [
    "GAME",
    "Capture",
    "ChinkwayCommand",
    "Declare",
    "Decline",
    "Discard",
    "Play",
    "capturable",
    "playable",
    "score",
]
