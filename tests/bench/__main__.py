"""`python -m tests.bench`: measure, and print the figures with their ratios.

Everything runs on this machine: servers and stores of our own, over loopback and unix sockets, for a minute or two.
Absolute figures drift with the machine; the ratios are what to quote. The clients share the machine's cores with what
they measure, so a second worker shows in CPU time, not in requests a second.

`python -m tests.bench compare A B`: A and B are reports kept with --json, or revisions (`.`: the checkout as it
stands), which take turns; prints what B comes to as a ratio to A.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from tests.bench import compare, hands, loads, parts, report, size, space
from tests.bench.processes import rig
from tests.bench.report import Report, Sheet
from tests.bench.size import Size
from tests.bench.tables import Company

ALONE: Mapping[str, Callable[[Size], Sheet]] = MappingProxyType(
    {"parts": parts.sheet, "steps": parts.steps, "hands": hands.sheet, "store": space.sheet}
)
SERVED: Mapping[str, Callable[[Company, Size], Sheet]] = MappingProxyType(
    {
        "commands": loads.commands,
        "workers": loads.workers,
        "versions": loads.versions,
        "cold": loads.cold,
        "reads": loads.reads,
    }
)
PARTS = (*ALONE, *SERVED)

WIDTH = 150
"""Of what is printed where there is no terminal, in characters."""


def measure(wanted: Iterable[str], how: Size, console: Console) -> Report:
    """Measure some parts, print each sheet when it is there, and return them all."""
    found = Report(report.machine(), how._asdict())
    with ExitStack() as stack:
        company: Company | None = None
        for part in wanted:
            if part in ALONE:
                found.sheets[part] = ALONE[part](how)
            else:
                company = company or Company(stack.enter_context(rig()))
                found.sheets[part] = SERVED[part](company, how)
            console.print(report.printed(found.sheets[part]))
    if {"steps", "commands"} <= found.sheets.keys():
        found.sheets["share"] = share(found.sheets["commands"], found.sheets["steps"], how)
        console.print(report.printed(found.sheets["share"]))
    return found


def share(commands: Sheet, steps: Sheet, how: Size) -> Sheet:
    """Make the sheet of where a command's CPU time goes: the floors' share, our own steps, and what is left."""
    clients = how.clients[len(how.clients) // 2]
    bare, append, ours = (
        commands.median(f"{kind}, {clients} clients", "CPU µs") for kind in ("bare", "append", "ours")
    )
    rows = {
        "HTTP and framework (the bare handler)": bare,
        "append, pipelined (over the bare handler)": append - bare,
        **{name: steps.median(name, "CPU µs") for name in steps.lines},
    }
    rows["the rest: token, headers, cache, tasks, waiting"] = ours - sum(rows.values())
    rows["a command, in all"] = ours
    sheet = Sheet(f"Where a command's CPU time goes, {clients} clients")
    for name, spent in rows.items():
        sheet.add(name, {"CPU µs": spent, "% of all": 100 * spent / ours})
    return sheet


def main() -> None:
    """Measure what is asked for, everything by default, or compare two sides."""
    parser = _parser()
    asked = parser.parse_args()
    how = size.QUICK if asked.quick else size.FULL
    how = how._replace(rounds=asked.rounds or how.rounds)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    sides, wanted = (asked.what[1:3], asked.what[3:]) if asked.what[:1] == ["compare"] else ([], asked.what)
    if unknown := set(wanted) - set(PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    if asked.what[:1] != ["compare"]:
        found = measure(wanted or PARTS, how, console)
        if asked.json is not None:
            asked.json.write_bytes(report.written(found))
        return
    try:
        first, second = compare.reports(sides, [*wanted, *["--quick"] * asked.quick], how.rounds)
    except (compare.Unknown, ValueError) as error:
        parser.error(f"compare takes two sides: {error}")
    for table in report.compared(first, second):
        console.print(table)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="*", help=f"what to measure, all by default: {', '.join(PARTS)}; or compare A B")
    parser.add_argument("--rounds", type=_positive, help="how often each thing takes its turn (5; quick: 3)")
    parser.add_argument("--quick", action="store_true", help="fewer requests of everything")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures of all rounds in this file")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    main()
