"""Worked cases as lines: `<game>.json` and `<game>_*.json` hold lists of them; a case is added by adding a line.

A line asks a question in words or makes moves. Whatever it says must be read: a key that no test understands is an
error, as is a line that no test can run.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent

# An expectation that depends on an option: {"aces=plain": 6, "aces=court": 3}.
_VARIANT = re.compile(r"\w+=\w+(,\w+=\w+)*")


class Told:
    """What a line tells, by key; `done` fails if a key was never read."""

    def __init__(self, what: str, told: dict[str, Any]) -> None:
        self._what = what
        self._told = dict(told)
        self._unread = set(told)

    def __contains__(self, key: str) -> bool:
        return key in self._told

    def __getitem__(self, key: str) -> Any:  # noqa: ANN401 a line holds any JSON
        self._unread.discard(key)
        return self._told[key]

    def named(self) -> list[str]:
        return list(self._told)

    def get(self, key: str, default: Any = None) -> Any:  # noqa: ANN401 a line holds any JSON
        return self[key] if key in self._told else default

    def items(self) -> Iterator[tuple[str, Any]]:
        """Read everything that was not read yet."""
        for key in sorted(self._unread):
            yield key, self[key]

    def done(self) -> None:
        assert not self._unread, f"no test understands {sorted(self._unread)} in {self._what} {self._told}"


class Line:
    """One case; `asks` is its question in words, None where it makes moves."""

    def __init__(self, raw: dict[str, Any]) -> None:
        self.id: str = raw["id"]
        self.options: dict[str, Any] = raw["options"]
        self.asks: str | None = raw["action"] if isinstance(raw["action"], str) else None
        self.moves: list[dict[str, Any]] = [] if self.asks is not None else raw["action"]
        self._given: dict[str, Any] = raw["given"]
        self._expected: dict[str, Any] = raw["expected"]

    def given(self) -> Told:
        """Return the situation afresh."""
        return Told("given", self._given)

    def variants(self) -> Iterator[tuple[dict[str, Any], Any]]:
        """Yield the options and what is expected under them, once for each option value the expectation names."""
        if self._expected and all(_VARIANT.fullmatch(key) for key in self._expected):
            for key, expected in self._expected.items():
                named = dict(setting.split("=") for setting in key.split(","))
                yield self.options | {name: _value(value) for name, value in named.items()}, expected
        else:
            yield self.options, self._expected


def _value(text: str) -> int | str:
    return int(text) if text.isdigit() else text


def read(game: str) -> list[Line]:
    """Return the lines of a game; every line names itself differently."""
    files = [FOLDER / f"{game}.json", *sorted(FOLDER.glob(f"{game}_*.json"))]
    lines = [Line(raw) for file in files for raw in json.loads(file.read_text(encoding="utf-8"))]
    ids = [line.id for line in lines]
    assert len(set(ids)) == len(ids), f"two lines of {game} have the same id"
    return lines
