"""Worked cases as lines: `<game>.json` and `<game>_*.json` hold lists of them; a case is added by adding a line.

A line asks a question in words or makes moves. One that can't be read has a `fault` and keeps no other from running;
what a line says and no test understands fails that line.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent

# An expectation that depends on options: {"aces=plain": 6, "aces=court": 3}.
_SETTING = r"\w+\s*=\s*\w+"
_VARIANT = re.compile(rf"{_SETTING}(\s*[,;&]\s*{_SETTING})*")


class Line:
    """One case; `asks` is its question in words, None where it makes moves; `fault` says why it can't be run."""

    def __init__(self, raw: Any, place: str) -> None:  # noqa: ANN401 a file may hold any JSON
        told: dict[str, Any] = raw if isinstance(raw, dict) else {}
        self.id = str(told.get("id", place))
        self.options = _object(told, "options")
        self.given = _object(told, "given")
        self.expected: Any = told.get("expected")
        action = told.get("action")
        self.asks = " ".join(action.split()) if isinstance(action, str) else None
        self.moves: list[dict[str, Any]] = [action] if isinstance(action, dict) else []
        if isinstance(action, list):
            self.moves = [move for move in action if isinstance(move, dict)]
        self.fault = self._fault(raw, action)

    def _fault(self, raw: Any, action: Any) -> str | None:  # noqa: ANN401 a file may hold any JSON
        if not isinstance(raw, dict):
            return f"no object: {raw!r:.200}"
        if missing := {"id", "action", "expected"} - raw.keys():
            return f"it lacks {sorted(missing)}"
        if wrong := [key for key in ("options", "given") if not isinstance(raw.get(key) or {}, dict)]:
            return f"{wrong} must be objects"
        if self.asks is None and (not self.moves or (isinstance(action, list) and len(action) != len(self.moves))):
            return f"neither a question nor moves: {action!r:.200}"
        return "it expects nothing" if self.expected == {} else None

    def variants(self, option_of: Mapping[str, str]) -> Iterator[tuple[dict[str, Any], Any]]:
        """Yield the options and what is expected under them, once for each option value the expectation names.

        A value may be named with its option ("aces=court") or, where all keys are values of one, alone; `option_of`
        says whose value a word is. What is expected beside named variants is expected under the line's own options.
        """
        expected = self.expected if isinstance(self.expected, dict) else {}
        named = {key: _settings(key) for key in expected if _VARIANT.fullmatch(key)}
        if not named and len({option_of.get(key) for key in expected}) == 1:
            named = {key: {option_of[key]: key} for key in expected if key in option_of and _is_variant(key, expected)}
        for key, settings in named.items():
            yield self.options | settings, expected[key]
        rest = {key: value for key, value in expected.items() if key not in named}
        if rest or not named:
            yield self.options, rest or self.expected


def _object(told: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = told.get(key)
    return value if isinstance(value, dict) else {}


def _settings(key: str) -> dict[str, Any]:
    pairs = (re.split(r"\s*=\s*", setting) for setting in re.findall(_SETTING, key))
    return {name: int(value) if value.isdigit() else value for name, value in pairs}


def _is_variant(key: str, expected: Mapping[str, Any]) -> bool:
    # One such word alone may also be a name for something else: {"court": 10}.
    return len(expected) > 1 or isinstance(expected[key], dict)


def read(game: str) -> list[Line]:
    """Return the lines of a game, each under an id of its own."""
    lines: dict[str, Line] = {}
    for file in (FOLDER / f"{game}.json", *sorted(FOLDER.glob(f"{game}_*.json"))):
        for number, raw in enumerate(_listed(file), 1):
            line = Line(raw, f"{file.stem}-{number}")
            if line.id in lines:
                line.fault = f"another line is named {line.id} too"
                line.id = f"{line.id}-{file.stem}-{number}"
            lines[line.id] = line
    return list(lines.values())


def _listed(file: Path) -> list[Any]:
    try:
        raw = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        return [f"{file.name} is no JSON: {error}"]
    return raw if isinstance(raw, list) else [raw]


def names_in(told: Any, name: str) -> Iterator[str]:  # noqa: ANN401 a line holds any JSON
    """Yield every name of a seat, written so, that stands anywhere in a line, in keys like "P2_has" too."""
    match told:
        case str():
            if re.fullmatch(name, told):
                yield told
        case dict():
            for key, value in told.items():
                yield from re.findall(rf"^({name})(?=_|$)", key)
                yield from names_in(value, name)
        case list() | tuple():
            for value in told:
                yield from names_in(value, name)
        case _:
            pass
