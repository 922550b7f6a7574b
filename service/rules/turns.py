"""Turns: in which order seats take them."""

from collections.abc import Sequence


def turns_from(seats: Sequence[int], first: int) -> tuple[int, ...]:
    """Return seats in turn order, from one of them on; ValueError where that one is not among them."""
    place = seats.index(first)
    return (*seats[place:], *seats[:place])
