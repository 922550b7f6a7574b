"""Nobody ever gets what was meant for another, however many clients and callers go away at any moment.

Each asks for a value of its own. The same storms find the fault that they are there to find: a queue of replies that
has shifted by one.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from random import Random
from typing import Any

import httptools
import msgspec
import pytest
from redis.asyncio import Redis

from service import log
from service.appending import Appended
from service.errors import StoreDown, Unconfirmed
from service.ids import new_id
from service.parts import Service, service
from service.pipe import Awaiting, Command, Pipe
from service.settings import Settings
from service.streams import Stored, table_stream
from tests.served import Person, served
from tests.sizes import FULL

pytestmark = pytest.mark.anyio

Json = dict[str, Any]
Ask = Callable[[int], Awaitable[bool]]

REQUESTS = 10_000 if FULL else 1_000
CALLS = 10_000 if FULL else 4_000
AT_ONCE = 50

GONE_S = 0.02
"""By when a client that goes away has gone."""

TABLES = "/v1/chinkway/tables"
HEAD = bytes(32)


class ShiftedPipe(Pipe):
    """A pipe with the fault: now and then the replies to what one turn calls for go to the next in the queue."""

    calls = 0

    def send(self, command: Command, awaiting: Awaiting) -> None:
        """Put whoever calls at the head of the queue, and the call at its end."""
        super().send(command, awaiting)
        self.calls += 1
        if self.calls % 3 == 0:
            self._unsent.insert(0, self._unsent.pop())


class Answer:
    """The answer to one request, read off a connection."""

    def __init__(self, reader: asyncio.StreamReader) -> None:
        self._reader = reader
        self._parser = httptools.HttpResponseParser(self)
        self._body = b""
        self._whole = False

    async def json(self) -> Json:
        """Return the body; raise ConnectionError if the server hangs up first."""
        while not self._whole:
            data = await self._reader.read(65_536)
            if not data:
                raise ConnectionError("the server hung up")
            self._parser.feed_data(data)
        body: Json = msgspec.json.decode(self._body)
        return body

    def on_body(self, body: bytes) -> None:
        """Keep a piece of the body."""
        self._body += body

    def on_message_complete(self) -> None:
        """Know that it has come whole."""
        self._whole = True


class Client:
    """Sends requests by hand, a connection each, and goes away in the middle of a third of them if it is `fickle`."""

    def __init__(self, person: Person, token: str, *, fickle: bool = False) -> None:
        self._url = person.http.base_url
        self._token = token
        self._rng = Random(8)
        self.fickle = fickle

    async def ask(self, line: str, body: Json | None = None, key: str = "") -> Json | None:
        """Return what a request is answered, None if its client went away before, or the store took too long."""
        reader, writer = await asyncio.open_connection(self._url.host, self._url.port)
        gone_s = self._rng.random() * GONE_S if self.fickle and self._rng.random() < 1 / 3 else 60
        try:
            writer.write(self._request(line, body, key))
            async with asyncio.timeout(gone_s):
                answer = await Answer(reader).json()
                return None if answer.get("status") == 503 else answer
        except TimeoutError:
            writer.transport.abort()
            return None
        finally:
            writer.close()

    async def must(self, line: str, body: Json) -> Json:
        """Return the answer to a request that nobody gives up."""
        answer = await self.ask(line, body)
        assert answer is not None
        return answer

    def _request(self, line: str, body: Json | None, key: str) -> bytes:
        content = b"" if body is None else msgspec.json.encode(body)
        fields = [f"Host: {self._url.host}", f"Authorization: Bearer {self._token}", "Content-Type: application/json"]
        fields += [f"Content-Length: {len(content)}", *([f"Idempotency-Key: {key}"] if key else [])]
        return "\r\n".join([f"{line} HTTP/1.1", *fields, "", ""]).encode() + content


async def storm(ask: Ask, requests: int) -> int:
    """Ask for every value, many at once, and count those that get something else than was theirs."""
    values = iter(range(requests))
    foreign = 0

    async def work(values: Iterator[int]) -> None:
        nonlocal foreign
        for value in values:
            if not await ask(value):  # Not `+= not await`, which reads the count before it waits.
                foreign += 1

    await asyncio.gather(*(work(values) for _ in range(AT_ONCE)))
    return foreign


async def of_clients(person: Person) -> Ask:
    """Return a way to ask a server for names and tables, and for new ones, by clients of whom a third go away."""
    client = Client(person, person.token)
    welcomes = [await client.must("POST /v1/players", {"name": f"Player {n}"}) for n in range(30)]
    players = [welcome["player"] for welcome in welcomes]
    hosts = [Client(person, welcome["token"], fickle=True) for welcome in welcomes]
    tables: list[str] = [(await client.must(f"POST {TABLES}", {}))["table"] for _ in range(30)]
    opened: dict[str, str] = {}
    client.fickle = True

    async def ask(value: int) -> bool:
        number = value // 4 % 30
        match value % 4:
            case 0:
                answer = await client.ask(f"GET /v1/players/{players[number]['id']}")
                return answer is None or answer == players[number]
            case 1:
                answer = await client.ask(f"GET {TABLES}/{tables[number]}")
                return answer is None or answer.get("table") == tables[number]
            case 2:
                answer = await client.ask("POST /v1/players", {"name": f"Player {value}"})
                return answer is None or answer.get("player", {}).get("name") == f"Player {value}"
            case _:
                # One key of each host again and again: it has one table, and no two hosts the same.
                answer = await hosts[number].ask(f"POST {TABLES}", {}, "once")
                if answer is None:
                    return True
                others = {table for key, table in opened.items() if key != str(number)}
                table = answer.get("table")
                return table not in {None, *others} and opened.setdefault(str(number), str(table)) == table

    return ask


async def of_callers(parts: Service) -> Ask:
    """Return a way to ask log and accounts from tasks of which a third are cancelled."""
    rng = Random(9)
    accounts = [await parts.accounts.create(f"Player {n}") for n in range(30)]
    streams = [table_stream(new_id()) for _ in range(30)]
    for stream in streams:
        await parts.log.append(stream, 0, stream.encode(), HEAD)

    async def call(value: int) -> bool:
        number = value // 3 % 30
        match value % 3:
            case 0:
                return await parts.accounts.find(accounts[number].id) == accounts[number]
            case 1:
                return await parts.log.read(streams[number]) == [Stored(1, streams[number].encode(), HEAD)]
            case _:
                mine, e = table_stream(new_id()), b"value %d" % value
                answer = await parts.log.append(mine, 0, e, HEAD)
                return answer == Appended(1) and await parts.log.read(mine) == [Stored(1, e, HEAD)]

    async def ask(value: int) -> bool:
        task = asyncio.ensure_future(call(value))
        if rng.random() < 1 / 3:
            for _ in range(rng.randrange(6)):
                await asyncio.sleep(0)
            task.cancel()
        (outcome,) = await asyncio.gather(task, return_exceptions=True)
        return outcome is True or isinstance(outcome, asyncio.CancelledError | StoreDown | Unconfirmed)

    return ask


@asynccontextmanager
async def somebody(store: str, keys: Path) -> AsyncIterator[Person]:
    """Serve from a thread, which this loop does not wait for, and give somebody with an account there."""
    server = served(store, keys)
    url = await asyncio.to_thread(server.__enter__)
    try:
        person = await asyncio.to_thread(Person, url)
        with closing(person.http):
            yield person
    finally:
        await asyncio.to_thread(server.__exit__, None, None, None)


async def test_no_client_gets_the_answer_of_another_in_a_storm_of_those_who_hang_up(
    valkey_url: str, tmp_path: Path
) -> None:
    async with somebody(valkey_url, tmp_path) as person:
        assert await storm(await of_clients(person), REQUESTS) == 0


async def test_no_caller_gets_the_reply_of_another_in_a_storm_of_cancellations(
    valkey_url: str, store: Redis, tmp_path: Path
) -> None:
    async with service(Settings(valkey_url, tmp_path)) as parts:
        assert await storm(await of_callers(parts), CALLS) == 0
    assert await store.ping()


async def test_both_storms_find_replies_that_shift(
    valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "Pipe", ShiftedPipe)
    async with service(Settings(valkey_url, tmp_path)) as parts:
        assert await storm(await of_callers(parts), 600) > 0
    async with somebody(valkey_url, tmp_path) as person:
        assert await storm(await of_clients(person), 600) > 0
