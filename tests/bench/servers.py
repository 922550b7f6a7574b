"""A server as it is measured from outside: where it listens, and what it has used up."""

import resource
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HOST = "127.0.0.1"


class Process(NamedTuple):
    """A server that is measured: the port it listens at, and its process id."""

    port: int
    pid: int


def memory_bytes(pid: int) -> int:
    """Return the memory that a process holds (its resident set)."""
    return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * resource.getpagesize()


def cpu_s(pids: Sequence[int]) -> float:
    """Return the CPU seconds that some processes have used, to the nanosecond."""
    spent = 0
    for pid in pids:
        for task in Path(f"/proc/{pid}/task").iterdir():
            spent += int((task / "schedstat").read_text(encoding="ascii").split()[0])
    return spent / 1e9
