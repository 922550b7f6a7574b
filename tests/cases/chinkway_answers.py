"""How answers about Chinkway are told: each agrees with every form in which a line may sensibly expect it.

An expected value that an answer can't read is a KeyError, TypeError or ValueError, which fails the line.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from events.games.chinkway import Category
from projections.games.chinkway import SEATS
from service.games.chinkway import quests
from tests.cases.chinkway_words import LETTERS, Card, Seating, card_of, cards_of, category_of

PLAYERS = ("P1", "P2", "P3", "P4", "P5")


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


class Seat(NamedTuple):
    """A seat, None for nobody, told by its name, alone or as the only one of a list."""

    seating: Seating
    seat: int | None

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, list) and len(value) == 1:
            return self.agrees(value[0])
        return (None if value is None else self.seating.seat(value)) == self.seat


class Seats(NamedTuple):
    """Seats in any order, told by a list or as a side; of none, null."""

    seating: Seating
    seats: Iterable[int]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        return sorted(() if value is None else self.seating.side(value)) == sorted(self.seats)


class PerSeat(NamedTuple):
    """A number for each seat, told by name of a seat or a side, as a list, or alone for the one it is asked of.

    A list of five goes from P1 on or, of seats `lettered`, from A on; one of three goes by side. Where no seat is
    asked of, a number alone is everybody's.
    """

    seating: Seating
    values: Sequence[int | None]
    subject: int | None = None
    lettered: bool = False

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict):
            return all(self._of(self.seating.side(name), told) for name, told in value.items())
        if isinstance(value, list) and len(value) == SEATS:
            return self.agrees(dict(zip(LETTERS if self.lettered else PLAYERS, value, strict=True)))
        if isinstance(value, list):
            return all(self._of(side, told) for side, told in zip(self.seating.sides, value, strict=True))
        return self._of(tuple(range(SEATS)) if self.subject is None else (self.subject,), value)

    def _of(self, side: tuple[int, ...], told: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(told, list):
            return all(self._of((seat,), own) for seat, own in zip(side, told, strict=True))
        if told is not None and not isinstance(told, int):
            raise TypeError(f"{told!r} is no number")
        return all(self.values[seat] == told for seat in side)


class Hauls(NamedTuple):
    """What each seat has captured: by name all of it, else what the seat asked of has: the latest, or all."""

    seating: Seating
    captured: Sequence[Sequence[Card]]
    subject: int
    latest: Sequence[Card]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict):
            sides = [(self.seating.side(name), cards) for name, cards in value.items()]
            return all(Cards([c for seat in side for c in self.captured[seat]]).agrees(told) for side, told in sides)
        if isinstance(value, str) and self.latest:
            return card_of(value) == self.latest[-1]
        return Cards(self.latest).agrees(value) or (
            value is not None and Cards(self.captured[self.subject]).agrees(value)
        )


class Census(NamedTuple):
    """How many of each category, told by name, as a list of names or, if all are the same, by one number.

    Where it is `whole`, a category that isn't named has none. A range tells the least and the most of several.
    """

    counts: Sequence[Mapping[Category, int]]
    whole: bool = True

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, list) and all(isinstance(name, str) for name in value):
            value = Counter(value)
        if isinstance(value, int):
            value = dict.fromkeys(quests.CATEGORIES, value)
        if isinstance(value, list):
            value = dict(zip(quests.CATEGORIES, value, strict=True))
        named: dict[str, Any] = {}
        for key, told in value.items():
            each = re.fullmatch(r"(each|every|any|per|all)?[ _]*(suit|category|others?)s?", key)
            fitting = [c for c in quests.CATEGORIES if c != "court" or key.endswith(("y", "ies"))]
            named |= dict.fromkeys(fitting, told) if each else {category_of(key): told}
        if self.whole:
            named = dict.fromkeys(quests.CATEGORIES, 0) | named
        return all(self._of(category, told) for category, told in named.items())

    def _of(self, name: str, told: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        numbers = {counts[category] for counts in self.counts for category in quests.CATEGORIES if category == name}
        least, most = told if isinstance(told, list) else (told, told)
        return [min(numbers), max(numbers)] == [least, most]


class Sides(NamedTuple):
    """The sides of a deal in any order, the dealer's own named or not; or each player's partner by name."""

    seating: Seating
    sides: Sequence[tuple[int, ...]]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict) and all(self._is_partner(name, told) for name, told in value.items()):
            return True
        told = {frozenset(self.seating.side(side)) for side in (value.values() if isinstance(value, dict) else value)}
        alone = frozenset({self.seating.dealer})
        return told | {alone} == {frozenset(side) for side in self.sides} | {alone} and len(told) == len(value)

    def _is_partner(self, name: str, told: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if not isinstance(told, str | None) or len(name) > len("P1"):
            return False
        side = next(side for side in self.sides if self.seating.seat(name) in side)
        return {self.seating.seat(name), *(self.seating.side(told) if told else ())} == {*side}


class Seen(NamedTuple):
    """The quest as somebody sees it, None while it is face down; told by its cards, or by whether it is seen."""

    quest: Sequence[Card] | None
    inverse: bool = False

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, bool):
            return value == ((self.quest is None) == self.inverse)
        if isinstance(value, str):
            hidden = re.search(r"hidden|down|not|no(ne|thing)|refus|unseen", value) is not None
            if not hidden and not re.search(r"visible|up|open|seen|turned|shown|five", value):
                raise ValueError("is it seen or not?")
            return hidden == (self.quest is None)
        return Cards(self.quest or ()).agrees(value)


class Pairs(NamedTuple):
    """Something counted by pairs of seats or by seats, as named: alike for all, by name, or each in turn."""

    counts: Mapping[str, int]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict):
            return all(self._of(name) == {told} for name, told in value.items())
        numbers = list(self.counts.values())
        if isinstance(value, list):
            return value == (sorted(set(numbers)) if len(value) < len(numbers) else numbers)
        return set(numbers) == {int(value)}

    def _of(self, name: str) -> set[int]:
        """Return the counts of letters or, by a word, of all pairs of neighbours or of all others."""
        letters = "".join(sorted(name))
        if set(name) <= set(LETTERS):
            return {self.counts[letters]}
        neighbours = {"AB", "BC", "CD", "DE", "AE"}
        wanted = re.fullmatch(r"neighbou?rs?|adjacent|neighbou?ring", name) is not None
        if not wanted and not re.fullmatch(r"(all_)?others?|rest|non_?adjacent|non_?neighbou?rs?|apart", name):
            raise ValueError(f"{name!r} names no pair")
        return {count for pair, count in self.counts.items() if (pair in neighbours) == wanted}


# What says of five quest cards that the whole pack was shuffled for them, or that they lay ready.
_NOT_SHUFFLED = re.compile(r"(without|no|not|never|un-?)\W*((being|been|any|a) )*(re-?)?(shuffl\w*|mix\w*)( again)?")
_ONCE_SHUFFLED = re.compile(
    r"shuffled? (once|at the (start|beginning)|before the (first|match)|for the match)|shuffled pack"
)
_ANEW = re.compile(r"shuffl|mixed|anew|afresh|fresh|all (of )?(the )?5[02]|whole pack|again")
_READY = re.compile(r"top|next|last|left|lie|lying|lay|remain|rest|first|five|unshuffled|\d ?(to|-|–) ?\d")


class Drawn(NamedTuple):
    """Where five quest cards came from: a pack of `size`, all of it shuffled `anew` or as it lay with `left` cards."""

    left: int
    size: int
    anew: bool

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, int):
            return value == (self.size if self.anew else self.left)
        said = _NOT_SHUFFLED.sub("unshuffled", value.lower()).replace("unshuffled", "as it lies, left")
        bare = _ONCE_SHUFFLED.sub("", said)
        anew = _ANEW.search(bare) is not None
        if not anew and not _READY.search(bare):
            raise ValueError("which cards are these?")
        if {int(size) for size in re.findall(r"5[02]", said)} - {self.size}:
            return False
        # A pack once shuffled may be meant either way.
        return self._fits(bare) if not anew and not self.anew else anew == self.anew or (bare != said and not anew)

    def _fits(self, said: str) -> bool:
        ready = re.search(r"(\d+)( cards)? (\w+ )?(left|remain)", said)
        last = re.search(r"last (five|5)|(five|5) (cards )?(left|remaining)", said)
        return (ready is None or int(ready[1]) in {self.left, self.left - 5}) and (last is None or self.left == 5)


class Points(NamedTuple):
    """What parts are worth: of the parts told (a number, a list, by name) or, where none are, of 0 to 5."""

    parts: Any
    worth: Callable[[int], int]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict):
            named = self.parts if isinstance(self.parts, dict) else {}
            met = {name: named[name] if name in named else _number(name) for name in value}
            return all(self.worth(met[name]) == told for name, told in value.items())
        if isinstance(self.parts, dict):
            return self._listed(list(self.parts.values()), value)
        if isinstance(value, list):
            return self._listed(self.parts or list(range(SEATS + 1))[-len(value) :], value)
        (parts,) = self.parts if isinstance(self.parts, list) else [self.parts]
        return self.worth(int(parts)) == int(value)

    def _listed(self, parts: Sequence[int], value: Sequence[int]) -> bool:
        return [self.worth(met) for met in parts] == list(value)


def _number(name: str) -> int:
    """Return the number that a name like "3" or "3 parts" begins with."""
    number = re.match(r"\d+", name)
    if number is None or int(number[0]) > SEATS:
        raise ValueError(f"{name!r} is no number of parts")
    return int(number[0])


class Schedule(NamedTuple):
    """The sides of all deals, the dealer's first: a list in order, or some of them by number."""

    sides: Sequence[tuple[tuple[int, ...], ...]]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict):
            return all(self._of(self.sides[int(re.sub(r"\D", "", name)) - 1], told) for name, told in value.items())
        if value and isinstance(value[0], str) and len(self.sides) == 1:
            value = [value]
        return len(value) == len(self.sides) and all(map(self._of, self.sides, value))

    def _of(self, sides: tuple[tuple[int, ...], ...], told: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        named = [told["dealer"], *told["sides"]] if isinstance(told, dict) else told
        read = [frozenset(LETTERS.index(letter) for letter in side) for side in named]
        ours = [frozenset(side) for side in sides]
        return read[0] == ours[0] and {*read} == {*ours} and len(read) == len(ours)
