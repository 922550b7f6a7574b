"""The wall clock: the one place where the service asks what time it is."""

import time


def utc_ms() -> int:
    """Return UTC in milliseconds since 1970."""
    return time.time_ns() // 1_000_000
