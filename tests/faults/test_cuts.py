"""The outcome reported is the outcome stored, wherever the line between service and store breaks."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count, islice, repeat
from pathlib import Path
from typing import cast

import httpx
import pytest

from tests.faults.clients import Post, people, seated
from tests.faults.cutting import Cutter, cutting
from tests.faults.ledger import lines_of
from tests.served import Person, served
from tests.sizes import FULL
from tests.stores import asking
from tests.wire import Direction

STRIDE = {"request": 1 if FULL else 53, "reply": 1}
"""Every which byte is cut after; those of a reply are few."""

WHOLE = {"request": 700, "reply": len(b"*2\r\n$2\r\nok\r\n:1\r\n")}
"""How long a request and a reply are at least."""

TABLES = "/v1/chinkway/tables"

Kind = Callable[[list[Person]], Iterator[Post]]


@pytest.fixture(scope="module")
def wire(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cutter]:
    """Give a wire to the shared store."""
    with cutting(valkey_url, tmp_path_factory.mktemp("wire") / "w") as cutter:
        yield cutter


@pytest.fixture(scope="module")
def company(wire: Cutter, keys: Path) -> Iterator[list[Person]]:
    """Give five people at a server behind the wire."""
    with served(wire.url, keys) as url, people(url, 5) as all_of_them:
        yield all_of_them


def commands(company: list[Person]) -> Iterator[Post]:
    """Yield commands that are legal one after the other, for ever."""
    while True:
        match = seated("chinkway", company)
        while (view := match.view())["status"] == "playing":
            mover = company[view["to_act"][0]]
            yield Post(mover, f"{match.path}/commands", match.legal(mover)[0])


def tables(company: list[Person]) -> Iterator[Post]:
    """Yield requests for tables; the account is looked at by the first request, and trusted for the second."""
    for host in hosts(company):
        assert host.get("/v1/tables?limit=1").status_code == 200
        yield Post(host, TABLES, {})


def seats(company: list[Person]) -> Iterator[Post]:
    """Yield requests for seats, for ever."""
    for host in hosts(company):
        table = host.post(TABLES).json()["table"]
        yield Post(host, f"{TABLES}/{table}/seats", {"nonce": "luck"})


def hosts(company: list[Person]) -> Iterator[Person]:
    """Yield people with few tables, for ever: of those with many the tables are looked through, in ever more bytes."""
    while True:
        with people(str(company[0].http.base_url), 1) as (host,):
            yield from repeat(host, 50)


def cuts(wire: Cutter, direction: Direction, posts: Iterator[Post]) -> Iterator[Post]:
    """Yield each request to be sent over a wire that will be cut a stride later, until a cut comes after its end.

    Every other one has a key.
    """
    for position in count(step=STRIDE[direction]):
        before = wire.cuts
        post = next(posts)._replace(key=f"{direction}-{position}-{before}" if position % 2 else None)
        wire.cut(direction, position)
        yield post
        if wire.cuts == before:
            assert position > WHOLE[direction]
            return


def stored(store: str, path: str) -> int:
    """Count the entries of the table that a request goes to, or the tables if it asks for one."""
    if path != TABLES:
        return len(lines_of(store, path.split("/")[4]))
    with asking(store) as client:
        return len(cast("list[bytes]", client.keys("*:table:*")))


@pytest.mark.parametrize("direction", ["request", "reply"])
@pytest.mark.parametrize("kind", [commands, seats, tables])
def test_what_is_cut_after_any_byte_happens_once_or_not_at_all_and_the_answer_says_which(
    wire: Cutter, company: list[Person], valkey_url: str, direction: Direction, kind: Kind
) -> None:
    outcomes: Counter[str] = Counter()
    for post in cuts(wire, direction, kind(company)):
        before = stored(valkey_url, post.path)
        answer = post.send()
        wire.disarm()
        outcome = "done" if answer.status_code == 201 else answer.json()["code"]
        outcomes[outcome] += 1
        happened = stored(valkey_url, post.path) - before
        assert happened in {"done": {1}, "store_down": {0}, "unconfirmed": {0, 1}}[outcome], outcome
        if outcome == "done":
            last = lines_of(valkey_url, answer.json().get("table") or post.path.split("/")[4])[-1]
            assert (answer.json()["version"], answer.json()["head"]) == (last.version, last.head)
        if post.key is not None:
            again = post.send()
            assert again.status_code == 201
            assert outcome != "done" or again.content == answer.content
            assert stored(valkey_url, post.path) == before + 1
    # An append is settled whatever is cut; now and then it is the look at the account that is, once a second.
    assert kind is not commands or outcomes["done"] > 0.8 * outcomes.total()


def test_a_command_sent_again_while_the_first_is_still_under_way_has_the_same_answer(
    wire: Cutter, company: list[Person], valkey_url: str
) -> None:
    settled = 0
    with ThreadPoolExecutor() as later:
        for post in islice(commands(company), 10):
            before, keyed = stored(valkey_url, post.path), post._replace(key=f"again-{wire.cuts}")
            again: list[Future[httpx.Response]] = []

            async def retry(keyed: Post = keyed, again: list[Future[httpx.Response]] = again) -> None:
                # The first is stored, and its answer lost; it is sought while the second comes in.
                again.append(later.submit(keyed.send))

            wire.cut("reply", 0, retry)
            first = keyed.send()
            wire.disarm()
            answers = [first, *(answer.result() for answer in again), keyed.send()]
            if first.status_code == 503:
                # Now and then it is the look at the account that is cut, or the watch on the store.
                assert answers.pop(0).json()["code"] == "store_down"
            assert {answer.content for answer in answers} == {answers[-1].content}
            assert stored(valkey_url, post.path) == before + 1
            settled += len(answers) == 3
    assert settled > 5
