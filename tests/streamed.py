"""A stream as a client reads it, byte by byte: server-sent events, or lines."""

import contextlib
import socket
from collections.abc import Iterator
from typing import Any, NamedTuple, Self

import msgspec

from service.api.eventstream import EVENT_STREAM, NDJSON
from tests.raw import RawLine, request

BEGINNING = b"retry: 1000\n:\n\n"


class Event(NamedTuple):
    """A server-sent event: its id, which a checkpoint has none of (0), its name, its data."""

    id: int
    event: str
    data: Any


class Streamed:
    """A stream that was asked for, and as much of it as was read."""

    def __init__(
        self, url: str, path: str, *headers: str, version: str = "1.1", on: socket.socket | None = None
    ) -> None:
        """Ask for a path on a connection of its own."""
        self.line = RawLine(url, on)
        asked = request(path, *headers)
        self.line.send(asked.replace(b"HTTP/1.1", f"HTTP/{version}".encode(), 1))
        self.status, self.headers = self.line.head()
        self.raw = b""
        self._unread = b""
        self._is_chunked = self.headers.get("transfer-encoding") == "chunked"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.line.close()

    def events(self, count: int) -> list[Event]:
        """Read so many events."""
        return [_event(self._block(b"\n\n")) for _ in range(count)]

    def rest(self) -> list[Event]:
        """Read events to the end."""
        return [_event(block) for block in self._blocks(b"\n\n")]

    def lines(self, count: int) -> list[Any]:
        """Read so many lines of JSON."""
        return [msgspec.json.decode(self._block(b"\n")) for _ in range(count)]

    def rest_of_lines(self) -> list[Any]:
        """Read lines to the end."""
        return [msgspec.json.decode(block) for block in self._blocks(b"\n")]

    def read(self, count: int) -> bytes:
        """Read so many bytes."""
        while len(self._unread) < count and (piece := self.piece()):
            self._unread += piece
        read, self._unread = self._unread[:count], self._unread[count:]
        return read

    def is_cut(self) -> bool:
        """Read to the end, and tell whether it came before the answer was whole."""
        try:
            while line := self.line._file.readline():  # noqa: SLF001 as below
                if line == b"0\r\n":
                    return False
        except ConnectionResetError:
            pass
        return True

    def piece(self) -> bytes:
        """Read on; nothing at the end."""
        file = self.line._file  # noqa: SLF001 a helper of the tests beside another
        if not self._is_chunked:
            return file.read1(65_536)
        size = int(file.readline() or b"0", 16)
        piece = file.read(size)
        file.readline()
        self.raw += piece
        return piece

    def _blocks(self, end: bytes) -> Iterator[bytes]:
        with contextlib.suppress(EOFError):
            while True:
                yield self._block(end)

    def _block(self, end: bytes) -> bytes:
        """Read what comes before an end, heartbeats aside."""
        while True:
            while end not in self._unread:
                piece = self.piece()
                if not piece:
                    assert self._unread == b""
                    raise EOFError
                self._unread += piece
            block, _, self._unread = self._unread.partition(end)
            if block and not block.startswith((b":", b"retry: ")):
                return block


def _event(block: bytes) -> Event:
    fields = dict(line.split(b": ", 1) for line in block.split(b"\n"))
    named = [] if fields[b"event"] == b"checkpoint" else [b"id"]
    assert [*fields] == [*named, b"event", b"data"]
    return Event(int(fields.get(b"id", 0)), fields[b"event"].decode(), msgspec.json.decode(fields[b"data"]))


def streamed(
    url: str, path: str, token: str, *headers: str, version: str = "1.1", on: socket.socket | None = None
) -> Streamed:
    """Ask for server-sent events."""
    bearer = f"Authorization: Bearer {token}"
    return Streamed(url, path, bearer, f"Accept: {EVENT_STREAM}", *headers, version=version, on=on)


def lined(url: str, path: str, token: str, *headers: str, version: str = "1.1") -> Streamed:
    """Ask for lines."""
    return Streamed(url, path, f"Authorization: Bearer {token}", f"Accept: {NDJSON}", *headers, version=version)
