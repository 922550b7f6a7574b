"""How an answer is compared with what a line expects of it, whatever the game.

An expected value that an answer can't read is an AttributeError, KeyError, TypeError or ValueError, which fails the
line.
"""

from collections.abc import Mapping
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
