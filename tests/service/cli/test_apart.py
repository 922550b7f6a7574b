"""`evenfold api` and `evenfold react`: the parts of a server run by a person, each by itself, in any number."""

import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from service.auth.keys import FINGERPRINT_KEY
from tests.served import Person
from tests.service.cli.processes import Called, alone, person, together, until
from tests.service.cli.test_metrics import Scrape
from tests.sizes import CI
from tests.stores import BINARIES, DURABLE, asking, free_port
from tests.stores import serving as store_serving

TABLES = "/v1/chinkway/tables"
SHORT = {"deals": 5, "partners": "five"}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a store."""
    with store_serving(BINARIES["valkey"], tmp_path_factory.mktemp("store"), *DURABLE) as url:
        yield url


def common(store: str, tmp_path: Path) -> tuple[str, ...]:
    """Return the options that all parts of a server have in common."""
    return "--redis", store, "--keys", str(tmp_path / "keys")


def table_of_bots(person: Person) -> str:
    """Open a table of bots and return its path."""
    opened = person.post(TABLES, {"options": SHORT, "bots": ["anyone"] * 5})
    assert opened.status_code == 201, opened.text
    return str(opened.headers["Location"])


def has_ended(person: Person, path: str) -> bool:
    return bool(person.get(path).json()["status"] == "ended")


def held(*urls: str) -> list[float]:
    """Return how many partitions each reactor says that it holds."""
    return [sum(Scrape(url).of("reactor_leases").values()) for url in urls]


@pytest.mark.skipif(not CI, reason="takes a quarter of a minute: in CI, and with the laws")
def test_two_of_each_on_one_store_are_one_service_whoever_is_stopped_killed_or_ended(
    store: str, tmp_path: Path
) -> None:
    ours = common(store, tmp_path)
    ports = [str(free_port()) for _ in range(3)]
    api = ("api", *ours, "--port", "0")
    reacting = [("react", *ours, "--bot-pause", "0", "--metrics-port", port) for port in ports[1:]]
    with (
        together((*api, "--metrics-port", ports[0]), api, *reacting) as (first, second, stopped, killed),
        person(first.url) as ada,
    ):
        at_api, at_stopped, at_killed = (f"http://127.0.0.1:{port}" for port in ports)
        assert all(httpx.get(f"{url}/readyz").json() == {"status": "ready"} for url in (second.url, at_stopped))
        assert "evenfold_build_info" in httpx.get(f"{at_api}/metrics").text
        assert httpx.get(f"{first.url}/metrics").status_code == 404
        until(lambda: held(at_stopped, at_killed) == [32, 32])

        stopped.process.send_signal(signal.SIGSTOP)
        try:
            paths = [table_of_bots(ada) for _ in range(3)]
            ada.http.base_url = httpx.URL(second.url)
            until(lambda: all(has_ended(ada, path) for path in paths))
            until(lambda: held(at_killed) == [64])  # All tables may have been of partitions that it held.
        finally:
            stopped.process.send_signal(signal.SIGCONT)
        until(lambda: held(at_stopped, at_killed) == [32, 32])
        assert Scrape(at_stopped).of("reactor_lease_losses_total", "how")["claimed",] == 32
        assert "for whom this process was gone" in stopped.complaints()

        killed.process.kill()
        paths = [table_of_bots(ada) for _ in range(3)]
        until(lambda: all(has_ended(ada, path) for path in paths))
        until(lambda: held(at_stopped) == [64])

        assert [one.end(number) for one, number in ((first, signal.SIGINT), (stopped, signal.SIGTERM))] == [0, 0]
        with alone("react", *ours, "--bot-pause", "0"):
            path = table_of_bots(ada)
            until(lambda: has_ended(ada, path))
        assert [one.complaints() for one in (first, second, killed)] == [""] * 3
        assert first.said == [
            f"answers requests at {first.url}",
            f"How to play by HTTP: {first.url}/docs",
            f"Its metrics, for Prometheus: {at_api}/metrics",
            f"Its store is at {store}. Ctrl-C stops it.",
        ]
        assert stopped.said == [
            f"reacts to what happens in the store at {store}",
            f"Its metrics, for Prometheus: {at_stopped}/metrics",
            "Ctrl-C stops it.",
        ]


def test_what_is_under_way_is_finished(store: str, tmp_path: Path) -> None:
    with alone("api", *common(store, tmp_path), "--port", "0") as api:
        body = b'{"name": "Ada"}'
        head = "POST /v1/players HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 15\r\n\r\n"
        with socket.create_connection(("127.0.0.1", httpx.URL(api.url).port or 0)) as line:
            line.sendall(head.encode() + body[:5])
            assert httpx.get(
                f"{api.url}/readyz"
            ).is_success  # It has turned to others since, so it has read the beginning.
            api.process.terminate()
            line.sendall(body[5:])
            assert line.makefile("rb").readline().startswith(b"HTTP/1.1 201 ")
        assert api.process.wait(30) == 0


def test_a_second_signal_does_not_wait(store: str, tmp_path: Path) -> None:
    with alone("api", *common(store, tmp_path), "--port", "0") as api:
        port = httpx.URL(api.url).port or 0
        with socket.create_connection(("127.0.0.1", port)) as line:
            line.sendall(b"POST /v1/players HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\n{")
            assert httpx.get(f"{api.url}/readyz").is_success
            api.process.terminate()
            until(lambda: is_closed(port))
            assert api.end() == 128 + signal.SIGTERM


def is_closed(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return True
    return False


@pytest.mark.parametrize("command", ["api", "react"])
@pytest.mark.parametrize(
    ("variables", "words"),
    [
        ({}, "Missing option '--redis' (env var: 'EVENFOLD_REDIS_URL')"),
        ({"EVENFOLD_REDIS_URL": "http://localhost"}, "EVENFOLD_REDIS_URL"),
        ({"EVENFOLD_REDIS_URL": "redis://127.0.0.1:1"}, "The store at redis://127.0.0.1:1 can't be reached"),
        ({"EVENFOLD_REDIS_URL": "redis://127.0.0.1:1", "EVENFOLD_KEYS": "/dev/null/keys"}, "The keys' folder"),
        ({"EVENFOLD_REDIS_URL": "redis://127.0.0.1:1", "EVENFOLD_GAMES": "json"}, "the module json ends in no GAME"),
        ({"EVENFOLD_REDIS_URL": "redis://127.0.0.1:1", "EVENFOLD_SECRET": "secret"}, "EVENFOLD_SECRET must hold"),
    ],
)
def test_what_can_not_be_meant_is_refused_in_a_sentence(
    called: Called, tmp_path: Path, command: str, variables: dict[str, str], words: str
) -> None:
    assert words in called(command, **{"EVENFOLD_KEYS": str(tmp_path), "EVENFOLD_PORT": "0", **variables}).refusal


def test_ports_in_use_are_told(called: Called, store: str, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        told = called("api", *common(store, tmp_path), "--port", port).refusal
        assert f"Port {port} of 127.0.0.1 is in use; name another with --port" in told
        told = called("react", *common(store, tmp_path), "--metrics-port", port).refusal
        assert f"Port {port} of 127.0.0.1 is in use; name another with --metrics-port" in told


def test_another_secret_than_the_stores_is_told(store: str, tmp_path: Path) -> None:
    with asking(store) as client:
        client.set(FINGERPRINT_KEY, "another")
    with alone("react", "--redis", store, "--keys", str(tmp_path / "keys")) as other:
        assert "WARNING: The store was first served with another secret" in other.complaints()
    with asking(store) as client:
        client.delete(FINGERPRINT_KEY)
