"""HTTP byte by byte: a socket to a server of the tests, and the answers that come back on it, judged like any other."""

import contextlib
import socket
from collections.abc import Iterator
from typing import NamedTuple

import httpx

from tests.documented import documented


class Raw(NamedTuple):
    """An answer: its status, its headers with names in lower case, its body without chunks."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def code(self) -> str:
        """The code of a problem."""
        problem: dict[str, str] = httpx.Response(self.status, content=self.body).json()
        assert self.headers["content-type"] == "application/problem+json"
        return problem["code"]


class RawLine:
    """A connection, on which anything can be sent."""

    def __init__(self, url: str, on: socket.socket | None = None) -> None:
        """Connect to a server, on a socket of one's own or a new one."""
        at = httpx.URL(url)
        self.socket = socket.socket() if on is None else on
        self.socket.settimeout(30)
        self.socket.connect((at.host, at.port or 0))
        self._file = self.socket.makefile("rb")

    def send(self, data: bytes) -> None:
        """Send bytes."""
        self.socket.sendall(data)

    def head(self) -> tuple[int, dict[str, str]]:
        """Read a status and headers."""
        status = int(self._file.readline().split()[1])
        headers: dict[str, str] = {}
        while line := self._file.readline().strip():
            name, _, value = line.decode("ascii").partition(": ")
            assert name not in headers, name
            headers[name] = value
        return status, headers

    def answer(self, *, bodiless: bool = False) -> Raw:
        """Read an answer."""
        status, headers = self.head()
        if bodiless or status in {204, 304}:
            return Raw(status, headers, b"")
        if headers.get("transfer-encoding") == "chunked":
            return Raw(status, headers, b"".join(self._chunks()))
        if "content-length" in headers:
            return Raw(status, headers, self._file.read(int(headers["content-length"])))
        return Raw(status, headers, self._file.read())

    def answers(self) -> Iterator[Raw]:
        """Read answers until the server closes the connection."""
        while not self.is_closed():
            yield self.answer()

    def read(self, size: int) -> bytes:
        """Read so many bytes, less only at the end of the connection."""
        return self._file.read(size)

    def lines(self) -> Iterator[str]:
        """Read lines of text, until the server closes the connection."""
        for line in self._file:
            yield line.decode().rstrip("\r\n")

    def is_closed(self) -> bool:
        """Wait for a byte or the end, and tell whether it is the end."""
        return self._file.peek(1) == b""

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self.socket.close()

    def _chunks(self) -> Iterator[bytes]:
        while size := int(self._file.readline(), 16):
            yield self._file.read(size)
            self._file.readline()
        self._file.readline()


@contextlib.contextmanager
def line(url: str) -> Iterator[RawLine]:
    """Connect for a block."""
    raw = RawLine(url)
    try:
        yield raw
    finally:
        raw.close()


def exchanged(url: str, *parts: bytes) -> list[Raw]:
    """Send bytes on a connection of their own, part by part, and return all answers until the server closes it."""
    with line(url) as raw:
        for part in parts:
            raw.send(part)
        return list(raw.answers())


def request(target: str, *headers: str, method: str = "GET", body: bytes = b"") -> bytes:
    """Write a request."""
    length = [f"Content-Length: {len(body)}"] if body else []
    lines = [f"{method} {target} HTTP/1.1", "Host: here", *length, *headers, "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def judge(answer: Raw, method: str, path: str) -> None:
    """Fail where the document does not have such an answer."""
    asked = httpx.Request(method, f"http://here{path}")
    documented().check(httpx.Response(answer.status, headers=answer.headers, content=answer.body, request=asked))
