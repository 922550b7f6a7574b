"""The window: whatever happens while a stream is opened or resumed arrives on it once, in its order, over real HTTP.

Two servers on one store run on the loop of the test, and so do their clients: between two turns of that loop anything
may happen, and the moment at which it does is chosen by turns, each in its time. The one server reads what the other
appends.
"""

import asyncio
import re
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
import uvicorn
from redis.asyncio import Redis

from service.api.eventstream import EVENT_STREAM, NDJSON
from service.api.server import configured
from service.app import create
from service.settings import NO_LIMITS, Settings
from tests.raw import request
from tests.sizes import sized

pytestmark = pytest.mark.anyio

INJECTED = sized(300, 1_000, 5_000)
MOMENTS = 60
"""Up to how many turns of the loop after a request something may happen: by then a stream is open."""

EVENT = re.compile(rb'(?:\nid: (\d+)\nevent: (\w+)\n)|(?:\n\{"version":(\d+),)')


class Quiet(uvicorn.Server):
    """A server on a loop that is not its own, which leaves signals to whoever has it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def serving(redis: str, keys: Path) -> AsyncIterator[str]:
    """Serve on this loop; yield the address."""
    server = Quiet(configured(create(Settings(redis=redis, keys=keys, limits=NO_LIMITS))))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    task = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:  # noqa: ASYNC110 uvicorn tells it in no other way
        await asyncio.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await task
        listening.close()


class Table:
    """An open table, at which somebody sits down and stands up, by the one server and by the other."""

    def __init__(self, clients: list[httpx.AsyncClient], path: str) -> None:
        self._clients = clients
        self.path = path
        self.version = 1

    async def happen(self) -> None:
        """Let one thing happen."""
        client = self._clients[self.version % 3 % 2]
        if self.version % 2:
            done = await client.post(f"{self.path}/seats", json={"seat": 0})
        else:
            done = await client.delete(f"{self.path}/seats/me")
        assert done.is_success, done.text
        self.version += 1
        assert done.json()["version"] == self.version


async def read(url: str, asked: bytes, count: int) -> list[int]:
    """Ask for a stream, read so many decisions or more, and hang up; return their versions."""
    at = httpx.URL(url)
    reader, writer = await asyncio.open_connection(at.host, at.port)
    writer.write(asked)
    text = b""
    found: list[tuple[int, bytes]] = []
    while len(found) < count:
        piece = await reader.read(65_536)
        assert piece, text
        text += piece
        found = [(int(event[1] or event[3]), event[2] or b"decision") for event in EVENT.finditer(text)]
    writer.close()
    assert {kind for _, kind in found} == {b"decision"}, text
    return [version for version, _ in found]


async def test_whatever_happens_while_a_stream_is_opened_or_resumed_arrives_once_and_in_order(
    valkey_url: str,
    store: Redis,  # noqa: ARG001 emptied for this test
    tmp_path: Path,
) -> None:
    async with (
        asyncio.timeout(sized(60, 180, 900)),
        serving(valkey_url, tmp_path / "keys") as one,
        serving(valkey_url, tmp_path / "keys") as other,
        httpx.AsyncClient(base_url=one) as first,
        httpx.AsyncClient(base_url=other) as second,
    ):
        welcome: dict[str, Any] = (await first.post("/v1/players", json={"name": "Ada"})).json()
        for client in (first, second):
            client.headers["Authorization"] = f"Bearer {welcome['token']}"
        table = Table(
            [first, second], (await first.post("/v1/chinkway/tables", json={"start": "host"})).headers["Location"]
        )
        bearer, events = f"Authorization: Bearer {welcome['token']}", f"{table.path}/events"
        chance = Random(17)
        reading: list[tuple[int, int, asyncio.Task[list[int]]]] = []
        for number in range(INJECTED):
            # Some come for what is new, others a little late; now and then somebody comes from the beginning.
            after = 0 if number % 25 == 0 else max(0, table.version - chance.choice([0, 0, 0, 1, 5]))
            count = table.version - after + chance.randint(1, 4)
            if number % 3:
                asked = request(events, bearer, f"Accept: {EVENT_STREAM}", f"Last-Event-ID: {after}")
            else:
                asked = request(f"{events}?follow=true&after={after}", bearer, f"Accept: {NDJSON}")
            task = asyncio.create_task(read((one, other)[number % 2], asked, count))
            reading.append((after, count, task))
            for _ in range(number % MOMENTS):
                await asyncio.sleep(0)
            await table.happen()
        for _ in range(4):
            await table.happen()
        for after, count, task in reading:
            versions = await task
            assert len(versions) >= count
            assert versions == list(range(after + 1, after + len(versions) + 1))
