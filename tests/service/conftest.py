"""A log on the shared store, and a stream in it."""

from collections.abc import AsyncIterator

import pytest
from redis.asyncio import Redis

from service.ids import new_id
from service.log import Log
from service.streams import table_stream


@pytest.fixture
def stream() -> str:
    """Give a stream in which nothing is."""
    return table_stream(new_id())


@pytest.fixture
async def log(store: Redis) -> AsyncIterator[Log]:
    """Give the log of the shared store, emptied for this test."""
    made = Log(store)
    yield made
    await made.close()
