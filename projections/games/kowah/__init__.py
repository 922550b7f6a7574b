"""Kowah: what its events add up to, and who may see it.

state   the deals and their phases, and the fold
views   what a seat or a spectator may see of it
"""

from events.games.kowah import KowahEvent, Options
from projections.fold import Projection
from projections.games.kowah.state import (
    HAND,
    Discarding,
    Drawing,
    Over,
    Phase,
    State,
    begin,
    cards,
    evolve,
    hands_left,
    must_draw_stock,
    points_of,
    printed,
)
from projections.games.kowah.views import Result, View, redact, view

__all__ = [
    "HAND",
    "PROJECTION",
    "Discarding",
    "Drawing",
    "Over",
    "Phase",
    "Result",
    "State",
    "View",
    "begin",
    "evolve",
    "hands_left",
    "must_draw_stock",
    "points_of",
    "printed",
    "redact",
]

PROJECTION = Projection(
    name="kowah",
    ruleset="kowah/1",
    events=KowahEvent,
    options=Options,
    begin=begin,
    evolve=evolve,
    view=view,
    redact=redact,
    cards=cards,
)
