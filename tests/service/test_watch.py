"""The watch on the store finds what keeps it from taking commands or new tables, and that it is over."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.embedded import Embedded
from service.store import connect
from service.watch import MIB, Watch, watching
from tests.service.cli.processes import until
from tests.stores import BINARIES, DURABLE, administer, asking, free_port, serving
from tests.wire import Wire

pytestmark = pytest.mark.anyio

WITHIN_S = 2.5
"""How soon readiness follows what happens, with half a second for a machine that does much else."""


@pytest.fixture(params=sorted(BINARIES))
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Give the address of each kind of server that is found on this machine."""
    with serving(BINARIES[request.param], tmp_path, *DURABLE) as address:
        yield address


@asynccontextmanager
async def watched(url: str, *, folder: Path | None = None, min_free: int = 0) -> AsyncIterator[Watch]:
    """Give a watch on the store at an address, which has looked once and looks when it is told to."""
    client = await connect(url)
    watch = Watch(client, folder, min_free)
    try:
        await watch.look()
        yield watch
    finally:
        await watch.close()
        await client.aclose()


async def found(watch: Watch) -> tuple[str, str | None]:
    """Return what a new look finds."""
    await watch.look()
    return watch.status, watch.found.down


async def test_a_store_in_order_is_ready_and_left_as_it_was(url: str) -> None:
    async with watched(url) as watch:
        assert await found(watch) == ("ready", None)
        assert watch.found.free is None
        assert watch.has_room()
    with asking(url) as client:
        assert client.dbsize() == 0


async def test_a_store_that_became_a_replica_is_down_until_it_is_none(url: str) -> None:
    async with watched(url) as watch:
        administer(url, "REPLICAOF", "127.0.0.1", str(free_port()))
        assert await found(watch) == ("down", "The store is a replica and takes no writes.")
        administer(url, "REPLICAOF", "NO", "ONE")
        assert await found(watch) == ("ready", None)


async def test_a_store_whose_memory_is_full_is_down_until_it_has_more(url: str) -> None:
    async with watched(url) as watch:
        administer(url, "CONFIG", "SET", "maxmemory", "1")
        assert await found(watch) == ("down", "The store takes no writes now (OOM).")
        assert watch.found.free == 0
        administer(url, "CONFIG", "SET", "maxmemory", "0")
        assert await found(watch) == ("ready", None)


async def test_a_store_that_lacks_replicas_is_down(url: str) -> None:
    async with watched(url) as watch:
        administer(url, "CONFIG", "SET", "min-replicas-to-write", "1")
        assert await found(watch) == ("down", "The store takes no writes now (NOREPLICAS).")


async def test_a_store_that_can_not_save_is_down(url: str) -> None:
    with contextlib.ExitStack() as before_its_end:
        # While it is to save and can't, it does not end either.
        before_its_end.callback(administer, url, "CONFIG", "SET", "save", "")
        async with watched(url) as watch:
            with asking(url) as client:
                client.config_set("save", "3600 1")
                # A folder in the snapshot's place: it can't be written from now on, whoever runs the server.
                folder = Path(str(client.config_get("dir")["dir"]))
                (folder / "dump.rdb" / "in the way").mkdir(parents=True)
                client.set("key", "value")
                client.bgsave()
            while await found(watch) == ("ready", None):
                pass
            assert await found(watch) == ("down", "The store takes no writes now (MISCONF).")


async def test_a_user_who_may_not_try_a_write_goes_by_what_the_store_says(url: str) -> None:
    async with watched(url) as watch:
        administer(url, "ACL", "SETUSER", "default", "-set")
        assert await found(watch) == ("ready", None)
        administer(url, "REPLICAOF", "127.0.0.1", str(free_port()))
        assert await found(watch) == ("down", "The store is a replica and takes no writes.")


async def test_a_store_that_does_not_tell_how_it_is_is_down(url: str) -> None:
    async with watched(url) as watch:
        administer(url, "ACL", "SETUSER", "default", "-info")
        assert await found(watch) == ("down", "The store does not tell how it is.")


async def test_a_store_below_its_bound_of_memory_is_full_by_what_is_left(url: str) -> None:
    async with watched(url, min_free=64 * MIB) as watch:
        assert await found(watch) == ("ready", None)
        administer(url, "CONFIG", "SET", "maxmemory", "60mb")
        assert await found(watch) == ("full", None)
        assert watch.found.free is not None
        assert 40 * MIB < watch.found.free < 60 * MIB
        assert not watch.has_room()
        administer(url, "CONFIG", "SET", "maxmemory", "100mb")
        assert await found(watch) == ("ready", None)


async def test_the_disk_of_an_embedded_store_has_a_bound_too(store: Redis, valkey_url: str, tmp_path: Path) -> None:
    async with watched(valkey_url, folder=tmp_path) as watch:
        assert await found(watch) == ("ready", None)
        assert watch.found.free is not None
    async with watched(valkey_url, folder=tmp_path, min_free=1 << 60) as watch:
        assert await found(watch) == ("full", None)
    async with watched(valkey_url, folder=tmp_path / "none", min_free=1) as watch:
        assert await found(watch) == ("full", None)
    assert await store.dbsize() == 0


async def test_a_store_that_says_nothing_is_down_and_then_ready(store: Redis, valkey_url: str, tmp_path: Path) -> None:
    assert await store.ping()
    async with Wire(valkey_url, tmp_path / "wire") as wire, watched(wire.url) as watch:
        held = asyncio.Event()
        wire.cut("reply", 0, held.wait)
        looking = asyncio.ensure_future(watch.look())
        await asyncio.wait([looking], timeout=WITHIN_S)
        assert looking.done()
        assert (watch.status, watch.found.down) == ("down", "The store does not answer.")
        held.set()
        assert await found(watch) == ("ready", None)


async def changed(watch: Watch, status: str) -> None:
    """Return when the watch by itself says so; fail if that takes longer than it may."""
    began = time.monotonic()
    await asyncio.to_thread(until, lambda: watch.status == status)
    assert time.monotonic() - began < WITHIN_S


async def test_a_killed_store_is_noticed_in_time_and_so_is_its_return(
    own_store: Callable[..., Embedded], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedded = own_store()
    client = await connect(embedded.url)
    async with watching(client, tmp_path, 0) as watch:
        assert watch.status == "ready"
        await asyncio.to_thread(embedded.stop)
        await changed(watch, "down")
        await asyncio.to_thread(embedded.start)
        await changed(watch, "ready")
    await client.aclose()
    assert [record.getMessage() for record in caplog.records if record.name == "service.watch"] == [
        "commands are not taken: The store does not answer.",
        "the store is ready again",
    ]


async def test_want_of_room_is_logged_with_what_is_left(
    store: Redis, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with watching(store, tmp_path, 1 << 40) as watch:
        await watch.look()
    [message] = [record.getMessage() for record in caplog.records if record.name == "service.watch"]
    assert message.startswith("new tables are not opened: the store has ")
    assert message.endswith(" MiB left, less than min-free")
