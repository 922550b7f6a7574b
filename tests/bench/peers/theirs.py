"""A peer's side: its server and all its players, programs for Node that are installed from npm by their locks."""

import os
import select
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tests.bench.peers.round import Outcome, Round

HERE = Path(__file__).parent
SHARED = ("rules.js", "rounds.js", "loopback.js")

ANSWER_S = 60
"""How long a round may take beyond the seconds it is played for."""

# No package's own scripts are run: neither peer needs any. Colyseus names peers of its own that it does not need here.
_INSTALL = ("npm", "ci", "--ignore-scripts", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error")
_INSTALLED = "installed"


class Missing(Exception):
    """The peers can't be run here; the message is one sentence."""


class Peer:
    """A peer's driver, which runs its server too."""

    def __init__(self, process: "subprocess.Popen[bytes]", name: str) -> None:
        self._process = process
        self._name = name

    def play(self, wanted: Round) -> Outcome:
        """Play a round."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        asked.write(msgspec.json.encode(wanted) + b"\n")
        asked.flush()
        readable, _, _ = select.select([answers], [], [], wanted.seconds + ANSWER_S)
        line = answers.readline() if readable else b""
        if not line:
            raise RuntimeError(f"{self._name} did not answer a round: {self._process.poll()}")
        return msgspec.json.decode(line, type=Outcome)


def install(name: str, folder: Path) -> Path:
    """Put a peer's programs into a folder, with what they need from npm unless it is there; raise Missing."""
    for tool in ("node", "npm"):
        if shutil.which(tool) is None:
            raise Missing(f"The peers run on Node, and there is no {tool} here: install Node 20 or newer, with npm.")
    place = folder / name
    shutil.copytree(HERE / name, place, dirs_exist_ok=True)
    for shared in SHARED:
        shutil.copy(HERE / shared, folder)
    lock = (place / "package-lock.json").read_bytes()
    installed = place / _INSTALLED
    if not installed.is_file() or installed.read_bytes() != lock:
        done = subprocess.run(_INSTALL, cwd=place, check=False, capture_output=True, text=True)
        if done.returncode:
            raise Missing(f"npm could not install {name}: {done.stderr.strip()}")
        installed.write_bytes(lock)
    return place


@contextmanager
def running(place: Path) -> Iterator[Peer]:
    """Run an installed peer until the end of the block."""
    with subprocess.Popen(
        ["node", str(place / "driver.js")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "NODE_ENV": "production"},
    ) as process:
        try:
            yield Peer(process, place.name)
        finally:
            process.terminate()
