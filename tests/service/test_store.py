"""What is fit to keep a log is connected to, whichever server it is; the rest is told in one sentence."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import hiredis
import pytest
from redis.asyncio import Redis

from service.ids import new_id
from service.store import StoreUnfit, concerns, connect, where
from service.streams import Stored, table_stream
from tests.logs import logged
from tests.stores import BINARIES, DURABLE, REDIS, administer, asking, free_port, serving

pytestmark = pytest.mark.anyio

TLS = Path(__file__).parent / "tls"
"""A certificate for the loopback, signed by itself, with its key; it protects nothing."""

PASSWORD = "hun/ter2#?&é"
IN_AN_ADDRESS = "hun%2Fter2%23%3F%26%C3%A9"

Line = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@pytest.fixture(params=sorted(BINARIES))
def binary(request: pytest.FixtureRequest) -> str:
    """Give each server that is found on this machine."""
    return BINARIES[request.param]


async def refusal(url: str, *, answer_s: float = 5, loading_s: float = 5) -> str:
    """Answer the sentence with which the store is refused; it never holds the password."""
    with pytest.raises(StoreUnfit) as refused:
        await try_out(url, answer_s, loading_s)
    said = str(refused.value)
    assert "hun" not in said
    assert said.endswith(".")
    assert "\n" not in said
    return said


async def try_out(url: str, answer_s: float, loading_s: float) -> None:
    """Connect and close again: a client left open where a refusal fails to come would keep the loop from ending."""
    client = await connect(url, answer_s=answer_s, loading_s=loading_s)
    await client.aclose()


@contextlib.asynccontextmanager
async def connected(url: str) -> AsyncIterator[Redis]:
    client = await connect(url)
    try:
        yield client
    finally:
        await client.aclose()


@contextlib.asynccontextmanager
async def listening(serve: Line) -> AsyncIterator[str]:
    """Listen on the loopback and serve each line so; yield the address."""
    server = await asyncio.start_server(serve, "127.0.0.1")
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


def test_ci_tries_an_ordinary_redis_too() -> None:
    assert REDIS or os.environ.get("CI") != "true", "CI needs redis-server on PATH: apt-get install redis-server"


async def test_the_embedded_store_is_fit_and_of_no_concern(store: Redis) -> None:
    assert await concerns(store) == ()
    assert await store.set("key", "value")
    assert await store.get("key") == b"value"


async def test_any_durable_server_is_fit_and_of_no_concern(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, *DURABLE) as url:
        async with connected(url) as client:
            assert await concerns(client) == ()
            assert await client.xadd("stream", {"e": b"\xff"}, id="1-0") == b"1-0"
            assert await client.xrange("stream") == [(b"1-0", {b"e": b"\xff"})]


async def test_a_server_that_keeps_nothing_is_of_concern(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path) as url:
        async with connected(url) as client:
            [sentence] = await concerns(client)
    assert "no append-only file" in sentence


async def test_a_server_that_syncs_each_second_is_of_concern(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, "--appendonly", "yes", "--appendfsync", "everysec") as url:
        async with connected(url) as client:
            [sentence] = await concerns(client)
    assert "a power cut loses" in sentence


async def test_a_server_that_does_not_tell_is_of_concern(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, *DURABLE) as url:
        administer(url, "ACL", "SETUSER", "default", "-config")
        async with connected(url) as client:
            [sentence] = await concerns(client)
    assert "CONFIG GET is forbidden" in sentence


async def test_a_password_opens_and_its_lack_is_told(binary: str, tmp_path: Path) -> None:
    port = free_port()
    with serving(binary, tmp_path, *DURABLE, "--requirepass", PASSWORD, "--port", str(port)) as url:
        for right in (
            f"redis://:{IN_AN_ADDRESS}@127.0.0.1:{port}/3",
            f"redis://default:{IN_AN_ADDRESS}@localhost:{port}",
            url.replace("://", f"://:{IN_AN_ADDRESS}@"),
            f"{url}?password={IN_AN_ADDRESS}",
        ):
            async with connected(right) as client:
                assert await client.ping()
        at = f"The store at redis://127.0.0.1:{port}"
        wrong = await refusal(f"redis://:hunter3@127.0.0.1:{port}")
        assert wrong == f"{at} does not accept this user and password."
        unknown = await refusal(f"redis://hunold:{IN_AN_ADDRESS}@127.0.0.1:{port}")
        assert unknown == f"{at} does not accept this user and password."
        none = await refusal(f"redis://127.0.0.1:{port}")
        assert none == f"{at} wants a password, and its address gives none."


async def test_tls_is_spoken_with_whom_the_certificate_names(tmp_path: Path) -> None:
    if REDIS is None:
        return  # The Valkey that we ship is built without TLS.
    certificate, key = str(TLS / "certificate.pem"), str(TLS / "key.pem")
    port = str(free_port())
    keys = ("--tls-cert-file", certificate, "--tls-key-file", key, "--tls-auth-clients", "no")
    with serving(REDIS, tmp_path, *DURABLE, "--port", "0", "--tls-port", port, *keys):
        async with connected(f"rediss://localhost:{port}?ssl_ca_certs={certificate}") as client:
            assert await client.ping()
        # The log takes the connection over from the client, and must leave the TLS in it.
        async with logged(f"rediss://localhost:{port}?ssl_ca_certs={certificate}") as log:
            stream = table_stream(new_id())
            entries = [Stored(version, b"e" * 70_000, bytes(32)) for version in (1, 2, 3)]
            for entry in entries:
                await log.append(stream, entry.version - 1, entry.e, entry.h)
            assert await log.read(stream) == entries
        at = f"The store at rediss://localhost:{port} can't be reached over TLS:"
        assert await refusal(f"rediss://localhost:{port}") == f"{at} self-signed certificate."
        assert await refusal(f"rediss://localhost:{port}?ssl_ca_certs=/none") == f"{at} No such file or directory."
        assert "if it speaks TLS, its address begins with rediss://." in await refusal(f"redis://localhost:{port}")


async def test_tls_to_who_does_not_speak_it_is_told() -> None:
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(b"-ERR unknown command\r\n")
        writer.close()

    async with listening(plain) as at:
        said = await refusal(f"rediss://:{IN_AN_ADDRESS}@{at}")
        assert said == f"The store at rediss://{at} can't be reached over TLS: WRONG_VERSION_NUMBER."


async def test_tls_to_a_server_that_waits_for_a_command_is_told(binary: str, tmp_path: Path) -> None:
    port = free_port()
    with serving(binary, tmp_path, "--port", str(port)):
        said = await refusal(f"rediss://127.0.0.1:{port}", answer_s=0.2)
    assert said == f"The store at rediss://127.0.0.1:{port} did not answer over TLS within 0.2 seconds."


async def test_a_server_that_evicts_is_refused(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, *DURABLE, "--maxmemory-policy", "allkeys-lru") as url:
        assert "would evict keys (allkeys-lru)" in await refusal(url)


async def test_a_replica_is_refused(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, *DURABLE, "--replicaof", "127.0.0.1", str(free_port())) as url:
        assert "is a replica and takes no writes" in await refusal(url)


async def test_a_node_of_a_cluster_is_refused(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, *DURABLE, "--cluster-enabled", "yes", "--port", str(free_port(bus=True))) as url:
        assert "is a node of a cluster; clusters can't be used yet." in await refusal(url)


async def test_a_sentinel_is_refused(binary: str, tmp_path: Path) -> None:
    (tmp_path / "sentinel.conf").touch()
    port = str(free_port())
    with serving(binary, tmp_path, str(tmp_path / "sentinel.conf"), "--sentinel", "--port", port) as url:
        assert "is a Sentinel" in await refusal(url)


async def test_a_user_without_functions_is_refused(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, *DURABLE) as url:
        administer(url, "ACL", "SETUSER", "default", "-function")
        assert "does not let us use functions" in await refusal(url)


async def test_a_user_without_info_is_refused_in_the_servers_words(binary: str, tmp_path: Path) -> None:
    with serving(binary, tmp_path, *DURABLE) as url:
        administer(url, "ACL", "SETUSER", "default", "-info")
        assert "refuses to serve us: " in await refusal(url)


async def test_a_server_that_loads_its_data_is_waited_for(binary: str, tmp_path: Path) -> None:
    keys = 20_000
    with serving(binary, tmp_path, *DURABLE) as url, asking(url) as before, before.pipeline() as pipe:
        for key in range(keys):
            pipe.set(f"key {key}", "there")
        pipe.execute()
    # Each key takes 50 µs to load, and the server looks at its clients every thousand keys.
    with serving(binary, tmp_path, *DURABLE, "--key-load-delay", "50") as url:
        assert "was still loading its data after 0.1 seconds." in await refusal(url, loading_s=0.1)
        async with connected(url) as client:
            assert await client.dbsize() == keys


async def test_an_older_server_is_refused_by_its_version() -> None:
    info = b"# Server\r\nredis_version:6.2.14\r\nredis_mode:standalone\r\n"

    async def old(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked = hiredis.Reader()
        while received := await reader.read(4096):
            asked.feed(received)
            while (command := asked.gets()) is not False:
                writer.write(b"$%d\r\n%s\r\n" % (len(info), info) if command[0] == b"INFO" else b"+PONG\r\n")
        writer.close()

    async with listening(old) as at:
        said = await refusal(f"redis://{at}")
        assert said == f"The store at redis://{at} is version 6.2.14; Redis 7.0 or newer is needed, or Valkey."


async def test_a_server_that_repeats_the_password_is_not_repeated() -> None:
    async def gossip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(b"-ERR unknown command 'AUTH', with args beginning with: 'hunter2'\r\n")
        writer.close()

    async with listening(gossip) as at:
        assert await refusal(f"redis://:hunter2@{at}") == (
            f"The store at redis://{at} refuses to serve us: unknown command 'AUTH'."
        )


async def test_who_speaks_something_else_is_no_store() -> None:
    async def web(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(4096)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with listening(web) as at:
        assert await refusal(f"redis://{at}") == f"The store at redis://{at} does not answer as a Redis does."


async def test_who_says_nothing_is_not_waited_for_long() -> None:
    async def mute(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with listening(mute) as at:
        assert (
            await refusal(f"redis://{at}", answer_s=0.1)
            == f"The store at redis://{at} did not answer within 0.1 seconds."
        )


async def test_nobody_there_is_told(tmp_path: Path) -> None:
    port = free_port()
    said = await refusal(f"redis://:{IN_AN_ADDRESS}@127.0.0.1:{port}")
    assert said == f"The store at redis://127.0.0.1:{port} can't be reached: Connection refused."
    said = await refusal(f"unix://{tmp_path}/none")
    assert said == f"The store at unix://{tmp_path}/none can't be reached: No such file or directory."


async def test_a_name_that_leads_nowhere_is_told() -> None:
    assert "The store at redis://nowhere.invalid:6379 can't be reached: " in await refusal("redis://nowhere.invalid")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost",
        "localhost:6379",
        "redis:localhost",
        "redis://",
        "redis:///0",
        "http://:hunter2@localhost",
        "redis://localhost/first",
        "redis://localhost:70000",
        "redis://:hun/ter2@localhost",
        "redis://:hun#ter2@localhost",
        "redis://:6379/hunter2@localhost",
        "redis://[::1",
        "unix://",
        "unix://tmp/socket",
        "redis://localhost?db=hunter2",
        "rediss://localhost?ssl_cert_reqs=hunter2",
    ],
)
async def test_a_malformed_address_is_told_without_quoting_it(url: str) -> None:
    assert "The store's address is malformed: " in await refusal(url)


@pytest.mark.parametrize("url", ["redis://h?socket_timeout=1", "redis://:hun?ter2@h:1", "redis://h?ssl_ca_certs=x"])
async def test_an_option_that_is_ours_or_nobodys_is_refused(url: str) -> None:
    assert "The store's address" in await refusal(url)


def test_an_address_is_shown_without_what_is_secret() -> None:
    assert where("redis://user:hunter2@host") == "redis://host:6379"
    assert where("rediss://:hunter2@[::1]:7/2?password=hunter2") == "rediss://[::1]:7"
    assert where("unix://user:hunter2@/tmp/a%20b?password=hunter2") == "unix:///tmp/a b"
