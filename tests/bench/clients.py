"""Clients over bare connections: HTTP, server-sent events, WebSocket. They cost little, and check what they are sent.

Each is a protocol of asyncio for one connection, to be driven on uvloop.
"""

import asyncio
import base64
import re
import socket
import struct
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, TypeVar, cast

from tests.bench.driver import request
from tests.bench.servers import HOST, Process

CONNECTION = TypeVar("CONNECTION", bound="_Connection")

Heard = Callable[["Sent"], None]


class Sent(NamedTuple):
    """An event that a server sent: its id as it was written, None where it had none, its name and its data."""

    id: str | None
    event: str
    data: bytes


class Unanswered(Exception):
    """A server did not answer as it should; the message holds what it said."""


class _Connection(asyncio.Protocol):
    """One connection, and what it is waited for; `lost` is called when it ends."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self.waiting: asyncio.Future[bytes] | None = None
        self.lost: Callable[[Exception], None] | None = None
        self.buffer = bytearray()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)  # uvloop's says so only by what it can do

    def connection_lost(self, exc: Exception | None) -> None:
        error = exc or ConnectionError("the server closed the connection")
        self.fail(error)
        if self.lost is not None:
            self.lost(error)

    def fail(self, error: Exception) -> None:
        """Tell whoever waits."""
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_exception(error)

    def wait(self) -> "asyncio.Future[bytes]":
        """Return what is answered next."""
        self.waiting = asyncio.get_running_loop().create_future()
        return self.waiting

    def answer(self, answer: bytes) -> None:
        """Hand an answer over."""
        if self.waiting is not None and not self.waiting.done():
            self.waiting.set_result(answer)

    def close(self) -> None:
        """Close the connection."""
        self.transport.close()


class Exchange(_Connection):
    """Requests over one connection, each when the one before is answered."""

    def send(self, sent: bytes) -> "asyncio.Future[bytes]":
        """Send a request; return the body of its answer, which may be Unanswered."""
        self.transport.write(sent)
        return self.wait()

    async def ask(self, sent: bytes) -> bytes:
        """Send a request; return the body of its answer, or raise Unanswered."""
        return await self.send(sent)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        end = self.buffer.find(b"\r\n\r\n") + 4
        if end < 4:
            return
        _, _, value = self.buffer[:end].lower().partition(b"content-length: ")
        if len(self.buffer) < end + int(value.split(b"\r\n", 1)[0] or b"0"):
            return
        answered = bytes(self.buffer)
        self.buffer.clear()
        if answered[9:12] in {b"200", b"201"}:
            self.answer(answered[end:])
        else:
            self.fail(Unanswered(answered.decode()))


# As all of ours come. What holds no data is a comment, or a field that is none of an event's.
_EVENT = re.compile(rb"(?:id: (.*)\n)?event: (.*)\ndata: (.*)")


class EventStream(_Connection):
    """A stream of server-sent events; `heard` is called for each of them, comments left out.

    `bytes` counts what has come in.
    """

    def __init__(self, heard: Heard) -> None:
        super().__init__()
        self.bytes = 0
        self._heard = heard
        self._opened = False
        self._text = bytearray()  # what is not yet a whole event

    async def open(self, path: str, bearer: str) -> None:
        """Ask for the stream; return when it has begun, or raise Unanswered."""
        self.transport.write(request("GET", path, bearer, "Accept: text/event-stream"))
        await self.wait()

    def data_received(self, data: bytes) -> None:
        self.bytes += len(data)
        self.buffer += data
        if not self._opened and not self._begin():
            return
        self._take_chunks()
        *events, rest = self._text.split(b"\n\n")
        self._text = rest
        for event in events:
            if b"data:" in event:
                self._tell(bytes(event))

    def _begin(self) -> bool:
        end = self.buffer.find(b"\r\n\r\n") + 4
        if end < 4:
            return False
        head = bytes(self.buffer[:end]).lower()
        if head[9:12] != b"200" or b"text/event-stream" not in head or b"transfer-encoding: chunked" not in head:
            self.fail(Unanswered(self.buffer.decode()))
            return False
        del self.buffer[:end]
        self._opened = True
        self.answer(head)
        return True

    def _take_chunks(self) -> None:
        """Move the content of all chunks that have come whole."""
        begun = 0
        while (end := self.buffer.find(b"\r\n", begun)) >= 0:
            length = int(self.buffer[begun:end], 16)
            if len(self.buffer) < end + 2 + length + 2:
                break
            self._text += self.buffer[end + 2 : end + 2 + length]
            begun = end + 2 + length + 2
        del self.buffer[:begun]

    def _tell(self, event: bytes) -> None:
        found = _EVENT.fullmatch(event)
        if found is None:
            raise Unanswered(event.decode())
        id_, name, data = found.groups()
        self._heard(Sent(None if id_ is None else id_.decode(), name.decode(), data))


class WebSocket(_Connection):
    """A WebSocket of text frames (RFC 6455); `heard` is called with each message."""

    def __init__(self, heard: Callable[[bytes], None]) -> None:
        super().__init__()
        self._heard = heard
        self._opened = False

    async def open(self, path: str, bearer: str) -> None:
        """Shake hands, or raise Unanswered."""
        key = base64.b64encode(bytes(16)).decode()
        headers = (
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
        )
        self.transport.write(request("GET", path, bearer, *headers))
        await self.wait()

    def send(self, message: bytes) -> None:
        """Send a message, masked by zeros: a mask that costs nothing here is undone like any other there."""
        length = len(message)
        if length < 126:
            head = struct.pack("!BB4x", 0x81, 0x80 | length)
        else:
            head = struct.pack("!BBH4x", 0x81, 0x80 | 126, length)
        self.transport.write(head + message)

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        if not self._opened and not self._begin():
            return
        buffer, begun = self.buffer, 0
        while len(buffer) - begun >= 2:
            start, length = begun + 2, buffer[begun + 1]
            if length >= 126:
                size, start = (2, start + 2) if length == 126 else (8, start + 8)
                if len(buffer) < start:
                    break
                length = int.from_bytes(buffer[start - size : start])
            if len(buffer) < start + length:
                break
            self._take(buffer[begun], bytes(buffer[start : start + length]))
            begun = start + length
        del buffer[:begun]

    def _begin(self) -> bool:
        end = self.buffer.find(b"\r\n\r\n") + 4
        if end < 4:
            return False
        if self.buffer[9:12] != b"101":
            self.fail(Unanswered(self.buffer.decode()))
            return False
        self.answer(bytes(self.buffer[:end]))
        del self.buffer[:end]
        self._opened = True
        return True

    def _take(self, kind: int, content: bytes) -> None:
        match kind:
            case 0x81:
                self._heard(content)
            case 0x89:
                self.transport.write(struct.pack("!BB4x", 0x8A, 0x80 | len(content)) + content)
            case 0x88:
                self.transport.close()
            case _:
                self.fail(Unanswered(f"a frame that begins with {kind:#x}"))


async def _connected(
    server: Process, made: Callable[[], CONNECTION], connected: socket.socket | None = None
) -> CONNECTION:
    loop = asyncio.get_running_loop()
    if connected is None:
        _, connection = await loop.create_connection(made, HOST, server.port)
    else:
        _, connection = await loop.create_connection(made, sock=connected)
    return connection


async def exchange(server: Process) -> Exchange:
    """Connect for requests."""
    return await _connected(server, Exchange)


async def event_stream(
    server: Process, path: str, bearer: str, heard: Heard, connected: socket.socket | None = None
) -> EventStream:
    """Open a stream of events, over a socket of one's own where it is connected already."""
    stream = await _connected(server, partial(EventStream, heard), connected)
    await stream.open(path, bearer)
    return stream


async def web_socket(server: Process, path: str, bearer: str, heard: Callable[[bytes], None]) -> WebSocket:
    """Open a WebSocket."""
    opened = await _connected(server, partial(WebSocket, heard))
    await opened.open(path, bearer)
    return opened
