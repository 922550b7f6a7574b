"""An append whose connection is cut at any byte goes in once, or loses to a rival, but never both."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import anyio
import pytest
from redis.asyncio import Redis

from service.appending import Answer, Appended, Behind, Same
from service.ids import new_id
from service.log import Log
from service.streams import Stored, table_stream
from tests.logs import logged
from tests.service.log.conftest import AT_ONCE, HEAD
from tests.wire import Direction, Wire

pytestmark = pytest.mark.anyio


async def cuts(
    valkey_url: str, tmp_path: Path, direction: Direction, attempt: Callable[[Wire, Log, int], Awaitable[None]]
) -> None:
    """Run an attempt for each number of bytes after which an append may be cut, until the cut comes after its end."""
    positions = iter(range(10_000))
    done = False

    async def work(number: int) -> None:
        nonlocal done
        async with Wire(valkey_url, tmp_path / f"w{number}") as wire, logged(wire.url) as log:
            while not done:
                await log.append(table_stream(new_id()), 0, b"warm", HEAD)
                cut, cuts_before = next(positions), wire.cuts
                wire.cut(direction, cut)
                await attempt(wire, log, cut)
                if wire.cuts == cuts_before:
                    done = True
                wire.disarm()

    # Not asyncio's group: up to Python 3.12, it leaves a failed test's task cancelled, and its loop waits for ever.
    async with anyio.create_task_group() as workers:
        for number in range(AT_ONCE):
            workers.start_soon(work, number)
    # Not one cut that did nothing: the whole request, or the whole reply, was gone through byte by byte.
    assert next(positions) > {"request": 300, "reply": len(b"*2\r\n$2\r\nok\r\n:1\r\n")}[direction]


@pytest.mark.parametrize("key", [None, "once"])
@pytest.mark.parametrize("direction", ["request", "reply"])
async def test_an_append_cut_at_any_byte_goes_in_once(
    valkey_url: str, store: Redis, tmp_path: Path, direction: Direction, key: str | None
) -> None:
    async def attempt(_: Wire, log: Log, cut: int) -> None:
        stream, e = table_stream(new_id()), b"salt %d" % cut
        assert await log.append(stream, 0, e, HEAD, key) == Appended(1)
        assert await log.read(stream) == [Stored(1, e, HEAD)]

    await cuts(valkey_url, tmp_path, direction, attempt)
    for feed in await store.keys("*:feed"):
        hints = await store.xrange(feed) or []
        grown = [(fields or {})[b"s"] for _, fields in hints]
        assert len(grown) == len(set(grown))


@pytest.mark.parametrize("key", [None, "once"])
@pytest.mark.parametrize("direction", ["request", "reply"])
async def test_a_rival_who_comes_between_wins_or_loses_but_never_both(
    valkey_url: str, log: Log, tmp_path: Path, direction: Direction, key: str | None
) -> None:
    outcomes: set[type[Answer]] = set()
    rival = log

    async def attempt(wire: Wire, log: Log, cut: int) -> None:
        stream, ours, theirs = table_stream(new_id()), b"ours %d" % cut, b"theirs"

        async def compete() -> None:
            await rival.append(stream, 0, theirs, HEAD, key)

        wire.cut(direction, cut, compete)
        answer = await log.append(stream, 0, ours, HEAD, key)
        stored = await log.read(stream)
        outcomes.add(type(answer))
        match answer:
            case Appended(version):
                assert (version, stored[0].e) == (1, ours)
            case Same(version):
                assert (version, stored[0].e) == (1, theirs)
            case Behind(missed):
                assert list(missed) == stored == [Stored(1, theirs, HEAD)]
            case _:
                pytest.fail(f"{answer} at cut {cut}")
        assert len(stored) == 1

    await cuts(valkey_url, tmp_path, direction, attempt)
    assert outcomes == {Appended} if direction == "reply" else {Appended, Same if key else Behind}
