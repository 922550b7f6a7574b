"""`python -m tests.bench`: measure, and print the figures with their ratios.

Everything runs on this machine: servers and stores of our own, over loopback and unix sockets, for some tens of
seconds. Absolute figures drift with the machine; the ratios are what to quote.
"""

import argparse
import statistics

from rich.console import Console
from rich.table import Table as Sheet

from tests.bench import commands, driver, parts


def main() -> None:
    """Measure what is asked for, everything by default."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", choices=["commands", "parts", []], help="what to measure: all by default")
    parser.add_argument("--connections", type=_positive, default=16, help="clients that send at once (16)")
    parser.add_argument("--rounds", type=_positive, default=5, help="how often each server takes its turn (5)")
    asked = parser.parse_args()
    console = Console()
    if not asked.what or "parts" in asked.what:
        console.print(parts.sheet())
    if not asked.what or "commands" in asked.what:
        loads = commands.measure(asked.connections, asked.rounds)
        console.print(commands.sheet(loads, asked.connections))
        console.print(where_it_goes(loads))


def where_it_goes(loads: dict[str, list[driver.Load]]) -> Sheet:
    """Make the sheet of where a command's CPU time goes: the floors' share, our own steps, and what is left."""
    bare, append, ours = (statistics.median(load.cpu_us for load in loads[kind]) for kind in ("bare", "append", "ours"))
    rows = {
        "HTTP and framework (the bare handler)": bare,
        "append, pipelined (over the bare handler)": append - bare,
        **parts.microseconds(),
    }
    rows["the rest: token, headers, cache, tasks, waiting"] = ours - sum(rows.values())
    sheet = Sheet(title="Where a command's CPU time goes in the process that serves it")
    sheet.add_column("step")
    sheet.add_column("µs", justify="right")
    sheet.add_column("share", justify="right")
    for name, spent in rows.items():
        sheet.add_row(name, f"{spent:.1f}", f"{spent / ours:.0%}")
    sheet.add_row("a command, in all", f"{ours:.1f}", "100%", style="bold")
    return sheet


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    main()
