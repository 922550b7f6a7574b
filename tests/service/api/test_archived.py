"""An archived table answers every route as it did before, byte for byte."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

import httpx
import pytest
from redis import Redis

from service.parts import Sources
from service.streams import keys_of, table_stream
from tests.archives import LONG_AGO, archiving
from tests.served import Person, served
from tests.stores import asking

TABLES = "/v1/kowah/tables"
OPENED = {"seats": 2, "bots": []}
SOURCES = Sources(clock=lambda: LONG_AGO)


@dataclass
class Ended:
    """A table that ended long ago: those who sat there, with somebody who looks on, and the requests that made it."""

    table: str
    people: list[Person]
    version: int

    @property
    def path(self) -> str:
        """Its path."""
        return f"{TABLES}/{self.table}"

    def routes(self) -> list[str]:
        """Return whatever can be read of it."""
        eyes = ("", "?as=0", "?as=all", "?as=spectator")
        at = [f"?at={version}" for version in (1, 3, self.version, self.version + 1)]
        after = [f"/events?after={version}" for version in (0, 2, self.version)]
        rest = ("/actions", "/record", "/checkpoint", "/views", "/views?at=4", "/story", "/events?follow=true&as=all")
        return [f"{self.path}{end}" for end in (*eyes, *at, *after, *rest, *(f"/events{eye}" for eye in eyes))]

    def answers(self) -> list[tuple[int, bytes, str | None]]:
        """Return what everybody is answered to all of it."""
        got = [person.get(route) for person in self.people for route in self.routes()]
        return [(answer.status_code, answer.content, answer.headers.get("ETag")) for answer in got]

    def repeated(self) -> list[httpx.Response]:
        """Send the keyed requests that made it again."""
        host, guest, _ = self.people
        return [
            host.post(TABLES, OPENED, Idempotency_Key="open"),
            guest.post(f"{self.path}/seats", {"seat": 1}, Idempotency_Key="sit"),
        ]


@pytest.fixture
def ended(valkey_url: str, store_emptied: Redis, tmp_path: Path) -> Iterator[Ended]:
    assert store_emptied.ping()
    archive = (tmp_path / "archive").as_uri()
    with served(valkey_url, tmp_path / "keys", sources=SOURCES, archive=archive) as url:
        people = [Person(url, name) for name in ("Ada", "Bob", "Cy")]
        table = people[0].post(TABLES, OPENED, Idempotency_Key="open").json()["table"]
        made = Ended(table, people, 0)
        people[0].post(f"{made.path}/seats", {"seat": 0})
        people[1].post(f"{made.path}/seats", {"seat": 1}, Idempotency_Key="sit")
        rng = Random(3)
        for _ in range(6):
            seat = people[0].get(made.path).json()["to_act"][0]
            move = rng.choice(people[seat].get(f"{made.path}/actions").json()["legal"])
            assert people[seat].post(f"{made.path}/commands", move).status_code == 201
        assert people[1].post(f"{made.path}/commands", {"type": "table.resign"}).status_code == 201
        view = people[0].get(made.path).json()
        assert view["status"] == "ended"
        made.version = view["version"]
        yield made
        for person in people:
            person.http.close()


@pytest.fixture
def store_emptied(valkey_url: str) -> Iterator[Redis]:
    with asking(valkey_url) as client:
        client.flushall()
        yield client
        client.flushall()  # Nobody else's reactors know where the archive is.


def archive(url: str, folder: Path, table: str) -> None:
    assert fate(url, folder, table) == "archived"


def fate(url: str, folder: Path, table: str) -> str:
    async def consider() -> str:
        async with archiving(url, folder) as (made, _):
            return (await made.consider(table_stream(table))).fate

    return asyncio.run(consider())


def restore(url: str, folder: Path, table: str) -> None:
    async def put_back() -> None:
        async with archiving(url, folder) as (_, log):
            await log.restore(table_stream(table))

    asyncio.run(put_back())


@pytest.mark.parametrize("anew", [False, True], ids=["remembered", "forgotten"])
def test_whatever_is_read_and_whatever_is_repeated_is_as_before(
    valkey_url: str, store_emptied: Redis, tmp_path: Path, ended: Ended, anew: bool
) -> None:
    before, repeated = ended.answers(), [answer.content for answer in ended.repeated()]
    assert {status for status, _, _ in before} >= {200, 404}
    archive(valkey_url, tmp_path / "archive", ended.table)
    assert store_emptied.exists(keys_of(table_stream(ended.table)).stream) == 0
    if anew:
        with served(valkey_url, tmp_path / "keys", sources=SOURCES, archive=(tmp_path / "archive").as_uri()) as url:
            for person in ended.people:
                person.http.base_url = httpx.URL(url)
            assert ended.answers() == before
            assert [answer.content for answer in ended.repeated()] == repeated
        return
    assert ended.answers() == before
    assert [answer.content for answer in ended.repeated()] == repeated
    restore(valkey_url, tmp_path / "archive", ended.table)
    assert ended.answers() == before
    assert [answer.content for answer in ended.repeated()] == repeated


def test_a_command_is_refused_as_at_any_table_that_ended(valkey_url: str, tmp_path: Path, ended: Ended) -> None:
    before = ended.people[0].post(f"{ended.path}/commands", {"type": "table.resign"})
    archive(valkey_url, tmp_path / "archive", ended.table)
    after = ended.people[0].post(f"{ended.path}/commands", {"type": "table.resign"})
    assert (after.status_code, after.json()) == (409, before.json())


def test_a_dispute_waits_until_the_table_is_restored(valkey_url: str, tmp_path: Path, ended: Ended) -> None:
    archive(valkey_url, tmp_path / "archive", ended.table)
    ada, dispute = ended.people[0], {"first": 1, "last": 2, "reason": "other", "text": "He peeked."}
    for _ in range(2):
        answer = ada.post(f"{ended.path}/disputes", dispute, Idempotency_Key="dispute")
        assert (answer.status_code, answer.json()["code"]) == (409, "archived")
    restore(valkey_url, tmp_path / "archive", ended.table)
    filed = ada.post(f"{ended.path}/disputes", dispute, Idempotency_Key="dispute")
    assert filed.status_code == 201, filed.text
    assert fate(valkey_url, tmp_path / "archive", ended.table) == "disputed"
    assert ada.post(f"{ended.path}/disputes", dispute, Idempotency_Key="dispute").content == filed.content


def test_an_archive_that_is_away_or_damaged_is_told_and_nothing_is_said_not_to_be_there(
    valkey_url: str, tmp_path: Path, ended: Ended
) -> None:
    archive(valkey_url, tmp_path / "archive", ended.table)
    for place in ((tmp_path / "archive").as_uri(), None):
        with served(valkey_url, tmp_path / "keys", sources=SOURCES, archive=place) as url:
            (tmp_path / "archive").rename(tmp_path / "elsewhere")
            for person in ended.people:
                person.http.base_url = httpx.URL(url)
                for route in (ended.path, f"{ended.path}/events", f"{ended.path}/record", f"{ended.path}/story"):
                    answer = person.get(route)
                    assert (answer.status_code, answer.json()["code"]) == (503, "archive_away"), route
                    assert answer.headers["Retry-After"] == "60"
                    assert str(tmp_path) not in answer.text
            (tmp_path / "elsewhere").rename(tmp_path / "archive")
            (file,) = (tmp_path / "archive").rglob("*.gz")
            if place is not None:
                good = file.read_bytes()
                file.write_bytes(good[:-9])
                answer = ended.people[0].get(ended.path)
                assert (answer.status_code, answer.json()["code"]) == (503, "log_damaged")
                file.write_bytes(good)
                assert ended.people[0].get(ended.path).status_code == 200
