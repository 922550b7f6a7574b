"""A process that answers requests: at an address of its own, or as one of those that share the socket of `serve`."""

import asyncio
import resource
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, ExitStack, contextmanager
from functools import partial

import uvicorn

from service import logs
from service.api.connection import Connection
from service.api.server import configured
from service.app import create
from service.cli.beginning import announce, refuse_malformed, warnings
from service.cli.games import found
from service.cli.listening import Listener, listen
from service.cli.metrics import exposed
from service.cli.processes import GRACE_S, on_end, on_orphaned, settle_memory, tell_ready
from service.cli.sentences import say, told
from service.settings import Settings
from service.store import connect, where

OTHER_FILES = 256
"""Room for what is open besides connections of clients."""


def of_supervisor(settings: Settings, fd: int) -> None:
    """Answer requests on the listening socket with this descriptor, until SIGTERM or the supervisor's death."""
    logs.configure(settings.log_format, settings.log_level)
    with told():
        app = create(settings)
        asyncio.run(_see_the_store(settings.redis))
    _allow_files(Connection.bounds.connections + OTHER_FILES)
    _Worker(configured(app, grace_s=GRACE_S), supervised=True).run([socket.socket(fileno=fd)])


def of_person(settings: Settings, host: str, port: int) -> int:
    """Answer requests at an address until a signal ends that; return the exit code. Raise Unusable."""
    logs.configure(settings.log_format, settings.log_level)
    found(settings.games)
    refuse_malformed(settings.redis)
    with ExitStack() as held:
        listener = listen(host, port)
        held.enter_context(listener.socket)
        scraped = None
        if settings.metrics_port is not None:
            scraped = listen(host, settings.metrics_port, "--metrics-port")
            held.enter_context(scraped.socket)
        with told():
            for warning in asyncio.run(warnings(settings)):
                say(f"WARNING: {warning}", "bold yellow")
            app = create(settings)
        _allow_files(Connection.bounds.connections + OTHER_FILES)
        worker = _Worker(configured(app, grace_s=GRACE_S), scraped)
        worker.on_ready = partial(_announce, settings, listener, scraped or listener)
        worker.run([listener.socket])
        return worker.exit_code


def _announce(settings: Settings, listener: Listener, metrics: Listener) -> None:
    announce(
        f"answers requests at [bold]{listener.url}[/]",
        f"How to play by HTTP: {listener.url}/docs",
        f"Its metrics, for Prometheus: {metrics.url}/metrics",
        f"Its store is at {where(settings.redis)}. Ctrl-C stops it.",
    )


class _Worker(uvicorn.Server):
    """uvicorn's server, ended by signals, or by its supervisor; a port of its own for the metrics is served with it."""

    def __init__(self, config: uvicorn.Config, scraped: Listener | None = None, *, supervised: bool = False) -> None:
        super().__init__(config)
        self.on_ready: Callable[[], None] = tell_ready
        self.exit_code = 0
        self._scraped = scraped
        self._supervised = supervised
        self._told_to_end = False

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        async with AsyncExitStack() as open_until_the_end:
            if self._scraped is not None:
                await open_until_the_end.enter_async_context(exposed(self._scraped.socket, None))
            await super().serve(sockets)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        on_end(self.end)
        if self._supervised:
            on_orphaned(self._end_orphaned)
        asyncio.get_running_loop().set_exception_handler(logs.of_loop)
        await super().startup(sockets)
        settle_memory()
        self.on_ready()

    def end(self, number: signal.Signals) -> None:
        """Finish what is under way; a second signal does not wait for that."""
        if self._told_to_end:
            self.force_exit = True
            self.exit_code = 128 + number
        self.should_exit = self._told_to_end = True

    def _end_orphaned(self) -> None:
        # A supervisor that tells it to end and leaves has not told it twice, whichever is noticed first.
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
