"""Folding along: a decision of several steps sees what its own events bring about."""

from typing import TypeVar

from events.games.chinchon import ChinchonEvent
from projections.games.chinchon import State, evolve

EVENT = TypeVar("EVENT", bound=ChinchonEvent)


def happens(play: State, event: EVENT) -> EVENT:
    """Add an event to a match of the decision's own, and return it to be yielded."""
    evolve(play, event)
    return event
