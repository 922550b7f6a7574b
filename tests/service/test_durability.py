"""A decision is acknowledged once it is as safe as was demanded, and not before."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from redis.asyncio import Redis

from service.durability import MARK_KEY, Confirming, Demanded, require, worries
from service.errors import Unconfirmed
from service.ids import new_id
from service.log import Log
from service.store import StoreUnfit, connect, dial
from service.streams import Stored, table_stream
from tests.logs import stopped
from tests.served import Person, served
from tests.stores import BINARIES, DURABLE, REDIS, asking, free_port, serving

HEAD = bytes(32)
WAIT_MS = 1_500


class Pair(NamedTuple):
    """A primary and its replica: where they answer, and which process the replica is."""

    primary: str
    replica: str
    pid: int


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Give a primary that its replica has caught up with."""
    port = str(free_port())
    folders = [tmp_path_factory.mktemp(name) for name in ("primary", "replica")]
    binary = BINARIES["valkey"]
    with (
        serving(binary, folders[0], *DURABLE, "--port", port, "--repl-diskless-sync-delay", "0") as primary,
        serving(binary, folders[1], *DURABLE, "--replicaof", "127.0.0.1", port) as replica,
        asking(primary) as asked,
    ):
        # A replica that has just come says so with its first heartbeat, a second later.
        assert asked.set("first", "write")
        assert asked.wait(1, 20_000) == 1
        yield Pair(primary, replica, pid_of(replica))


def pid_of(url: str) -> int:
    with asking(url) as asked:
        return int(asked.info("server")["process_id"])


@asynccontextmanager
async def demanding(url: str, demanded: Demanded) -> AsyncIterator[tuple[Log, Confirming]]:
    """Give a log, and what confirms its entries without much patience."""
    client = dial(url)
    log, confirming = Log(client), Confirming(client, demanded, wait_ms=WAIT_MS)
    try:
        async with asyncio.timeout(60):
            yield log, confirming
    finally:
        await confirming.close()
        await log.close()
        await client.aclose()


async def grown(log: Log, stream: str, versions: int) -> list[Stored]:
    """Append so many entries to a new stream."""
    entries = [Stored(version, b"e%d" % version, HEAD) for version in range(1, versions + 1)]
    await asyncio.gather(*(log.append(stream, entry.version - 1, entry.e, entry.h) for entry in entries))
    return entries


@pytest.mark.anyio
async def test_what_is_synced_is_confirmed(valkey_url: str) -> None:
    stream = table_stream(new_id())
    async with demanding(valkey_url, "fsync") as (log, confirming):
        [entry] = await grown(log, stream, 1)
        await confirming.confirm(stream, entry)


@pytest.mark.anyio
async def test_what_a_replica_has_is_confirmed(pair: Pair) -> None:
    stream = table_stream(new_id())
    async with demanding(pair.primary, "replicated") as (log, confirming):
        [entry] = await grown(log, stream, 1)
        await confirming.confirm(stream, entry)


@pytest.mark.anyio
async def test_what_no_replica_has_is_unconfirmed_until_one_has_it(pair: Pair) -> None:
    stream = table_stream(new_id())
    async with demanding(pair.primary, "replicated") as (log, confirming):
        with stopped(pair.pid):
            _, entry = await grown(log, stream, 2)
            with pytest.raises(Unconfirmed) as unconfirmed:
                await confirming.confirm(stream, entry)
        assert (unconfirmed.value.stream, unconfirmed.value.version) == (stream, 2)
        await confirming.confirm(stream, entry)


@pytest.mark.anyio
@pytest.mark.parametrize("lost", [Stored(1, b"e1", b"\1" * 32), Stored(2, b"e2", HEAD)], ids=["other", "none"])
async def test_what_the_server_that_answers_does_not_hold_is_unconfirmed(valkey_url: str, lost: Stored) -> None:
    # As after a failover between the append and its confirmation: the new primary confirms whatever it is asked.
    stream = table_stream(new_id())
    async with demanding(valkey_url, "fsync") as (log, confirming):
        await grown(log, stream, 1)
        with pytest.raises(Unconfirmed):
            await confirming.confirm(stream, lost)


@pytest.mark.anyio
async def test_one_of_many_that_is_lost_spoils_no_other(valkey_url: str) -> None:
    stream = table_stream(new_id())
    async with demanding(valkey_url, "fsync") as (log, confirming):
        [entry] = await grown(log, stream, 1)
        lost = Stored(1, b"e1", b"\1" * 32)
        results = await asyncio.gather(
            *(confirming.confirm(stream, one) for one in (entry, lost, entry)), return_exceptions=True
        )
    assert [type(result) for result in results] == [type(None), Unconfirmed, type(None)]


@pytest.mark.anyio
async def test_many_decisions_share_one_wait(store: Redis, valkey_url: str) -> None:
    stream = table_stream(new_id())
    async with demanding(valkey_url, "fsync") as (log, confirming):
        entries = await grown(log, stream, 200)
        await asyncio.gather(*(confirming.confirm(stream, entry) for entry in entries))
    assert await store.get(MARK_KEY) == b"1"


@pytest.mark.anyio
async def test_who_asks_during_a_round_is_confirmed_by_the_next(store: Redis, valkey_url: str) -> None:
    stream = table_stream(new_id())
    async with demanding(valkey_url, "fsync") as (log, confirming):
        first, second = await grown(log, stream, 2)
        begun = asyncio.ensure_future(confirming.confirm(stream, first))
        for _ in range(3):
            await asyncio.sleep(0)
        await confirming.confirm(stream, second)
        await begun
    assert await store.get(MARK_KEY) == b"2"


@pytest.mark.anyio
async def test_a_caller_who_leaves_holds_up_nobody(valkey_url: str) -> None:
    stream = table_stream(new_id())
    async with demanding(valkey_url, "fsync") as (log, confirming):
        [entry] = await grown(log, stream, 1)
        leaver = asyncio.ensure_future(confirming.confirm(stream, entry))
        stayer = asyncio.ensure_future(confirming.confirm(stream, entry))
        await asyncio.sleep(0)
        leaver.cancel()
        await stayer
        assert leaver.cancelled()


@pytest.mark.anyio
async def test_without_a_demand_nothing_is_written_beside_the_log(store: Redis, valkey_url: str) -> None:
    stream = table_stream(new_id())
    async with demanding(valkey_url, "fsync") as (log, _):
        [entry] = await grown(log, stream, 1)
        await log.confirm(stream, entry)
    assert not await store.exists(MARK_KEY)


@contextmanager
def playing(url: str) -> Iterator[Person]:
    person = Person(url)
    yield person
    person.http.close()


def test_over_http_a_command_is_unconfirmed_while_the_replica_is_away_and_its_retry_is_not(
    pair: Pair, tmp_path: Path
) -> None:
    with served(pair.primary, tmp_path / "keys", durability="replicated") as url, playing(url) as ada:
        with stopped(pair.pid):
            answer = ada.post("/v1/chinkway/tables", Idempotency_Key="once")
            again = ada.post("/v1/chinkway/tables", Idempotency_Key="once")
        for unconfirmed in (answer, again):
            problem = unconfirmed.json()
            assert (unconfirmed.status_code, problem["code"], problem["version"]) == (503, "unconfirmed", 1)
        retried, repeated = (ada.post("/v1/chinkway/tables", Idempotency_Key="once") for _ in range(2))
        assert (retried.status_code, repeated.status_code) == (201, 201)
        assert retried.json() == repeated.json()
        assert retried.json()["version"] == 1


def test_over_http_commands_are_confirmed_by_the_disk(valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path / "keys", durability="fsync") as url, playing(url) as ada:
        opened = ada.post("/v1/chinkway/tables")
        assert opened.status_code == 201
        assert ada.post(f"{opened.headers['Location']}/seats").status_code == 201
    with asking(valkey_url) as asked:
        assert int(asked.get(MARK_KEY) or 0) >= 2


async def refused(url: str) -> str:
    """Return the sentence with which a store is refused for `fsync`."""
    client = await connect(url)
    try:
        with pytest.raises(StoreUnfit) as unfit:
            await require(client, url, "fsync")
        await require(client, url, "store")
        await require(client, url, "replicated")
    finally:
        await client.aclose()
    return str(unfit.value).removeprefix(f"The store at {url} ")


@pytest.mark.anyio
@pytest.mark.parametrize("policy", ["everysec", "no"])
async def test_a_store_that_syncs_later_is_refused_where_each_command_must_be_synced(
    tmp_path: Path, policy: str
) -> None:
    with serving(BINARIES["valkey"], tmp_path, "--appendonly", "yes", "--appendfsync", policy) as url:
        assert await refused(url) == "needs appendonly yes and appendfsync always for --durability fsync."


@pytest.mark.anyio
async def test_a_store_without_a_file_is_refused_where_each_command_must_be_synced(tmp_path: Path) -> None:
    with serving(BINARIES["valkey"], tmp_path, "--appendfsync", "always") as url:
        assert await refused(url) == "needs appendonly yes and appendfsync always for --durability fsync."


@pytest.mark.anyio
async def test_a_store_that_can_not_tell_of_its_disk_is_refused(tmp_path: Path) -> None:
    if REDIS is None:
        return  # The Valkey that we ship can tell.
    with serving(REDIS, tmp_path, *DURABLE) as url:
        sentence = await refused(url)
    assert sentence.startswith("is version 7.0.")
    assert sentence.endswith("; --durability fsync needs Redis 7.2 or newer, or Valkey.")


@pytest.mark.anyio
async def test_a_primary_without_a_replica_is_of_worry(pair: Pair, store: Redis) -> None:
    [sentence] = await worries(store, "replicated")
    assert "No replica is connected to the store" in sentence
    assert await worries(store, "fsync") == ()
    client = await connect(pair.primary)
    try:
        assert await worries(client, "replicated") == ()
    finally:
        await client.aclose()
