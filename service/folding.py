"""Folding: how the entries of a stream add up to its state."""

from collections.abc import Callable
from functools import partial
from typing import Protocol, TypeAlias, TypeVar

from service.streams import UNREADABLE, Stored, unreadable

Adding: TypeAlias = Callable[[], None]
"""Adds an entry that was read."""


class Folded(Protocol):
    """The state of a stream, as far as deciding on it goes."""

    version: int
    head: bytes
    at: int


STATE = TypeVar("STATE", bound=Folded)


class Fold(Protocol[STATE]):
    """How entries of one kind of stream add up."""

    def empty(self, stream: str) -> STATE:
        """Return the state of a stream without entries."""
        ...

    def read(self, state: STATE, stored: Stored) -> Adding:
        """Read the entry that follows the state's version.

        Raise what msgspec does, or IndexError, for what is none, and KeyError where its rules are not known here.
        """
        ...


def read_stored(fold: Fold[STATE], stream: str, state: STATE, stored: Stored) -> Adding:
    """Read an entry that the store has; what adds it raises Broken too for what is none of its stream.

    Raise KeyError as the fold does.
    """
    try:
        add = fold.read(state, stored)
    except UNREADABLE:
        raise unreadable(stream, stored.version) from None
    return partial(_add, stream, stored.version, add)


def _add(stream: str, version: int, add: Adding) -> None:
    try:
        add()
    except Exception as error:
        # What no decision can have led to: it concerns this stream, and nothing else that is done.
        raise unreadable(stream, version) from error
