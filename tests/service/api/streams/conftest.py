"""A table at which its host lets things happen, for whoever streams it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvicorn
from litestar import Litestar

from service.app import create
from service.settings import NO_LIMITS, Settings
from tests.served import Person, running
from tests.streamed import Event

OPEN = "/v1/chinkway/tables"


class Table:
    """An open table at which its host lets things happen."""

    def __init__(self, host: Person, url: str) -> None:
        self.host = host
        self.url = url
        self.path = host.post(OPEN, {"start": "host"}).headers["Location"]
        self.events = f"{self.path}/events"
        self._seated = False

    def happen(self, count: int = 1) -> None:
        """Let the host sit down, stand up, and so on, so many times."""
        for _ in range(count):
            seats = f"{self.path}/seats"
            done = self.host.delete(f"{seats}/me") if self._seated else self.host.post(seats, {"seat": 0})
            assert done.is_success, done.text
            self._seated = not self._seated

    def end(self) -> None:
        """End play."""
        assert self.host.post(f"{self.path}/commands", {"type": "table.abandon"}).status_code == 201

    def decisions(self, person: Person | None = None) -> list[dict[str, Any]]:
        """Return what a page shows."""
        found: list[dict[str, Any]] = (person or self.host).get(self.events).json()["decisions"]
        return found


@pytest.fixture
def table(url: str, ada: Person) -> Table:
    return Table(ada, url)


def ids(events: list[Event]) -> list[int]:
    return [event.id for event in events]


class Inside(NamedTuple):
    """A server, and what it holds."""

    url: str
    app: Litestar
    server: uvicorn.Server

    def counted(self) -> tuple[int, int, int, float]:
        """Return how many connections, tasks, tables that are watched, and streams there are."""

        async def count() -> tuple[int, int, int, float]:
            held = self.server.server_state
            streams = self.app.state.streams._open  # noqa: SLF001 nothing else shows it
            watched = self.app.state.live._watched  # noqa: SLF001 nothing else shows it
            return len(held.connections), len(asyncio.all_tasks()), len(watched), streams

        loop: asyncio.AbstractEventLoop = self.app.state.log._loop  # noqa: SLF001 that of the server's thread
        return asyncio.run_coroutine_threadsafe(count(), loop).result()

    def holds_no_more_than(self, before: tuple[float, ...]) -> bool:
        """Return whether there is nothing more than `counted` returned before, when something may have been going."""
        return all(now <= then for now, then in zip(self.counted(), before, strict=True))


@pytest.fixture
def inside(valkey_url: str, tmp_path: Path) -> Iterator[Inside]:
    """Give a server whose insides can be looked at."""
    app = create(Settings(redis=valkey_url, keys=tmp_path / "keys", limits=NO_LIMITS))
    with running(app) as (url, server):
        yield Inside(url, app, server)
