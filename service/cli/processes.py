"""Processes that belong together: a supervisor, and those it started and starts again when they end.

A supervised process learns of its supervisor's death by the end of its standard input, even after `kill -9`, and says
on its standard output, in one line, when it is ready. It has a session of its own, so that Ctrl-C on the terminal
reaches the supervisor alone, which then ends everything in order.
"""

import asyncio
import contextlib
import gc
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import service
from service.cli.sentences import say
from service.metrics import Counter

READY = b"ready\n"

GRACE_S = 10
"""How long a process may take to finish what is under way when it is told to end."""

FIRST_PAUSE_S = 0.1
LAST_PAUSE_S = 10.0
STEADY_S = 30.0
"""A process that has run for so long ended for a new reason: the pause before its restart is the first one again."""

TRIES = 5
"""How often a process may end by itself without ever having been ready."""

YOUNG = 20_000
"""How many objects more than there were the garbage collector is to wait for."""

restarts = Counter("evenfold_restarts_total", "How often a part of the server was started again.", "part")

_ROOT = Path(service.__file__).parents[1]


def command(*arguments: str) -> tuple[str, ...]:
    """Return the command line of another process of ours, whatever the working directory holds (`-P`)."""
    return (sys.executable, "-P", "-m", "service", *arguments)


def environment(additions: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for another process of ours: it finds the code that runs here."""
    path = os.pathsep.join(filter(None, (str(_ROOT), os.environ.get("PYTHONPATH"))))
    return {**os.environ, "PYTHONPATH": path, **additions}


def settle_memory() -> None:
    """Set the garbage collector for a process that has made what stays, and makes little that refers to itself.

    It would look through all of that again and again: a tenth of a command's time.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)


def tell_ready() -> None:
    """Tell the supervisor that this process can do its work."""
    with contextlib.suppress(BrokenPipeError):
        os.write(1, READY)


def on_end(end: Callable[[signal.Signals], None]) -> None:
    """Call `end` with each signal that asks this process to end; the event loop must be running."""
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        # `nohup` has SIGHUP ignored, and means it.
        if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
            loop.add_signal_handler(number, end, number)


def on_orphaned(end: Callable[[], None]) -> None:
    """Call `end` when the supervisor of this process is gone; the event loop must be running."""
    loop = asyncio.get_running_loop()

    def read() -> None:
        if not os.read(0, 1024):
            loop.remove_reader(0)
            end()

    loop.add_reader(0, read)


class Part(NamedTuple):
    """A process to keep: what people call it, its command's arguments, the descriptors that it inherits."""

    what: str
    arguments: Sequence[str]
    fds: Sequence[int] = ()


class Kept:
    """A process that is started anew whenever it ends, until it is told to stop.

    `curable` is asked when it ends by itself before it was ready for the first time: whether what kept it from its
    start may be over. If not, or after TRIES such ends, it stays ended; after a kill it never does.
    """

    def __init__(self, part: Part, settings: Mapping[str, str], curable: Callable[[], Awaitable[bool]]) -> None:
        self.what = part.what
        self._part = part.arguments[0]
        restarts.expect(self._part)
        self.ready = asyncio.Event()
        self._command = command(*part.arguments)
        self._environment = environment(settings)
        self._fds = tuple(part.fds)
        self._curable = curable
        self._false_starts = 0
        self._stopping = asyncio.Event()
        self._process: Process | None = None

    async def keep(self) -> int:
        """Keep the process running until `stop`; return its last exit code."""
        pause_s = FIRST_PAUSE_S
        loop = asyncio.get_running_loop()
        while True:
            began = loop.time()
            code = await self._run()
            hopeful = self._stopping.is_set() or await self._is_hopeful(code)
            if self._stopping.is_set() or not hopeful:
                return code
            if loop.time() - began > STEADY_S:
                pause_s = FIRST_PAUSE_S
            say(f"{self.what} {_end(code)}; it is started again.")
            restarts.add(self._part)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause_s)
                return code
            pause_s = min(2 * pause_s, LAST_PAUSE_S)

    def stop(self) -> None:
        """Ask the process to finish what it does and end; `keep` then returns."""
        self._stopping.set()
        self._signal(Process.terminate)

    def kill(self) -> None:
        """End the process at once; `keep` then returns."""
        self._stopping.set()
        self._signal(Process.kill)

    async def _is_hopeful(self, code: int) -> bool:
        """Tell whether it may work next time, after an end that nobody asked for."""
        if self.ready.is_set() or code < 0:
            return True
        self._false_starts += 1
        return self._false_starts < TRIES and await self._curable()

    async def _run(self) -> int:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            stdin=PIPE,
            stdout=PIPE,
            pass_fds=self._fds,
            env=self._environment,
            start_new_session=True,
        )
        self._process = process
        if self._stopping.is_set():
            self._signal(Process.terminate)
        if process.stdout is None:
            raise RuntimeError("a process was started without its output")
        while line := await process.stdout.readline():
            if line == READY:
                self.ready.set()
        return await process.wait()

    def _signal(self, send: Callable[[Process], None]) -> None:
        if self._process is not None and self._process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                send(self._process)


def _end(code: int) -> str:
    return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
