"""Every call gets its own reply or one clear error, whatever happens to the connection, the server or the callers."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import pytest
from redis.asyncio import Redis
from redis.exceptions import ResponseError

from service.embedded import Embedded
from service.pipe import Awaiting, Command, Lost, NotSent, Pipe, Reply
from tests.logs import piped, stopped
from tests.stores import BINARIES, free_port, serving
from tests.wire import Wire

pytestmark = pytest.mark.anyio

OwnStore = Callable[..., Embedded]


@pytest.fixture
async def pipe(store: Redis) -> AsyncIterator[Pipe]:
    made = Pipe(store)
    yield made
    await made.close()


async def test_replies_come_in_the_shapes_of_the_protocol_as_bytes(pipe: Pipe) -> None:
    assert await pipe.call("SET", "k", b"\x00\xff\r\n") == b"OK"
    assert await pipe.call("GET", b"k") == b"\x00\xff\r\n"
    assert await pipe.call("GET", "none") is None
    assert await pipe.call("INCRBY", "n", 7) == 7
    assert await pipe.call("MGET", "k", "none", "n") == [b"\x00\xff\r\n", None, b"7"]


async def test_what_one_turn_calls_for_goes_out_in_one_write(valkey_url: str, store: Redis, tmp_path: Path) -> None:
    async with Wire(valkey_url, tmp_path / "w") as wire, piped(wire.url) as pipe:
        await pipe.call("PING")
        chunks = wire.chunks["request"]
        replies = await asyncio.gather(*(pipe.call("ECHO", n) for n in range(100)))
        assert replies == [b"%d" % n for n in range(100)]
        assert wire.chunks["request"] == chunks + 1
    assert await store.ping()


async def test_an_error_of_one_call_leaves_its_neighbours_alone(pipe: Pipe) -> None:
    calls = [pipe.call("SET", "k", "v"), pipe.call("INCR", "k"), pipe.call("NOSUCH"), pipe.call("GET", "k")]
    first, second, third, fourth = await asyncio.gather(*calls, return_exceptions=True)
    assert (first, fourth) == (b"OK", b"v")
    assert isinstance(second, ResponseError)
    assert isinstance(third, ResponseError)
    assert "not an integer" in str(second)


async def test_a_large_request_and_a_large_reply_pass_whole(pipe: Pipe) -> None:
    large = random.Random(1).randbytes(20_000_000)
    sent = [pipe.call("SET", "large", large), *(pipe.call("ECHO", n) for n in range(50))]
    assert (await asyncio.gather(*sent))[1:] == [b"%d" % n for n in range(50)]
    assert await pipe.call("GET", "large") == large


class ShiftedPipe(Pipe):
    """A pipe with the fault that the storm must find: a cancelled caller gives its place up, and the replies shift."""

    def send(self, command: Command, awaiting: Awaiting) -> None:
        """Leave the queue on cancellation."""
        super().send(command, awaiting)
        assert isinstance(awaiting, asyncio.Future)
        awaiting.add_done_callback(self.leave)

    def leave(self, future: "asyncio.Future[Reply]") -> None:
        """Take a cancelled call out of the queue of those that await replies."""
        if future.cancelled() and self._link is not None and future in self._link.sent:
            self._link.sent.remove(future)


async def storm(pipe: Pipe, calls: int = 10_000) -> int:
    """Call with unique values, cancel a third at any moment, and count the replies that belong to another call."""
    chance = random.Random(7)
    foreign = 0

    async def ask(value: int) -> None:
        nonlocal foreign
        if await pipe.call("ECHO", value) != b"%d" % value:
            foreign += 1

    everyone: list[asyncio.Task[None]] = []
    for start in range(0, calls, 100):
        tasks = [asyncio.create_task(ask(value)) for value in range(start, start + 100)]
        for task in chance.sample(tasks, 33):
            for _ in range(chance.randrange(3)):
                await asyncio.sleep(0)
            task.cancel()
        everyone += tasks
        if chance.random() < 0.5:
            await asyncio.wait(tasks)
    await asyncio.gather(*everyone, return_exceptions=True)
    return foreign


async def test_no_reply_ever_reaches_another_caller_in_a_storm_of_cancellations(pipe: Pipe) -> None:
    assert await storm(pipe) == 0
    assert await pipe.call("ECHO", "calm") == b"calm"


async def test_the_storm_finds_replies_that_shift(valkey_url: str) -> None:
    async with piped(valkey_url, timeout_ms=200, kind=ShiftedPipe) as shifted:
        assert await storm(shifted, 2_000) > 0


async def test_a_broken_connection_loses_what_was_sent_and_the_next_call_opens_another(
    valkey_url: str, store: Redis, tmp_path: Path
) -> None:
    async with Wire(valkey_url, tmp_path / "w") as wire, piped(wire.url) as pipe:
        await pipe.call("PING")
        wire.cut("reply", 0)
        results = await asyncio.gather(*(pipe.call("INCR", "n") for _ in range(10)), return_exceptions=True)
        assert [type(result) for result in results] == [Lost] * 10
        assert await pipe.call("INCR", "n") == 11
    assert await store.get("n") == b"11"


async def test_replies_that_arrived_before_the_break_count(valkey_url: str, store: Redis, tmp_path: Path) -> None:
    async with Wire(valkey_url, tmp_path / "w") as wire, piped(wire.url) as pipe:
        await pipe.call("PING")
        wire.cut("reply", len(b":1\r\n:2\r\n:"))
        results = await asyncio.gather(*(pipe.call("INCR", "n") for _ in range(4)), return_exceptions=True)
        assert results[:2] == [1, 2]
        assert [type(result) for result in results[2:]] == [Lost] * 2
    assert await store.get("n") == b"4"


async def test_what_never_left_is_said_not_to_have_been_sent(tmp_path: Path) -> None:
    async with piped(f"unix://{tmp_path}/nobody", timeout_ms=100) as pipe:
        results = await asyncio.gather(*(pipe.call("PING") for _ in range(5)), return_exceptions=True)
        assert [type(result) for result in results] == [NotSent] * 5
        assert isinstance(results[0], NotSent)
        assert "nobody" in str(results[0].__cause__)


async def test_a_call_waits_for_a_store_that_is_starting(own_store: OwnStore) -> None:
    embedded = own_store()
    url = embedded.url
    embedded.stop()
    async with piped(url, timeout_ms=20_000) as pipe:
        waiting = pipe.call("PING")
        await asyncio.to_thread(embedded.start)
        assert embedded.url == url
        assert await waiting == b"PONG"


async def test_a_store_that_hangs_fails_its_calls_in_time_and_is_used_again(own_store: OwnStore) -> None:
    embedded = own_store()
    loop = asyncio.get_running_loop()
    async with piped(embedded.url, timeout_ms=200) as pipe:
        await pipe.call("PING")
        with stopped(embedded.pid):
            began = loop.time()
            results = await asyncio.gather(*(pipe.call("INCR", "n") for _ in range(5)), return_exceptions=True)
            assert [type(result) for result in results] == [Lost] * 5
            assert 0.19 < loop.time() - began < 2
            assert isinstance(await asyncio.gather(pipe.call("PING"), return_exceptions=True), list)
        assert await pipe.call("PING") == b"PONG"


async def test_each_call_has_its_own_time_even_where_others_progress(pipe: Pipe, valkey_url: str) -> None:
    async with piped(valkey_url, timeout_ms=100) as slow:
        for _ in range(3):
            blocked = slow.call("BLPOP", "never", 0)
            behind = []
            while not blocked.done():
                behind.append(slow.call("PING"))
                await asyncio.wait([blocked], timeout=0.005)
            assert isinstance(blocked.exception(), Lost)
            # Those behind it went with its connection, the last ones perhaps over the next.
            results = await asyncio.gather(*behind, return_exceptions=True)
            assert isinstance(results[0], Lost)
            assert await slow.call("PING") == b"PONG"
    assert await pipe.call("PING") == b"PONG"


async def test_one_watchdog_serves_all_calls(pipe: Pipe) -> None:
    await pipe.call("PING")
    for _ in range(50):
        await asyncio.gather(*(pipe.call("PING") for _ in range(50)))
    assert len([timer for timer in _timers(pipe) if not timer.cancelled()]) <= 1


def _timers(pipe: Pipe) -> list[asyncio.TimerHandle]:
    return [value for value in vars(pipe).values() if isinstance(value, asyncio.TimerHandle)]


async def test_close_waits_for_the_replies_under_way_and_takes_no_more(store: Redis) -> None:
    pipe = Pipe(store)
    calls = [pipe.call("INCR", "n") for _ in range(100)]
    await pipe.close()
    assert [call.result() for call in calls] == list(range(1, 101))
    with pytest.raises(NotSent):
        pipe.call("PING")


async def test_drop_waits_for_nobody(store: Redis) -> None:
    pipe = Pipe(store)
    await pipe.call("PING")
    blocked = pipe.call("BLPOP", "never", 0)
    await asyncio.sleep(0)
    await pipe.drop()
    assert isinstance(blocked.exception(), Lost)


async def test_a_closed_pipe_leaves_no_task_and_no_connection(store: Redis) -> None:
    before = asyncio.all_tasks()
    clients = len(await store.client_list())
    for end in ("close", "drop"):
        pipe = Pipe(store)
        await asyncio.gather(*(pipe.call("PING") for _ in range(10)))
        await getattr(pipe, end)()
    assert asyncio.all_tasks() == before
    async with asyncio.timeout(5):
        while len(await store.client_list()) > clients:  # noqa: ASYNC110 the server tells of no one leaving
            await asyncio.sleep(0)


async def test_a_pipe_closed_unused_is_closed(store: Redis) -> None:
    await Pipe(store).close()
    await Pipe(store).drop()


@pytest.mark.parametrize("binary", BINARIES.values(), ids=BINARIES.keys())
async def test_it_speaks_over_tcp_with_a_password_to_any_server(binary: str, tmp_path: Path) -> None:
    port = free_port()
    with serving(binary, tmp_path, "--port", str(port), "--requirepass", "s3cret"):
        async with piped(f"redis://:s3cret@127.0.0.1:{port}/0") as pipe:
            assert await asyncio.gather(*(pipe.call("ECHO", n) for n in range(3))) == [b"0", b"1", b"2"]
        async with piped(f"redis://:wrong@127.0.0.1:{port}/0", timeout_ms=50) as pipe:
            with pytest.raises(NotSent):
                await pipe.call("PING")


async def test_a_client_that_decodes_or_speaks_resp3_changes_nothing(valkey_url: str, store: Redis) -> None:
    for settings in ({"decode_responses": True}, {"protocol": 3}):
        client = Redis.from_url(valkey_url, **settings)
        pipe = Pipe(client)
        assert await pipe.call("HSET", "h", "a", 1) in {0, 1}
        assert await pipe.call("HGETALL", "h") == [b"a", b"1"]
        await pipe.close()
        await client.aclose()
    assert await store.exists("h")


async def test_attempts_to_connect_pause_longer_and_longer(tmp_path: Path) -> None:
    pauses: list[float] = []

    async def noted(delay: float) -> None:
        pauses.append(delay)
        await asyncio.sleep(delay / 100)

    async with piped(f"unix://{tmp_path}/nobody", timeout_ms=100, kind=partial(Pipe, sleep=noted)) as pipe:
        with pytest.raises(NotSent):
            await pipe.call("PING")
    assert pauses[:5] == [0.005, 0.01, 0.02, 0.04, 0.08]
    assert max(pauses) <= 0.5
