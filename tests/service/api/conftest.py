"""A server for the tests of the API, one a process; people and tables on it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from redis.asyncio import Redis

from service.auth.scopes import Scope
from service.auth.tokens import Grant, Tokens
from tests.served import Person, served

NOWHERE = {
    "dispute": "1",
    "table": "0" * 26,
    "player": "0" * 26,
    "token": "0" * 26,
    "game": "chinkway",
    "page": "shuffle",
}
"""What the parts of a path may be, by their names in routes' templates: right in shape, and mostly of nothing."""


@pytest.fixture(scope="session")
def url(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server on the shared store."""
    with served(valkey_url, tmp_path_factory.mktemp("keys")) as address:
        yield address


@pytest.fixture
def ada(url: str) -> Iterator[Person]:
    """Give somebody with an account."""
    person = Person(url)
    yield person
    person.http.close()


@pytest.fixture
def nobody(url: str) -> Iterator[Person]:
    """Give somebody without an account."""
    person = Person(url, None)
    yield person
    person.http.close()


@pytest.fixture
def arbiter(url: str, valkey_url: str) -> Iterator[Person]:
    """Give somebody whom the operator has made an arbiter, and who does not play."""
    person = Person(url, "Ruth")
    appoint(valkey_url, person, "arbiter")
    yield person
    person.http.close()


def appoint(valkey_url: str, person: Person, *scopes: Scope) -> None:
    """Have somebody use a token of scopes that the operator alone gives."""

    async def issue() -> str:
        redis = Redis.from_url(valkey_url)
        issued = await Tokens(redis).issue(person.id, Grant(scopes))
        await redis.aclose()
        return issued.secret

    person.token = asyncio.run(issue())
    person.http.headers["Authorization"] = f"Bearer {person.token}"


@dataclass
class Company:
    """A table of Chinkway at which five people sit, in the order of their seats; the first of them is the host."""

    path: str
    people: list[Person]

    @property
    def mover(self) -> Person:
        """Whoever must act now."""
        seats: list[int] = self.people[0].get(self.path).json()["to_act"]
        return self.people[seats[0]]

    def legal(self, person: Person) -> list[dict[str, Any]]:
        """Return what somebody may do now."""
        legal: list[dict[str, Any]] = person.get(f"{self.path}/actions").json()["legal"]
        return legal

    def move(self, rng: Random) -> dict[str, Any]:
        """Let whoever must act do anything legal; return the answer."""
        person = self.mover
        answer = person.post(f"{self.path}/commands", rng.choice(self.legal(person)))
        assert answer.status_code == 201, answer.text
        done: dict[str, Any] = answer.json()
        return done


@contextmanager
def seated(url: str, wanted: object = None) -> Iterator[Company]:
    """Give a table whose match has just begun, opened with this body, for a block."""
    people = [Person(url, f"Player {number}") for number in range(5)]
    opened = people[0].post("/v1/chinkway/tables", wanted)
    path = f"/v1/chinkway/tables/{opened.json()['table']}"
    for seat, person in enumerate(people):
        assert person.post(f"{path}/seats", {"seat": seat}).status_code == 201
    yield Company(path, people)
    for person in people:
        person.http.close()


@pytest.fixture
def company(url: str) -> Iterator[Company]:
    """Give a table whose match has just begun."""
    with seated(url) as company:
        yield company


@pytest.fixture(scope="module")
def unmoved(url: str) -> Iterator[Company]:
    """Give a table whose match has just begun, at which nothing is done."""
    with seated(url) as company:
        yield company
