"""A stream that was cut by XADD's own MAXLEN, which no rule of the store forbids, is noticed by whoever reads it."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest

from service.cli.replay import Wanted, from_store
from service.cli.sentences import Failed
from service.embedded import Embedded
from service.reactors.run import reactors
from service.settings import Place
from service.streams import Broken, Keys, check_chain, keys_of, table_stream
from tests.following import follow
from tests.logs import logged
from tests.served import Person, served
from tests.service.api.conftest import Company
from tests.service.reactors.matches import connected, no_sleep, opened, pursuing, seated, stream_of
from tests.stores import asking

FOREIGN = ("e", "{}", "h", "h" * 32)

UNCUT = ("MAXLEN", "1000")

CUTS = {
    "its beginning": ("MAXLEN", "3"),
    "all but what came with the cut": ("MAXLEN", "1"),
    "everything": ("MAXLEN", "0"),
    "by its id": ("MINID", "3-0"),
    "nothing, and another entry came": UNCUT,
}


class Cut(NamedTuple):
    """A table whose log was cut, and what its people had seen before."""

    company: Company
    keys: Keys
    view: dict[str, object]


@pytest.fixture(params=list(CUTS.values()), ids=list(CUTS))
def cut(request: pytest.FixtureRequest, company: Company, valkey_url: str) -> Cut:
    """Give a table that the shared server knows, cut."""
    keys = keys_of(table_stream(company.path.rpartition("/")[2]))
    view = company.people[0].get(company.path).json()
    cut_off(valkey_url, keys.stream.partition(":")[2], request.param)
    return Cut(company, keys, view)


def cut_off(url: str, stream: str, words: tuple[str, ...]) -> None:
    """Cut a stream as it comes with an entry of somebody else's."""
    key = keys_of(stream).stream
    with asking(url) as client:
        place = f"{client.xlen(key) + 1}-0"
        assert client.execute_command("XADD", key, *words, place, *FOREIGN)  # type: ignore[no-untyped-call] # redis-py has not annotated it


@pytest.fixture(scope="module")
def other_url(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of another server of the store."""
    with served(valkey_url, tmp_path_factory.mktemp("keys")) as address:
        yield address


@pytest.fixture
def elsewhere(other_url: str, cut: Cut) -> Iterator[Person]:
    """Give one who sits at the table, at another server of the store, which has never read its stream."""
    person = Person(other_url, None)
    person.http.headers["Authorization"] = cut.company.people[0].http.headers["Authorization"]
    with closing(person.http):
        yield person


def is_damage(answer: httpx.Response) -> bool:
    """Tell whether an answer says that the log is damaged, and nothing of it."""
    return answer.status_code == 503 and answer.json()["code"] == "log_damaged"


def test_who_reads_it_for_the_first_time_is_told(cut: Cut, elsewhere: Person, caplog: pytest.LogCaptureFixture) -> None:
    path = cut.company.path
    for reading in ("", "?at=1", "/actions", "/events", "/events?after=2"):
        assert is_damage(elsewhere.get(f"{path}{reading}")), reading
    assert is_damage(elsewhere.get(f"{path}/events", Accept="application/x-ndjson"))
    assert is_damage(elsewhere.post(f"{path}/commands", {"type": "table.resign"}))
    assert is_damage(elsewhere.post(f"{path}/seats"))
    assert cut.keys.stream.partition(":")[2] in caplog.text
    assert "CRITICAL" in caplog.text


def test_who_has_read_it_before_says_nothing_wrong_and_adds_nothing(cut: Cut, valkey_url: str) -> None:
    ada = cut.company.people[0]
    known = ada.get(cut.company.path)
    assert is_damage(known) or known.json() == cut.view
    with asking(valkey_url) as client:
        before = client.xrange(cut.keys.stream)
        assert is_damage(ada.post(f"{cut.company.path}/commands", {"type": "table.resign"}))
        assert is_damage(ada.get(cut.company.path))
        assert client.xrange(cut.keys.stream) == before


def test_a_retry_of_what_was_done_is_told_too(cut: Cut, elsewhere: Person) -> None:
    for person in (cut.company.people[0], elsewhere):
        answer = person.post(f"{cut.company.path}/commands", {"type": "table.resign"}, Idempotency_Key="never-used")
        assert is_damage(answer)


def test_a_replay_is_refused_in_a_sentence(cut: Cut, valkey_url: str, tmp_path: Path) -> None:
    with pytest.raises(Failed, match="The log of the table is damaged: ") as failed:
        from_store(Place(tmp_path, valkey_url), Wanted(cut.keys.stream.rpartition(":")[2]), ())
    assert "\n" not in str(failed.value)


async def followed(url: str, stream: str) -> None:
    """Follow a stream from its beginning, as far as it goes, and see that each entry leads to the next."""
    async with logged(url) as log:
        entries = []
        async for stored in follow(log, stream):
            entries.append(stored)
            check_chain(stream, 0, b"", entries)


@pytest.mark.anyio
async def test_who_follows_it_from_its_beginning_is_told(cut: Cut, valkey_url: str) -> None:
    with pytest.raises(Broken):
        await followed(valkey_url, cut.keys.stream.partition(":")[2])


@pytest.mark.anyio
@pytest.mark.parametrize("words", CUTS.values(), ids=CUTS.keys())
async def test_the_bots_reactor_sets_it_aside_and_says_so(
    own_store: Callable[..., Embedded], words: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    url = own_store().url
    async with connected(url) as parts:
        table = await opened(parts)
        await seated(parts, table, *(letter * 26 for letter in "abcd"))
        cut_off(url, stream_of(table), words)
    async with connected(url) as parts, pursuing(parts, *reactors(parts), sleep=no_sleep) as (bots, lobby, *_):
        # What came without a cut changes nothing that the lobby shows.
        aside = (bots,) if words == UNCUT else (bots, lobby)
        async with asyncio.timeout(20):
            while not all(stream_of(table) in pursuit.aside for pursuit in aside):  # noqa: ASYNC110 no event tells
                await asyncio.sleep(0.01)
    critical = [record.getMessage() for record in caplog.records if record.levelname == "CRITICAL"]
    assert [message for message in critical if "the log is damaged" in message and stream_of(table) in message]
    assert [message for message in critical if f"set {stream_of(table)} aside" in message]
