"""Whoever archives is cut off anywhere, or handed a bad copy, and no entry is ever lost."""

import gzip
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import Redis

from service import games
from service.archive import Archive, keys_in, packed, path_of, tombstone_of
from service.archiving import Archiving, Lost, Moved
from service.errors import ArchiveAway, NotFound
from service.ids import new_id
from service.log import Log
from service.streams import Broken, Stored, head_after, keys_of, table_stream
from tests.archives import archiving
from tests.service.audit.records import match_of

pytestmark = pytest.mark.anyio

MATCH = match_of("kowah")
STREAM = table_stream(MATCH.table)
KEYS = keys_of(STREAM)
NOW = 1 << 62


async def fill(log: Log, entries: Sequence[Stored]) -> None:
    for stored in entries:
        await log.append(STREAM, stored.version - 1, stored.e, stored.h, "key" if stored.version == 1 else None)


@pytest.fixture
async def parts(store: Redis, valkey_url: str, tmp_path: Path) -> AsyncIterator[tuple[Archiving, Log]]:
    """Give what archives, with a match in the store that has ended."""
    assert await store.ping()
    async with archiving(valkey_url, tmp_path / "archive", NOW) as (made, log):
        await fill(log, MATCH.stored)
        yield made, log
    await store.flushall()  # Nobody else's reactors know where the archive is.


def file_of(tmp_path: Path) -> Path:
    return tmp_path / "archive" / path_of(STREAM, len(MATCH.stored))


async def test_an_archived_stream_leaves_the_store_and_is_read_as_before(
    parts: tuple[Archiving, Log], store: Redis, tmp_path: Path
) -> None:
    made, log = parts
    size = len(MATCH.stored)
    before = [await read(log) for read in READINGS]
    moved = await made.consider(STREAM)
    assert moved == Moved("archived", size, file_of(tmp_path).stat().st_size)
    assert await store.exists(KEYS.stream, KEYS.remembered) == 0
    assert await store.get(KEYS.tombstone) == tombstone_of(STREAM, MATCH.stored[-1])
    assert [await read(log) for read in READINGS] == before
    assert await made.consider(STREAM) == Moved("there", size)


READINGS: list[Callable[[Log], Awaitable[object]]] = [
    lambda log: log.read(STREAM),
    lambda log: log.read(STREAM, 3),
    lambda log: log.read(STREAM, 3, 2),
    lambda log: log.read(STREAM, len(MATCH.stored)),
    lambda log: log.read_range(STREAM, 1, 1),
    lambda log: log.read_range(STREAM, 2, 9_999),
    lambda log: log.newest(STREAM, 0),
    lambda log: log.newest(STREAM, 2, None, MATCH.stored[1].h),
    lambda log: log.newest(STREAM, len(MATCH.stored)),
    lambda log: log.last(STREAM),
]


async def test_the_file_says_every_byte_of_e_and_h_and_nothing_else(
    parts: tuple[Archiving, Log], tmp_path: Path
) -> None:
    made, _ = parts
    await made.consider(STREAM)
    first, *lines = gzip.decompress(file_of(tmp_path).read_bytes()).splitlines()
    last = MATCH.stored[-1]
    header = f'{{"archive":1,"stream":"{STREAM}","version":{last.version},"head":"{last.h.hex()}"}}'
    assert first.decode() == header
    assert lines == [b'{"h":"%s","e":%s}' % (stored.h.hex().encode(), stored.e) for stored in MATCH.stored]


async def test_what_has_not_rested_long_enough_or_not_ended_stays(
    parts: tuple[Archiving, Log], store: Redis, valkey_url: str, tmp_path: Path
) -> None:
    async with archiving(valkey_url, tmp_path / "archive", 0) as (early, _):
        assert (await early.consider(STREAM)).fate == "recent"
    await store.flushall()
    made, log = parts
    await fill(log, MATCH.stored[:-1])
    assert (await made.consider(STREAM)).fate == "live"
    assert list((tmp_path / "archive").iterdir()) == []


async def test_a_dry_run_changes_nothing(parts: tuple[Archiving, Log], store: Redis, tmp_path: Path) -> None:
    moved = await parts[0].consider(STREAM, dry=True)
    assert (moved.fate, moved.size > 0) == ("archived", True)
    assert await store.exists(KEYS.tombstone) == 0
    assert list((tmp_path / "archive").iterdir()) == []


@pytest.mark.parametrize("last_step", ["put", "copy", "bury"])
async def test_whoever_is_cut_off_after_a_step_has_lost_nothing_and_the_next_run_goes_on(
    parts: tuple[Archiving, Log], store: Redis, tmp_path: Path, last_step: str
) -> None:
    made, log = parts
    entries = await made.read(STREAM)
    if last_step == "put":
        file_of(tmp_path).parent.mkdir()
        file_of(tmp_path).write_bytes(packed(STREAM, entries)[:99])  # It was still being written.
    else:
        await made.copy(STREAM, entries, packed(STREAM, entries))
    if last_step == "bury":
        assert await made.bury(STREAM, entries[-1])
    assert await log.read_range(STREAM, 1, 9_999) == list(MATCH.stored)
    assert (await made.consider(STREAM)).fate == "archived"
    assert await store.exists(KEYS.stream) == 0
    assert await log.read_range(STREAM, 1, 9_999) == list(MATCH.stored)


async def test_a_stream_that_grew_while_it_was_copied_stays(parts: tuple[Archiving, Log], store: Redis) -> None:
    made, _ = parts
    assert not await made.bury(STREAM, MATCH.stored[-2])
    assert await store.exists(KEYS.tombstone) == 0


def damaged(file: bytes, how: str) -> bytes:
    """Return a file that somebody has changed."""
    text = gzip.decompress(file)
    lines = text.splitlines(keepends=True)
    return {
        "cut": file[: len(file) // 2],
        "flipped": file[:40] + bytes([file[40] ^ 1]) + file[41:],
        "no file": b"not gzip",
        "nothing": b"",
        "shorter": gzip.compress(b"".join(lines[:-1])),
        "another byte": gzip.compress(text.replace(b'"version":2', b'"version":3', 1)),
        "headless": gzip.compress(b"".join(lines[1:])),
        "more": gzip.compress(text + b"{}\n"),
    }[how]


@pytest.mark.parametrize("how", ["cut", "flipped", "no file", "nothing", "shorter", "another byte", "headless", "more"])
async def test_a_bad_copy_is_found_before_the_stream_goes_and_by_whoever_reads_it(
    parts: tuple[Archiving, Log], store: Redis, tmp_path: Path, how: str
) -> None:
    made, log = parts
    entries = await made.read(STREAM)
    await made.copy(STREAM, entries, packed(STREAM, entries))
    await made.bury(STREAM, entries[-1])
    good = file_of(tmp_path).read_bytes()
    file_of(tmp_path).write_bytes(damaged(good, how))
    with pytest.raises(Broken):
        await made.consider(STREAM)
    assert await store.xlen(KEYS.stream) == len(entries)
    await made.unlink(STREAM)
    for reading in (log.read(STREAM), log.restore(STREAM)):
        with pytest.raises(Broken):
            await reading
    file_of(tmp_path).write_bytes(good)
    assert await log.read_range(STREAM, 1, 9_999) == entries


@pytest.mark.parametrize("e", [b'{"at":1}', b"\xff"])
async def test_a_log_that_can_not_be_read_is_damaged_and_stays(
    parts: tuple[Archiving, Log], store: Redis, e: bytes
) -> None:
    made, log = parts
    last = MATCH.stored[-1]
    await log.append(STREAM, last.version, e, head_after(last.h, e), None, last.h)
    for dry in (True, False):
        with pytest.raises(Broken):
            await made.consider(STREAM, dry=dry)
    assert await store.xlen(KEYS.stream) == last.version + 1


class Fickle(BaseHTTPRequestHandler):
    """A bucket that takes every file, and hands back one that somebody has changed."""

    how = ""
    kept = b""

    def do_PUT(self) -> None:
        """Take a file."""
        Fickle.kept = damaged(self.rfile.read(int(self.headers["Content-Length"])), self.how)
        self._answer(b"")

    def do_GET(self) -> None:
        """Hand it back."""
        self._answer(self.kept)

    def _answer(self, body: bytes) -> None:
        self.send_response(200)
        self.send_header("ETag", '"one"')
        self.send_header("Last-Modified", "Tue, 14 Nov 2023 22:13:20 GMT")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Say nothing of it."""


@pytest.fixture
def fickle(monkeypatch: pytest.MonkeyPatch) -> Iterator[Archive]:
    """Give an archive in such a bucket."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Fickle) as server:
        serving = threading.Thread(target=server.serve_forever)
        serving.start()
        for name, value in {
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{server.server_port}",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "us",
            "AWS_SECRET_ACCESS_KEY": "secret",
        }.items():
            monkeypatch.setenv(name, value)
        yield Archive("s3://tables/ended")
        server.shutdown()
        serving.join()


@pytest.mark.parametrize("how", ["cut", "shorter", "another byte"])
async def test_a_place_that_hands_back_other_bytes_gets_no_tombstone(
    parts: tuple[Archiving, Log],
    store: Redis,
    fickle: Archive,
    monkeypatch: pytest.MonkeyPatch,
    how: str,
) -> None:
    monkeypatch.setattr(Fickle, "how", how)
    made = Archiving(store, parts[1], fickle, games.find(), NOW)
    with pytest.raises(Broken):
        await made.consider(STREAM)
    assert Fickle.kept
    assert (await store.xlen(KEYS.stream), await store.exists(KEYS.tombstone)) == (len(MATCH.stored), 0)


async def test_a_place_that_lacks_the_file_of_a_tombstone_is_told_from_one_that_has_it(
    parts: tuple[Archiving, Log], store: Redis, valkey_url: str, tmp_path: Path
) -> None:
    made, _ = parts
    async with archiving(valkey_url, tmp_path / "other", NOW) as (elsewhere, _):
        assert await elsewhere.lost() == Lost([], all_of_them=False)
        await made.consider(STREAM)
        assert (await made.lost()).streams == []
        assert await elsewhere.lost() == Lost([STREAM], all_of_them=True)
        await store.set(KEYS.tombstone, b"unreadable")
        assert (await elsewhere.lost()).streams == []
    (tmp_path / "archive").rename(tmp_path / "away")
    await store.set(KEYS.tombstone, tombstone_of(STREAM, MATCH.stored[-1]))
    with pytest.raises(ArchiveAway):
        await made.lost()


async def test_a_place_that_is_away_keeps_the_stream_in_the_store(
    parts: tuple[Archiving, Log], store: Redis, tmp_path: Path
) -> None:
    made, _ = parts
    (tmp_path / "archive").rmdir()
    with pytest.raises(ArchiveAway, match="no such folder"):
        await made.consider(STREAM)
    assert (await store.xlen(KEYS.stream), await store.exists(KEYS.tombstone)) == (len(MATCH.stored), 0)


async def test_a_place_that_takes_no_file_keeps_the_stream_in_the_store(
    parts: tuple[Archiving, Log], store: Redis, tmp_path: Path
) -> None:
    file_of(tmp_path).parent.write_text("in the way")
    with pytest.raises(ArchiveAway):
        await parts[0].consider(STREAM)
    assert (await store.xlen(KEYS.stream), await store.exists(KEYS.tombstone)) == (len(MATCH.stored), 0)


async def test_a_restored_stream_is_what_it_was_and_takes_entries_again(
    parts: tuple[Archiving, Log], store: Redis
) -> None:
    made, log = parts
    before = await store.xrange(KEYS.stream)
    await made.consider(STREAM)
    assert await log.restore(STREAM) == len(MATCH.stored)
    assert await store.xrange(KEYS.stream) == before
    assert await store.exists(KEYS.tombstone) == 0
    assert await store.hgetall(KEYS.remembered) == {k.encode(): b"%d" % v for k, v in keys_in(MATCH.stored).items()}
    last = cast("list[tuple[bytes, dict[bytes, bytes]]]", await store.xrevrange(KEYS.feed, count=1))
    assert last[0][1] == {b"s": STREAM.encode(), b"v": b"%d" % len(MATCH.stored)}
    with pytest.raises(NotFound):
        await log.restore(STREAM)
    with pytest.raises(NotFound):
        await log.restore(table_stream(new_id()))
    assert (await made.consider(STREAM)).fate == "archived"


async def test_a_stream_that_has_not_gone_yet_is_restored_by_its_tombstone_going(
    parts: tuple[Archiving, Log], store: Redis
) -> None:
    made, log = parts
    entries = await made.read(STREAM)
    await made.copy(STREAM, entries, packed(STREAM, entries))
    await made.bury(STREAM, entries[-1])
    await log.restore(STREAM)
    assert (await store.xlen(KEYS.stream), await store.exists(KEYS.tombstone)) == (len(entries), 0)
