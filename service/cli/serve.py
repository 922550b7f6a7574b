"""Everything in one go: the store, the API workers and the reactors, each a process, and whoever looks after them.

They start in that order and end in the opposite one: first nobody is let in any more and what is under way is
finished, then the reactors end, the store last. Whatever ends by itself is started again. A second signal ends all at
once: with `appendfsync always` that loses nothing that was acknowledged.
"""

import asyncio
import contextlib
import signal
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from service import logs
from service.cli.beginning import announce, refuse_malformed, warnings
from service.cli.games import found
from service.cli.keptstore import LOOK_S, KeptStore
from service.cli.listening import Listener, listen
from service.cli.processes import GRACE_S, Kept, Part, on_end, on_orphaned
from service.cli.sentences import Failed, Unusable, say, told
from service.metrics import SUPERVISORS, sheets
from service.settings import Place, Settings
from service.store import StoreUnfit, where

START_S = 60.0
"""How long workers and reactors may take until they are ready for the first time."""

LOOKS = 3
"""How often to look at an embedded store that ends while it is looked at."""


class Plan(NamedTuple):
    """What to serve and where; `settings` become whole when the store has an address."""

    host: str
    port: int
    place: Place
    workers: int
    reactors: int
    settings: Settings
    supervised: bool


def serve(plan: Plan) -> int:
    """Serve until SIGINT, SIGTERM or SIGHUP; return the exit code. Raise Unusable or Failed where that can't begin."""
    logs.configure(plan.settings.log_format, plan.settings.log_level)
    found(plan.settings.games)
    if plan.place.redis is not None:
        refuse_malformed(plan.place.redis)
    elif plan.settings.durability == "replicated":
        raise Unusable("The embedded store has no replicas: --durability replicated needs another store, by --redis")
    with contextlib.ExitStack() as held:
        listener = listen(plan.host, plan.port)
        held.enter_context(listener.socket)
        scraped = None
        if plan.settings.metrics_port is not None:
            scraped = listen(plan.host, plan.settings.metrics_port, "--metrics-port")
            held.enter_context(scraped.socket)
        folder = held.enter_context(_sheets_folder())
        return asyncio.run(_serve(_Supervisor(plan, listener, _Counting(folder, scraped))))


@contextlib.contextmanager
def _sheets_folder() -> Iterator[Path]:
    """Give a folder in which the server's processes leave their metrics; raise Unusable."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="evenfold-metrics-", ignore_cleanup_errors=True)
    except OSError as error:
        raise Unusable(f"There is no folder for temporary files: {error.strerror}.") from None
    with folder as path:
        yield Path(path)


class _Counting(NamedTuple):
    """Where the server's processes leave their metrics, and the socket of a port that these have of their own."""

    folder: Path
    scraped: Listener | None


async def _serve(supervisor: "_Supervisor") -> int:
    """Run the server, and answer meanwhile who asks a port of their own for its metrics."""
    folder, scraped = supervisor.counting
    async with contextlib.AsyncExitStack() as open_until_the_end:
        shared = await open_until_the_end.enter_async_context(sheets(folder / SUPERVISORS))
        if scraped is not None and shared is not None:
            from service.cli.metrics import exposed  # noqa: PLC0415 the framework is needed here alone, and large

            await open_until_the_end.enter_async_context(exposed(scraped.socket, shared))
        return await supervisor.run()


class _Supervisor:
    def __init__(self, plan: Plan, listener: Listener, counting: _Counting) -> None:
        self.counting = counting
        self._plan = plan
        self._listener = listener
        self._store = KeptStore(plan.place.data) if plan.place.redis is None else None
        self._settings = plan.settings
        self._apis: list[Kept] = []
        self._reactors: list[Kept] = []
        self._keeping: dict[Kept, asyncio.Task[int]] = {}
        self._obstacle: Unusable | None = None
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
        on_end(self._end)
        if self._plan.supervised:
            on_orphaned(self._stopping.set)

    def _end(self, number: signal.Signals) -> None:
        if not self._stopping.is_set():
            self._stopping.set()
            return
        self._hasty = number
        for kept in self._keeping:
            kept.kill()
        if self._store is not None:
            self._store.kill()

    async def _rise(self) -> None:
        with told():
            if self._store is not None:
                await self._store.start()
            url = self._store.url if self._store is not None else self._plan.place.redis or ""
            folder = self._plan.place.data if self._store is not None else None
            self._settings = self._plan.settings._replace(redis=url, folder=folder)
            for warning in await self._checked():
                say(f"WARNING: {warning}", "bold yellow")
        fd = self._listener.socket.fileno()
        arguments = ("api", "--fd", str(fd))
        for number in range(1, self._plan.workers + 1):
            name = "The API worker" if self._plan.workers == 1 else f"API worker {number}"
            self._apis.append(self._keep(Part(name, arguments, (fd,)), f"api-{number}"))
        for number in range(1, self._plan.reactors + 1):
            name, sheet = (
                ("The reactor", "reactor") if self._plan.reactors == 1 else (f"Reactor {number}", f"reactor-{number}")
            )
            self._reactors.append(self._keep(Part(name, ("react", "--supervised")), sheet))
        await self._await_ready()
        self._announce()

    async def _checked(self) -> tuple[str, ...]:
        """Return what deserves a warning; raise what keeps the store or the keys from being used.

        An embedded store that ended while it was looked at is started again and looked at anew.
        """
        for _ in range(LOOKS - 1):
            restarts = 0 if self._store is None else self._store.restarts
            try:
                return await warnings(self._settings)
            except StoreUnfit:
                if self._store is None:
                    raise
                await asyncio.sleep(LOOK_S)  # A killed process closes its socket a moment before it has ended.
                if not await self._store.revive() and self._store.restarts == restarts:
                    raise
        return await warnings(self._settings)

    async def _is_curable(self) -> bool:
        """Tell whether nothing that lasts keeps a process from its start; else the sentence about it is kept."""
        try:
            with told():
                await self._checked()
        except Unusable as obstacle:
            self._obstacle = obstacle
            return False
        return True

    def _keep(self, part: Part, sheet: str) -> Kept:
        """Start a part, which leaves its metrics on a sheet of this name, and keep it running."""
        settings = self._settings._replace(sheet=self.counting.folder / f"{sheet}.json")
        kept = Kept(part, settings.environment(), self._is_curable)
        self._keeping[kept] = asyncio.create_task(kept.keep())
        return kept

    async def _await_ready(self) -> None:
        ready = asyncio.create_task(self._all_ready())
        either: list[asyncio.Task[None] | asyncio.Task[int]] = [ready, *self._keeping.values()]
        try:
            async with asyncio.timeout(START_S):
                await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        except TimeoutError:
            late = [kept.what for kept in self._keeping if not kept.ready.is_set()]
            raise Failed(f"{' and '.join(late) or 'The service'} did not become ready in {START_S:.0f} s.") from None
        finally:
            ready.cancel()
        for kept, task in self._keeping.items():
            if task.done():
                raise self._obstacle or Failed(f"{kept.what} did not start: it ended with exit code {task.result()}.")

    async def _all_ready(self) -> None:
        for kept in self._keeping:
            await kept.ready.wait()
        await _probe(self._listener.socket)

    def _announce(self) -> None:
        in_use = f"in {self._plan.place.data}" if self._store is not None else f"at {where(self._settings.redis)}"
        announce(
            f"serves at [bold]{self._listener.url}[/]",
            f"How to play by HTTP: {self._listener.url}/docs",
            f"Its metrics, for Prometheus: {(self.counting.scraped or self._listener).url}/metrics",
            f"Its store is {in_use}. Ctrl-C stops it.",
        )

    async def _fall(self) -> None:
        self._listener.socket.close()
        await self._end_all(self._apis, 2 * GRACE_S)
        await self._end_all(self._reactors, GRACE_S)
        if self._store is not None:
            await self._store.stop()

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


async def _probe(listening: socket.socket) -> None:
    """Wait until the service is ready; what it says until then is that it isn't."""
    while True:
        if await _is_ready(listening):
            return
        await asyncio.sleep(LOOK_S)


async def _is_ready(listening: socket.socket) -> bool:
    """Tell whether the service answers as a client meets it, and says that it is ready."""
    host, port = listening.getsockname()[:2]
    # A wildcard address is reached through the loopback.
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 recognised here, not bound
    answer = b""
    # Whoever is killed while answering cuts the connection.
    with contextlib.suppress(OSError):
        reader, writer = await asyncio.open_connection(host, port)
        with contextlib.closing(writer):
            writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            answer = await reader.read()
    return answer.startswith(b"HTTP/1.1 200 ")
