"""Chinchón: what its events add up to, and who may see it.

state   the match and its phases, and the fold
views   what a seat or a spectator may see of it
"""

from events.games.chinchon import ChinchonEvent, Options
from projections.fold import Projection
from projections.games.chinchon.state import (
    HAND,
    Answering,
    DealOver,
    Exposing,
    LayingOff,
    Phase,
    State,
    Turn,
    begin,
    cards,
    evolve,
    must_draw_stock,
    printed,
    rescored,
)
from projections.games.chinchon.views import View, redact, view

__all__ = [
    "HAND",
    "PROJECTION",
    "Answering",
    "DealOver",
    "Exposing",
    "LayingOff",
    "Phase",
    "State",
    "Turn",
    "View",
    "begin",
    "evolve",
    "must_draw_stock",
    "printed",
    "redact",
    "rescored",
]

PROJECTION = Projection(
    name="chinchon",
    ruleset="chinchon/1",
    events=ChinchonEvent,
    options=Options,
    begin=begin,
    evolve=evolve,
    view=view,
    redact=redact,
    cards=cards,
    rescored=rescored,
)
