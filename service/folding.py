"""Folding: how the entries of a stream add up to its state."""

from collections.abc import Callable
from typing import Protocol, TypeAlias, TypeVar

import msgspec

from service.streams import Stored, broken

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
        """Read the entry that follows the state's version; raise what msgspec does for what is none."""
        ...


def add_stored(fold: Fold[STATE], stream: str, state: STATE, stored: Stored) -> None:
    """Add an entry that the store has; raise Broken for what is none of its stream."""
    try:
        add = fold.read(state, stored)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise broken(f"{stream} has at version {stored.version} what is no entry of such a stream") from None
    add()
