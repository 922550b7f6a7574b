"""Logs and pipes for tests: closed whatever happens, for uvloop's loop never ends over a connection left open."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager

from service.log import SETTLE_MS, Log
from service.pipe import TIMEOUT_MS, Pipe
from service.store import dial

ENOUGH_S = 60
"""Longer than any test needs: it fails then, rather than hang."""


@asynccontextmanager
async def piped(url: str, *, timeout_ms: int = TIMEOUT_MS, kind: Callable[..., Pipe] = Pipe) -> AsyncIterator[Pipe]:
    """Give a pipe to the store at an address."""
    client = dial(url)
    pipe = kind(client, timeout_ms=timeout_ms)
    try:
        async with asyncio.timeout(ENOUGH_S):
            yield pipe
    finally:
        await pipe.drop()
        await client.aclose()


@asynccontextmanager
async def logged(url: str, *, settle_ms: int = SETTLE_MS, timeout_ms: int = TIMEOUT_MS) -> AsyncIterator[Log]:
    """Give the log of the store at an address."""
    client = dial(url)
    log = Log(client, settle_ms=settle_ms, timeout_ms=timeout_ms)
    try:
        async with asyncio.timeout(ENOUGH_S):
            yield log
    finally:
        await log.close()
        await client.aclose()


@contextmanager
def stopped(pid: int | None) -> Iterator[None]:
    """Keep a process from running, for a while."""
    assert pid
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
