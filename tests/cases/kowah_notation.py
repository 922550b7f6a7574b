"""The notation of Kowah's worked cases: cards are written as in the API, seats P1, P2 … by turn order from the lot.

A, B … are seats 0, 1 … too. A word that names nothing is a ValueError.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from events.cards import MONEY, MoneyCard
from events.games.kowah import SEATS

LETTERS = "ABCDEF"
USUAL = 3
Card = MoneyCard
CARD: dict[str, Card] = {card: card for card in MONEY}

NAME = r"P[1-6]|[A-F]"


def card_of(word: Any) -> Card:  # noqa: ANN401 a line holds any JSON
    if not isinstance(word, str) or word not in CARD:
        raise ValueError(f"{word!r} names no card")
    return CARD[word]


def cards_of(words: Iterable[str]) -> list[Card]:
    if isinstance(words, str):
        raise TypeError(f"cards are told by a list, not {words!r}")
    return [card_of(word) for word in words]


def in_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    return tuple(sorted(cards, key=MONEY.index))


class Seating:
    """How many sit at the table, all seats taken; who plays first in the deal, None where a line leaves it open."""

    def __init__(self, told: Mapping[str, Any], mentioned: Iterable[str]) -> None:
        players, order = told.get("players"), told.get("order") or ()
        if isinstance(players, list):
            players = len(players)
        places = [place_of(name) + 1 for name in [*mentioned, *order]]
        self.count: int = players or len(order) or max([USUAL, *places])
        if max(places, default=0) > self.count or not 2 <= self.count <= SEATS:
            raise ValueError(f"{self.count} seats for {sorted(places)}")
        first = told.get("first", order[0] if order else None)
        self.first = None if first is None else self.seat(first)
        if order and self.turns_from(self.seat(order[0])) != self.seats(order):
            raise ValueError(f"{order} is no turn order of {self.count} seats")

    def turns_from(self, seat: int) -> list[int]:
        """Return all seats in turn order, from one of them on."""
        return [(seat + step) % self.count for step in range(self.count)]

    def seat(self, name: str | int) -> int:
        """Return the seat of a name: "P2", "C", 2 as in the API."""
        if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < self.count:
            return name
        place = place_of(name)
        if place >= self.count:
            raise ValueError(f"{name!r} names none of {self.count} seats")
        return place

    def seats(self, names: Any) -> list[int]:  # noqa: ANN401 a line holds any JSON
        """Return the seats that a line lists, by one name, by several, or by which of them something is true."""
        match names:
            case None | False:
                return []
            case dict():
                return [self.seat(name) for name, value in names.items() if value]
            case list():
                return [self.seat(name) for name in names]
            case str() if names.lower() in {"none", "nobody", ""}:
                return []
            case str() if names.lower() in {"all", "everybody", "everyone"}:
                return list(range(self.count))
            case _:
                return [self.seat(names)]


def place_of(name: Any) -> int:  # noqa: ANN401 a line holds any JSON
    if not isinstance(name, str) or not re.fullmatch(NAME, name):
        raise ValueError(f"{name!r} names no seat")
    return int(name[1]) - 1 if name[0] == "P" else LETTERS.index(name)


def names_of(seat: int) -> Sequence[str]:
    """Return the names that a seat goes by."""
    return f"P{seat + 1}", LETTERS[seat]
