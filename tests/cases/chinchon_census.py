"""All hands of one pack, counted: how many the product finds to be of each kind that the rules page numbers.

The product is asked about hands that brute force makes of combinations and few points, of eight cards about one in
twenty of those that leave any, and about some thousand others. That all other hands leave more, and how much, is held
by tests/service/rules/test_meld_counts.py at full size; what only those know is compared with the numbers held there.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from math import comb, factorial, prod
from random import Random
from typing import Any

from events.cards import SPANISH, SPANISH_40
from service.rules.melds import Melds
from tests.service.rules import test_meld_counts as hands
from tests.service.rules.test_meld_counts import Cards, Kind

LIMIT = 5
OTHERS = 3_000
EACH = 20

SEVEN = 7
EIGHT = 8


def _pack(pack: int) -> Sequence[str]:
    return SPANISH_40 if pack == 40 else SPANISH


def _kind_of(pack: int, hand: Cards) -> Kind:
    """Return what a hand holds of each suit, a bit a rank, the most first: alike for all that differ by suits alone."""
    ranks = pack // 4
    bits = sum(1 << _pack(pack).index(card) for card in hand)
    return tuple(sorted((bits >> start & (1 << ranks) - 1 for start in range(0, pack, ranks)), reverse=True))


def _many(kind: Kind) -> int:
    """Return how many hands are of a kind."""
    return factorial(4) // prod(map(factorial, Counter(kind).values()))


def _with_another(pack: int, kind: Kind) -> Iterator[Kind]:
    """Yield the kinds of hands that one more card makes of this one."""
    for suit, held in enumerate(kind):
        for rank in range(pack // 4):
            if not held >> rank & 1:
                yield tuple(sorted((*kind[:suit], held | 1 << rank, *kind[suit + 1 :]), reverse=True))


def _of_seven(pack: int) -> Iterable[tuple[Cards, int]]:
    return hands.kinds_of(_pack(pack), hands.made(pack, SEVEN, LIMIT))


def _eights_of(pack: int, most: int) -> set[Kind]:
    """Return the kinds of hands of eight that can close with so many points."""
    sevens = hands.kinds_of(_pack(pack), hands.made(pack, SEVEN, most))
    return {more for hand, _ in sevens for more in _with_another(pack, _kind_of(pack, hand))}


@cache
def _eights(pack: int, melds: Melds[Any]) -> Counter[str]:
    linked, closing = _eights_of(pack, 0), _eights_of(pack, LIMIT)
    # Some are asked about, each for those that follow it; all are that leave nothing.
    asked = linked | set(sorted(closing)[::EACH])
    draw = Random(pack)
    others = {_kind_of(pack, tuple(draw.sample(_pack(pack), EIGHT))) for _ in range(OTHERS)} - closing
    kinds = asked | others
    found = _closing(melds, ((hands.hand_of(_pack(pack), kind), _many(kind)) for kind in kinds))
    found["can_close"] += sum(map(_many, closing - asked))
    return found


def _closing(melds: Melds[Any], every: Iterable[tuple[Cards, int]]) -> Counter[str]:
    found: Counter[str] = Counter()
    for hand, many in every:
        least = min(melds.points_without(hand))
        found["can_close"] += many * (least <= LIMIT)
        found["can_close_with_0"] += many * (least == 0)
        found["can_make_chinchon"] += many * (least == 0 and hands.can_make_one(melds, hand))
    return found


@cache
def _sevens(pack: int, melds: Melds[Any]) -> tuple[Counter[int], Counter[int]]:
    """Return how many hands leave each number of points, and how many all combine in one or two combinations."""
    points: Counter[int] = Counter()
    linked: Counter[int] = Counter()
    for hand, many in _of_seven(pack):
        layout = melds.best(hand)
        points[layout.points] += many
        linked[len(layout.combinations)] += many * (not layout.loose)
    return points, linked


class Census:
    """The numbers of one pack, told by name; of hands there are those of eight cards unless only sevens are told of."""

    def __init__(self, pack: int, melds: Melds[Any]) -> None:
        self._pack = pack
        self._melds = melds

    def __repr__(self) -> str:
        return f"the hands of a pack of {self._pack}"

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        names = set(value)
        size = EIGHT if any(name.startswith("can_") for name in names) else SEVEN
        return all(self._is(name, told, size) for name, told in value.items())

    def _is(self, name: str, told: Any, size: int) -> bool:  # noqa: ANN401 a line holds any JSON
        match name:
            case "hands" | "total" | "hands_of_eight" | "hands_of_seven" | "hands_8" | "hands_7":
                size = EIGHT if "eight" in name or "8" in name else SEVEN if "seven" in name or "7" in name else size
                return bool(told == comb(self._pack, size))
            case "can_close" | "can_close_with_0" | "can_make_chinchon":
                return bool(told == _eights(self._pack, self._melds)[name])
            case _:
                return self._is_of_seven(name, told)

    def _is_of_seven(self, name: str, told: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        points, linked = _sevens(self._pack, self._melds)
        match name:
            case "chinchon":
                return bool(told == linked[1])
            case "other_all_linked" | "other_linked":
                return bool(told == linked[2])
            case "all_linked" | "deadwood_0" | "linked":
                return bool(told == points[0])
            case "deadwood_at_most_5" | "deadwood_le_5" | "deadwood_max_5" | "deadwood_up_to_5" | "at_most_5":
                return bool(told == sum(many for left, many in points.items() if left <= LIMIT))
            case "by_deadwood" | "deadwood_0_to_10" | "hands_by_deadwood" | "histogram":
                many = list(told.values()) if isinstance(told, dict) else list(told)
                asked = [points[left] for left in range(LIMIT + 1)]
                return many == [*asked, *hands.NUMBERS[self._pack].by_points[LIMIT + 1 :]][: len(many)]
            case "mean_deadwood" | "sum_of_deadwood" | "deadwood_sum" | "total_deadwood":
                return self._is_sum(name, told, hands.NUMBERS[self._pack].points)
            case _:
                raise ValueError(f"nobody counts {name}")

    def _is_sum(self, name: str, told: float, total: int) -> bool:
        if name != "mean_deadwood":
            return told == total
        return abs(Fraction(total, comb(self._pack, SEVEN)) - Fraction(str(told))) <= Fraction(1, 200)
