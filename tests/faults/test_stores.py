"""A store that can't do its work for a while: 503 meanwhile and never 500, nothing lost or doubled, well afterwards."""

import contextlib
import resource
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from redis.exceptions import RedisError

from service.api.connection import Connection
from service.api.head import Bounds
from service.embedded import Embedded
from service.log import SETTLE_MS
from service.pipe import TICKS, TIMEOUT_MS
from service.store import ANSWER_S
from tests.faults.clients import Post, Sitting, at_once, people, sitting
from tests.faults.ledger import audited
from tests.logs import stopped
from tests.served import served
from tests.service.cli.processes import until
from tests.stores import administer

OwnStore = Callable[..., Embedded]
Trouble = Callable[[Embedded], AbstractContextManager[None]]

TABLES = "/v1/chinkway/tables"

LONGEST_S = ANSWER_S + (SETTLE_MS + 2 * TIMEOUT_MS * (1 + 1 / TICKS)) / 1_000
"""How long a request may take until it is said that the store does not answer: a look at the account, then an append
that is settled for a while, with one last call at its end."""


@contextmanager
def full(store: Embedded) -> Iterator[None]:
    """Leave it no memory."""
    administer(store.url, "CONFIG", "SET", "maxmemory", "1")
    yield
    administer(store.url, "CONFIG", "SET", "maxmemory", "0")


@contextmanager
def a_replica(store: Embedded) -> Iterator[None]:
    """Make it a replica of nobody who answers."""
    administer(store.url, "REPLICAOF", "127.0.0.1", "1")
    yield
    administer(store.url, "REPLICAOF", "NO", "ONE")


@contextmanager
def held_up(store: Embedded) -> Iterator[None]:
    """Have it run somebody's script that does not end."""
    administer(store.url, "CONFIG", "SET", "busy-reply-threshold", "1")

    def run() -> None:
        with contextlib.suppress(RedisError):
            administer(store.url, "EVAL", "while true do end", "0")

    script = threading.Thread(target=run)
    script.start()
    until(lambda: is_held_up(store))
    yield
    administer(store.url, "SCRIPT", "KILL")
    script.join()


def is_held_up(store: Embedded) -> bool:
    """Tell whether a script runs that is longer than it may be."""
    try:
        administer(store.url, "PING")
    except RedisError as error:
        return "BUSY" in str(error)
    return False


@contextmanager
def forbidding(store: Embedded) -> Iterator[None]:
    """Forbid what keeps the idempotency keys."""
    administer(store.url, "ACL", "SETUSER", "default", "-hset")
    yield
    administer(store.url, "ACL", "SETUSER", "default", "+hset")


@contextmanager
def standing_still(store: Embedded) -> Iterator[None]:
    """Stop its process without ending it."""
    with stopped(store.pid):
        yield


@contextmanager
def ended(store: Embedded) -> Iterator[None]:
    """End it."""
    store.stop()
    yield
    store.start()


def requests(match: Sitting) -> list[Post]:
    """Return a keyed request of each kind that appends."""
    table = match.people[0].post(TABLES).json()["table"]
    return [
        match.move("once"),
        Post(match.people[0], TABLES, {}, "once"),
        Post(match.people[1], f"{TABLES}/{table}/seats", {}, "once"),
    ]


@pytest.mark.parametrize("trouble", [full, a_replica, held_up, forbidding, standing_still, ended])
def test_a_store_in_trouble_is_said_to_be_and_a_keyed_request_is_settled_afterwards(
    own_store: OwnStore, tmp_path: Path, trouble: Trouble
) -> None:
    store = own_store()
    with served(store.url, tmp_path / "keys") as url, sitting(url, "chinkway", 5) as match:
        posts = requests(match)
        view = match.view()
        before = audited(store.url)
        with trouble(store):
            began = time.monotonic()
            answers = at_once([*posts, *posts])
            # Twice that, for this machine may be doing much else.
            assert time.monotonic() - began < 2 * LONGEST_S
            for answer in answers:
                assert (answer.status_code, answer.headers["Retry-After"]) == (503, "1"), answer.text
                assert answer.json()["code"] in {"store_down", "unconfirmed"}
            assert match.people[0].get(match.path).status_code in {200, 503}
        if {answer.json()["code"] for answer in answers} == {"store_down"}:
            assert audited(store.url) == before
        assert match.view()["version"] - view["version"] in {0, 1}
        for post in posts:
            settled = post.send()
            assert settled.status_code == 201, settled.text
            assert post.send().content == settled.content
        after = audited(store.url)
        assert sum(map(len, after.values())) == sum(map(len, before.values())) + len(posts)
        assert all(after[stream][: len(lines)] == lines for stream, lines in before.items())


def test_a_pause_is_waited_for_and_nobody_notices_more(own_store: OwnStore, tmp_path: Path) -> None:
    store = own_store()
    with served(store.url, tmp_path / "keys") as url, sitting(url, "chinkway", 5) as match:
        posts = requests(match)
        administer(store.url, "CLIENT", "PAUSE", "600", "WRITE")
        assert [answer.status_code for answer in at_once(posts)] == [201] * 3


def test_functions_that_are_flushed_again_and_again_are_not_missed(own_store: OwnStore, tmp_path: Path) -> None:
    store = own_store()
    with served(store.url, tmp_path / "keys") as url, sitting(url, "chinkway", 5) as match:
        for _ in range(10):
            administer(store.url, "FUNCTION", "FLUSH")
            assert [answer.status_code for answer in at_once([match.move(), *requests(match)[1:]])] == [201] * 3
        audited(store.url)


class HastyConnection(Connection):
    """A connection that gives a client little time for a head."""

    bounds = Bounds(head_s=0.05)


def test_a_request_that_came_in_time_is_answered_however_long_the_store_takes(
    own_store: OwnStore, tmp_path: Path
) -> None:
    store = own_store()
    with served(store.url, tmp_path / "keys", protocol=HastyConnection) as url, people(url, 1) as (ada,):
        administer(store.url, "CLIENT", "PAUSE", "600", "WRITE")
        assert [answer.status_code for answer in at_once([Post(ada, TABLES, {})])] == [201]


def test_a_disk_that_is_full_ends_the_store_and_loses_nothing(own_store: OwnStore, tmp_path: Path) -> None:
    store = own_store()
    with (
        served(store.url, tmp_path / "keys") as url,
        sitting(url, "chinkway", 5) as match,
        kept_running(store),
    ):
        acknowledged: list[int] = []
        for number in range(3):
            ended = store.pid
            assert ended
            # The system takes a few more bytes of its file, and no more: the next entries are torn somewhere.
            used = max(path.stat().st_size for path in (tmp_path / "data" / "appendonlydir").iterdir())
            resource.prlimit(ended, resource.RLIMIT_FSIZE, (used + 1_700 + 333 * number, resource.RLIM_INFINITY))
            while store.pid == ended:
                move = match.move(f"once-{len(acknowledged)}")
                answers = [move.send(), move.send()]
                assert {answer.content for answer in answers} == {answers[0].content}, answers
                acknowledged.append(answers[0].json()["version"])
        lines = audited(store.url)[f"table:{match.table}"]
        assert [line.version for line in lines if line.key is not None] == acknowledged


@contextmanager
def kept_running(store: Embedded) -> Iterator[None]:
    """Start the store again whenever it ends, as `serve` does."""
    enough = threading.Event()

    def keep() -> None:
        while not enough.wait(0.02):
            store.ensure()

    keeping = threading.Thread(target=keep)
    keeping.start()
    yield
    enough.set()
    keeping.join()
