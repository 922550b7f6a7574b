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
