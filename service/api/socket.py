"""A WebSocket: several tables on one connection, and commands, which are the routes' own requests.

A command becomes the request that it would be over HTTP, and goes through the same layers to the same handler: so its
body, its keys, its limits, its answer and its problems can't be others. What happens at a table that is watched is what
its stream of events would say. What is asked of one table is done in the order of its asking, what is asked of several
at once; so many things may be under way, and a client that asks for more is not read until some are done.

Left out: who may open one (sockets.py), and the bytes on the line (websocket.py).
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from functools import partial
from typing import Final, TypeAlias, assert_never, cast

from litestar.types import HTTPReceiveMessage, HTTPScope, Message, Receive, Send
from msgspec import UNSET

from service.api import frames, problems
from service.api.eventstream import Streams, feed
from service.api.eyes import meant
from service.api.frames import Said, SocketCommand, Unwatch, UnwatchedFrame, Watch, WatchedFrame
from service.api.requests import KNOWN, AnyRequest, identity
from service.api.websocket import RESTART, WebSocket
from service.auth.tokens import Identity
from service.auth.vigil import Vigil
from service.errors import Malformed, TooMany
from service.eyes import granted
from service.live import Besides, Live
from service.metrics import Counter
from service.presence import Presence
from service.tables import Asked, Tables
from service.watched import Frame

MAX_WATCHED: Final = 256
"""How many tables one socket may watch at once."""

UNDER_WAY: Final = 32
"""How much that a client asked for may be under way at once."""

TOKEN_ENDED: Final = 4401
"""The code that a socket is closed with when its token has ended."""

FINISH_S: Final = 5.0
"""How long what is under way may take when the server is to end."""

CLOSE_S: Final = 1.0
"""How long a client that takes nothing is waited for before it is not told why its socket is closed."""

ADMITTED: Final = "admitted"
"""Where the state of the request that opened a socket has who may."""

Act: TypeAlias = Callable[[], Awaitable[None]]

_JSON = (b"content-type", b"application/json")

_sent = Counter("evenfold_socket_frames_total", "Frames sent over WebSockets, by what they are.", "type")
_received = Counter("evenfold_socket_messages_total", "Messages that clients sent over WebSockets.")


class Socket:
    """One WebSocket, once it is open."""

    def __init__(self, ask: "Ask", request: HTTPScope, line: WebSocket, receive: Receive, send: Send) -> None:
        """Serve whoever sent the request that opened it, over this line."""
        state = request["litestar_app"].state
        self._ask = ask
        self._tables: Tables = state.tables
        self._live: Live = state.live
        self._presence: Presence = state.presence
        self._vigil: Vigil = state.vigil
        self._streams: Streams = state.streams
        self._request = AnyRequest(request, receive)
        self._who: Identity = request["state"][ADMITTED]
        # A token is looked at anew with each message; what a ticket opened is as good as the vigil says.
        authorization = [header for header in request["headers"] if header[0] == b"authorization"]
        self._known = {} if authorization else {KNOWN: self._who}
        request["state"].update(self._known)
        self._headers = [_JSON, *authorization]
        self._base: dict[str, object] = {**request, "method": "POST", "query_string": b""}
        self._line = _Line(line)
        self._receive = receive
        self._send = send
        self._watched: dict[str, asyncio.Task[None]] = {}
        self._room = asyncio.Semaphore(UNDER_WAY)
        self._turns: set[asyncio.Task[None]] = set()
        self._last: dict[str, asyncio.Task[None]] = {}

    async def serve(self) -> int:
        """Take messages until either side ends it; return the code that it was closed with."""
        with self._vigil.keep(self._who) as ending, self._streams.opened(self._who.account, lambda: None):
            reading = asyncio.create_task(self._read())
            over = asyncio.create_task(ending.wait())
            try:
                await asyncio.wait((reading, over), return_when=asyncio.FIRST_COMPLETED)
                if not reading.done():
                    await self._quit(reading)
                    return await self._close(TOKEN_ENDED, "the token has ended")
                code = reading.result()
                if code == RESTART:
                    await self._finish()
                    await self._close(RESTART, "the service restarts")
                return code
            finally:
                await self._quit(reading, over)

    # What the client says

    async def _read(self) -> int:
        """Take messages until the client has closed, or is gone, or the server is to end; return the code of it."""
        while True:
            event = await self._receive()
            if event["type"] == "websocket.disconnect":
                return event["code"]
            if event["type"] == "websocket.receive":
                _received.add()
                await self._take(event.get("text"))

    async def _take(self, text: str | None) -> None:
        try:
            wanted = frames.read(text)
        except Malformed as malformed:
            await self._in_turn("", frames.named_in(text), partial(self._object, malformed))
            return
        match wanted:
            case Watch():
                await self._in_turn(wanted.table, {"table": wanted.table}, partial(self._watch, wanted))
            case Unwatch():
                await self._in_turn(wanted.table, {"table": wanted.table}, partial(self._unwatch, wanted))
            case SocketCommand():
                await self._in_turn(_table_in(wanted.path), {"id": wanted.id}, partial(self._command, wanted))
            case _:
                assert_never(wanted)

    async def _in_turn(self, table: str, said: Said, act: Act) -> None:
        """Do something after all else that was asked of the same table; wait while too much is under way."""
        await self._room.acquire()
        turn = asyncio.create_task(self._turn(self._last.get(table), said, act))
        self._last[table] = turn
        self._turns.add(turn)
        turn.add_done_callback(partial(self._done, table))

    async def _turn(self, before: asyncio.Task[None] | None, said: Said, act: Act) -> None:
        if before is not None:
            await asyncio.wait((before,))
        with suppress(_Gone):
            try:
                await act()
            except _Gone:
                raise
            except Exception as error:  # noqa: BLE001 whatever it is, it is answered by a problem
                await self._fail(error, said)

    def _done(self, table: str, turn: asyncio.Task[None]) -> None:
        self._room.release()
        self._turns.discard(turn)
        if self._last.get(table) is turn:
            del self._last[table]

    # What is done about it

    async def _command(self, command: SocketCommand) -> None:
        """Post it to its route, and send the answer."""
        headers = [*self._headers]
        for name, value in (
            (b"idempotency-key", command.key),
            (b"if-match", command.if_match),
            (b"prefer", command.prefer),
        ):
            if value is not UNSET:
                headers.append((name, value.encode()))
        path = command.path
        scope = {**self._base, "path": path, "raw_path": path.encode(), "headers": headers, "state": {**self._known}}
        body = b"" if command.body is UNSET else bytes(command.body)
        answer = await self._ask(cast("HTTPScope", scope), body)
        await self._tell("answer", frames.answered(command.id, answer.status, answer.headers, answer.body))

    async def _watch(self, wanted: Watch) -> None:
        """Follow a table from a version on; one that is followed already is followed from there instead."""
        who = await identity(self._request)
        asked = await self._tables.asked(who.account, wanted.table)
        asked = asked._replace(eyes=meant("" if wanted.through is UNSET else wanted.through, who))
        table = await self._tables.look(asked)
        granted(table, asked.player, asked.eyes)
        version = table.version
        if wanted.table not in self._watched and len(self._watched) >= MAX_WATCHED:
            message = f"A socket watches at most {MAX_WATCHED} tables; unwatch one first."
            raise TooMany(message, "watched-tables", MAX_WATCHED, None, 1)
        await self._leave(wanted.table)
        await self._tell("watched", frames.told(WatchedFrame(wanted.table, wanted.after, version)))
        besides = Besides(wanted.rulings, wanted.checkpoints)
        self._watched[wanted.table] = asyncio.create_task(self._follow(asked, wanted.after, besides))

    async def _unwatch(self, wanted: Unwatch) -> None:
        await identity(self._request)
        await self._leave(wanted.table)
        await self._tell("unwatched", frames.told(UnwatchedFrame(wanted.table)))

    async def _object(self, malformed: Malformed) -> None:
        """Tell a client that its message is none; that counts as a request, like one whose body is no good."""
        await identity(self._request)
        raise malformed

    async def _leave(self, table: str) -> None:
        following = self._watched.pop(table, None)
        if following is not None:
            following.cancel()
            await asyncio.wait((following,))

    async def _follow(self, asked: Asked, after: int, besides: Besides) -> None:
        """Send what happens at a table, until all that is wanted is told, or the client is too slow."""
        table = asked.table
        with suppress(_Gone):
            try:
                reading = await self._live.open(asked, after, besides)
                async with aclosing(reading):
                    with self._presence.attending(asked.player, table):
                        await feed(self._line, reading, partial(_written, table))
            except _Gone:
                raise
            except Exception as error:  # noqa: BLE001 whatever it is, it is told as a problem
                await self._fail(error, {"table": table})
        if self._watched.get(table) is asyncio.current_task():
            del self._watched[table]

    # What the client is told

    async def _fail(self, error: Exception, said: Said) -> None:
        answer = Collected()
        await problems.met(self._request.scope, error)(self._request.scope, answer.receive, answer.send)
        await self._tell("error", frames.failed(answer.body, answer.headers, said))

    async def _tell(self, kind: str, frame: bytes) -> None:
        """Send a frame; wait while the client takes nothing, raise _Gone where there is none any more."""
        try:
            await self._send({"type": "websocket.send", "text": frame.decode(), "bytes": None})
        except OSError:
            raise _Gone from None
        _sent.add(kind)

    async def _close(self, code: int, reason: str) -> int:
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(CLOSE_S):
                await self._send({"type": "websocket.close", "code": code, "reason": reason})
        return code

    # The end

    async def _finish(self) -> None:
        """Follow no table any more, and let what is under way be answered."""
        await _ended(*self._watched.values())
        if self._turns:
            await asyncio.wait(self._turns, timeout=FINISH_S)

    async def _quit(self, *others: asyncio.Task[object]) -> None:
        """Give up all that goes on."""
        await _ended(*others, *self._turns, *self._watched.values())


class _Line:
    """A socket, as what takes whatever happens at the tables that are watched."""

    def __init__(self, line: WebSocket) -> None:
        self._line = line

    def push(self, body: bytes) -> bool:
        """Send a frame, if the client takes more now; tell whether it does."""
        return not self.is_blocked() and self._line.push(body)

    def is_blocked(self) -> bool:
        """Tell whether the client takes no more for now."""
        return not self._line.writable.is_set()

    async def writable(self) -> None:
        """Wait until the client takes more, or is gone."""
        await self._line.writable.wait()


class Collected:
    """The answer to a request that came over a socket."""

    __slots__ = ("_body", "body", "headers", "status")

    def __init__(self, body: bytes = b"") -> None:
        """Give the application this body."""
        self._body: bytes | None = body
        self.status = 0
        self.headers: list[tuple[bytes, bytes]] = []
        self.body = b""

    async def receive(self) -> HTTPReceiveMessage:
        """Return the whole body, and after it that there is no more."""
        if self._body is None:
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(self, message: Message) -> None:
        """Keep a part of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = list(message["headers"])
        elif message["type"] == "http.response.body":
            self.body += message["body"]


Ask: TypeAlias = Callable[[HTTPScope, bytes], Awaitable[Collected]]
"""Answers a request with this body, as over HTTP."""


class _Gone(Exception):
    """The client is."""


async def _ended(*tasks: asyncio.Task[object]) -> None:
    """Cancel tasks, and wait until they have ended."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks)


def _written(table: str, frame: Frame) -> bytes:
    """Return what is sent of a frame of a table."""
    _sent.add(frame.kind)
    data = frame.data if frame.kind in {"decision", "checkpoint"} else b""
    return frames.of_table(frame.kind, table, frame.version, data)


def _table_in(path: str) -> str:
    """Return the table that a path names, or else the path."""
    _, _, _, _, *rest = [*path.split("/"), *("",) * 4]  # /v1/{game}/tables/{table}/…
    return rest[0] or path
