"""Clients of the service: a table with people on all its seats, and many requests sent at the same moment."""

import asyncio
import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import httpx

from service.embedded import Embedded
from tests.served import Person

Json = dict[str, Any]

SECONDS = 60
"""How long any one answer is waited for: longer than the service may take to say that it can't tell."""


class Post(NamedTuple):
    """A request to be sent, by whom and where to; `key` makes it a repeatable one, `only_at` insists on a version.

    `url` is another server than the person's own.
    """

    person: Person
    path: str
    body: Json
    key: str | None = None
    only_at: int | None = None
    url: str | None = None

    def at(self, url: str) -> "Post":
        """Return the same request to another server."""
        return self._replace(url=url)

    def send(self) -> httpx.Response:
        """Send it and return the answer."""
        url = self.url or str(self.person.http.base_url)
        return self.person.http.post(url.rstrip("/") + self.path, json=self.body, headers=self.headers())

    def headers(self) -> dict[str, str]:
        """Return the headers that are its own."""
        key = {} if self.key is None else {"Idempotency-Key": self.key}
        return key if self.only_at is None else {**key, "If-Match": f'"{self.only_at}"'}


def at_once(posts: Iterable[Post]) -> list[httpx.Response]:
    """Send all requests at the same moment, each over a connection of its own; return the answers in their order."""

    async def send() -> list[httpx.Response]:
        limits = httpx.Limits(max_connections=None)
        async with httpx.AsyncClient(timeout=SECONDS, limits=limits, verify=False) as client:  # noqa: S501 plain HTTP
            return await asyncio.gather(*(_sent(client, post) for post in posts))

    return asyncio.run(send())


async def _sent(client: httpx.AsyncClient, post: Post) -> httpx.Response:
    url = post.url or str(post.person.http.base_url)
    headers = {"Authorization": f"Bearer {post.person.token}", **post.headers()}
    return await client.post(url.rstrip("/") + post.path, json=post.body, headers=headers)


@dataclass
class Sitting:
    """A table with somebody on every seat, in the order of the seats; the first of them is the host."""

    path: str
    people: list[Person]

    @property
    def table(self) -> str:
        """The table's id."""
        return self.path.rpartition("/")[2]

    def view(self) -> Json:
        """Return the table as the host sees it."""
        view: Json = self.people[0].get(self.path).json()
        return view

    def moves(self) -> list[Post]:
        """Return a legal command of everybody who must act now."""
        movers = [self.people[seat] for seat in self.view()["to_act"]]
        return [Post(who, f"{self.path}/commands", self.legal(who)[0]) for who in movers]

    def move(self, key: str | None = None) -> Post:
        """Return a legal command of whoever must act first."""
        return self.moves()[0]._replace(key=key)

    def legal(self, person: Person) -> list[Json]:
        """Return what somebody may do now."""
        legal: list[Json] = person.get(f"{self.path}/actions").json()["legal"]
        return legal


@contextmanager
def sitting(url: str, game: str, seats: int) -> Iterator[Sitting]:
    """Seat people at a new table of a game; close their connections afterwards."""
    with people(url, seats) as all_of_them:
        yield seated(game, all_of_them)


def seated(game: str, all_of_them: list[Person]) -> Sitting:
    """Seat these people at a new table of a game."""
    host = all_of_them[0]
    opened = host.post(f"/v1/{game}/tables", {"seats": len(all_of_them), "bots": []})
    assert opened.status_code == 201, opened.text
    path = f"/v1/{game}/tables/{opened.json()['table']}"
    for seat, person in enumerate(all_of_them):
        assert person.post(f"{path}/seats", {"seat": seat}).status_code == 201
    return Sitting(path, all_of_them)


@contextmanager
def people(url: str, number: int) -> Iterator[list[Person]]:
    """Give so many people with accounts; close their connections afterwards."""
    with ExitStack() as clients:
        found = [Person(url, f"Player {count}") for count in range(number)]
        for person in found:
            clients.callback(person.http.close)
        yield found


def kill(store: Embedded) -> None:
    """Kill a store as it stands, and start it again."""
    assert store.pid
    os.kill(store.pid, signal.SIGKILL)
    store.restart()
