"""The embedded store keeps what it acknowledged, and one owner at a time."""

import contextlib
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pytest

from service.embedded import SETTINGS, Embedded, Occupied, StoreFailed
from tests.stores import asking, holds, is_cut, lifeline, write

OwnStore = Callable[..., Embedded]

ROOT = Path(__file__).parents[2]

OWNER = """
import os
import signal
import sys
from pathlib import Path
from service.embedded import Embedded, Occupied

store = Embedded(Path(sys.argv[1]))
signal.signal(signal.SIGINT, lambda *_: os.write(1, f"interrupted {store.alive()}\\n".encode()))
try:
    store.start()
except Occupied as occupied:
    sys.exit(print(occupied))
print(store.url, flush=True)
sys.stdin.read()
store.stop()
"""
"""A server as far as the store can tell: it prints where the store listens, or why it may not have it."""


@contextlib.contextmanager
def owner(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run an owner of the folder in a process (and process group) of its own."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        yield process


def line(stream: IO[str] | None) -> str:
    assert stream
    return stream.readline().rstrip("\n")


def orphan(folder: Path) -> socket.socket:
    """Leave a store behind that holds the key "kept", its owner killed; answer a lifeline to it."""
    with owner(folder) as process:
        write(line(process.stdout), "kept")
        process.kill()
    left = lifeline((folder / "valkey.sock").resolve())
    assert not is_cut(left)
    return left


def test_the_store_is_durable_evicts_nothing_and_has_no_port(own_store: OwnStore, tmp_path: Path) -> None:
    expected = {
        "appendonly": "yes",
        "appendfsync": "always",
        "maxmemory-policy": "noeviction",
        "port": "0",
        "save": "",
        "dir": str(tmp_path / "data"),
    }
    with asking(own_store().url) as client:
        assert {name: client.config_get(name)[name] for name in SETTINGS} == SETTINGS
        assert {name: client.config_get(name)[name] for name in expected} == expected


def test_a_stop_and_a_start_lose_nothing(own_store: OwnStore) -> None:
    first = own_store()
    write(first.url, "kept")
    first.stop()
    assert not first.alive()
    assert holds(own_store().url, "kept")


def test_a_stopped_store_starts_again(own_store: OwnStore) -> None:
    store = own_store()
    store.stop()
    store.start()
    assert store.alive()


def test_what_was_acknowledged_survives_the_death_of_the_store(own_store: OwnStore) -> None:
    store = own_store()
    url, pid = store.url, store.pid
    write(url, "kept")
    assert not store.ensure()
    kill(store)
    assert not store.alive()
    assert store.ensure()
    assert store.alive()
    assert (store.url, store.pid != pid) == (url, True)
    assert holds(url, "kept")


def test_what_was_acknowledged_survives_the_death_of_its_owner(own_store: OwnStore, tmp_path: Path) -> None:
    with orphan(tmp_path / "data") as left:
        assert holds(own_store().url, "kept")
        assert is_cut(left)


def test_what_was_acknowledged_survives_the_death_of_both(own_store: OwnStore, tmp_path: Path) -> None:
    with orphan(tmp_path / "data"):
        os.kill(int((tmp_path / "data" / "valkey.pid").read_text()), signal.SIGKILL)
    assert holds(own_store().url, "kept")


def test_an_orphan_whose_socket_is_gone_is_found(own_store: OwnStore, tmp_path: Path) -> None:
    with orphan(tmp_path / "data") as left:
        (tmp_path / "data" / "valkey.sock").unlink()
        assert holds(own_store().url, "kept")
        assert is_cut(left)


def test_an_old_process_id_ends_nobody(own_store: OwnStore, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "valkey.pid").write_text(str(os.getpid()))
    (tmp_path / "data" / "valkey.sock").touch()
    assert own_store().alive()


def test_an_interrupt_of_the_whole_group_leaves_the_store_to_its_owner(tmp_path: Path) -> None:
    with owner(tmp_path / "data") as process:
        line(process.stdout)
        with lifeline(tmp_path / "data" / "valkey.sock") as store:
            os.killpg(process.pid, signal.SIGINT)
            # Only now, for a signal that comes just before the read is acted on just after it.
            assert process.stdin
            process.stdin.close()
            assert line(process.stdout) == "interrupted True"
            process.wait()
            assert is_cut(store)


def test_a_second_owner_is_refused_with_the_name_of_the_first(own_store: OwnStore, tmp_path: Path) -> None:
    first = own_store()
    with pytest.raises(Occupied) as refused:
        own_store()
    assert str(refused.value).startswith(
        f"The data folder {tmp_path / 'data'} is in use by a test (process {os.getpid()}, since 2"
    )
    assert first.alive()


def test_of_many_owners_at_once_exactly_one_wins(tmp_path: Path) -> None:
    with orphan(tmp_path / "data"), contextlib.ExitStack() as running:
        owners = [running.enter_context(owner(tmp_path / "data")) for _ in range(4)]
        said = {process.pid: line(process.stdout) for process in owners}
        winners = [pid for pid, word in said.items() if word.startswith("unix://")]
        assert len(winners) == 1
        for pid in said.keys() - winners:
            assert f"in use by evenfold serve (process {winners[0]}, since" in said[pid]
        assert holds(said[winners[0]], "kept")


@pytest.mark.parametrize("name", ["deep/" * 40 + "er", "a b 'c' \"d\" é #e?f%20g"], ids=["200 characters", "odd ones"])
def test_a_folder_may_have_any_path(own_store: OwnStore, tmp_path: Path, name: str) -> None:
    store = own_store(tmp_path / name)
    write(store.url, "kept")
    kill(store)
    store.ensure()
    assert holds(store.url, "kept")


def test_a_private_folder_for_the_socket_goes_when_the_store_goes(own_store: OwnStore, tmp_path: Path) -> None:
    folder = tmp_path / ("d" * 200)
    with orphan(folder):
        elsewhere = (folder / "valkey.sock").readlink()
        assert stat.S_IMODE(elsewhere.parent.stat().st_mode) == 0o700
        store = own_store(folder)
        assert not elsewhere.parent.exists()
    elsewhere = (folder / "valkey.sock").readlink()
    store.stop()
    assert not elsewhere.parent.exists()


def test_a_socket_swept_away_is_put_back_at_the_same_address(own_store: OwnStore, tmp_path: Path) -> None:
    store = own_store(tmp_path / ("d" * 200))
    url = store.url
    write(url, "kept")
    shutil.rmtree((tmp_path / ("d" * 200) / "valkey.sock").readlink().parent)
    assert store.ensure()
    assert holds(url, "kept")


def test_all_that_is_written_is_the_users_alone(own_store: OwnStore, tmp_path: Path) -> None:
    write(own_store(tmp_path / "new" / "data").url, "kept")
    written = [tmp_path / "new" / "data", *(tmp_path / "new" / "data").rglob("*")]
    assert {path.name for path in written} > {"data", "lock", "valkey.sock", "valkey.log", "appendonlydir"}
    assert [path for path in written if path.lstat().st_mode & 0o077] == []


def test_a_torn_last_entry_is_cut_off(own_store: OwnStore, tmp_path: Path) -> None:
    store = own_store()
    write(store.url, "kept")
    write(store.url, "torn")
    kill(store)
    newest = log_file(tmp_path / "data")
    os.truncate(newest, newest.stat().st_size - 3)
    store.ensure()
    assert (holds(store.url, "kept"), holds(store.url, "torn")) == (True, False)


def test_a_broken_log_is_told_in_the_stores_words_and_leaves_the_folder_free(
    own_store: OwnStore, tmp_path: Path
) -> None:
    store = own_store()
    write(store.url, "kept")
    store.stop()
    whole = log_file(tmp_path / "data").read_bytes()
    log_file(tmp_path / "data").write_bytes(b"nonsense\r\n" + whole)
    with pytest.raises(StoreFailed, match=r"did not start: .*[Bb]ad file format.*valkey\.log\)\.$"):
        own_store()
    log_file(tmp_path / "data").write_bytes(whole)
    assert holds(own_store().url, "kept")


def test_a_file_is_no_folder(own_store: OwnStore, tmp_path: Path) -> None:
    (tmp_path / "data").touch()
    with pytest.raises(StoreFailed, match=r"^The data folder .*/data is not a folder\.$"):
        own_store()
    with pytest.raises(StoreFailed, match=r"can't use .*: Not a directory\.$"):
        own_store(tmp_path / "data" / "below")


def test_a_place_that_can_not_be_written_is_told_in_a_sentence(own_store: OwnStore) -> None:
    # /dev/null has no folders below it for anyone, root included.
    with pytest.raises(StoreFailed, match=r"^The embedded store can't use /dev/null/.*: Not a directory\.$"):
        own_store(Path("/dev/null/evenfold/data"))


def test_a_long_log_of_the_store_is_put_aside(own_store: OwnStore, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "valkey.log").write_bytes(b"." * 2_000_000)
    assert own_store().alive()
    assert (tmp_path / "data" / "valkey.log").stat().st_size < 10_000
    assert (tmp_path / "data" / "valkey.log.1").stat().st_size == 2_000_000


def kill(store: Embedded) -> None:
    """Kill the store as a machine short of memory would, and wait until it is gone."""
    assert store.pid
    os.kill(store.pid, signal.SIGKILL)
    os.waitid(os.P_PID, store.pid, os.WEXITED | os.WNOWAIT)


def log_file(folder: Path) -> Path:
    """Find the append-only file that the store writes to now."""
    return max((folder / "appendonlydir").glob("*.incr.aof"), key=lambda path: path.stat().st_mtime_ns)
