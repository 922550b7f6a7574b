"""The store, for a command that works on it beside the server: one that runs is shared, one that doesn't is started."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import Redis

from service.cli.sentences import Unusable, told
from service.embedded import Embedded, Occupied
from service.settings import Place
from service.store import connect, require_whole


@asynccontextmanager
async def opened(place: Place, what: str, *, create: bool = False) -> AsyncIterator[Redis]:
    """Yield a client of a whole store; raise Unusable. Without `create` a data folder that holds none is left alone."""
    with told():
        if place.redis is not None:
            async with _whole(place.redis) as client:
                yield client
        elif not create and not (place.data / "appendonlydir").is_dir():
            raise Unusable(f"The data folder {place.data} holds no store.")
        else:
            async with _embedded(place, what) as client:
                yield client


@asynccontextmanager
async def _embedded(place: Place, what: str) -> AsyncIterator[Redis]:
    store = Embedded(place.data, what=what)
    try:
        await asyncio.to_thread(store.start)
    except Occupied:
        # A server runs on the folder; its store has room for one more client.
        url = (place.data / "valkey.sock").resolve().as_uri().replace("file:", "unix:", 1)
    else:
        url = store.url
    try:
        async with _whole(url) as client:
            yield client
    finally:
        await asyncio.to_thread(store.stop)


@asynccontextmanager
async def _whole(url: str) -> AsyncIterator[Redis]:
    client = await connect(url)
    try:
        await require_whole(client, url)
        yield client
    finally:
        await client.aclose()
