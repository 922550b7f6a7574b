"""`python -m tests.bench`: measure, and print the figures with their ratios.

Everything runs on this machine: servers and stores of our own, over loopback and unix sockets, for a minute or two.
Absolute figures drift with the machine; the ratios are what to quote. The clients share the machine's cores with what
they measure, so a second worker shows in CPU time, not in requests a second.

`python -m tests.bench readers`: 2,000 streams of one table's events; fails where one of them is missed or comes twice.

`python -m tests.bench compare A B`: A and B are reports kept with --json, or revisions (`.`: the checkout as it
stands), which take turns; prints what B comes to as a ratio to A.

`python -m tests.bench peers`: the same game over our HTTP, streams and WebSocket, beside boardgame.io and Colyseus.
They need Node, and are installed from npm into a temporary folder, or into --folder, to be found there again.
"""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType

from rich.console import Console

from tests.bench import compare, hands, loads, parts, readers, report, size, space
from tests.bench.peers import contest, theirs
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
USUAL = (*ALONE, *SERVED)
ASKED: Mapping[str, Callable[[Company, Size], Sheet]] = MappingProxyType({"readers": readers.sheet})
"""What is measured only where it is asked for by name: it takes long."""

PARTS = (*USUAL, *ASKED)

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
                found.sheets[part] = {**SERVED, **ASKED}[part](company, how)
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


def beside_peers(how: Size, folder: Path | None, console: Console) -> Report:
    """Play beside the peers, print what all came to, and return it; raise theirs.Missing where they can't be run."""
    found = Report(report.machine(), how._asdict(), contest.sheets(how, folder))
    for sheet in found.sheets.values():
        console.print(report.printed(sheet))
    return found


def main() -> None:
    """Measure what is asked for, everything by default, play beside the peers, or compare two sides."""
    parser = _parser()
    asked = parser.parse_args()
    how = _size(asked)
    console = Console(width=None if sys.stdout.isatty() else WIDTH)
    command = asked.what[0] if asked.what[:1] in (["compare"], ["peers"]) else None
    sides, wanted = (asked.what[1:3], asked.what[3:]) if command == "compare" else ([], asked.what[bool(command) :])
    if unknown := set(wanted) - set(() if command == "peers" else PARTS):
        parser.error(f"there is no part {', '.join(sorted(unknown))}; the parts are {', '.join(PARTS)}")
    try:
        match command:
            case "compare":
                reports = compare.reports(sides, [*wanted, *["--quick"] * asked.quick], how.rounds)
                for table in report.compared(*reports):
                    console.print(table)
                return
            case "peers":
                found = beside_peers(how, asked.folder, console)
            case _:
                found = measure(wanted or USUAL, how, console)
    except theirs.Missing as error:
        sys.exit(str(error))
    except (compare.Unknown, ValueError) as error:
        parser.error(f"compare takes two sides: {error}")
    if asked.json is not None:
        asked.json.write_bytes(report.written(found))
    if lost := sum(map(readers.lost, found.sheets.values())):
        sys.exit(f"{lost:,} events were missed by a reader, or came twice or too late.")


def _size(asked: argparse.Namespace) -> Size:
    how = size.QUICK if asked.quick else size.FULL
    return how._replace(
        rounds=asked.rounds or how.rounds,
        readers=asked.readers or how.readers,
        peers_tables=tuple(asked.tables or how.peers_tables),
        peers_seconds=asked.seconds or how.peers_seconds,
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.bench", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parts = f"{', '.join(USUAL)}, which is the default, {', '.join(ASKED)}"
    parser.add_argument("what", nargs="*", help=f"what to measure, of {parts}; or compare A B; or peers")
    parser.add_argument("--rounds", type=_positive, help="how often each thing takes its turn (5; quick: 3)")
    parser.add_argument("--quick", action="store_true", help="fewer requests of everything")
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the figures of all rounds in this file")
    parser.add_argument("--readers", type=_positive, help="how many read one table at once (2000; quick: 500)")
    peers = parser.add_argument_group("peers")
    peers.add_argument(
        "--folder", type=Path, help="where the peers are installed, and found again; else it is temporary"
    )
    peers.add_argument("--tables", type=_positive, nargs="+", help="how many tables at once (1 20 100)")
    peers.add_argument("--seconds", type=_positive, help="how long each side plays in each round (2; quick: 1)")
    return parser


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


if __name__ == "__main__":
    main()
