"""Chinkway: what its events add up to, and who may see it.

state   the match and its phases, and the fold
views   what a seat or a spectator may see of it
"""

from events.games.chinkway import ChinkwayEvent, Options
from projections.fold import Projection
from projections.games.chinkway.state import (
    SEATS,
    Capturing,
    DealOver,
    Declaring,
    Discarding,
    Playing,
    State,
    Trick,
    begin,
    cards,
    evolve,
    rescored,
)
from projections.games.chinkway.views import View, redact, view

__all__ = [
    "PROJECTION",
    "SEATS",
    "Capturing",
    "DealOver",
    "Declaring",
    "Discarding",
    "Playing",
    "State",
    "Trick",
    "View",
    "begin",
    "evolve",
    "redact",
    "rescored",
]

PROJECTION = Projection(
    name="chinkway",
    ruleset="chinkway/1",
    events=ChinkwayEvent,
    options=Options,
    begin=begin,
    evolve=evolve,
    view=view,
    redact=redact,
    cards=cards,
    rescored=rescored,
)
