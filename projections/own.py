"""A state of one's own: a copy to fold on, of which nothing reaches back to the state that it was copied from.

A state is a struct of values that never change and of lists and dicts, in one another however deep.
"""

from copy import copy
from typing import TypeVar

from msgspec import Struct

STATE = TypeVar("STATE")
T = TypeVar("T")


def own(state: STATE) -> STATE:
    """Copy a state: its lists and dicts anew, all else shared."""
    copied = copy(state)
    if isinstance(state, Struct):
        for name in state.__struct_fields__:
            value = getattr(state, name)
            if isinstance(value, list | dict):
                setattr(copied, name, _anew(value))
    return copied


def _anew(value: T) -> T:
    if isinstance(value, list):
        return [_anew(item) if isinstance(item, list | dict) else item for item in value]  # type: ignore[return-value] # a list as it was
    if isinstance(value, dict):
        return {key: _anew(item) for key, item in value.items()}  # type: ignore[return-value] # a dict as it was
    return value
