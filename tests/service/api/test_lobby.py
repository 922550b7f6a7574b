"""The lobby as a client meets it: filters in queries, and what changes as events and as lines."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis

from projections.lobby import Summary
from service.api.answers import encoded
from service.api.eventstream import EVENT_STREAM, NDJSON
from service.lobby import Lobby
from tests.laws.setups import TOY
from tests.lobbies import House, Wish, put, wished
from tests.served import Person, served

pytestmark = pytest.mark.anyio


@pytest.fixture
def lobby(store: Redis) -> Lobby:
    return Lobby(store)


@pytest.fixture
def ada(lobby: Lobby, valkey_url: str, tmp_path: Path) -> Iterator[Person]:  # noqa: ARG001 the store is empty
    with served(valkey_url, tmp_path, TOY) as url, closing((person := Person(url)).http):
        yield person


def plain(summary: Summary) -> Any:  # noqa: ANN401 any JSON
    return json.loads(encoded(summary))


def paged(ada: Person, wish: Wish, limit: int) -> list[Any]:
    """Return all pages of what is asked for."""
    found: list[Any] = []
    parameters = (*wish.parameters, ("limit", str(limit)))
    page = ada.http.get("/v1/tables", params=parameters).json()
    while True:
        found += page["tables"]
        if page["next"] is None:
            return found
        page = ada.http.get("/v1/tables", params=(*parameters, ("after", page["next"]))).json()


@contextmanager
def followed(ada: Person, wish: Wish, media: str, **more: str) -> Iterator[Iterator[dict[str, Any]]]:
    """Follow what changes; give each change as it comes."""
    headers = {"Accept": media} | {name.replace("_", "-"): value for name, value in more.items() if name[0].isupper()}
    given = [(name, value) for name, value in more.items() if not name[0].isupper()]
    follow = [("follow", "true")] if media == NDJSON else []
    parameters = (*wish.parameters, *follow, *given)
    with ada.http.stream("GET", "/v1/tables", params=parameters, headers=headers) as answer:
        assert (answer.status_code, answer.headers["Content-Type"]) == (200, media)
        assert answer.headers["Cache-Control"] == "private, no-store"
        yield map(json.loads, _lines(answer)) if media == NDJSON else _events(answer)


def _lines(answer: httpx.Response) -> Iterator[str]:
    return filter(None, answer.iter_lines())


def _events(answer: httpx.Response) -> Iterator[dict[str, Any]]:
    """Yield the data of each event, which must be called by its type, and named by its cursor."""
    event: dict[str, str] = {}
    for line in answer.iter_lines():
        if line and not line.startswith(":"):
            name, _, value = line.partition(": ")
            event[name] = value
        elif not line and "data" in event:
            data = json.loads(event["data"])
            assert (event["event"], event["id"]) == (data["type"], data["cursor"])
            event = {}
            yield data


async def test_every_filter_lists_what_it_names_and_all_of_it(ada: Person, lobby: Lobby) -> None:
    house = House(Random(1))
    await put(lobby, *(house.move() for _ in range(150)))
    lengths = set()
    for _ in range(40):
        wish = wished(house)
        expected = [plain(summary) for summary in house.live if wish.is_met(summary)]
        assert paged(ada, wish, house.chance.choice([7, 100])) == expected
        answer = ada.http.get("/v1/tables", params=wish.parameters, headers={"Accept": NDJSON})
        lines = [json.loads(line) for line in answer.text.splitlines()]
        assert [line["summary"] for line in lines] == expected
        assert {line["cursor"] for line in lines} <= {await lobby.newest_change()}
        lengths.add(len(expected))
    assert len(lengths) > 8


@pytest.mark.parametrize("media", [EVENT_STREAM, NDJSON])
async def test_who_lists_and_then_follows_misses_nothing(ada: Person, lobby: Lobby, media: str) -> None:
    house = House(Random(2))
    wish = Wish(status="open", open_seats=1)
    await put(lobby, *(house.move() for _ in range(20)))
    page = ada.http.get("/v1/tables", params=wish.parameters).json()
    tables = {summary["table"]: summary for summary in page["tables"]}
    cursor = page["cursor"]
    for _ in range(4):
        # What comes before a stream is opened, or again opened, is there all the same.
        await put(lobby, *(house.move() for _ in range(10)))
        with followed(ada, wish, media, since=page["cursor"], Last_Event_ID=cursor) as changes:
            # A table that is put in and taken out ends each round.
            last = house.opened()
            await put(lobby, last)
            await put(lobby, house.ended(last))
            for change in changes:
                cursor = change["cursor"]
                if change["type"] == "table":
                    tables[change["summary"]["table"]] = change["summary"]
                else:
                    assert change["type"] == "gone"
                    tables.pop(change["table"], None)
                    if change["table"] == last.table:
                        break
        expected = {summary.table: plain(summary) for summary in house.live if wish.is_met(summary)}
        assert tables == expected


@pytest.mark.parametrize("media", [EVENT_STREAM, NDJSON])
async def test_a_place_that_is_not_kept_is_told_by_a_reset(ada: Person, lobby: Lobby, media: str) -> None:
    house = House(Random(3))
    await put(lobby, house.move())
    with followed(ada, Wish(), media, since="1-1") as changes:
        newest = await lobby.newest_change()
        assert next(changes) == {"type": "reset", "cursor": newest}
        summary = house.move()
        await put(lobby, summary)
        assert next(changes)["cursor"] == await lobby.newest_change()
    with followed(ada, Wish(), media) as changes:
        await lobby.clear()
        assert next(changes)["type"] == "reset"


async def test_a_browser_follows_by_a_ticket(ada: Person, lobby: Lobby) -> None:
    ticket = ada.post("/v1/tickets", {"path": "/v1/tables"}).json()["ticket"]
    with closing(Person(str(ada.http.base_url), None).http) as http:
        nobody = Person(str(ada.http.base_url), None)
        nobody.http.close()
        nobody.http = http
        with followed(nobody, Wish(), EVENT_STREAM, ticket=ticket) as changes:
            summary = House(Random(4)).move()
            await put(lobby, summary)
            assert next(changes)["summary"] == plain(summary)


async def test_who_wants_nothing_of_what_changes_is_told_where_it_is(ada: Person, lobby: Lobby) -> None:
    house = House(Random(5))
    wish = Wish(host="0" * 26)
    with followed(ada, wish, EVENT_STREAM) as changes:
        await put(lobby, *(house.opened() for _ in range(100)))
        assert next(changes) == {"type": "at", "cursor": await lobby.newest_change()}
