"""Spans of time as the command line takes them: 30d, 12h, 45m."""

import re
from typing import Final

_UNITS: Final = {"m": 60_000, "h": 3_600_000, "d": 86_400_000}

LONGEST_MS: Final = 36_500 * _UNITS["d"]


def span_ms(text: str) -> int:
    """Return how long a span is, in ms; 0 for what is none."""
    found = re.fullmatch(r"([1-9]\d{0,5})([mhd])", text)
    return int(found[1]) * _UNITS[found[2]] if found else 0
