"""What clients meet when something of the service itself goes wrong."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service import games
from service.app import endpoints
from service.embedded import Embedded
from service.parts import Sources
from tests.served import Person, served
from tests.service.api.conftest import NOWHERE
from tests.service.cli.processes import until

ROUTES = [route for route in endpoints(games.find()) if 503 in route.errors]


@pytest.fixture
def away(own_store: Callable[..., Embedded], tmp_path: Path) -> Iterator[Person]:
    """Give somebody with an account at a server whose store has ended, and whose token is not remembered any more."""
    store = own_store()
    with served(store.url, tmp_path / "keys") as url:
        person = Person(url)
        store.stop()
        # Readiness is what the last look at the store has found.
        until(lambda: person.get("/readyz").status_code == 503)
        yield person
        person.http.close()


def test_every_route_that_needs_the_store_says_that_it_is_away(away: Person) -> None:
    away.http.headers["Authorization"] = "Bearer evf_" + "a" * 43
    for route in ROUTES:
        path = route.path.format(**NOWHERE) + (f"?id={'0' * 26}" if route.name == "getPlayers" else "")
        body = {"name": "Ada"} if route.name == "signUp" else {}
        answer = away.http.request(route.method, path, json=body if route.method == "POST" else None)
        assert (answer.status_code, answer.json()["code"]) == (503, "store_down"), route.name
        assert answer.headers["Retry-After"] == "1"
        assert answer.headers["Content-Type"] == "application/problem+json"


def test_the_process_itself_is_alive_without_its_store(away: Person) -> None:
    assert away.get("/healthz").json() == {"status": "alive"}
    assert away.get("/v1/games").status_code == 200


def test_a_fault_is_told_and_logged_without_its_message(
    valkey_url: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(count: int) -> bytes:
        raise RuntimeError("Q" * count)

    with served(valkey_url, tmp_path / "keys", sources=Sources(entropy=broken)) as url:
        person = Person(url)
        answer = person.post("/v1/chinkway/tables")
        person.http.close()
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert "RuntimeError" in caplog.text
    assert "QQQQ" not in answer.text + caplog.text
    assert person.token not in caplog.text
