"""The floors that the service is held against, in a process of their own.

    /bare     the framework, one typed handler that stores nothing
    /append   the same handler, appending each request by the bare function, pipelined per turn of the loop

`python -m tests.bench.floors FD` answers on a listening socket, on uvloop and httptools as the workers do; the store is
the one of EVENFOLD_REDIS_URL.
"""

import os
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

import uvicorn
from litestar import Litestar, post
from msgspec import Meta, Struct
from redis.asyncio import Redis

from service.cli.processes import on_end, on_orphaned, tell_ready
from service.ids import new_id
from service.log import Log
from service.streams import genesis, head_after, table_stream


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


class Server(uvicorn.Server):
    """uvicorn's server, which says when it is ready and ends with the process that started it."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        on_end(lambda _: self._end())
        on_orphaned(self._end)
        await super().startup(sockets)
        tell_ready()

    def _end(self) -> None:
        self.should_exit = True


def main() -> None:
    """Serve the floors until ended."""
    app = floors(os.environ["EVENFOLD_REDIS_URL"])
    config = uvicorn.Config(app, loop="uvloop", http="httptools", log_level="warning", access_log=False)
    Server(config).run([socket.socket(fileno=int(sys.argv[1]))])


if __name__ == "__main__":
    main()
