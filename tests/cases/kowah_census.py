"""The numbers of ready hands that a line may tell: counted from the words of the rule, and by the product's own test.

The counting is that of tests/service/games/kowah/test_counts.py, which holds it against every hand there is.
"""

from collections import Counter
from collections.abc import Callable
from functools import cached_property
from math import comb
from typing import Any

from service.games.kowah import ready
from service.games.kowah.deals import PACK
from tests.cases.answers import Is
from tests.cases.kowah_given import EIGHT
from tests.cases.kowah_notation import Card
from tests.service.games.kowah.test_counts import Hand, triplets, waits, ways


class Census:
    """What is counted over all hands of eight, each number under its names."""

    def __init__(self, *, strict: bool) -> None:
        self._strict = strict

    def __repr__(self) -> str:
        return f"the census of hands, {len(self._found)} of them ready"

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        return bool(value) and all(self._number(name).agrees(told) for name, told in value.items())

    def _number(self, name: str) -> Is:
        return Is(next(count() for names, count in self._numbers.items() if name in names.split()))

    @cached_property
    def _found(self) -> dict[Hand, tuple[Card, ...]]:
        """What the product finds of every hand that is ready but for suits."""
        return {hand: pairs for hand in waits("none") if (pairs := ready.pairs(hand))}

    def _with(self, pairs: int) -> int:
        return sum(len(found) == pairs for found in self._found.values())

    def _deals(self) -> int:
        return sum(map(ways, self._found if self._strict else waits("some")))

    @property
    def _numbers(self) -> dict[str, Callable[[], float]]:
        all_deals = comb(len(PACK), EIGHT)
        return {
            "ready_multisets_strict ready_hands_strict ready_strict": lambda: len(self._found),
            "ready_multisets_lenient ready_hands_lenient ready_lenient": lambda: len(waits("some")),
            "ready_multisets ready_hands ready": lambda: len(self._found if self._strict else waits("some")),
            "ready_multisets_without_221 ready_without_221 ready_if_221_ignored": lambda: len(waits("none")),
            "ready_only_if_lenient only_lenient difference": lambda: len(waits("some").keys() - self._found.keys()),
            "more_waits_if_lenient": lambda: sum(len(waits("some")[h]) > len(p) for h, p in self._found.items()),
            "ready_deals ready_deals_strict": self._deals,
            "ready_deals_lenient": lambda: sum(map(ways, waits("some"))),
            "all_deals deals": lambda: all_deals,
            "one_in": lambda: round(all_deals / self._deals(), 1),
            "all_multisets multisets": _multisets,
            "hands_with_two_possible_waits two_waits": lambda: self._with(2),
            "hands_with_one_possible_wait one_wait": lambda: self._with(1),
            "most_waits max_waits": lambda: max(map(len, self._found.values())),
            "triplets triplet_multisets": lambda: len(triplets()),
        }


def _multisets() -> int:
    """Return how many hands of eight differ by their kinds, added up kind by kind."""
    many = Counter({0: 1})
    for copies in Counter(PACK).values():
        grown = Counter[int]()
        for size, count in many.items():
            for more in range(copies + 1):
                grown[size + more] += count
        many = grown
    return many[EIGHT]
