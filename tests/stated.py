"""Stated orders: chance for tests that say how the cards lie."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from service.chance import Shuffles

T = TypeVar("T")


class Stated(Shuffles):
    """Shuffles that lay each pack as stated under its number, and fail where nothing or another pack was stated."""

    def __init__(self, orders: Mapping[int, Sequence[object]]) -> None:
        self._orders = dict(orders)

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Return the pack in the order stated for c; AssertionError if there is none or it is of other cards."""
        if c not in self._orders:
            raise AssertionError(f"no order is stated for shuffle {c}, only for {sorted(self._orders)}")
        left = list(pack)
        order = []
        for card in self._orders[c]:
            if card not in left:
                raise AssertionError(f"shuffle {c} is stated with {card!r} once too often for the pack {pack!r}")
            order.append(left.pop(left.index(card)))
        if left:
            raise AssertionError(f"shuffle {c} is stated without {left!r}")
        return tuple(order)
