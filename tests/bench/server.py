"""The servers that are measured: ours, and the floors it is held against.

    bare     the framework, one typed handler that stores nothing
    append   the same handler, appending each request by the bare function, pipelined per turn of the loop
    ours     the service, everything on

`python -m tests.bench.server KIND STORE PORT`; all of them run alike, one process on uvloop and httptools.
"""

import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated

import uvicorn
from litestar import Litestar, post
from msgspec import Meta, Struct
from redis.asyncio import Redis

from service.app import Sources, create
from service.ids import new_id
from service.log import Log
from service.settings import Settings
from service.streams import genesis, head_after, table_stream

SECRET = bytes(range(32))
"""What ours derives ids from, so that the driver knows the tables it opens before it opens them."""

SEED = bytes(32)
"""What ours draws as every table's seed, so that the driver knows the cards."""


class Play(Struct, tag_field="type", tag="play", forbid_unknown_fields=True):
    card: Annotated[str, Meta(max_length=2)]
    turn: int | None = None


class Decline(Struct, tag_field="type", tag="decline", forbid_unknown_fields=True):
    turn: int | None = None


class Answer(Struct):
    version: int
    head: str
    events: tuple[Play | Decline, ...]


@post("/bare")
async def bare(data: Play | Decline) -> Answer:
    """Answer about as much as a command of ours does, and store nothing."""
    return Answer(1, "0" * 64, (data,))


def floors(store: str) -> Litestar:
    """Make the framework's own application with the two floors."""
    held: list[Log] = []
    streams = [table_stream(new_id()) for _ in range(64)]
    heads = {stream: (0, genesis(stream)) for stream in streams}
    entry = b'{"log":1,"stream":"' + b"x" * 300 + b'"}'
    free = list(streams)

    @asynccontextmanager
    async def connected(_app: Litestar) -> AsyncIterator[None]:
        redis = Redis.from_url(store)
        held.append(Log(redis))
        yield
        await held[0].close()
        await redis.aclose()

    @post("/append")
    async def append(data: Play | Decline) -> Answer:
        stream = free.pop()
        version, previous = heads[stream]
        head = head_after(previous, entry)
        await held[0].append(stream, version, entry, head)
        heads[stream] = (version + 1, head)
        free.append(stream)
        return Answer(version + 1, head.hex(), (data,))

    return Litestar([bare, append], openapi_config=None, lifespan=[connected])


def main() -> None:
    """Serve one kind until ended."""
    kind, store, port = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if kind == "ours":
        settings = Settings(redis=store, keys=Path(tempfile.mkdtemp()), secret=SECRET.hex())
        app = create(settings, Sources(entropy=lambda count: SEED[:count]))
    else:
        app = floors(store)
    uvicorn.run(app, port=port, loop="uvloop", http="httptools", log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
