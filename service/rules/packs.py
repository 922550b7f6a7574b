"""Packs and hands: handing out cards that were shuffled, top first; taking one away."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def hands(pack: Sequence[T], sizes: Sequence[int]) -> tuple[tuple[T, ...], ...]:
    """Return one hand for each size, whole and off the top one after another; the rest of the pack stays.

    ValueError if the pack is too small for them.
    """
    if sum(sizes) > len(pack):
        raise ValueError(f"{sum(sizes)} cards can't be dealt from a pack of {len(pack)}")
    top = 0
    dealt = []
    for size in sizes:
        dealt.append(tuple(pack[top : top + size]))
        top += size
    return tuple(dealt)


def without(cards: Sequence[T], card: T) -> list[T]:
    """Return cards in their order but for one copy of this one; ValueError where it is not among them."""
    rest = list(cards)
    rest.remove(card)
    return rest
