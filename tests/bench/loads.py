"""What the service does under load, each against the floors in the same round, for the machine's speed drifts.

The service is driven through matches over HTTP; the floors answer bodies of about the same size. Requests a second
count on cores that the driver shares; the CPU time is that of the processes that serve, and of them alone.
"""

import asyncio
import random
import time
from collections.abc import Sequence

from tests.bench.driver import Load, Route, Script, Sent, bare_scripts, by_seat, by_table, drive, request
from tests.bench.processes import ENDLESS
from tests.bench.report import Sheet
from tests.bench.servers import Process
from tests.bench.size import Size
from tests.bench.tables import Company, Played, Player

PAGE = 500


def commands(company: Company, size: Size) -> Sheet:
    """Measure commands of Chinkway for each number of clients, a table each, against both floors."""
    sheet = Sheet("Commands, durable, one worker: Chinkway, a client a table")
    rng = random.Random(1)
    for _ in range(size.rounds):
        for clients in size.clients:
            loads = {
                "bare": _driven(company.rig.floors[:1], bare_scripts("/bare", clients, size.requests)),
                "append": _driven(company.rig.floors[:1], bare_scripts("/append", clients, size.requests)),
                "ours": _driven(
                    company.rig.workers[:1], company.scripts("chinkway", clients, max(1, size.requests // clients), rng)
                ),
            }
            for kind, load in loads.items():
                _note(sheet, f"{kind}, {clients} clients", load, loads["bare"])
    return sheet


def workers(company: Company, size: Size) -> Sheet:
    """Measure two processes against one, as many tables for each: what a second one adds to the CPU time of a command.

    The bare handler shows what the machine itself adds, two busy cores being slower than one. With a client a table,
    the workers share the tables; with a client a seat, they share each table, and every other state is a stale one.
    """
    sheet = Sheet("Workers: Chinkway; CPU time a command, to one process of the kind")
    rng = random.Random(2)
    for _ in range(size.rounds):
        one, two = (_shared(company, size, number, rng) for number in (1, 2))
        for number, loads in ((1, one), (2, two)):
            for kind, load in loads.items():
                figures = {
                    "a second": load.per_second,
                    "a CPU second": 1e6 / load.cpu_us,
                    "CPU µs": load.cpu_us,
                    "CPU to 1": load.cpu_us / one[kind].cpu_us,
                    "p50 ms": load.p50_ms,
                    "p99 ms": load.p99_ms,
                }
                sheet.add(f"{number} × {kind}", figures)
    return sheet


def _shared(company: Company, size: Size, number: int, rng: random.Random) -> dict[str, Load]:
    """Load so many processes of each kind, with as many tables for each of them."""
    floors, workers = company.rig.floors[:number], company.rig.workers[:number]
    tables = number * size.tables
    by_tables, by_seats = (company.scripts("chinkway", tables, max(1, size.requests // tables), rng) for _ in range(2))
    return {
        "bare": _driven(floors, bare_scripts("/bare", tables, size.requests)),
        "ours, a client a table": _driven(workers, by_tables),
        "ours, a client a seat": _driven(workers, by_seats, by_seat),
    }


def versions(company: Company, size: Size) -> Sheet:
    """Measure commands of a game without end at versions far apart: what they cost must not grow with the log."""
    first = size.versions[0]
    sheet = Sheet(f"Commands by version: {ENDLESS}, one client; to bare, and to version {first:,}")
    rng = random.Random(3)
    aged = {version: company.aged(ENDLESS, 1, version, rng)[0] for version in size.versions[1:]}
    for _ in range(size.rounds):
        aged[first] = company.aged(ENDLESS, 1, first, rng)[0]
        floor = _driven(company.rig.floors[:1], bare_scripts("/bare", 1, size.commands))
        _note(sheet, "bare", floor, floor)
        loads = {
            version: _played_on(company.rig.workers[0], aged[version], size.commands, rng) for version in size.versions
        }
        for version, load in loads.items():
            _note(sheet, f"version {version:,}", load, floor)
            sheet.add(f"version {version:,}", {f"CPU to {first:,}": load.cpu_us / loads[first].cpu_us})
            sheet.add(f"version {version:,}", {f"p50 to {first:,}": load.p50_ms / loads[first].p50_ms})
    return sheet


def cold(company: Company, size: Size) -> Sheet:
    """Measure the first look of a worker at tables that it has to fold from the store."""
    sheet = Sheet("Cold open: a new worker's first look at a table, whole over HTTP")
    rng = random.Random(4)
    tables = {
        f"{ENDLESS}, {decisions:,} decisions": company.aged(ENDLESS, size.rounds, decisions, rng)
        for decisions in size.cold
    }
    tables["chinkway, a whole match"] = company.aged("chinkway", size.rounds, 10_000, rng)
    with company.rig.another() as worker:
        looker = Player(worker)
        looker.get(company.tables(ENDLESS, 1)[0].path)
        for number in range(size.rounds):
            for what, aged in tables.items():
                first, second = _took_ms(looker, aged[number]), _took_ms(looker, aged[number])
                sheet.add(what, {"decisions": aged[number].version, "ms": first, "once more, ms": second})
    return sheet


def reads(company: Company, size: Size) -> Sheet:
    """Measure what clients do between commands: views, views they have already, actions, pages of events."""
    sheet = Sheet(f"Reads: Chinkway in its third deal, {size.clients[-1]} clients")
    rng = random.Random(5)
    (table,) = company.aged("chinkway", 1, 200, rng)
    clients = size.clients[-1]
    asked = {
        "view": ("", ""),
        "view, 304": ("", f'If-None-Match: "{table.version}"'),
        "actions": ("/actions", ""),
        "events, the newest 10": (f"/events?after={table.version - 10}", ""),
        f"events, a page of {min(table.version, PAGE)}": ("/events", ""),
    }
    for _ in range(size.rounds):
        bare = _driven(company.rig.floors[:1], bare_scripts("/bare", clients, size.requests))
        for what, (path, header) in asked.items():
            few = size.requests // 10 if "page" in what else size.requests
            headers = [table.players[0].bearer, *filter(None, [header])]
            sent = Sent(0, request("GET", table.path + path, *headers))
            load = _driven(company.rig.workers[:1], [[sent] * max(1, few // clients)] * clients)
            _note(sheet, what, load, bare)
    return sheet


def _played_on(worker: Process, table: Played, moves: int, rng: random.Random) -> Load:
    """Play a table on, over one connection, by a worker that has folded it already."""
    table.players[0].get(table.path)
    return _driven([worker], [table.script(moves, rng)])


def _took_ms(looker: Player, table: Played) -> float:
    begun = time.perf_counter()
    looker.get(table.path)
    return (time.perf_counter() - begun) * 1e3


def _driven(servers: Sequence[Process], scripts: list[Script], route: Route = by_table) -> Load:
    return asyncio.run(drive(servers, scripts, route))


def _note(sheet: Sheet, what: str, load: Load, bare: Load) -> None:
    """Add a load to a sheet, with its ratio to the bare handler: in requests a second, and in CPU time each."""
    sheet.add(
        what,
        {
            "a second": load.per_second,
            "to bare": load.per_second / bare.per_second,
            "CPU µs": load.cpu_us,
            "per CPU s to bare": bare.cpu_us / load.cpu_us,
            "p50 ms": load.p50_ms,
            "p99 ms": load.p99_ms,
        },
    )
