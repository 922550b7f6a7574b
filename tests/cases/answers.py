"""How an answer is compared with what a line expects of it, whatever the game.

An expected value that an answer can't read is an AttributeError, KeyError, TypeError or ValueError, which fails the
line.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

# Words for people, which expect nothing.
PROSE = {"note", "comment", "why", "reason", "because", "explanation"}


class Answer(Protocol):
    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        """Return whether this is what a line expects."""
        ...


def check_answer(expected: Any, answers: Mapping[str, Answer], bare: str) -> None:  # noqa: ANN401 a line holds any JSON
    """Compare all that is expected with the answers, each under one or several names.

    What is no object, and whatever stands in it under none of those names, expects the answer named `bare`.
    """
    known = {name: answer for names, answer in answers.items() for name in names.split()}
    told = expected if isinstance(expected, dict) else {bare: expected}
    rest = {key: value for key, value in told.items() if key not in known}
    rest = {key: value for key, value in rest.items() if key not in PROSE or not isinstance(value, str | None)}
    named = {key: value for key, value in told.items() if key in known}
    assert rest or named, f"nothing is expected in {expected}"
    for key, value in [*named.items(), *([(bare, rest)] if rest else [])]:
        try:
            agreed = known[key].agrees(value)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise AssertionError(f"no test understands {key} {value!r}: {error}") from error
        assert agreed, f"{key}: {value!r} is expected of {known[key]}"


class Is(NamedTuple):
    """One value, or one of several words for the same."""

    value: Any
    words: tuple[str, ...] = ()

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, str):
            said = value.lower().replace(" ", "_")
            return said == str(self.value).lower() or said in self.words
        if isinstance(value, dict):
            raise TypeError("one value is told by no object")
        same: bool = value == self.value and isinstance(value, bool) == isinstance(self.value, bool)
        return same


class Seating(Protocol):
    """Who sits where, by the names that lines give to seats."""

    def seat(self, name: Any) -> int:  # noqa: ANN401 a line holds any JSON
        """Return the seat of a name."""
        ...

    def seats(self, names: Any) -> list[int]:  # noqa: ANN401 a line holds any JSON
        """Return the seats that a line lists."""
        ...


class Seat(NamedTuple):
    """A seat, None for nobody, told by its name, alone or as the only one of a list."""

    seating: Seating
    seat: int | None

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, list) and len(value) == 1:
            return self.agrees(value[0])
        if value is None or value is False or value in ("none", "nobody", []):
            return self.seat is None
        return self.seating.seat(value) == self.seat


class Seats(NamedTuple):
    """Seats in any order, or `ordered`; told by a list, by one name, by name with true or false, or by whether any."""

    seating: Seating
    seats: Sequence[int]
    ordered: bool = False

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, bool):
            return value == bool(self.seats)
        told = self.seating.seats(value)
        return told == list(self.seats) if self.ordered else sorted(told) == sorted(self.seats)


class PerSeat(NamedTuple):
    """A number for each seat, told by name, as a list in seat order, or alone for the seat it is asked of."""

    seating: Seating
    values: Mapping[int, int | None]
    subject: int

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict):
            told = {self.seating.seat(name): number for name, number in value.items()}
        elif isinstance(value, list):
            told = dict(zip(sorted(self.values), value, strict=True))
        else:
            told = {self.subject: value}
        if any(isinstance(number, bool) or not isinstance(number, int | None) for number in told.values()):
            raise TypeError(f"{value!r} tells no numbers")
        return all(self.values[seat] == number for seat, number in told.items())


class Happened(NamedTuple):
    """What has happened, by the tags of events; one, several or none of them may be told."""

    tags: Sequence[str]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        happened = {tag.split(".")[-1] for tag in self.tags}
        return {name.split(".")[-1] for name in ([value] if isinstance(value, str) else value or [])} <= happened


class Each(NamedTuple):
    """One value for each of several things, told as a list, or alone where there is one; or by their names."""

    values: Mapping[str, Any]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict):
            return all(Is(self.values[name]).agrees(told) for name, told in value.items())
        mine = list(self.values.values())
        return mine == value if isinstance(value, list) else len(mine) == 1 and Is(mine[0]).agrees(value)


class Count(NamedTuple):
    """How many there are, told by a number or by whether there are any."""

    many: int

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        return Is(bool(self.many) if isinstance(value, bool) else self.many).agrees(value)


def aligned(why: Any, refused: Sequence[bool]) -> list[str | None]:  # noqa: ANN401 a line holds any JSON
    """Return what is said of each move: one text is said of all refusals, a list goes by move or by refusal."""
    if isinstance(why, list) and len(why) != len(refused):
        said = iter(why)
        return [next(said, None) if no else None for no in refused]
    whys = why if isinstance(why, list) else [why] * len(refused)
    return [said if no else None for said, no in zip(whys, refused, strict=True)]


def is_accepted(told: Any, refused: Sequence[bool]) -> bool:  # noqa: ANN401 a line holds any JSON
    """Return whether moves were answered as told: one by one or all alike; if refused, perhaps the last alone."""
    if isinstance(told, list):
        return [not no for no in refused] == told
    if told in {"accepted", "refused"}:
        told = told == "accepted"
    return not any(refused) if told else all(refused) or (refused[-1] and not any(refused[:-1]))
