"""Nobody who reads costs anybody else anything, and nothing is left of who has gone."""

import asyncio

import pytest

from tests.service.live.conftest import ONLOOKER, Process, asked, happen, opened, take, take_all
from tests.sizes import sized

pytestmark = pytest.mark.anyio


async def test_who_takes_nothing_and_who_is_cancelled_hold_nobody_up(one: Process) -> None:
    table = await opened(one)
    idle = await one.live.open(asked(table), 1)
    cancelled = [asyncio.create_task(take_all(one, table, ONLOOKER)) for _ in range(50)]
    quick = asyncio.create_task(take(await one.live.open(asked(table), 1), 60))
    for number in range(60):
        await happen(one, table, 1)
        if number < len(cancelled):
            cancelled[number].cancel()
    assert [frame.version for frame in await quick] == list(range(2, 62))
    await asyncio.wait(cancelled)
    assert [frame.version for frame in await take(idle, 60)] == list(range(2, 62))
    await idle.aclose()


async def test_nothing_is_left_of_readers_who_have_gone(one: Process) -> None:
    tables = [await opened(one) for _ in range(5)]
    await asyncio.sleep(0)
    before = asyncio.all_tasks()
    for _ in range(sized(40, 100, 400)):
        readers = [asyncio.create_task(take_all(one, table, ONLOOKER)) for table in tables]
        await asyncio.sleep(0)
        for reader in readers:
            reader.cancel()
        await asyncio.wait(readers)
    for _ in range(5):
        await asyncio.sleep(0)
    # The subscription to the feeds, which is the process's, stays.
    assert len(asyncio.all_tasks() - before) <= 1
    assert one.live._watched == {}  # noqa: SLF001 nothing else shows it
    assert one.log._feeds._growths == {}  # noqa: SLF001 nothing else shows it
