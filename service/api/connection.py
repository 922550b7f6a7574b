"""HTTP/1.1 as it is spoken here: a connection, the requests on it in their order, all within bounds of size and time.

It stands in the place of uvicorn's own protocol and uses of uvicorn what a protocol is given there: the application,
the sets of connections and tasks, and the date. That one answers what it can't parse in plain text and out of turn,
waits for ever for the rest of a head or a body, and parses a head of any size, at a cost that grows with its square.

Whatever is refused before it reaches the application is answered by a problem like everything else, in its turn, and
the connection closes: first for writing alone, so that a client that is still sending gets to read the answer.
The handshake of a WebSocket, at its one address, is handed over with the transport (service/api/websocket.py); any
other wish for another protocol is declined by answering in this one, as RFC 9110 7.8 allows.
"""

import asyncio
import math
import socket
import struct
from collections import deque
from typing import ClassVar, Literal, cast

from httptools import HttpParserCallbackError, HttpParserError, HttpParserUpgrade, HttpRequestParser
from litestar.types import ASGIApp, HTTPScope
from uvicorn.config import Config
from uvicorn.protocols.utils import get_local_addr, get_remote_addr, is_ssl
from uvicorn.server import ServerState

from service.api.cors import origins_of
from service.api.edge import Edge
from service.api.exchange import Exchange, Headers
from service.api.head import Bounds, Head, headers_too_large, too_large
from service.api.problems import refusal
from service.api.websocket import WebSocket, key_of
from service.errors import Malformed, Obstacle, Overloaded, TimedOut

Phase = Literal["idle", "head", "body", "answer", "closing"]


class Connection(asyncio.Protocol):
    """A client's connection."""

    bounds: ClassVar[Bounds] = Bounds()

    transport: asyncio.Transport

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, object],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Serve `config`'s application; uvicorn names these four."""
        self._config = config
        self._app = cast("ASGIApp", config.loaded_app)
        self._state = server_state
        self._app_state = app_state
        self._loop = _loop or asyncio.get_running_loop()
        self._parser = HttpRequestParser(self)
        # The request being read.
        self._stage: Literal["idle", "head", "body"] = "idle"
        self._head = Head()
        self._fresh = False  # it began in the piece that is being fed
        self._fed = 0  # bytes since that piece
        self._upgrading = False
        self._reading: Exchange | None = None
        # The requests being answered, and what waits for them.
        self._current: Exchange | None = None
        self._waiting: deque[Exchange] = deque()
        self._unfed = bytearray()  # From its front pieces are taken without moving the rest.
        self._last = False  # no further request is read
        self._unread = False  # the client may still be sending
        self._crowded = False
        # Time.
        self._phase: Phase = "idle"
        self._due = math.inf
        self._stall_due = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._writable: asyncio.Event | None = None

    # What the event loop calls

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        self.transport = cast("asyncio.Transport", transport)
        connections = cast("set[Connection]", self._state.connections)
        connections.add(self)
        self._crowded = len(connections) > self.bounds.connections
        self._server = get_local_addr(self.transport)
        self._client = get_remote_addr(self.transport)
        self._scheme = "https" if is_ssl(self.transport) else "http"
        self._await("idle", self.bounds.head_s)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 as asyncio calls it
        """End, whoever ended it."""
        cast("set[Connection]", self._state.connections).discard(self)
        self._last = True
        if self._timer is not None:
            self._timer.cancel()
        for exchange in (self._current, *self._waiting):
            if exchange is not None:
                exchange.leave()
        self._waiting.clear()
        self._unfed.clear()
        self.resume_writing()

    def data_received(self, data: bytes) -> None:
        """Read on; what comes after the last request is thrown away."""
        if self._last:
            return
        if self._unfed or self._waiting or len(data) > self.bounds.head:
            self._unfed += data
            self._feed_on()
        else:
            self._feed(data)
        self._reckon()

    def pause_writing(self) -> None:
        """Learn that the client takes no more for now."""
        self._writable = asyncio.Event()
        self._stall_due = self._loop.time() + self.bounds.stall_s
        self._look_later()

    def resume_writing(self) -> None:
        """Learn that it takes more."""
        self._stall_due = math.inf
        if self._writable is not None:
            self._writable.set()
            self._writable = None

    # What uvicorn calls

    def shutdown(self) -> None:
        """End when what is under way has been answered."""
        self._last = self._reading is None
        if self._current is None:
            self.transport.close()
        else:
            self._current.wind_up()

    # What an exchange calls

    def standing_headers(self) -> Headers:
        """Return what every answer carries: the date."""
        return self._state.default_headers

    def is_blocked(self) -> bool:
        """Tell whether the client takes no more for now."""
        return self._writable is not None

    async def writable(self) -> None:
        """Wait until the client takes more, or is gone."""
        if self._writable is not None:
            await self._writable.wait()

    def done(self, exchange: Exchange) -> None:
        """Go on to the next request, or end."""
        self._state.total_requests += 1
        self._current = None
        if self.transport.is_closing():
            return
        if not exchange.keep_alive:
            self._end(linger=self._unread or not exchange.whole, at_once=exchange.cut_short)
            return
        if self._waiting:
            self._start(self._waiting.popleft())
        if not self._waiting:
            if self._unfed:
                self._feed_on()
            if not self._unfed:
                self.transport.resume_reading()
        self._reckon()

    # What the parser calls

    def on_message_begin(self) -> None:
        """Begin to read a head."""
        if not self._last:
            self._stage = "head"
            self._phase, self._due = "answer", math.inf  # The time for this head is its own, whatever was awaited.
            self._fresh = True
            self._fed = 0
            self._head = Head()

    def on_url(self, url: bytes) -> None:
        """Read a part of the target."""
        self._head.url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Read a header; a trailer comes too late to be one."""
        if self._stage == "head":
            self._head.headers.append((name.lower(), value))

    def on_headers_complete(self) -> None:
        """Begin an exchange, or refuse it."""
        if self._last:
            return
        method = self._parser.get_method().decode("ascii")
        if self._parser.should_upgrade() and method != "CONNECT" and not self._is_long():
            self._upgrading = True
            return
        scope = self._scope(method, self._parser.get_http_version())
        objection = self._objection(scope)
        if objection is not None:
            self._refuse(objection, scope)
            return
        keep_alive = self._parser.should_keep_alive() and scope["http_version"] == "1.1"
        self._stage = "body"
        wishes = self._head.stated.get(b"expect", b"").lower() == b"100-continue"
        expected = wishes and scope["http_version"] == "1.1"  # RFC 9110, 10.1.1: HTTP/1.0 knows no such wish.
        self._reading = Exchange(self, scope, self._app, keep_alive=keep_alive, expected=expected)
        self._queue(self._reading)

    def on_body(self, body: bytes) -> None:
        """Read a part of the body."""
        if self._reading is not None:
            self._reading.take(body)
            if self._reading.size > self.bounds.body:
                self._fail(too_large(self.bounds))

    def on_message_complete(self) -> None:
        """End a request."""
        if self._reading is not None:
            self._reading.end()
            self._last = not self._reading.keep_alive
            self._reading = None
            self._stage = "idle"

    # Reading

    def _feed_on(self) -> None:
        """Feed what has come in, as long as nobody waits for an answer."""
        size = self.bounds.head
        while self._unfed and not self._waiting and not self._last:
            piece = bytes(self._unfed[:size])
            del self._unfed[:size]
            self._feed(piece)
        if self._last:
            self._unfed.clear()

    def _feed(self, piece: bytes) -> None:
        """Feed the parser at most as many bytes as a head may have."""
        try:
            self._parser.feed_data(piece)
        except HttpParserUpgrade as upgrade:
            if self._upgrading:
                self._meet_upgrade(piece[upgrade.args[0] :])
            return
        except HttpParserCallbackError:
            raise
        except HttpParserError:
            self._break()
            return
        if self._stage == "idle":
            return
        if self._fresh:
            self._fresh = False
            return
        self._fed += len(piece)
        if self._stage == "head" and self._fed > self.bounds.head:
            self._refuse(headers_too_large(self.bounds))
        elif self._stage == "body" and self._fed > self.bounds.framed:
            self._fail(too_large(self.bounds))

    def _meet_upgrade(self, rest: bytes) -> None:
        """Hand over to a WebSocket, where that is wished for, and nothing stands in its way or comes before it."""
        self._upgrading = False
        scope = self._scope(self._parser.get_method().decode("ascii"), self._parser.get_http_version())
        key = key_of(scope)
        if key is None or self._current is not None or self._objection(scope) is not None:
            self._decline_upgrade(rest)
        else:
            self._hand_over(WebSocket(self._config, self._state, scope, self.bounds), key, rest)

    def _hand_over(self, socket_: WebSocket, key: bytes, rest: bytes) -> None:
        early = rest + bytes(self._unfed)
        self._unfed.clear()
        self._last = True
        self._phase, self._due = "closing", math.inf
        if self._timer is not None:
            self._timer.cancel()
        cast("set[Connection]", self._state.connections).discard(self)
        self.transport.set_protocol(socket_)
        socket_.open(self.transport, key, early)

    def _decline_upgrade(self, rest: bytes) -> None:
        """Read the request again without its wish: with it, the parser takes all that follows for another protocol."""
        head = self._head.without_upgrade(self._parser.get_method())
        self._parser = HttpRequestParser(self)
        self._feed(head + rest)

    def _break(self) -> None:
        """Meet what is no HTTP/1.1."""
        if self._last:
            return
        if self._stage == "body":
            self._fail(Malformed("The body is not framed as HTTP/1.1 has it.", ""))
        else:
            self._refuse(Malformed("This is not a request of HTTP/1.1."))

    def _is_long(self) -> bool:
        # A head that came in one piece is no longer than that.
        return not self._fresh and self._head.is_longer(self.bounds.head)

    def _objection(self, scope: HTTPScope) -> Obstacle | None:
        """Return what keeps a request with this head from being answered by the application."""
        objection = headers_too_large(self.bounds) if self._is_long() else self._head.objection(scope, self.bounds)
        return Overloaded() if objection is None and self._crowded else objection

    def _scope(self, method: str, version: str) -> HTTPScope:
        return self._head.scope(
            method,
            version,
            server=self._server,
            client=self._client,
            scheme=self._scheme,
            state=self._app_state.copy(),
        )

    # Answering

    def _queue(self, exchange: Exchange) -> None:
        if self._current is None:
            self._start(exchange)
        else:
            self._waiting.append(exchange)
            self.transport.pause_reading()

    def _start(self, exchange: Exchange) -> None:
        self._current = exchange
        task = self._loop.create_task(exchange.run())
        self._state.tasks.add(task)
        task.add_done_callback(self._state.tasks.discard)

    def _refuse(self, obstacle: Obstacle, scope: HTTPScope | None = None) -> None:
        """Answer a request, of which perhaps not much is known, with a problem, in its turn and as the last."""
        self._last = self._unread = True
        self._stage = "idle"
        self._reading = None
        if scope is None:
            scope = self._scope("-", "1.1")
            # A page may have sent this: the rest of its head, which is not read, would tell whose.
            scope["headers"] = [*scope["headers"], (b"origin", b"null")]
        edge = Edge(refusal(obstacle), origins=origins_of(self._app))
        self._queue(Exchange(self, scope, edge, keep_alive=False))

    def _fail(self, obstacle: Obstacle) -> None:
        """Give up a body: its request is the last, answered by what stands in its way if the application reads on."""
        reading = self._reading
        self._last = self._unread = True
        self._stage = "idle"
        self._reading = None
        if reading is not None and not reading.answered:
            reading.fail(obstacle)
        else:
            self._end(linger=True)

    def _end(self, *, linger: bool, at_once: bool = False) -> None:
        """Close: for writing alone where the client may still be sending, for a reset would take the answer away.

        What is left of the answer is soon given up where it is to end `at_once`.
        """
        self._last = True
        self._unfed.clear()
        if linger and self.transport.can_write_eof():
            self.transport.write_eof()
            self.transport.resume_reading()
            self._await("closing", self.bounds.linger_s)
        else:
            self.transport.close()
            self._await("closing", self.bounds.linger_s if at_once else self.bounds.stall_s)

    # Time

    def _reckon(self) -> None:
        """See what is awaited of the client now, and from now on, if that is new."""
        if self._phase == "closing":
            return
        phase: Phase = self._stage if self._stage != "idle" or self._current is None else "answer"
        if phase != self._phase:
            match phase:
                case "idle":
                    self._await(phase, self.bounds.idle_s)
                case "head":
                    self._await(phase, self.bounds.head_s)
                case "body":
                    self._await(phase, self.bounds.body_s)
                case _:
                    self._phase = phase
                    self._due = math.inf

    def _await(self, phase: Phase, seconds: float) -> None:
        self._phase = phase
        self._due = self._loop.time() + seconds
        if self._timer is None:
            self._look_later()

    def _look_later(self) -> None:
        # One timer that looks now and then costs less than one set and cancelled with each request.
        if self._timer is None:
            self._timer = self._loop.call_later(self.bounds.look_s, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self._loop.time()
        if now >= self._stall_due:
            # By a reset: what the client would not take must not stay in the system's buffers either.
            line = self.transport.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.transport.abort()
        elif now >= self._due:
            self._due = math.inf
            self._time_out()
        if self._due < math.inf or self._stall_due < math.inf:
            self._look_later()

    def _time_out(self) -> None:
        match self._phase:
            case "idle":
                self._end(linger=False)
            case "head":
                self._refuse(TimedOut(f"A head must come within {self.bounds.head_s:g} s."))
            case "body":
                self._fail(TimedOut(f"A body must come within {self.bounds.body_s:g} s."))
            case _:
                self.transport.abort()
