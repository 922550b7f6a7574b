"""Chinchón: up to eight players, each for themselves, lay out sets and runs; the last one within the limit wins.

commands   what players ask for
rules      which of it is legal, what it makes happen; ends in `GAME`
turns      draw, discard, close
exposure   laying out, and laying off on what others laid out
scoring    points, bonuses, who is out
reentry    coming back for a stake, and how the match goes on
pot        who takes the stakes, and everybody's places
deals      the lot, the order of turns, dealing
hands      packs, what cards count, which combine
along      folding along within a decision

The rules page, chinchon.en.md, and the catalogue of words, chinchon.en.ftl, lie beside them.
"""

from service.games.chinchon.commands import (
    Auto,
    ChinchonCommand,
    Close,
    Discard,
    DrawDiscard,
    DrawStock,
    EndTurn,
    Expose,
    LayOff,
    Pass,
    Reenter,
    StayOut,
)
from service.games.chinchon.hands import value_of
from service.games.chinchon.rules import GAME

__all__ = [
    "GAME",
    "Auto",
    "ChinchonCommand",
    "Close",
    "Discard",
    "DrawDiscard",
    "DrawStock",
    "EndTurn",
    "Expose",
    "LayOff",
    "Pass",
    "Reenter",
    "StayOut",
    "value_of",
]
