"""One request and its answer: what an application receives of the one and sends as the other, in bytes of HTTP/1.1.

The head of an answer and a body of stated length leave in one write. A body of unstated length leaves in chunks, or,
to a client of HTTP/1.0, which knows no chunks, until the connection closes.

An answer that goes on for long finds its exchange in the state of its scope, as an `Outlet`: what is pushed there is
not waited for, and it is told when nobody wants the rest any more.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Protocol, cast

from litestar.types import ASGIApp, HTTPScope, Message, ReceiveMessage

from service.errors import Obstacle
from service.logs import kind_and_place

OUTLET = "outlet"
"""The name by which the state of a scope has the exchange, as long as the application is at it."""

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"

Headers = Sequence[tuple[bytes, bytes]]

_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}
_BODILESS = frozenset({204, 304})

_logger = logging.getLogger(__name__)


class Line(Protocol):
    """A connection, as far as an exchange needs it."""

    transport: asyncio.Transport

    def standing_headers(self) -> Headers:
        """Return what every answer carries."""

    def is_blocked(self) -> bool:
        """Tell whether the client takes no more for now."""

    async def writable(self) -> None:
        """Wait until the client takes more, or is gone."""

    def done(self, exchange: "Exchange") -> None:
        """Learn that the answer is complete."""


class Drain(Protocol):
    """Whatever takes bytes for a client without being waited for, as long as the client takes them too."""

    def push(self, body: bytes) -> bool:
        """Send a part of the body, if the client takes more now; tell whether it does."""

    def is_blocked(self) -> bool:
        """Tell whether the client takes no more for now."""

    async def writable(self) -> None:
        """Wait until the client takes more, or is gone."""


class Outlet(Drain, Protocol):
    """An exchange, as far as an answer needs it that goes on for long."""

    def at_end(self, call: Callable[[], None]) -> None:
        """Have this called, at once or once, when nobody wants the rest: the client is gone, or the server ends."""


class Exchange:
    """A request whose head has been read, and the answer to it."""

    __slots__ = (
        "_app",
        "_at_end",
        "_blank",
        "_body",
        "_chunked",
        "_head",
        "_left",
        "_line",
        "_news",
        "_obstacle",
        "_scope",
        "_told",
        "_wants_continue",
        "_winding_up",
        "answered",
        "cut_short",
        "gone",
        "keep_alive",
        "size",
        "started",
        "whole",
    )

    def __init__(self, line: Line, scope: HTTPScope, app: ASGIApp, *, keep_alive: bool, expected: bool = False) -> None:
        """Answer by this application.

        `keep_alive` tells whether the connection may serve another exchange, `expected` whether the client waits to
        be told that its body is wanted.
        """
        self.keep_alive = keep_alive
        self.size = 0  # of the body, so far
        self.whole = False  # the body has come in
        self.started = False
        self.answered = False
        self.cut_short = False  # it would have gone on for ever
        self.gone = False  # the client is
        self._line = line
        self._scope = scope
        self._app = app
        self._blank = scope["method"] == "HEAD"
        self._wants_continue = expected
        self._body = b""
        self._told = False
        self._obstacle: Obstacle | None = None
        self._news: asyncio.Event | None = None
        self._head = b""
        self._chunked = False
        self._left = -1
        self._at_end: Callable[[], None] | None = None
        self._winding_up = False

    # What the connection learns of the client

    def take(self, body: bytes) -> None:
        """Keep a part of the body for the application."""
        self.size += len(body)
        if not self.answered:
            self._body = self._body + body if self._body else body
            self._wake()

    def end(self) -> None:
        """Learn that the body is whole."""
        self.whole = True
        self._wake()

    def fail(self, obstacle: Obstacle) -> None:
        """Learn what keeps the body from ever being whole: the application meets it where it reads on."""
        self.keep_alive = False
        self._obstacle = obstacle
        self._body = b""
        self._wake()

    def leave(self) -> None:
        """Learn that the client is gone."""
        self.gone = True
        self._wake()
        self._end()

    def wind_up(self) -> None:
        """Learn that the server ends: what would go on for ever is to be brought to its end."""
        self.keep_alive = False
        self._winding_up = True
        self.cut_short = self._at_end is not None
        self._end()

    def _wake(self) -> None:
        if self._news is not None:
            self._news.set()

    def _end(self) -> None:
        call, self._at_end = self._at_end, None
        if call is not None:
            call()

    # What the application does

    async def run(self) -> None:
        """Let the application answer; cut the connection where it does not."""
        state = self._scope["state"]
        state[OUTLET] = self
        try:
            await self._app(self._scope, self.receive, self.send)
        except Exception as error:  # noqa: BLE001 whatever the edge lets through is a fault of its own
            _logger.error("no answer was made: %s", kind_and_place(error))  # noqa: TRY400 its message may hold a card
        finally:
            # Or else each would hold the other, until the garbage is collected.
            del state[OUTLET]
            if not self.answered and not self.gone:
                self._line.transport.abort()

    async def receive(self) -> ReceiveMessage:
        """Return the next part of the body, or that the client is gone; raise what keeps the body from being whole."""
        while not (self.gone or self.answered):
            if self._obstacle is not None and not self.started:
                raise self._obstacle
            if not self._told and (self._body or self.whole):
                body, self._body = self._body, b""
                self._told = self.whole
                return {"type": "http.request", "body": body, "more_body": not self.whole}
            if self._wants_continue and not self.started:
                self._wants_continue = False
                self._line.transport.write(CONTINUE)
            self._news = asyncio.Event()
            await self._news.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Send a part of the answer; RuntimeError where it is none that may come now."""
        if self._line.is_blocked():
            await self._line.writable()
        if self.gone:
            return
        match message["type"]:
            case "http.response.start" if not self.started:
                self._start(message["status"], cast("Headers", message["headers"]))
            case "http.response.body" if self.started and not self.answered:
                self._go_on(message.get("body", b""), more=message.get("more_body", False))
            case kind:
                raise RuntimeError(f"an answer can't go on with {kind}: {self.started=} {self.answered=}")

    def push(self, body: bytes) -> bool:
        """Send a part of the body, if the client takes more now; tell whether it does."""
        if self.gone or self.answered or self._line.is_blocked():
            return False
        self._go_on(body, more=True)
        return True

    def is_blocked(self) -> bool:
        """Tell whether the client takes no more for now."""
        return self._line.is_blocked()

    async def writable(self) -> None:
        """Wait until the client takes more, or is gone."""
        await self._line.writable()

    def at_end(self, call: Callable[[], None]) -> None:
        """Have this called when nobody wants the rest of the answer: at once if that is so already, else once."""
        self._at_end = call
        self.cut_short = self._winding_up
        if self.gone or self.answered or self._winding_up:
            self._end()

    def _start(self, status: int, headers: Headers) -> None:
        self.started = True
        if self._wants_continue and not self.whole:
            # Who was not told to go on may send its body or not: nobody knows where the next request would begin.
            self.keep_alive = False
        lines = [_STATUS_LINES[status]]
        framed = self._blank = self._blank or status in _BODILESS
        for name, value in (*self._line.standing_headers(), *headers):
            lines += (name, b": ", value, b"\r\n")
            if name == b"content-length":
                self._left = 0 if framed else int(value)
                framed = True
        if not framed and self._scope["http_version"] == "1.0":
            self.keep_alive = False
        elif not framed:
            self._chunked = True
            lines.append(b"transfer-encoding: chunked\r\n")
        if not self.keep_alive:
            lines.append(b"connection: close\r\n")
        lines.append(b"\r\n")
        self._head = head = b"".join(lines)
        # One line break for each triple and single: more of them would be a header smuggled in by a value.
        breaks = 2 + (len(headers) + len(self._line.standing_headers())) + self._chunked + (not self.keep_alive)
        if head.count(b"\n") != breaks or head.count(b"\r") != breaks:
            raise RuntimeError("a header's value holds a line break")
        if self._left < 0:
            self._line.transport.write(head)
            self._head = b""

    def _go_on(self, body: bytes, *, more: bool) -> None:
        if self._blank:
            body = b""
        elif self._chunked:
            body = (b"%x\r\n%b\r\n" % (len(body), body) if body else b"") + (b"" if more else b"0\r\n\r\n")
        elif self._left >= 0:
            self._left -= len(body)
            if self._left < 0 or (self._left and not more):
                raise RuntimeError(f"an answer's body differs from its stated length by {self._left} bytes")
        if self._head or body:
            self._line.transport.write(self._head + body)
            self._head = b""
        if not more:
            self.answered = True
            self._wake()
            self._line.done(self)
