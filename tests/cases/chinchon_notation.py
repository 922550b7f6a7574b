"""The notation of Chinchón's worked cases: cards, combinations and seats as lines write them.

Cards are written index first; seats P1, P2 … are numbered in turn order, A, B … are seats 0, 1 … A word that names
nothing is a ValueError.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from events.cards import SPANISH, SpanishCard

LETTERS = "ABCDEFGH"
MOST = len(LETTERS)
Card = SpanishCard
CARD: dict[str, Card] = {card: card for card in SPANISH}

NAME = r"P[1-8]|[A-H]"


def card_of(word: str) -> Card:
    """Return the API's name of a card written index first."""
    if word[-1:] + word[:-1] not in CARD:
        raise ValueError(f"{word!r} names no card")
    return CARD[word[-1] + word[:-1]]


def cards_of(words: Iterable[str]) -> list[Card]:
    if isinstance(words, str):
        raise TypeError(f"cards are told by a list, not {words!r}")
    return [card_of(word) for word in words]


def tables_of(told: Sequence[Any]) -> list[list[Card]]:
    """Return combinations; of a single one the cards may stand alone."""
    return [cards_of(told)] if told and isinstance(told[0], str) else [cards_of(group) for group in told]


def in_order(cards: Iterable[Card]) -> tuple[Card, ...]:
    return tuple(sorted(cards, key=SPANISH.index))


class Seating:
    """Who sits where, who is in, who has the forehand, and how seats are named.

    `named` lists the seats' own names where a line gives them; `count` is how many seats there are.
    """

    def __init__(self, told: Mapping[str, Any], mentioned: Iterable[str], decks: int) -> None:
        seats, players = told.get("seats_counter_clockwise"), told.get("players")
        self.named: tuple[str, ...] = tuple(seats or ())
        places = [place + 1 for place in map(self._place, mentioned)]
        least = 5 if decks == 2 else 2
        if isinstance(players, list):
            players = len(players)
        self.count: int = len(self.named) or players or max([least, *places])
        if max(places, default=0) > self.count or not 2 <= self.count <= MOST:
            raise ValueError(f"{self.count} seats for {sorted(set(mentioned))}")
        order = told.get("turn_order") or ()
        self.out = tuple(map(self._place, told.get("out_before") or ()))
        self.forehand = self._forehand(told, order)
        if order and self.order != [self._place(name) for name in order]:
            raise ValueError(f"{order} is no turn order of {self.count} seats")
        self.closer: int | None = None
        if (closer := told.get("closer")) is not None:
            self.closer = self.seat(closer)

    def _forehand(self, told: Mapping[str, Any], order: Sequence[str]) -> int:
        if told.get("forehand") is not None:
            return self._place(told["forehand"])
        if order:
            return self._place(order[0])
        if told.get("dealer") is not None:
            dealer = self._place(told["dealer"])
            return next(seat for seat in self._round(dealer + 1) if seat not in self.out)
        return next(seat for seat in self._round(0) if seat not in self.out)

    def _round(self, first: int) -> list[int]:
        return [(first + step) % self.count for step in range(self.count)]

    @property
    def order(self) -> list[int]:
        """The seats that are in, from the forehand to the dealer."""
        return [seat for seat in self._round(self.forehand) if seat not in self.out]

    def after(self, seat: int) -> list[int]:
        """Return the other seats that are in, in turn order after this one."""
        return [other for other in self._round(seat + 1) if other not in self.out and other != seat]

    def _place(self, name: str) -> int:
        if name in self.named:
            return self.named.index(name)
        if not re.fullmatch(NAME, str(name)):
            raise ValueError(f"{name!r} names no seat")
        return int(name[1]) - 1 if name[0] == "P" else LETTERS.index(name)

    def seat(self, name: str | int) -> int:
        """Return the seat of a name: "P2", "C", "closer", "dealer", "forehand", 2 as in the API."""
        if isinstance(name, int) and not isinstance(name, bool) and 0 <= name < self.count:
            return name
        if name == "closer" and self.closer is not None:
            return self.closer
        if name in {"dealer", "forehand"}:
            return self.order[-1 if name == "dealer" else 0]
        place = self._place(str(name))
        if place >= self.count:
            raise ValueError(f"{name!r} names none of {self.count} seats")
        return place

    def seats(self, names: Any) -> list[int]:  # noqa: ANN401 a line holds any JSON
        """Return the seats that a line lists, by one name, by several, or by which of them something is true."""
        match names:
            case None | False:
                return []
            case dict():
                return [seat for seat, value in zip(map(self.seat, names), names.values(), strict=True) if value]
            case list():
                return [self.seat(name) for name in names]
            case str() if names.lower() in {"none", "nobody", ""}:
                return []
            case _:
                return [self.seat(names)]
