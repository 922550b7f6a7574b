"""The file of an archived stream is taken only as it was put there, and never for more than its entries may hold."""

import gzip
import json
import zlib
from pathlib import Path

import pytest

from service.archive import LINE_BYTES, Archive, packed, tombstone_of, unpacked
from service.streams import Broken, Stored, genesis, head_after, table_stream

STREAM = table_stream("0" * 26)


def entries_of(*contents: bytes) -> list[Stored]:
    """Return entries that say this, chained."""
    entries, head = list[Stored](), genesis(STREAM)
    for version, e in enumerate(contents, 1):
        head = head_after(head, e)
        entries.append(Stored(version, e, head))
    return entries


ENTRIES = entries_of(b'{"at":1}', b'{"at":2}')
FILE = packed(STREAM, ENTRIES)
TEXT = gzip.decompress(FILE)


def bomb(start: bytes) -> bytes:
    """Return a file that begins with this, goes on in zeros for longer than a line, and is cut off."""
    packing = zlib.compressobj(wbits=31)
    return packing.compress(start) + packing.compress(bytes(4 * LINE_BYTES)) + packing.flush(zlib.Z_SYNC_FLUSH)


def test_a_file_is_read_as_it_was_put_there() -> None:
    assert unpacked(STREAM, FILE, 2) == ENTRIES
    large = entries_of(*(json.dumps({"at": at, "x": "y" * 9_000}).encode() for at in range(40)))
    assert unpacked(STREAM, packed(STREAM, large), 40) == large


@pytest.mark.parametrize(
    "file",
    [
        FILE + b"\0",
        FILE + b"more",
        FILE + gzip.compress(b""),
        gzip.compress(TEXT[:100]) + gzip.compress(TEXT[100:]),
        FILE + b"x" * 200_000,
        FILE[:-1],
        FILE[:-8] + bytes(8),
        gzip.compress(TEXT[:-1]),
        gzip.compress(TEXT + b"\n"),
        gzip.compress(TEXT.replace(b'"version":2', b'"version":3')),
        gzip.compress(TEXT.replace(b'"at":2', b'"at":3')),
        gzip.compress(TEXT.replace(b'{"h":', b'{"H":')),
        gzip.compress(TEXT.partition(b"\n")[0] + b"\n"),
        gzip.compress(b"", mtime=0),
        b"",
    ],
)
def test_a_file_that_is_another_is_refused(file: bytes) -> None:
    with pytest.raises(Broken):
        unpacked(STREAM, file, 2)


def test_a_file_of_another_length_than_its_tombstone_tells_is_refused() -> None:
    with pytest.raises(Broken, match="line 3 does not fit"):
        unpacked(STREAM, FILE, 1)


@pytest.mark.parametrize("start", [b"", TEXT.partition(b"\n")[0] + b"\n", TEXT], ids=["header", "entry", "more"])
def test_a_line_without_an_end_is_unpacked_no_further_than_a_line_may_be(start: bytes) -> None:
    with pytest.raises(Broken, match=f"a line has more than {LINE_BYTES} bytes"):
        unpacked(STREAM, bomb(start), 2)


def test_lines_that_each_fit_are_together_no_longer_than_so_many_entries_are() -> None:
    long = entries_of(*(b'{"x":"%s"}' % (b"y" * 900_000) for _ in range(3)))
    with pytest.raises(Broken, match="line 3 does not fit"):
        unpacked(STREAM, packed(STREAM, long), 3)


@pytest.mark.anyio
async def test_a_file_that_was_found_damaged_is_not_read_again_until_another_lies_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    archive, tombstone = Archive(tmp_path.as_uri()), tombstone_of(STREAM, ENTRIES[-1])
    path = json.loads(tombstone)["path"]
    await archive.put(path, FILE[:-1])
    for _ in range(3):
        with pytest.raises(Broken, match="the archived file of"):
            await archive.entries(STREAM, tombstone)
    assert caplog.text.count("the log is damaged") == 1
    await archive.put(path, FILE)
    assert await archive.entries(STREAM, tombstone) == ENTRIES
