"""Readiness follows the store by itself, a store without room takes all but new tables, and metrics are text."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from service.embedded import Embedded
from service.settings import NO_LIMITS
from tests.served import Person, served
from tests.service.cli.processes import until
from tests.stores import BINARIES, DURABLE, administer, free_port, serving

TABLES = "/v1/chinkway/tables"


@pytest.fixture
def store_url(tmp_path: Path) -> Iterator[str]:
    """Give the address of a store of one's own."""
    (tmp_path / "store").mkdir()
    with serving(BINARIES["valkey"], tmp_path / "store", *DURABLE) as url:
        yield url


@pytest.fixture
def url(store_url: str, tmp_path: Path) -> Iterator[str]:
    """Give the address of a server on that store, which must have 64 MiB left for a new table."""
    with served(store_url, tmp_path / "keys", limits=NO_LIMITS._replace(min_free=64)) as address:
        yield address


@pytest.fixture
def elsewhere(ada: Person, store_url: str, tmp_path: Path) -> Iterator[Person]:
    """Give the same person at another server on that store, whose memory is its own."""
    with served(store_url, tmp_path / "keys", limits=NO_LIMITS._replace(min_free=64)) as address:
        person = Person(address, None)
        person.http.headers["Authorization"] = ada.http.headers["Authorization"]
        with contextlib.closing(person.http):
            yield person


def until_told(person: Person, code: int, /, **body: Any) -> httpx.Response:  # noqa: ANN401 members of a JSON object
    """Return the first answer about readiness that has this HTTP status and these members."""
    answers: list[httpx.Response] = []

    def is_so() -> bool:
        answers[:] = [person.get("/readyz")]
        return answers[0].status_code == code and body.items() <= answers[0].json().items()

    until(is_so)
    return answers[0]


def test_a_server_is_not_ready_while_its_store_is_a_replica(ada: Person, store_url: str) -> None:
    administer(store_url, "REPLICAOF", "127.0.0.1", str(free_port()))
    answer = until_told(ada, 503, code="store_down", detail="The store is a replica and takes no writes.")
    assert answer.headers["Retry-After"] == "1"
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert ada.get("/healthz").json() == {"status": "alive"}
    administer(store_url, "REPLICAOF", "NO", "ONE")
    assert until_told(ada, 200).json() == {"status": "ready"}
    assert ada.post(TABLES).status_code == 201


def test_a_server_is_ready_again_with_its_store(own_store: Callable[..., Embedded], tmp_path: Path) -> None:
    store = own_store()
    with served(store.url, tmp_path / "keys") as url:
        person = Person(url)
        with contextlib.closing(person.http):
            store.stop()
            until_told(person, 503, code="store_down", detail="The store does not answer.")
            store.start()
            until_told(person, 200, status="ready")


def test_without_room_no_table_is_opened_and_all_else_goes_on(ada: Person, elsewhere: Person, store_url: str) -> None:
    key = {"Idempotency_Key": "table-1"}
    opened = ada.post(TABLES, {"bots": ["anyone"] * 4, "start": "host"}, **key)
    path = f"{TABLES}/{opened.json()['table']}"
    administer(store_url, "CONFIG", "SET", "maxmemory", "60mb")
    until_told(ada, 200, status="full")

    refused = ada.post(TABLES)
    assert (refused.status_code, refused.json()["code"]) == (503, "no_room")
    assert refused.headers["Retry-After"] == "60"
    refused = ada.post(TABLES, Idempotency_Key="table-2")
    assert (refused.status_code, refused.json()["code"]) == (503, "no_room")
    until_told(elsewhere, 200, status="full")
    for person in (ada, elsewhere):
        again = person.post(TABLES, {"bots": ["anyone"] * 4, "start": "host"}, **key)
        assert (again.status_code, again.json()) == (201, opened.json())
    assert ada.post(f"{path}/seats").status_code == 201
    assert ada.post(f"{path}/start").status_code == 201
    assert ada.post(f"{path}/commands", {"type": "table.resign"}).status_code == 201
    assert ada.post("/v1/players", {"name": "Blaise"}).status_code == 201

    administer(store_url, "CONFIG", "SET", "maxmemory", "0")
    until_told(ada, 200, status="ready")
    assert ada.post(TABLES, Idempotency_Key="table-2").status_code == 201


def test_metrics_need_no_token_and_are_prometheus_text(nobody: Person) -> None:
    answer = nobody.get("/metrics", Accept="application/openmetrics-text;version=1.0.0;q=0.5,text/plain;q=0.4")
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert all(name.startswith("evenfold_") and family.documentation for name, family in families.items())
    [build] = families["evenfold_build_info"].samples
    assert (sorted(build.labels), build.value) == (["python", "version"], 1)


def test_health_takes_no_parameters(nobody: Person) -> None:
    for path in ("/healthz", "/readyz", "/metrics"):
        assert nobody.get(f"{path}?verbose=1").json()["code"] == "malformed"
