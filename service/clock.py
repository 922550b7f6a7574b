"""The wall clock, and what waits by one: the only place where the service asks what time it is."""

import time
from collections.abc import Awaitable, Callable

Sleep = Callable[[float], Awaitable[object]]
"""Waits so many seconds; asyncio's own, unless a test tells the time."""


def utc_ms() -> int:
    """Return UTC in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
