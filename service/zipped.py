"""Files of gzip, read line by line: one member (RFC 1952) to its end and nothing after it, never more of it than asked.

Left out: what the lines say (archive.py, backup/).
"""

import zlib
from collections.abc import Iterable, Iterator
from typing import Final

PIECE: Final = 65_536
"""How many bytes are unpacked at once."""

_GZIP: Final = zlib.MAX_WBITS | 16


def lines_in(parts: Iterable[bytes], longest: int | None = None) -> Iterator[bytes]:
    """Yield the lines of a file that comes in parts, without their newlines.

    Raise ValueError for a line of more than `longest` bytes, one without an end, and a file that is not one whole
    member alone; zlib.error for one that is damaged.
    """
    held = bytearray()
    for piece in _unpacked(parts):
        *ends, rest = piece.split(b"\n")
        for end in ends:
            held += end
            _check_length(held, longest)
            yield bytes(held)
            held.clear()
        held += rest
        _check_length(held, longest)
    if held:
        raise ValueError("the last line has no end")


def beginning_of(file: bytes, length: int) -> bytes:
    """Return the first so many bytes that a file holds; of one that is not zipped, its own."""
    try:
        return zlib.decompressobj(_GZIP).decompress(file, length)
    except zlib.error:
        return file[:length]


def _unpacked(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Yield what a member holds, at most a piece at a time."""
    member = zlib.decompressobj(_GZIP)
    for part in parts:
        for at in range(0, len(part), PIECE):
            if member.eof:
                raise ValueError("something follows the member")
            rest = part[at : at + PIECE]
            while rest and not member.eof:
                yield member.decompress(rest, PIECE)
                rest = member.unconsumed_tail
            if member.unused_data:
                raise ValueError("something follows the member")
    if not member.eof:
        raise ValueError("the member has no end")


def _check_length(line: bytearray, longest: int | None) -> None:
    if longest is not None and len(line) > longest:
        raise ValueError(f"a line has more than {longest} bytes")
