"""The metrics of `evenfold serve` are what has happened, whichever of its processes did it, and hold no secret."""

import contextlib
import json
import os
import re
import signal
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
from prometheus_client.parser import text_string_to_metric_families

from events.cards import FRENCH
from service.clock import utc_ms
from tests.served import Person
from tests.service.cli.processes import Called, Server, person, serving, until
from tests.stores import free_port

TABLES = "/v1/chinkway/tables"


class Scrape:
    """What the metrics at an address say at a moment."""

    def __init__(self, url: str) -> None:
        answer = httpx.get(f"{url}/metrics")
        assert answer.status_code == 200, answer.text
        self.text = answer.text
        families = text_string_to_metric_families(self.text)
        self.samples = [sample for family in families for sample in family.samples]

    def of(self, name: str, *labels: str) -> dict[tuple[str, ...], float]:
        """Return what is said of a metric, by the values of some labels, the noughts left out."""
        found: Counter[tuple[str, ...]] = Counter()
        for sample in self.samples:
            if sample.name == f"evenfold_{name}":
                found[tuple(sample.labels[label] for label in labels)] += int(sample.value)
        return {values: count for values, count in found.items() if count}


class Doings(NamedTuple):
    """What came of doings at a table: commands by type and outcome, refusals by reason, answers by route and status."""

    commands: Counter[tuple[str, ...]]
    refusals: Counter[tuple[str, ...]]
    answers: Counter[tuple[str, ...]]


@contextlib.contextmanager
def people(url: str, count: int) -> Iterator[list[Person]]:
    """Give some people with accounts and connections of their own, which the workers share."""
    with contextlib.ExitStack() as here:
        yield [here.enter_context(person(url)) for _ in range(count)]


def play(everybody: list[Person], moves: int) -> Doings:
    """Open a table, twice by one key, sit down, make some moves, one too early and one too late."""
    host, *_ = everybody
    opened = [host.post(TABLES, {}, Idempotency_Key="once") for _ in range(2)]
    path = f"{TABLES}/{opened[0].json()['table']}"
    statuses: Counter[tuple[str, ...]] = Counter({("/v1/chinkway/tables", "201"): 2})
    for seat, player in enumerate(everybody):
        assert player.post(f"{path}/seats", {"seat": seat}).status_code == 201
    statuses["/v1/chinkway/tables/{table}/seats", "201"] += len(everybody)
    types: Counter[tuple[str, ...]] = Counter({("table.create", "done"): 1, ("table.create", "repeated"): 1})
    types["table.sit", "done"] += len(everybody)
    commands = "/v1/chinkway/tables/{table}/commands"
    refusals: Counter[tuple[str, ...]] = Counter()
    for number in range(moves):
        seat = host.get(path).json()["to_act"][0]
        legal = everybody[seat].get(f"{path}/actions").json()["legal"][0]
        statuses["/v1/chinkway/tables/{table}", "200"] += 1
        statuses["/v1/chinkway/tables/{table}/actions", "200"] += 1
        if number == 0:
            early = everybody[seat - 1].post(f"{path}/commands", legal)
            assert early.status_code == 409
            refusals[early.json()["reason"],] += 1
            assert everybody[seat].post(f"{path}/commands", legal, If_Match='"1"').status_code == 412
            types[legal["type"], "refused"] += 1
            types[legal["type"], "stale"] += 1
            statuses[commands, "409"] += 1
            statuses[commands, "412"] += 1
        assert everybody[seat].post(f"{path}/commands", legal).status_code == 201
        types[legal["type"], "done"] += 1
        statuses[commands, "201"] += 1
    return Doings(types, refusals, statuses)


def at_the_table(answers: dict[tuple[str, ...], float]) -> dict[tuple[str, ...], float]:
    """Return the answers of the routes of tables alone."""
    return {labels: count for labels, count in answers.items() if labels[0].startswith(TABLES)}


def says(url: str, done: Doings) -> Callable[[], bool]:
    """Return what tells whether the metrics at an address are what was done."""

    def is_so() -> bool:
        now = Scrape(url)
        return (
            now.of("commands_total", "type", "outcome") == done.commands
            and now.of("refusals_total", "reason") == done.refusals
            and at_the_table(now.of("http_requests_total", "route", "status")) == done.answers
        )

    return is_so


def left_at(sheet: Path) -> int:
    """Return when a sheet was left (UTC ms)."""
    at: int = json.loads(sheet.read_bytes())["at"]
    return at


def test_what_two_workers_did_is_counted_exactly_and_outlives_them(tmp_path: Path) -> None:
    (sheets := tmp_path / "temporary").mkdir()
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (
        serving(tmp_path, "--workers", "2", "--metrics-port", str(port), TMPDIR=str(sheets)) as server,
        people(server.url, 5) as everybody,
    ):
        done = play(everybody, 25)
        until(says(url, done))
        now = Scrape(url)
        appended = sum(count for (_, outcome), count in done.commands.items() if outcome == "done")
        assert now.of("appends_total", "outcome")["appended",] == appended
        assert now.of("append_seconds_count")[()] >= appended
        assert now.of("problems_total", "code") == {("stale",): 1, **dict.fromkeys(done.refusals, 1)}
        assert now.of("restarts_total", "part") == {}
        assert now.of("store_up") == {(): 1}
        assert now.of("store_role", "role") == {("primary",): 1}
        assert now.of("store_free_bytes", "of")["disk",] > 0
        assert httpx.get(f"{server.url}/metrics").json()["code"] == "not_found"
        assert "getMetrics" not in httpx.get(f"{server.url}/openapi.json").text

        os.kill(server.part(" api "), signal.SIGKILL)
        killed = utc_ms()
        until(lambda: Scrape(url).of("restarts_total", "part") == {("api",): 1})
        until(lambda: all(left_at(sheet) > killed for sheet in sheets.glob("*/api-*.json")))
        assert says(url, done)()


def test_any_worker_tells_of_all_processes(server: Server) -> None:
    with person(server.url) as ada:
        path = f"{TABLES}/{ada.post(TABLES, {'bots': ['anyone'] * 5}).json()['table']}"
        until(lambda: ada.get(path).json()["status"] == "ended")
        last = ada.get(path).json()["version"]
        # Every scrape is a connection of its own: the workers take turns.
        for _ in range(8):
            until(lambda: Scrape(server.url).of("reactor_commands_total", "outcome").get(("done",), 0) >= last - 1)
        text = Scrape(server.url).text
        assert 'evenfold_reactor_hints_total{reactor="lobby"}' in text
        assert 'evenfold_reactor_lag_seconds{reactor="bots"}' in text


def test_metrics_hold_no_id_no_card_no_name_and_no_token(server: Server) -> None:
    with people(server.url, 5) as everybody:
        play(everybody, 3)
        ada = everybody[0]
        path = f"{TABLES}/{ada.post(TABLES, {'bots': ['anyone'] * 5}).json()['table']}"
        until(lambda: ada.get(path).json()["status"] == "ended")
        for made_up in ("/v1/chinkway/tables/SQ", f"/{ada.token}", f"{path}/Ada", "/v1/players?id=HT"):
            ada.http.request("MKCOL", made_up)
            ada.get(made_up)
        until(lambda: Scrape(server.url).of("commands_total", "type").get(("table.create",), 0) >= 2)
        now = Scrape(server.url)
    values = {value for sample in now.samples for value in sample.labels.values()}
    words = {word for value in values for word in re.split(r"[^A-Za-z0-9_]+", value)}
    assert not words & {*FRENCH, "Ada", "MKCOL", *(one.id for one in everybody), *(one.token for one in everybody)}
    assert [word for word in words if re.fullmatch(r"[0-9a-hjkmnp-tv-z]{26}|evf_.*", word)] == []


def test_a_port_of_the_metrics_in_use_is_told(called: Called, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refusal = called("serve", "--port", "0", "--metrics-port", str(port), "--data", str(tmp_path)).refusal
    assert refusal == f"evenfold: Port {port} of 127.0.0.1 is in use; name another with --metrics-port."


def sheets_of(folder: Path) -> set[str]:
    """Return the names of the sheets that the processes of a server have left in the folder of temporary files."""
    return {path.name for path in folder.glob("evenfold-metrics-*/*.json")}


def test_a_disk_without_room_takes_no_table_and_the_server_goes_on(tmp_path: Path) -> None:
    (sheets := tmp_path / "temporary").mkdir()
    with serving(tmp_path, "--min-free", "1000000000", TMPDIR=str(sheets)) as server, person(server.url) as ada:
        assert ada.get("/readyz").json() == {"status": "full"}
        refused = ada.post(TABLES)
        assert (refused.status_code, refused.json()["code"]) == (503, "no_room")
        assert ada.get("/v1/me").status_code == 200
        assert "new tables are not opened: the store has" in server.complaints()
        until(lambda: Scrape(server.url).of("problems_total", "code") == {("no_room",): 1})
        assert Scrape(server.url).of("commands_total", "outcome") == {("no_room",): 1}
        assert sheets_of(sheets) == {"server.json", "api-1.json", "reactor.json"}
        assert server.end() == 0
        assert list(sheets.iterdir()) == []


def test_of_a_killed_server_no_sheet_is_left(tmp_path: Path) -> None:
    (sheets := tmp_path / "temporary").mkdir()
    with serving(tmp_path, TMPDIR=str(sheets)) as server:
        until(lambda: sheets_of(sheets) == {"server.json", "api-1.json", "reactor.json"})
        store = server.part("valkey")
        server.end(signal.SIGKILL)
        try:
            until(lambda: not list(sheets.iterdir()))
        finally:
            os.kill(store, signal.SIGKILL)  # Nobody is left who would end it.
