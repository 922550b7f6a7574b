"""Commands as a person runs them: processes of their own, watched until nothing of them is left."""

import contextlib
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

import httpx

from tests.documented import serving_games
from tests.served import Person

ROOT = Path(__file__).parents[3]

PATIENCE_S = 30.0
"""How long anything may take that is waited for: long enough for a machine that does much else."""

# Many people come from one address here, and fast.
_UNLIMITED = {"EVENFOLD_RATE_LIMIT": "0", "EVENFOLD_SIGN_UP_LIMIT": "0", "EVENFOLD_STREAM_LIMIT": "0"}
CLEAN = {name: value for name, value in os.environ.items() if not name.startswith(("EVENFOLD_", "LC_", "LANG"))}
CLEAN["LANG"] = "C.UTF-8"
"""The environment of every command: without settings of ours, and told in English wherever the tests run."""


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    return subprocess.run(
        command(*arguments),
        cwd=ROOT,
        env={**CLEAN, **variables},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        check=False,
    )


def command(*arguments: str) -> list[str]:
    """Return the command line of a command."""
    return [sys.executable, "-m", "service", *arguments]


class Outcome(NamedTuple):
    """What came of a command: its exit code, what it printed, what it told on the error stream."""

    code: int
    printed: str
    told: str

    @property
    def refusal(self) -> str:
        """The one sentence with which what was asked is refused."""
        assert (self.code, self.printed) == (2, "")
        return one_line(self.told)


Called = Callable[..., Outcome]


def one_line(said: str) -> str:
    """Return what was said, which is one sentence."""
    assert said.count("\n") == 1, said
    assert said.startswith("evenfold: ")
    assert said.endswith(".\n")
    return said.rstrip("\n")


@contextlib.contextmanager
def person(url: str) -> Iterator[Person]:
    """Give somebody with an account, whose connections are closed afterwards."""
    ada = Person(url)
    with contextlib.closing(ada.http):
        yield ada


def until(fact: Callable[[], object]) -> None:
    """Return when a fact holds; fail where it does not within the patience."""
    deadline = time.monotonic() + PATIENCE_S
    while not fact():
        assert time.monotonic() < deadline, fact
        time.sleep(0.02)


class Server:
    """`evenfold serve` as it runs."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self.process = process
        self.data = folder / "data"
        self.says = folder / "says"
        self.url = ""

    def await_address(self) -> None:
        """Read where it serves; fail with what it says if it does not."""
        assert self.process.stdout
        line = _line(self.process.stdout)
        found = re.search(r"http://\S+", line)
        assert found, self.complaints()
        self.url = found[0]

    def complaints(self) -> str:
        """Return what it wrote to the error stream so far."""
        return self.says.read_text()

    def is_ready(self) -> bool:
        """Tell whether it answers and has its store."""
        try:
            return httpx.get(f"{self.url}/readyz", verify=False).is_success  # noqa: S501 plain HTTP on the loopback
        except httpx.TransportError:
            return False

    def parts(self) -> dict[int, str]:
        """Return its processes, by id, with their command lines."""
        return {pid: line for pid, (parent, line) in processes().items() if parent == self.process.pid}

    def part(self, word: str) -> int:
        """Return the process whose command line has this word; 0 if there is none now."""
        return next((pid for pid, line in self.parts().items() if word in line), 0)

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextlib.contextmanager
def starting(folder: Path, *arguments: str, **variables: str) -> Iterator[Server]:
    """Start to serve from a folder on a free port; in the end nothing of the server may be left."""
    where = ("--port", "0", "--data", str(folder / "data"), "--bot-pause", "0")
    with (
        (folder / "says").open("w") as complaints,
        subprocess.Popen(
            command("serve", *where, *arguments),
            cwd=ROOT,
            env={**CLEAN, **_UNLIMITED, **variables},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        ) as process,
    ):
        server = Server(process, folder)
        try:
            yield server
        finally:
            parts = server.parts()
            if process.poll() is None:
                process.terminate()
                process.wait(PATIENCE_S)
            until(lambda: not parts.keys() & processes().keys())


@contextlib.contextmanager
def serving(folder: Path, *arguments: str, **variables: str) -> Iterator[Server]:
    """Serve from a folder, as `starting` does, until all answers."""
    with starting(folder, *arguments, **variables) as server:
        server.await_address()
        with serving_games(server.url, *variables.get("EVENFOLD_GAMES", "").split()):
            yield server


class Alone:
    """`evenfold api` or `evenfold react` as a person runs it."""

    def __init__(self, process: subprocess.Popen[str], says: Path) -> None:
        self.process = process
        self.said: list[str] = []
        self.url = ""
        self._says = says

    def await_ready(self) -> None:
        """Read what it says when it is ready; fail with what it complains of if it is not."""
        assert self.process.stdout
        line = _line(self.process.stdout)
        assert line.startswith("Evenfold "), self.complaints()
        self.said.append(line.split(" ", 2)[2].rstrip())
        while "Ctrl-C" not in self.said[-1]:
            # It says all of it at once.
            self.said.append(self.process.stdout.readline().rstrip())
        found = re.search(r"http://\S+", line)
        self.url = found[0] if found else ""

    def complaints(self) -> str:
        """Return what it wrote to the error stream so far."""
        return self._says.read_text()

    def end(self, number: signal.Signals = signal.SIGTERM) -> int:
        """End it, and return its exit code."""
        self.process.send_signal(number)
        return self.process.wait(PATIENCE_S)


@contextlib.contextmanager
def alone(*arguments: str, **variables: str) -> Iterator[Alone]:
    """Run a command that serves, by itself and with no input; yield it when it is ready."""
    with together(arguments, **variables) as (one,):
        yield one


@contextlib.contextmanager
def together(*commands: Sequence[str], **variables: str) -> Iterator[list[Alone]]:
    """Run several commands that serve; yield them when all are ready."""
    with contextlib.ExitStack() as running:
        folder = Path(running.enter_context(tempfile.TemporaryDirectory()))
        those = [
            running.enter_context(beginning(folder / str(number), arguments, variables))
            for number, arguments in enumerate(commands)
        ]
        for one in those:
            one.await_ready()
        yield those


@contextlib.contextmanager
def beginning(says: Path, arguments: Sequence[str], variables: Mapping[str, str]) -> Iterator[Alone]:
    """Run a command that serves, and yield it at once; what it complains of goes to the file `says`, after the rest."""
    with (
        says.open("a") as complaints,
        subprocess.Popen(
            command(*arguments),
            cwd=ROOT,
            env={**CLEAN, **_UNLIMITED, **variables},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=complaints,
            text=True,
        ) as process,
    ):
        try:
            yield Alone(process, says)
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait(PATIENCE_S)


def processes() -> dict[int, tuple[int, str]]:
    """Return every process that runs (a zombie doesn't), by id: its parent and its command line."""
    running = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (folder / "stat").read_text().rpartition(")")[2].split()[:2]
                line = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                if state != "Z":
                    running[int(folder.name)] = (int(parent), line)
    return running


def _line(stream: IO[str]) -> str:
    """Read a line, waiting no longer than the patience for its beginning."""
    ready, _, _ = select.select([stream], [], [], PATIENCE_S)
    assert ready, "nothing was said"
    return stream.readline()
