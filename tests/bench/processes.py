"""The processes that are measured: API workers as `serve` starts them, and the floors they are held against.

The workers have everything on, limits too, set so high that nobody meets them. They listen each at a port of its own,
so that a load says which connection goes to which of them, and the store is one of the bench's own.
"""

import select
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from service.cli.listening import listen
from service.cli.processes import READY, command, environment
from service.embedded import Embedded
from service.settings import NO_LIMITS, Settings
from tests.bench.servers import HOST, Process

ENDLESS = "toy"
MODULE = "tests.toy.service.toy"
"""The game without end, which alone can be measured at version 10,000, and where it is."""

START_S = 60
"""How long a process may take to become ready."""

_VARIABLES = {
    "EVENFOLD_LOG_LEVEL": "error",  # A busy machine makes answers slow, and each that is would be told of.
    "EVENFOLD_TABLE_QUOTA": "1000000",
    "EVENFOLD_RATE_LIMIT": "1000000",
    "EVENFOLD_SIGN_UP_LIMIT": "1000000",
    "EVENFOLD_MIN_FREE": "1",
    "EVENFOLD_STREAM_LIMIT": "1000000",
}
"""Limits that are kept count of and never met, by their variables: revisions that know of none can be measured too."""


class Rig(NamedTuple):
    """What a part measures: the store, processes of floors, workers, and how to start others."""

    store: str
    floors: tuple[Process, ...]
    workers: tuple[Process, ...]
    variables: dict[str, str]

    @contextmanager
    def another(self) -> Iterator[Process]:
        """Run one more worker, which knows nothing of any table yet."""
        with _running([_worker_command], self.variables) as (worker,):
            yield worker

    @contextmanager
    def fanout(self) -> Iterator[Process]:
        """Run the floor of streams."""
        with _running([_fanout_command], self.variables) as (floor,):
            yield floor


class Serving(NamedTuple):
    """One worker and its store, each by its process."""

    worker: Process
    store_pid: int


@contextmanager
def serving(game: str) -> Iterator[Serving]:
    """Start a store, and a worker that knows a game outside the tree and sets no limits; end both afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evenfold-bench-")))
        store = stack.enter_context(Embedded(folder / "data", what="the bench"))
        settings = Settings(
            redis=store.url,
            keys=folder / "keys",
            games=(game,),
            bot_pause_ms=0,
            limits=NO_LIMITS,
            log_level="error",
        )
        (worker,) = stack.enter_context(_running([_worker_command], settings.environment()))
        assert store.pid is not None
        yield Serving(worker, store.pid)


@contextmanager
def rig(floors: int = 2, workers: int = 2) -> Iterator[Rig]:
    """Start a store, so many floors and workers, and end them afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evenfold-bench-")))
        store = stack.enter_context(Embedded(folder / "data", what="the bench"))
        settings = Settings(redis=store.url, keys=folder / "keys", games=(MODULE,))
        variables = settings.environment() | _VARIABLES
        kinds = [_floors_command] * floors + [_worker_command] * workers
        started = tuple(stack.enter_context(_running(kinds, variables)))
        yield Rig(store.url, started[:floors], started[floors:], variables)


def _worker_command(fd: int) -> tuple[str, ...]:
    return command("api", "--fd", str(fd))


def _floors_command(fd: int) -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.bench.floors", str(fd))


def _fanout_command(fd: int) -> tuple[str, ...]:
    return (sys.executable, "-m", "tests.bench.fanout", str(fd))


@contextmanager
def _running(kinds: Sequence[Callable[[int], tuple[str, ...]]], variables: dict[str, str]) -> Iterator[list[Process]]:
    """Run processes until the end of the block; they start side by side, each listens at a free port."""
    with ExitStack() as stack:
        started = [stack.enter_context(_started(kind, variables)) for kind in kinds]
        for process, _ in started:
            _await_ready(process)
        yield [Process(port, process.pid) for process, port in started]


@contextmanager
def _started(
    kind: Callable[[int], tuple[str, ...]], variables: dict[str, str]
) -> "Iterator[tuple[subprocess.Popen[bytes], int]]":
    listener = listen(HOST, 0)
    fd = listener.socket.fileno()
    port: int = listener.socket.getsockname()[1]
    with listener.socket:
        process = subprocess.Popen(
            kind(fd),
            stdin=subprocess.PIPE,  # It ends by itself when this end is closed, however we go.
            stdout=subprocess.PIPE,
            pass_fds=(fd,),
            env=environment(variables),
        )
    try:
        yield process, port
    finally:
        process.terminate()
        process.communicate(timeout=START_S)


def _await_ready(process: "subprocess.Popen[bytes]") -> None:
    if process.stdout is None:
        raise RuntimeError("a process was started without its output")
    readable, _, _ = select.select([process.stdout], [], [], START_S)
    if not readable or process.stdout.readline() != READY:
        raise RuntimeError(f"a server that was to be measured did not become ready: {process.poll()}")
