"""What a store has lost is noticed by whoever meets it, and said; it is never built upon.

A failover to a replica that lagged loses the newest decisions of tables: workers that know them must forget them,
whatever others have done there since. A stream with a hole, or without its entries, is damage that no failover does.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from service.embedded import Embedded
from service.streams import Keys, keys_of
from tests.faults.clients import Json, Post, Sitting, people, sitting
from tests.faults.ledger import audited
from tests.served import served
from tests.stores import asking

OwnStore = Callable[..., Embedded]

TABLES = "/v1/chinkway/tables"


@pytest.fixture
def workers(own_store: OwnStore, tmp_path: Path) -> Iterator[tuple[str, str, str]]:
    """Give the address of a store of one's own, and two servers on it."""
    store = own_store()
    with served(store.url, tmp_path / "keys") as one, served(store.url, tmp_path / "keys") as other:
        yield store.url, one, other


class Replica:
    """A replica that lags: what the store held of a table, and of its partition, at one moment."""

    def __init__(self, store: str, match: Sitting) -> None:
        self._store = store
        with asking(store) as client:
            self._kept = {name: client.dump(name) for name in keys_of(f"table:{match.table}")}

    def fail_over(self) -> None:
        """Take the store's place."""
        with asking(self._store) as client:
            for name, value in self._kept.items():
                client.delete(name)
                if value is not None:
                    client.restore(name, 0, value)


@pytest.mark.parametrize("asked", ["view", "command"])
@pytest.mark.parametrize("regrown", [0, 1, 2, 3])
def test_after_a_failover_that_lost_decisions_nobody_builds_upon_them(
    workers: tuple[str, str, str], caplog: pytest.LogCaptureFixture, regrown: int, asked: str
) -> None:
    store, one, other = workers
    with sitting(one, "chinkway", 5) as match:
        replica, kept = Replica(store, match), match.view()["version"]
        lost = [move_at(match, one, f"lost-{number}") for number in range(2)]
        stale = match.move("stale")
        replica.fail_over()
        new = [move_at(match, other, f"new-{number}", choice=-1) for number in range(regrown)]
        assert [answer["version"] for answer in new] == [kept + 1 + number for number in range(regrown)]
        # The first worker still knows what was lost; whatever it is asked first, it says so and goes on without.
        answer = match.people[0].get(match.path) if asked == "view" else stale.send()
        assert answer.status_code in ({200} if asked == "view" else {201, 409})
        assert "the store lost" in caplog.text
        move_at(match, one, "next")
        move_at(match, other, "last")
        heads = [line.head for line in audited(store)[f"table:{match.table}"]]
        assert not {answer["head"] for answer in lost} & set(heads)
        assert [answer["head"] for answer in new] == heads[kept : kept + regrown]
        views = [match.people[0].http.get(f"{url}{match.path}") for url in (one, other)]
        assert views[0].content == views[1].content


def move_at(match: Sitting, url: str, key: str, choice: int = 0) -> Json:
    """Make a move that a server knows to be legal, and return its answer."""
    seat = match.people[0].http.get(f"{url}{match.path}").json()["to_act"][0]
    legal = match.people[seat].http.get(f"{url}{match.path}/actions").json()["legal"]
    answer = Post(match.people[seat], f"{match.path}/commands", legal[choice], key, url=url).send()
    assert answer.status_code == 201, answer.text
    done: Json = answer.json()
    return done


def test_a_key_that_a_failover_left_is_looked_up_although_the_state_was_lost(workers: tuple[str, str, str]) -> None:
    store, one, _ = workers
    with sitting(one, "chinkway", 5) as match:
        move = match.move("kept")
        kept = move.send()
        replica = Replica(store, match)
        assert match.move().send().status_code == 201
        replica.fail_over()
        # It would be refused by now; but it was taken.
        assert move.send().content == kept.content


Harm = Callable[[Redis, Keys], object]
HARMS: dict[str, Harm] = {
    "all entries": lambda client, keys: client.delete(keys.stream),
    "the first entry": lambda client, keys: client.xdel(keys.stream, "1-0"),
    "an entry": lambda client, keys: client.xdel(keys.stream, "3-0"),
    "the type": lambda client, keys: (client.delete(keys.stream), client.set(keys.stream, "wrong")),
    "what a key led to": lambda client, keys: (client.xtrim(keys.stream, maxlen=0), client.set("other", "")),
}


@pytest.mark.parametrize("known", [True, False], ids=["in memory", "not in memory"])
@pytest.mark.parametrize("harm", HARMS.values(), ids=HARMS.keys())
def test_a_stream_that_is_harmed_is_said_to_be_and_takes_nothing(
    workers: tuple[str, str, str], caplog: pytest.LogCaptureFixture, harm: Harm, known: bool
) -> None:
    store, one, other = workers
    with sitting(one, "chinkway", 5) as match, asking(store) as client:
        host = match.people[0]
        keyed = [match.move("first"), Post(host, f"{TABLES}/{match.table}/start", {}, "never")]
        assert keyed[0].send().status_code == 201
        move = match.move("next")
        keys = keys_of(f"table:{match.table}")
        harm(client, keys)
        before = {name: client.dump(name) for name in keys}
        url = one if known else other
        asked = [host.http.get(f"{url}{match.path}/events"), move.at(url).send(), move.at(url).send()]
        if not known or client.type(keys.stream) != b"stream" or not client.xrange(keys.stream, "6-0"):
            # Who has folded the table while it was whole, and still finds the newest entry there, knows what it shows.
            asked += [host.http.get(f"{url}{match.path}{rest}") for rest in ("", "/actions")]
            asked += [post.at(url).send() for post in keyed]
        assert {answer.status_code for answer in asked} == {503}, [answer.text for answer in asked]
        assert {answer.json()["code"] for answer in asked} == {"log_damaged"}
        assert "the log is damaged" in caplog.text
        assert {name: client.dump(name) for name in keys} == before
        # Others are none the worse for it.
        assert Post(host, TABLES, {}, url=url).send().status_code == 201


def test_a_table_that_was_lost_whole_is_not_opened_anew_by_its_key(workers: tuple[str, str, str]) -> None:
    store, one, other = workers
    with people(one, 1) as (host,), asking(store) as client:
        post = Post(host, TABLES, {}, "once")
        table = post.send().json()["table"]
        client.delete(keys_of(f"table:{table}").stream)
        for url in (one, other):
            answer = post.at(url).send()
            assert (answer.status_code, answer.json()["code"]) == (503, "log_damaged")


def test_an_archived_table_without_an_archive_is_away_whatever_is_left_of_it(workers: tuple[str, str, str]) -> None:
    store, one, other = workers
    with sitting(one, "chinkway", 5) as match, asking(store) as client:
        moves = [match.move("first"), match.move("next")]
        assert moves[0].send().status_code == 201
        keys = keys_of(f"table:{match.table}")
        client.set(keys.tombstone, "archived")
        client.delete(keys.stream)
        for url in (other, one):
            asked = [match.people[0].http.get(f"{url}{match.path}"), *(move.at(url).send() for move in moves)]
            assert {(answer.status_code, answer.json()["code"]) for answer in asked} == {(503, "archive_away")}, url
