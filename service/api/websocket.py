"""A connection that has become a WebSocket: RFC 6455 on the wire, within the bounds that every connection has.

uvicorn's protocol speaks it, over the library `websockets`; what is ours is what that one leaves open. It is handed the
request as our own connection has read it. A client that takes nothing is cut off, and is not read meanwhile, so that
neither messages nor pongs pile up; of what has come in only so much is parsed as is being answered. All that one turn
of the event loop sends leaves in one write. When the server is to end, the application is told, answers what is under
way, and closes. Nothing of paths or messages is logged.

Messages are not compressed: a secret and a text of somebody else's choice, compressed together, betray one another by
their length, and each frame would cost its readers' number of compressions.
"""

import asyncio
import base64
import binascii
import logging
import socket
import struct
from typing import cast

from litestar.types import HTTPScope
from uvicorn._types import ASGIReceiveEvent, ASGISendEvent, WebSocketScope
from uvicorn.config import Config
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import CloseCode
from websockets.http11 import Request
from websockets.protocol import State
from websockets.server import ServerProtocol

from service.api.head import Bounds

PATH = "/v1/socket"
RESTART = 1012
"""The code that says: the service ends here, come again (IANA's registry of WebSocket close codes)."""

ENDS_S = 8.0
"""How long the end of a socket may take when the server ends: less than that is given (service/cli/processes.py)."""

MUCH = 65_536
"""So many bytes don't wait for the end of the turn: whether the client takes them is soon to be known."""

FRAGMENTS = 256
"""In so many frames a message may come, each of which costs the same, however little it holds."""

LINE = "line"
"""The name by which the state of a socket's scope has its protocol, for the application to take out."""

_KEY_BYTES = 16
_TEXT = 0x81  # the last frame of a text
# Up to which size a head holds it in seven bits, and in sixteen.
_SHORT, _MEDIUM = 126, 0xFFFF
_HEAD = (
    b"GET / HTTP/1.1\r\nHost: -\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: %b\r\n\r\n"
)
# What uvicorn and the library would log holds paths with tickets in them, and whole messages.
_mute = logging.getLogger(f"{__name__}.mute")
_mute.setLevel(logging.CRITICAL + 1)


def key_of(scope: HTTPScope) -> bytes | None:
    """Return the key of a request that is the handshake of a WebSocket here (RFC 6455, 4.2.1), None for any other."""
    stated = dict(scope["headers"])
    key = stated.get(b"sec-websocket-key", b"")
    is_handshake = (
        scope["raw_path"] == PATH.encode("ascii")
        and (scope["method"], scope["http_version"]) == ("GET", "1.1")
        and stated.get(b"upgrade", b"").strip().lower() == b"websocket"
        and stated.get(b"sec-websocket-version", b"").strip() == b"13"
        and stated.get(b"content-length", b"0").strip(b"0") == b""
        and b"transfer-encoding" not in stated
        and sum(name == b"sec-websocket-key" for name, _ in scope["headers"]) == 1
    )
    try:
        return key if is_handshake and len(base64.b64decode(key, validate=True)) == _KEY_BYTES else None
    except binascii.Error:
        return None


class WebSocket(WebSocketsSansIOProtocol):
    """The protocol of a connection from its handshake on."""

    def __init__(self, config: Config, server_state: ServerState, scope: HTTPScope, bounds: Bounds) -> None:
        """Serve `config`'s application, from the request that is the handshake."""
        super().__init__(config, server_state, {})
        self._request = scope
        self._bounds = bounds
        self._unfed = bytearray()  # From its front pieces are taken without moving the rest.
        self._has_turn = False
        self._unsent: list[bytes] = []
        self._unsent_size = 0
        self._stalled: asyncio.TimerHandle | None = None
        self._cut_at_last: asyncio.TimerHandle | None = None
        self.logger = _mute
        self.conn = ServerProtocol(max_size=bounds.message, logger=_mute)
        self.ping_interval = bounds.ping_s
        self.ping_timeout = bounds.pong_s
        self.close_timeout = bounds.linger_s
        self.read_paused = True  # So it leaves pausing to us.

    def open(self, transport: asyncio.Transport, key: bytes, early: bytes) -> None:
        """Take a transport over; `early` is what came in after the handshake."""
        self.connection_made(transport)
        super().data_received(_HEAD % key)
        if early:
            self.data_received(early)

    # What the event loop calls

    def data_received(self, data: bytes) -> None:
        """Read on, if what came before has been taken."""
        self._unfed += data
        self._feed_on()
        if self._unfed:
            self.transport.pause_reading()

    def pause_writing(self) -> None:
        """Learn that the client takes no more for now: it is not listened to either, and not for ever."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self._bounds.stall_s, self._cut)
        self.transport.pause_reading()

    def resume_writing(self) -> None:
        """Learn that it takes more."""
        super().resume_writing()
        self._relax()
        self._read_on()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, whoever ended it."""
        self._unfed.clear()
        self._relax()
        if self._cut_at_last is not None:
            self._cut_at_last.cancel()
        super().connection_lost(exc)

    # What uvicorn calls

    def shutdown(self) -> None:
        """Have the application end: what is under way is answered first. It closes with the code that it is told.

        Whoever takes nothing then is not waited for, and nobody for longer than the server may take.
        """
        self.stop_keepalive()
        self._end_at_last(ENDS_S if self.writable.is_set() else self._bounds.linger_s)
        self.queue.put_nowait({"type": "websocket.disconnect", "code": RESTART})

    # What its base calls

    def handle_connect(self, event: Request) -> None:
        """Begin, with the request as our connection has read it."""
        self.request = event
        self.response = self.conn.accept(event)
        if self.response.status_code != 101:  # noqa: PLR2004 Switching Protocols
            raise RuntimeError(f"a handshake of our own making was refused: {self.response}")
        self.handshake_initiated = True
        members = {
            **self._request,
            "type": "websocket",
            "scheme": self.scheme,
            "state": {**self._request["state"], LINE: self},
            "subprotocols": [],
            "extensions": {"websocket.http.response": {}},
        }
        del members["method"]
        self.scope = cast("WebSocketScope", members)
        self.queue.put_nowait({"type": "websocket.connect"})
        task = self.loop.create_task(self.run_asgi())
        task.add_done_callback(self.on_task_complete)
        self.tasks.add(task)

    def keepalive_timeout(self) -> None:
        """Give up a client that says nothing any more."""
        self._flush()
        super().keepalive_timeout()
        self._end_at_last(self._bounds.linger_s)

    async def run_asgi(self) -> None:
        """Run the application; what it leaves behind is taken in time, or thrown away."""
        await super().run_asgi()
        self._end_at_last(2 * self._bounds.linger_s)

    # What the application calls

    async def send(self, message: ASGISendEvent) -> None:
        """Send a message, or answer the handshake, or close; raise ClientDisconnected, an OSError, where nobody is."""
        if message["type"] != "websocket.send":
            self._flush()
            await super().send(message)
            return
        if not self.writable.is_set():
            await self.writable.wait()
        if not self.push((message["text"] or "").encode()):
            raise ClientDisconnected

    def push(self, text: bytes) -> bool:
        """Send a message without waiting; tell whether there is a client to take it."""
        if self.conn.state is not State.OPEN or self.transport.is_closing():
            return False
        if not self._unsent:
            self.loop.call_soon(self._flush)
        self._unsent += (_frame_head(len(text)), text)
        self._unsent_size += len(text)
        if self._unsent_size > MUCH:
            self._flush()
        return True

    async def receive(self) -> ASGIReceiveEvent:
        """Return the next message."""
        if self._unfed:
            self._read_on()
        return await self.queue.get()

    # Reading

    def _read_on(self) -> None:
        self._feed_on()
        if not self._unfed and not self.disconnected and self.writable.is_set():
            self.transport.resume_reading()

    def _feed_on(self) -> None:
        """Parse a piece of what has come in, and the next one in another turn of the loop: others want theirs too."""
        self._flush()  # For what is parsed may be answered at once, by a close.
        if self._unfed and self._is_heard():
            size = self._bounds.head
            piece = bytes(self._unfed[:size])
            del self._unfed[:size]
            super().data_received(piece)
            if len(self.frames) > FRAGMENTS:
                self.conn.fail(CloseCode.MESSAGE_TOO_BIG, "a message in too many fragments")
                self.handle_parser_exception()
        if self._unfed and self._is_heard() and not self._has_turn:
            self._has_turn = True
            self.loop.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._has_turn = False
        self._read_on()

    def _is_heard(self) -> bool:
        """Tell whether the client may go on: no message of its waits, and it takes what it is sent."""
        is_open = self.handshake_complete and not self.transport.is_closing()
        # Once the application has closed, nobody takes messages any more; what is awaited is the client's own close.
        return is_open and self.writable.is_set() and (self.close_sent or self.queue.empty())

    # Writing

    def _flush(self) -> None:
        """Write what was to be sent."""
        if self._unsent and not self.transport.is_closing():
            self.transport.write(b"".join(self._unsent))
        self._unsent.clear()
        self._unsent_size = 0

    # Ending

    def _relax(self) -> None:
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _end_at_last(self, within_s: float) -> None:
        if not self.disconnected and self._cut_at_last is None:
            self._cut_at_last = self.loop.call_later(within_s, self._cut)

    def _cut(self) -> None:
        """End at once, by a reset: what the client would not take must not stay in the system's buffers either."""
        line = self.transport.get_extra_info("socket")
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()


def _frame_head(size: int) -> bytes:
    """Return the head of a whole text message (RFC 6455, 5.2), which a server sends unmasked."""
    if size < _SHORT:
        return bytes((_TEXT, size))
    return struct.pack("!BBH", _TEXT, _SHORT, size) if size <= _MEDIUM else struct.pack("!BBQ", _TEXT, _SHORT + 1, size)
