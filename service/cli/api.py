"""An API worker: one of the processes that answer requests on the socket that `serve` listens at."""

import asyncio
import resource
import socket
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from service import logs
from service.api.connection import Connection
from service.api.server import configured
from service.app import create
from service.cli.processes import GRACE_S, on_end, settle_memory, tell_ready
from service.cli.sentences import told
from service.settings import Settings
from service.store import connect

OTHER_FILES = 256
"""Room for what is open besides connections of clients."""


def api(settings: Settings, fd: int) -> None:
    """Answer requests on the listening socket with this descriptor, until SIGTERM or the supervisor's death."""
    logs.configure(settings.log_format, settings.log_level)
    _allow_files(Connection.bounds.connections + OTHER_FILES)
    with told():
        app = create(settings)
        asyncio.run(_see_the_store(settings.redis))
    _Worker(configured(app, grace_s=GRACE_S)).run([socket.socket(fileno=fd)])


class _Worker(uvicorn.Server):
    """uvicorn's server, ended by its supervisor."""

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        on_end(self.end)
        asyncio.get_running_loop().set_exception_handler(logs.of_loop)
        await super().startup(sockets)
        settle_memory()
        tell_ready()

    def end(self) -> None:
        self.should_exit = True

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's own would raise the signal again once all is finished: a clean end would look like a kill.
        yield


async def _see_the_store(url: str) -> None:
    """Raise StoreUnfit, a sentence, before the framework meets the same and tells it with all its frames."""
    await (await connect(url)).aclose()


def _allow_files(wanted: int) -> None:
    """Let this process have so many files open, as far as it may say that: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
