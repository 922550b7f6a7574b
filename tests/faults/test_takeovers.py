"""Two API processes and two reactors on one store play tables of bots to their end, whichever of them are killed.

Nothing is lost and nothing done twice: the log holds what was acknowledged once, chained from its first byte to its
last; each table was opened once and ends; who hosts it is told of that once; and the lobby has none of them any more.
"""

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import httpx
import msgspec

from service.streams import keys_of, table_stream
from tests.faults.ledger import Line, audited
from tests.served import Person
from tests.service.cli.processes import PATIENCE_S, Alone, beginning, until
from tests.sizes import sized
from tests.stores import BINARIES, DURABLE, asking, free_port
from tests.stores import serving as store_serving

Json = dict[str, Any]

TABLES = sized(10, 100, 400)
KILLS = sized(3, 20, 100)

LENGTH = 300
"""How many decisions a table has at least."""

BETWEEN = TABLES * LENGTH // (KILLS + 1)
"""How many are taken between two kills, so that each comes under load."""

GAMES: tuple[tuple[str, Json], ...] = (
    ("chinkway", {"options": {"deals": 5, "partners": "five"}, "bots": ["anyone"] * 5}),
    ("kowah", {"seats": 3, "bots": ["anyone"] * 3}),
)


class Part:
    """A process of the service, which can be killed and started again."""

    def __init__(self, says: Path, arguments: Sequence[str], variables: dict[str, str]) -> None:
        self._begun = (says, arguments, variables)
        self._running = ExitStack()
        self._one = self._start()

    @property
    def url(self) -> str:
        """Where it answers, if it does, or will."""
        return f"http://127.0.0.1:{self._begun[1][-1]}"

    def await_ready(self) -> None:
        """Wait until it is ready for the first time."""
        self._one.await_ready()

    def kill(self) -> None:
        """Kill it and start it again."""
        self._one.process.kill()
        self.close()
        self._one = self._start()

    def end(self) -> int:
        """End it in order and return its exit code."""
        return self._one.end()

    def complaints(self) -> str:
        """Return what it has complained of since it was started for the first time."""
        return self._one.complaints()

    def close(self) -> None:
        """End it, however it stands."""
        self._running.close()

    def _start(self) -> Alone:
        return self._running.enter_context(beginning(*self._begun))


@contextlib.contextmanager
def parts(store: str, folder: Path) -> Iterator[tuple[list[Part], list[Part]]]:
    """Run two API processes and two reactors on a store, ready."""
    common = ("--redis", store, "--keys", str(folder / "keys"))
    variables = {"EVENFOLD_TABLE_QUOTA": "0", "EVENFOLD_MIN_FREE": "0", "EVENFOLD_BOT_PAUSE": "0"}
    with ExitStack() as running:
        commands = [("api", *common, "--port", str(free_port())) for _ in range(2)] + 2 * [("react", *common)]
        those = [Part(folder / f"says-{number}", each, variables) for number, each in enumerate(commands)]
        for part in those:
            running.callback(part.close)
        for part in those:
            part.await_ready()
        yield those[:2], those[2:]


class Host(threading.Thread):
    """Opens one table of bots after another at any API process that answers, each with a key until it is opened."""

    def __init__(self, urls: Sequence[str]) -> None:
        super().__init__(daemon=True)
        self.person = Person(urls[0], "Host")
        self.opened: list[str] = []
        self.enough = threading.Event()
        self._urls = cycle(urls)

    def run(self) -> None:
        """Open them."""
        for number, (game, wanted) in zip(range(TABLES), cycle(GAMES), strict=False):
            body = self.ask("POST", f"/v1/{game}/tables", wanted, {"Idempotency-Key": str(number)})
            self.opened.append(body["table"])

    def ask(self, method: str, path: str, body: Json | None = None, headers: Json | None = None) -> Json:
        """Send a request to one process after another until it is answered; return the answer."""
        for url in self._urls:
            with contextlib.suppress(httpx.TransportError):
                answer = self.person.http.request(method, url + path, json=body, headers=headers, timeout=5)
                if answer.status_code != 503:
                    assert answer.is_success, answer.text
                    found: Json = answer.json()
                    return found
            assert not self.enough.wait(0.02)
        raise AssertionError


def decisions(store: str, tables: Sequence[str]) -> int:
    """Return how many decisions some tables have in all."""
    with asking(store) as client, client.pipeline(transaction=False) as calls:
        for table in tables:
            calls.xlen(keys_of(table_stream(table)).stream)
        return sum(calls.execute())


def has_ended(store: str, table: str) -> bool:
    """Tell whether the newest decision of a table is its end."""
    with asking(store) as client:
        rows: Any = client.xrevrange(keys_of(table_stream(table)).stream, count=1)
        return b'"type":"table.ended"' in rows[0][1][b"e"]


def await_progress(store: str, host: Host) -> None:
    """Return when so many decisions more were taken, or every table has ended; fail where nothing happens any more."""
    before = count = decisions(store, host.opened)
    since = time.monotonic()
    while count < before + BETWEEN and not (len(host.opened) == TABLES and all_ended(store, host)):
        time.sleep(0.05)
        now = decisions(store, host.opened)
        since = time.monotonic() if now > count else since
        count = now
        assert time.monotonic() < since + PATIENCE_S, f"{count} decisions, and no more"


def all_ended(store: str, host: Host) -> bool:
    return all(has_ended(store, table) for table in host.opened)


def victims(rng: Random, apis: list[Part], reactors: list[Part]) -> Iterator[list[Part]]:
    """Yield whom to kill: a reactor, an API process, both reactors or one of each."""
    while True:
        yield from rng.sample(
            [[rng.choice(reactors)], [rng.choice(apis)], reactors, [rng.choice(apis), rng.choice(reactors)]], 4
        )


def test_every_table_ends_and_nothing_is_lost_or_doubled_whoever_is_killed(tmp_path: Path) -> None:
    rng = Random(60)
    (folder := tmp_path / "store").mkdir()
    with store_serving(BINARIES["valkey"], folder, *DURABLE) as store, parts(store, tmp_path) as (apis, reactors):
        host = Host([api.url for api in apis])
        try:
            host.start()
            for _, those in zip(range(KILLS), victims(rng, apis, reactors), strict=False):
                await_progress(store, host)
                for part in those:
                    part.kill()
            while not (len(host.opened) == TABLES and all_ended(store, host)):
                assert host.is_alive() or len(host.opened) == TABLES
                await_progress(store, host)
            assert_all_is_as_it_must_be(store, host)
        finally:
            host.enough.set()
            host.person.http.close()
        said = "".join(part.complaints() for part in (*apis, *reactors))
        assert [word for word in ("Traceback", "aside", "damaged") if word in said] == []


def assert_all_is_as_it_must_be(store: str, host: Host) -> None:
    """Hold the log, the host's inbox and the lobby to what was opened."""
    assert len(set(host.opened)) == TABLES
    found = audited(store)
    assert found.keys() == {table_stream(table) for table in host.opened}
    for lines in found.values():
        kinds = Counter(event["type"] for line in lines for event in line.says["events"])
        assert (kinds["table.created"], kinds["table.started"], kinds["table.ended"]) == (1, 1, 1)
        assert_each_turn_is_answered_once(lines)
    until(lambda: host.ask("GET", "/v1/tables")["tables"] == [])
    until(lambda: len(ends_told(store, host)) >= TABLES)
    assert Counter(ends_told(store, host)) == Counter(host.opened)


def assert_each_turn_is_answered_once(lines: Sequence[Line]) -> None:
    """Hold: no seat has answered the same prompt twice."""
    turn, answered = 0, set[int]()
    for line in lines:
        if (seat := line.says["by"].get("seat")) is not None:
            assert seat not in answered, line
            answered.add(seat)
        if any(event["type"] == "table.turn_began" for event in line.says["events"]):
            turn, answered = line.version, set()
    assert turn > 0


def ends_told(store: str, host: Host) -> list[str]:
    """Return the tables of whose end the host was told, as often as that."""
    with asking(store) as client:
        rows: Any = client.xrange(f"inbox:{host.person.id}")
    notices = [msgspec.json.decode(fields[b"n"]) for _, fields in rows]
    return [notice["table"] for notice in notices if notice["type"] == "table_ended"]
