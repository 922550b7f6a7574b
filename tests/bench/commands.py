"""Commands a second, end to end and durable, against two floors in the same run.

The service is driven through whole matches of Chinkway over HTTP; the floors answer bodies of the same size. All three
take turns, several rounds of each, and the medians are compared, because the machine's speed drifts.
"""

import asyncio
import os
import random
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from rich.table import Table as Sheet

from service import games
from service.embedded import Embedded
from tests.bench import driver

Loads = dict[str, list[driver.Load]]


def measure(connections: int, rounds: int) -> Loads:
    """Measure the three kinds of server in turn and return the loads of each."""
    game = games.find().named("chinkway")
    assert game is not None
    rng = random.Random(1)
    loads: Loads = {"bare": [], "append": [], "ours": []}
    with ExitStack() as stack:
        store = stack.enter_context(Embedded(Path(stack.enter_context(tempfile.TemporaryDirectory()))))
        floor = stack.enter_context(_server("floor", store.url))
        ours = stack.enter_context(_server("ours", store.url))
        for _ in range(rounds):
            scripts = driver.match_scripts(ours[0], game, connections, rng)
            each = len(scripts[0])
            for kind in ("bare", "append"):
                floor_scripts = driver.bare_scripts(f"/{kind}", connections, each)
                loads[kind].append(asyncio.run(driver.drive(*floor, floor_scripts)))
            loads["ours"].append(asyncio.run(driver.drive(*ours, scripts)))
    return loads


def sheet(loads: Loads, connections: int) -> Sheet:
    """Make the sheet of what the loads came to, each to the bare handler."""
    table = Sheet(title=f"Commands a second, {connections} connections, one process, fsync always")
    for column in ("server", "requests/s", "to bare", "CPU µs each", "p50 ms", "p99 ms"):
        table.add_column(column, justify="left" if column == "server" else "right")
    floor = _median(loads["bare"], "per_second")
    for kind, runs in loads.items():
        rate = _median(runs, "per_second")
        table.add_row(
            kind,
            f"{rate:,.0f}",
            f"{rate / floor:.2f}",
            f"{_median(runs, 'cpu_us'):.0f}",
            f"{_median(runs, 'p50_ms'):.2f}",
            f"{_median(runs, 'p99_ms'):.2f}",
        )
    return table


def _median(loads: list[driver.Load], figure: str) -> float:
    return float(statistics.median(getattr(load, figure) for load in loads))


@contextmanager
def _server(kind: str, store: str) -> Iterator[tuple[int, int]]:
    """Run a server in a process of its own; yield its port and its process id."""
    port = _free_port()
    process = subprocess.Popen([sys.executable, "-m", "tests.bench.server", kind, store, str(port)], env=os.environ)
    try:
        _await_port(port, process)
        yield port, process.pid
    finally:
        process.terminate()
        process.wait(20)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind((driver.HOST, 0))
        port: int = free.getsockname()[1]
        return port


def _await_port(port: int, process: "subprocess.Popen[bytes]") -> None:
    for _ in range(200):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with {process.returncode}")
        try:
            socket.create_connection((driver.HOST, port), 1).close()
        except OSError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError("the server did not open its port")
