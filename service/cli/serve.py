"""Everything in one go: the store, the API workers and the reactors, each a process, and whoever looks after them.

They start in that order and end in the opposite one: first nobody is let in any more and what is under way is
finished, then the reactors end, the store last. Whatever ends by itself is started again. A second signal ends all at
once: with `appendfsync always` that loses nothing that was acknowledged.
"""

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Callable
from typing import NamedTuple, TypeVar

from rich.console import Console

from service.auth.keys import secret_from
from service.cli.games import found
from service.cli.listening import Listener, listen
from service.cli.processes import GRACE_S, Kept, on_orphaned
from service.cli.sentences import Failed, Unusable, say, told
from service.embedded import Embedded, StoreFailed
from service.settings import Place, Settings
from service.store import StoreUnfit, concerns, connect, where
from service.version import version

T = TypeVar("T")

START_S = 60.0
"""How long workers and reactors may take until they are ready for the first time."""

LOOK_S = 0.25
"""How often to look whether the embedded store is alive."""

LATEST_LOOK_S = 10.0
"""The same, after it could not be started again several times."""


class Plan(NamedTuple):
    """What to serve and where; `settings` become whole when the store has an address."""

    host: str
    port: int
    place: Place
    workers: int
    settings: Settings
    supervised: bool


def serve(plan: Plan) -> int:
    """Serve until SIGINT, SIGTERM or SIGHUP; return the exit code. Raise Unusable or Failed where that can't begin."""
    found(plan.settings.games)
    if plan.place.redis is not None:
        try:
            where(plan.place.redis)
        except StoreUnfit as malformed:
            raise Unusable(f"Invalid value for '--redis' (env var: 'EVENFOLD_REDIS_URL'): {malformed}") from None
    listener = listen(plan.host, plan.port)
    with listener.socket:
        return asyncio.run(_Supervisor(plan, listener).run())


class _Supervisor:
    def __init__(self, plan: Plan, listener: Listener) -> None:
        self._plan = plan
        self._listener = listener
        self._store = Embedded(plan.place.data) if plan.place.redis is None else None
        self._settings = plan.settings
        self._apis: list[Kept] = []
        self._reactors: list[Kept] = []
        self._keeping: dict[Kept, asyncio.Task[int]] = {}
        self._watch: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._hasty: signal.Signals | None = None

    async def run(self) -> int:
        """Start all, wait for the end, end all; return the exit code."""
        self._mind_signals()
        rise = asyncio.ensure_future(self._rise())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait({rise, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if rise.done() and not self._stopping.is_set():
                rise.result()
                await stopping
        finally:
            stopping.cancel()
            rise.cancel()
            await asyncio.wait({rise})
            await self._fall()
        return 0 if self._hasty is None else 128 + self._hasty

    def _mind_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # `nohup` has SIGHUP ignored, and means it.
            if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                loop.add_signal_handler(number, self._end, number)
        if self._plan.supervised:
            on_orphaned(self._stopping.set)

    def _end(self, number: signal.Signals) -> None:
        if not self._stopping.is_set():
            self._stopping.set()
            return
        self._hasty = number
        for kept in self._keeping:
            kept.kill()
        if self._store is not None and self._store.pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._store.pid, signal.SIGKILL)

    async def _rise(self) -> None:
        with told():
            if self._store is not None:
                await _unbroken(self._store.start)
                self._watch = asyncio.create_task(self._look_after(self._store))
            url = self._store.url if self._store is not None else self._plan.place.redis or ""
            self._settings = self._plan.settings._replace(redis=url)
            await self._check()
        variables = self._settings.environment()
        fd = self._listener.socket.fileno()
        arguments = ("api", "--fd", str(fd))
        for number in range(1, self._plan.workers + 1):
            name = "The API worker" if self._plan.workers == 1 else f"API worker {number}"
            self._apis.append(self._keep(Kept(name, arguments, variables, (fd,))))
        self._reactors.append(self._keep(Kept("The reactor", ("react",), variables)))
        await self._await_ready()
        self._announce()

    async def _check(self) -> None:
        """Raise what keeps a store or the keys from being used, and say loudly what may lose commands."""
        secret_from(self._settings.keys, self._settings.secret)
        client = await connect(self._settings.redis)
        try:
            for concern in await concerns(client):
                say(f"WARNING: {concern}", "bold yellow")
        finally:
            await client.aclose()

    def _keep(self, kept: Kept) -> Kept:
        self._keeping[kept] = asyncio.create_task(kept.keep())
        return kept

    async def _await_ready(self) -> None:
        ready = asyncio.create_task(self._all_ready())
        either: list[asyncio.Task[None] | asyncio.Task[int]] = [ready, *self._keeping.values()]
        try:
            async with asyncio.timeout(START_S):
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
                if ready.done():
                    await _probe(self._listener.socket)
        except TimeoutError:
            late = [kept.what for kept in self._keeping if not kept.ready.is_set()]
            raise Failed(f"{' and '.join(late) or 'The service'} did not become ready in {START_S:.0f} s.") from None
        finally:
            ready.cancel()
        for kept, task in self._keeping.items():
            if task.done():
                raise Failed(f"{kept.what} did not start: it ended with exit code {task.result()}.")

    async def _all_ready(self) -> None:
        for kept in self._keeping:
            await kept.ready.wait()

    def _announce(self) -> None:
        console = Console(soft_wrap=True, highlight=False, emoji=False)
        console.print(f"Evenfold {version()} serves at [bold]{self._listener.url}[/]")
        store = f"Its store is in {self._plan.place.data}." if self._store is not None else "It uses the store named."
        console.print(f"How to play by HTTP: {self._listener.url}/docs", markup=False)
        console.print(f"{store} Ctrl-C stops it.", markup=False)
        sys.stdout.flush()

    async def _look_after(self, store: Embedded) -> None:
        """Start the store again whenever it has ended, less and less often while that doesn't work."""
        pause_s = LOOK_S
        while True:
            await asyncio.sleep(pause_s)
            try:
                restarted = await _unbroken(store.ensure)
            except StoreFailed as failed:
                pause_s = min(2 * pause_s, LATEST_LOOK_S)
                say(f"{failed} The next attempt is in {pause_s:g} s.")
            else:
                pause_s = LOOK_S
                if restarted:
                    say("The store ended; it was started again.")

    async def _fall(self) -> None:
        self._listener.socket.close()
        await self._end_all(self._apis, 2 * GRACE_S)
        await self._end_all(self._reactors, GRACE_S)
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
        if self._store is not None:
            await _unbroken(self._store.stop)

    async def _end_all(self, kept: list[Kept], grace_s: float) -> None:
        """Ask these processes to end, and end those that don't within the grace."""
        if not kept:
            return
        for one in kept:
            one.stop()
        if self._hasty is not None:
            for one in kept:
                one.kill()
        _, late = await asyncio.wait({self._keeping[one] for one in kept}, timeout=grace_s)
        for one in kept:
            if self._keeping[one] in late:
                say(f"{one.what} did not end within {grace_s:g} s; it is killed.")
                one.kill()
        if late:
            await asyncio.wait(late)


async def _unbroken(work: Callable[[], T]) -> T:
    """Do blocking work in a thread, to its end even if cancelled meanwhile: the store takes one call at a time."""
    working = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise


async def _probe(listening: socket.socket) -> None:
    """Wait until the service answers as a client meets it; what it says until then is that it isn't ready."""
    host, port = listening.getsockname()[:2]
    # A wildcard address is reached through the loopback.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 recognised here, not bound
    while True:
        reader, writer = await asyncio.open_connection(host, port)
        try:
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
        finally:
            writer.close()
        if answer.startswith(b"HTTP/1.1 200 "):
            return
        await asyncio.sleep(LOOK_S)
