"""How answers about Chinchón are told: each agrees with every form in which a line may sensibly expect it.

An expected value that an answer can't read is a KeyError, TypeError or ValueError, which fails the line.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tests.cases.answers import Is
from tests.cases.chinchon_notation import Card, Seating, cards_of, tables_of


class Cards(NamedTuple):
    """Cards in any order; none of them may be told by null, and only how many there are by a number."""

    cards: Sequence[Card]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict | bool):
            raise TypeError("cards are told by a list")
        if isinstance(value, int):
            return value == len(self.cards)
        if isinstance(value, str):
            value = [] if value in {"", "none", "nothing"} else [value]
        return sorted(cards_of(value or ())) == sorted(self.cards)


class Table(NamedTuple):
    """Combinations in any order, each with its cards in any order; one of them may be told alone by its cards."""

    combinations: Sequence[Sequence[Card]]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, int) and not isinstance(value, bool):
            return value == len(self.combinations)
        mine = sorted(map(sorted, self.combinations))
        if value and isinstance(value[0], str):
            return sorted(cards_of(value)) in mine
        return sorted(map(sorted, tables_of(value or []))) == mine


class Laid(NamedTuple):
    """Who laid off which cards on whose combinations, in order; of one seat, or in all, only the cards may be told."""

    seating: Seating
    laid: Sequence[tuple[int, int, Sequence[Card]]]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict):
            return all(Cards(self._of(self.seating.seat(name))).agrees(told) for name, told in value.items())
        if all(isinstance(entry, str) for entry in value):
            return Cards([card for _, _, cards in self.laid for card in cards]).agrees(value)
        return len(value) == len(self.laid) and all(map(self._is, value, self.laid))

    def _is(self, told: Mapping[str, Any], laid: tuple[int, int, Sequence[Card]]) -> bool:
        if told.keys() - {"by", "cards", "card", "on"}:
            raise ValueError(f"{told} tells more than who laid what on whose")
        by, on, cards = laid
        named = told["cards"] if "cards" in told else [told["card"]]
        seats = self.seating.seat(told["by"]) == by and ("on" not in told or self.seating.seat(told["on"]) == on)
        return seats and Cards(cards).agrees(named)

    def _of(self, seat: int) -> list[Card]:
        return [card for by, _, cards in self.laid if by == seat for card in cards]


class Deadwood(NamedTuple):
    """The loose cards, told by their points or, as a list, by themselves."""

    points: int
    cards: Sequence[Card]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        return Cards(self.cards).agrees(value) if isinstance(value, list) else Is(self.points).agrees(value)


class Orders(NamedTuple):
    """Seats in order, one list of them a deal or one seat a deal; a line may tell as many deals as it likes."""

    seating: Seating
    orders: Sequence[Sequence[int]]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        told = [self.seating.seats(names) for names in value]
        return bool(told) and told == list(map(list, self.orders[: len(told)]))
