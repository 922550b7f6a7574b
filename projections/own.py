"""A state of one's own: a copy to fold on, of which nothing reaches back to the state that it was copied from.

A state is a struct of values that never change and of lists and dicts, in one another however deep.
"""

from copy import copy
from typing import Final, TypeVar

from msgspec import Struct

STATE = TypeVar("STATE")

_CHANGING: Final = frozenset({list, dict})


def own(state: STATE) -> STATE:
    """Copy a state: its lists and dicts anew, all else shared."""
    copied = copy(state)
    if isinstance(state, Struct):
        for name in state.__struct_fields__:
            value = getattr(state, name)
            if type(value) in _CHANGING:
                setattr(copied, name, _anew(value))
    return copied


def _anew(value: object) -> object:
    match value:
        case list():
            # Most hold cards alone and are copied at once: the fold does this deal by deal.
            return value.copy() if _CHANGING.isdisjoint(map(type, value)) else [*map(_anew, value)]
        case dict():
            return {key: _anew(item) for key, item in value.items()}
        case _:
            return value
