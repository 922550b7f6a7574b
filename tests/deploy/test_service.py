"""The service on the store of deploy/, as its own user: nothing that it does is denied."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from service import games
from service.api.endpoint import Endpoint
from service.api.examples import examples
from service.app import endpoints
from tests.deploy.store import Deployed, deployed
from tests.served import Person
from tests.service.cli.processes import Server, person, run, serving, until
from tests.stores import BINARIES

ROUTES = endpoints(games.find())

SHORT = {"deals": 5, "partners": "five"}
"""Options of the shortest match there is."""

DISPUTE = {"first": 1, "last": 2, "reason": "conduct", "text": "He showed me his hand."}


@contextmanager
def running(store: Deployed, folder: Path, **variables: str) -> Iterator[Server]:
    """Serve with a worker and reactors on that store."""
    with serving(folder, EVENFOLD_REDIS_URL=store.url("evenfold"), EVENFOLD_SECRET="00" * 32, **variables) as server:
        yield server


@pytest.mark.parametrize(
    ("server", "durability"), [(name, "fsync" if name == "valkey" else "store") for name in sorted(BINARIES)]
)
def test_a_match_is_played_and_every_route_answers_and_no_rule_denies_anything(
    server: str, durability: str, tmp_path: Path
) -> None:
    (folder := tmp_path / "store").mkdir()
    with (
        deployed(BINARIES[server], folder) as store,
        running(store, tmp_path, EVENFOLD_DURABILITY=durability) as service,
        person(service.url) as ada,
    ):
        table = ada.post("/v1/chinkway/tables", {"options": SHORT, "bots": ["anyone"] * 5}, Idempotency_Key="once")
        path = table.headers["Location"]
        failures = [failure for route in ROUTES for failure in tried(ada, route, table.json()["table"])]
        ticket = ada.post("/v1/tickets", {"path": f"{path}/events"}).json()["ticket"]
        assert httpx.get(f"{service.url}{path}/events?ticket={ticket}", timeout=20).status_code == 200
        contested = ada.post("/v1/chinkway/tables", {"bots": ["anyone"] * 4}).headers["Location"]
        assert ada.post(f"{contested}/seats").status_code == 201
        assert ada.post(f"{contested}/disputes", DISPUTE).status_code == 201
        # A function that the store has lost, by a failover say, is loaded by the service's own user.
        operator = store.line("operator")
        until(lambda: operator.say(("EXISTS", "{docket}:tables")) == 1)
        assert operator.say(("ACL", "SETUSER", "operator", "+function")) == b"OK"
        assert operator.say(("FUNCTION", "FLUSH")) == b"OK"
        until(lambda: ada.get(path).status_code == 401 or ada.get(path).json()["status"] == "ended")
        with person(service.url) as bob:
            assert bob.get(path).json()["status"] == "ended"
            until(lambda: table.json()["table"] not in [one["table"] for one in bob.get("/v1/tables").json()["tables"]])
            assert rebuilt(store).returncode == 0
        assert failures == []
        assert [denial for denial in store.denials() if denial.startswith("evenfold")] == []
        assert "NOPERM" not in service.complaints()


def rebuilt(store: Deployed) -> subprocess.CompletedProcess[str]:
    """Make everything derived anew, as the service's user."""
    return run("rebuild", EVENFOLD_REDIS_URL=store.url("evenfold"))


def tried(ada: Person, route: Endpoint, table: str) -> Iterator[str]:
    """Ask a route in all ways that the document shows; yield what went wrong at the service."""
    ids = {"table": table, "player": ada.id, "token": "0" * 26, "game": "chinkway", "page": "shuffle", "dispute": 1}
    query = f"?id={ada.id}" if route.name == "getPlayers" else ""
    for body in examples(route) or [None]:
        with person_for(ada, route) as who:
            answer = who.http.request(route.method, route.path.format(**ids) + query, **_sent(route, body))
            if answer.status_code >= 500:
                yield f"{route.name}: {answer.status_code} {answer.text}"


@contextmanager
def person_for(ada: Person, route: Endpoint) -> Iterator[Person]:
    """Give Ada, or somebody else for what would end her account or her tokens."""
    if route.method != "DELETE" and "rotate" not in route.path:
        yield ada
        return
    with person(str(ada.http.base_url)) as other:
        yield other


def _sent(route: Endpoint, body: object) -> dict[str, Any]:
    return {} if body is None and route.method != "POST" else {"json": {} if body is None else body}
