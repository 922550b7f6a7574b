"""Kowah: two to six players each wait for the third card of a pair, beside two triplets.

commands   what players ask for
rules      which of it is legal, what it makes happen; ends in `GAME`
turns      draw, take, discard, declare
ready      pairs and triplets
deals      the lot, dealing, how a deal ends, everybody's places

The rules page, kowah.en.md, and the catalogue of words, kowah.en.ftl, lie beside them.
"""

from service.games.kowah.commands import Checki, Discard, DrawStock, KowahCommand, TakeDiscard
from service.games.kowah.rules import GAME

__all__ = ["GAME", "Checki", "Discard", "DrawStock", "KowahCommand", "TakeDiscard"]
