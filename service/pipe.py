"""A pipe to the store: all calls of one event-loop turn go out in one write, replies come back in their order.

redis-py connects (TCP, TLS, unix sockets, names and passwords, Sentinel); once it has, the pipe takes the transport
over and does nothing per call but pack, queue and resolve a future. A caller that is cancelled keeps its place in the
queue, so no reply ever reaches another; a call that fails at the server fails alone. What a broken connection means for
a call depends on whether its bytes were handed over:

    Unreachable
    ├── NotSent   never handed over: it did not happen, and is safe to send again
    └── Lost      handed over, the reply unknown: it may have happened

Left out: blocking commands, which would hold up everyone behind them (give each a pipe of its own), pub/sub, and
retries: only the caller knows whether a call may happen twice.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final, Protocol, TypeAlias, cast

from hiredis import Reader, pack_command
from redis.asyncio import Redis
from redis.asyncio.connection import AbstractConnection, ConnectionPool
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import InvalidResponse, RedisError, ResponseError

from service.clock import Sleep

Command: TypeAlias = tuple[bytes | str | int, ...]
"""What the server is asked to do."""

Reply: TypeAlias = "bytes | int | list[Reply] | None"
"""What the server answers (RESP2); text stays bytes."""

TIMEOUT_MS = 2_000
"""How long a call may take, from the call on, unless the pipe is told otherwise."""

TICKS = 4
"""Into how many ticks of the watchdog a time-out is divided: it comes at most one tick late."""

FIRST_PAUSE_S = 0.005
LONGEST_PAUSE_S = 0.5
"""Between two attempts to connect: doubled from the first to the longest."""


_NOTHING: Final = object()


class Unreachable(Exception):
    """The store did not answer a call."""


class NotSent(Unreachable):
    """The call was never handed over to the store: it did not happen."""


class Lost(Unreachable):
    """The call was handed over and its reply is unknown: it may have happened."""


class Awaiting(Protocol):
    """Whoever waits for a reply: a future, or what behaves like one."""

    def done(self) -> bool:
        """Say that a reply is of no interest any more."""
        ...

    def set_result(self, result: Reply, /) -> None:
        """Take the reply."""
        ...

    def set_exception(self, exception: Exception, /) -> None:
        """Take what came instead of it."""
        ...


class Pipe:
    """Calls to one server over one connection, opened when first needed and again when it breaks.

    `closed` says that it takes no more calls, `opened` how often it has connected: another server may answer since.
    """

    def __init__(self, redis: Redis, *, timeout_ms: int = TIMEOUT_MS, sleep: Sleep = asyncio.sleep) -> None:
        """Take the client whose kind of connection to make, and what to wait by between two attempts.

        The running event loop is the pipe's for good.
        """
        self._pool = redis.connection_pool
        self._tick_s = timeout_ms / 1_000 / TICKS
        self._sleep = sleep
        self._loop = asyncio.get_running_loop()
        self._link: _Link | None = None
        self._stale: _Link | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._failure: Exception | None = None
        self._packed: list[bytes] = []
        self._unsent: list[Awaiting] = []
        self._scheduled = False
        self._settled = 0
        self._called: deque[int] = deque()
        self._watchdog: asyncio.TimerHandle | None = None
        self._drained: asyncio.Future[None] | None = None
        self.closed = False
        self.opened = 0

    def call(self, *args: bytes | str | int) -> "asyncio.Future[Reply]":
        """Send a command and return its reply to come.

        It raises NotSent, Lost, or the server's own ResponseError. Cancelling it forgets the reply, not the command.
        """
        future: asyncio.Future[Reply] = self._loop.create_future()
        self.send(args, future)
        return future

    def send(self, command: Command, awaiting: Awaiting) -> None:
        """Send a command by the end of this turn of the loop; what comes of it goes to `awaiting`.

        Raise NotSent if the pipe is closed.
        """
        if self.closed:
            raise NotSent("the pipe to the store is closed")
        self._packed.append(pack_command(command))  # type: ignore[arg-type] # hiredis declares a tuple of one
        self._unsent.append(awaiting)
        self._schedule()

    async def close(self) -> None:
        """Take no more calls, wait for those under way, and disconnect."""
        self.closed = True
        await self.drained()
        await self.drop()

    async def drained(self) -> None:
        """Wait until no call is under way, no longer than the time-out of those that are."""
        if self._outstanding():
            if self._drained is None or self._drained.done():
                self._drained = self._loop.create_future()
            await asyncio.shield(self._drained)

    async def drop(self) -> None:
        """Take no more calls, fail those under way, and disconnect."""
        self.closed = True
        self._expire(self._outstanding())
        if self._watchdog is not None:
            self._watchdog.cancel()
            self._watchdog = None
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.wait([self._connecting])
        for link in filter(None, (self._link, self._stale)):
            await link.close()
        self._link = self._stale = None

    def _outstanding(self) -> int:
        return len(self._unsent) + (len(self._link.sent) if self._link is not None else 0)

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._flush)

    def _flush(self) -> None:
        """Write what this turn has called for, or see to it that there will be a connection to write it to."""
        self._scheduled = False
        if not self._unsent:
            return
        if self._watchdog is None:
            self._watchdog = self._loop.call_later(self._tick_s, self._tick)
        if self._link is not None:
            if self._link.write(self._packed, self._unsent):
                self._packed.clear()
                self._unsent.clear()
        elif self._connecting is None:
            self._connecting = self._loop.create_task(self._connect())

    async def _connect(self) -> None:
        """Connect, as often as it takes, as long as there are calls that wait for it."""
        pause_s = FIRST_PAUSE_S
        try:
            while self._unsent and self._link is None:
                try:
                    if self._stale is not None:
                        await self._stale.close()
                        self._stale = None
                    self._link = await _open(self._pool, _Link(self._on_replies, self._on_lost, self._flush))
                    self.opened += 1
                except (RedisError, OSError) as error:
                    self._failure = error
                    await self._sleep(pause_s)
                    pause_s = min(2 * pause_s, LONGEST_PAUSE_S)
        finally:
            self._connecting = None
        self._flush()

    def _on_replies(self, count: int) -> None:
        self._settled += count
        if self._drained is not None and not self._drained.done() and not self._outstanding():
            self._drained.set_result(None)

    def _on_lost(self, link: "_Link", failure: Exception | None) -> None:
        """Fail what was sent and not answered; what was not sent goes out over the next connection."""
        if link is not self._link:
            return
        self._link, self._stale, self._failure = None, link, failure
        sent = list(link.sent)
        link.sent.clear()
        self._fail(sent, Lost, "the connection to the store broke before the reply came")
        self._schedule()

    def _fail(self, calls: list[Awaiting], kind: type[Unreachable], message: str) -> None:
        for awaiting in calls:
            if not awaiting.done():
                error = kind(message)
                error.__cause__ = self._failure
                awaiting.set_exception(error)
        self._on_replies(len(calls))

    def _tick(self) -> None:
        """Fail the calls that have waited for `TICKS` ticks: one timer for all calls, and nothing per call."""
        self._watchdog = None
        if len(self._called) == TICKS:
            self._expire(self._called.popleft() - self._settled)
        outstanding = self._outstanding()
        if outstanding:
            self._called.append(self._settled + outstanding)
            self._watchdog = self._loop.call_later(self._tick_s, self._tick)
        else:
            self._called.clear()

    def _expire(self, overdue: int) -> None:
        """Fail so many calls, the oldest. One that was sent takes the connection with it: its reply may yet come."""
        if overdue <= 0:
            return
        link = self._link
        if link is not None and link.sent:
            overdue -= len(link.sent)
            self._on_lost(link, TimeoutError("the store did not reply in time"))
            link.abort()
        if overdue > 0:
            expired = self._unsent[:overdue]
            del self._unsent[:overdue], self._packed[:overdue]
            self._fail(expired, NotSent, "there was no connection to the store in time")


class _Link(asyncio.Protocol):
    """One connection that redis-py has opened, with the calls sent over it and not answered yet, in their order."""

    def __init__(
        self,
        on_replies: Callable[[int], None],
        on_lost: "Callable[[_Link, Exception | None], None]",
        on_room: Callable[[], None],
    ) -> None:
        self.sent: deque[Awaiting] = deque()
        self._on_replies = on_replies
        self._on_lost = on_lost
        self._on_room = on_room
        self._reader = Reader(protocolError=InvalidResponse, replyError=ResponseError, notEnoughData=_NOTHING)
        self._full = False

    def take_over(self, connection: AbstractConnection) -> None:
        """Read and write in place of redis-py's connection, which still closes it."""
        self._connection = connection
        # redis-py has no public way to its transport; by its own methods a reply costs five times as much.
        writer = cast("asyncio.StreamWriter", connection._writer)  # noqa: SLF001
        self._transport = writer.transport
        self._streams = self._transport.get_protocol()
        self._transport.set_protocol(self)

    def write(self, packed: list[bytes], calls: list[Awaiting]) -> bool:
        """Hand the calls over, or return False where the connection takes none now."""
        if self._full or self._transport.is_closing():
            return False
        self.sent.extend(calls)
        self._transport.write(b"".join(packed))
        return True

    def data_received(self, data: bytes) -> None:
        """Give each reply to the call it answers, whether or not anyone still waits there."""
        self._reader.feed(data)
        gets, sent, count = self._reader.gets, self.sent, 0
        try:
            while (reply := gets()) is not _NOTHING:
                awaiting = sent.popleft()
                count += 1
                if awaiting.done():
                    continue
                if isinstance(reply, ResponseError):
                    awaiting.set_exception(reply)
                else:
                    awaiting.set_result(reply)
        except (InvalidResponse, IndexError) as error:
            # What isn't the protocol, or a reply that no call asked for: nothing that comes after can be trusted.
            self._on_lost(self, error)
            self.abort()
        self._on_replies(count)

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell redis-py's connection too, which waits for this when it closes."""
        self._streams.connection_lost(exc)
        self._on_lost(self, exc)

    def pause_writing(self) -> None:
        """Hand nothing over: what waits here can still be said not to have been sent."""
        self._full = True

    def resume_writing(self) -> None:
        """Go on."""
        self._full = False
        self._on_room()

    def abort(self) -> None:
        """Drop the connection at once."""
        self._transport.abort()

    async def close(self) -> None:
        """Close the connection, if it is still open."""
        await self._connection.disconnect()


async def _open(pool: ConnectionPool, link: _Link) -> _Link:
    """Connect as the pool's connections do, but once, and speaking RESP2, which pushes nothing between replies."""
    settings = {**pool.connection_kwargs, "protocol": 2, "decode_responses": False, "retry": Retry(NoBackoff(), 0)}
    connection: AbstractConnection = pool.connection_class(**settings)
    try:
        await connection.connect()  # type: ignore[no-untyped-call] # redis-py has not annotated it
    except BaseException:
        await connection.disconnect(nowait=True)
        raise
    link.take_over(connection)
    return link
