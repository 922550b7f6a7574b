"""The metrics of a server on a port of their own, answered by whichever of its processes outlives the others."""

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn

from service.api.server import configured
from service.app import metrics_alone
from service.metrics import Sheets
from service.watch import Watch

GRACE_S = 1
"""How long a scrape under way may take when the server ends."""


@asynccontextmanager
async def exposed(listening: socket.socket, shared: Sheets | None, watch: Watch | None = None) -> AsyncIterator[None]:
    """Answer GET /metrics on a listening socket for as long as the block takes; with a watch, /readyz and /healthz too.

    Without sheets of other processes the numbers are this one's.
    """
    server = _Server(configured(metrics_alone(shared, watch), grace_s=GRACE_S))
    serving = asyncio.create_task(server.serve([listening]))
    try:
        yield
    finally:
        server.should_exit = True
        await asyncio.wait([serving])


class _Server(uvicorn.Server):
    """uvicorn's server, which leaves the signals to the supervisor."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield
