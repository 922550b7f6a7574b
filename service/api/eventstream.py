"""Streams over HTTP: answers that go on, as server-sent events or as NDJSON, from any source of what to send.

A stream begins with a heartbeat, and has one every 15 seconds, so that no proxy takes it for dead: of events a comment,
of lines an empty one. It ends when its source does, when the token ends that it was opened with, when the server is
told to end, and when the client leaves; then its source is closed. A client that takes nothing holds its own
transport's buffer full and nothing else: its source is not asked before it takes more.

Left out: what is sent (service/live.py and others).
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager, nullcontext
from typing import Annotated, Final, Generic, NamedTuple, Protocol, TypeVar, cast

from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseBodyEvent, HTTPResponseStartEvent, Receive, Scope, Send
from msgspec import Meta

from service.api.exchange import OUTLET, Drain, Outlet
from service.api.requests import AnyRequest
from service.auth.tokens import Identity
from service.auth.vigil import Vigil
from service.clock import Sleep
from service.errors import TooManyStreams
from service.metrics import Gauge

T_co = TypeVar("T_co", covariant=True)
T = TypeVar("T")

EVENT_STREAM: Final = "text/event-stream"
NDJSON: Final = "application/x-ndjson"

Events = Annotated[
    str,
    Meta(
        description="Server-sent events, as long as it is open; `/docs/streams` tells what each of them means.",
        extra_json_schema={"contentMediaType": EVENT_STREAM},
    ),
]
"""What the document says of a stream of events."""

BEAT_S: Final = 15
"""How many seconds lie between two heartbeats."""

RETRY_MS: Final = 1_000
"""After how long a browser is to come again when a stream has broken off."""

# No cache keeps a stream, and no proxy waits for its end before it passes it on.
HEADERS: Final = {"Cache-Control": "private, no-store", "Vary": "Authorization, Accept", "X-Accel-Buffering": "no"}

_BEGINNING: Final = b"retry: %d\n:\n\n" % RETRY_MS

_open = Gauge("evenfold_open_streams", "sum", "Streams and sockets that are open.")


class Sent(NamedTuple):
    """A server-sent event: its id, from which the client resumes (None: as before), its name, and one line of data."""

    id: str | None
    event: str
    data: bytes


class Source(Protocol[T_co]):
    """What a stream sends, as it comes; it is closed when the stream ends, however that ends."""

    def __aiter__(self) -> AsyncIterator[T_co]:
        """Return what yields it."""

    async def aclose(self) -> None:
        """End it."""


class Taken(Source[T_co], Protocol[T_co]):
    """A source that many streams take the same from: it tells them all in passing, where none of them need wait."""

    is_over: bool

    @property
    def is_at_newest(self) -> bool:
        """Whether all that there is has been taken, and more may come."""

    def take(self) -> T_co | None:
        """Return what comes next, None if there is nothing, or nothing yet."""

    async def more(self) -> None:
        """Return when there is, or may be, more to take."""

    async def feed(self, feed: Callable[[], bool]) -> None:
        """Have this called whenever there is more; return when it returns False."""


class Streams:
    """The streams that are open in this process, and their heartbeats."""

    def __init__(self, most: int = 0, *, sleep: Sleep = asyncio.sleep) -> None:
        """Let each account have so many open, 0 for no limit; `sleep` waits between heartbeats."""
        self._most = most
        self._sleep = sleep
        self._of: Counter[str] = Counter()
        # By the second in which each has its heartbeat: so they don't all beat at once.
        self._beats: list[set[Callable[[], object]]] = [set() for _ in range(BEAT_S)]
        self._second = 0
        self._open = 0

    def admit(self, account: str) -> None:
        """Raise TooManyStreams if an account may not open one more."""
        if self._most and self._of[account] >= self._most:
            raise TooManyStreams(self._most)

    @contextmanager
    def opened(self, account: str, beat: Callable[[], object]) -> Iterator[None]:
        """Count a stream of an account for a block, and have `beat` called every 15 seconds in it."""
        beats = self._beats[self._second]
        beats.add(beat)
        self._count(account, 1)
        try:
            yield
        finally:
            beats.discard(beat)
            self._count(account, -1)

    async def beat(self) -> None:
        """Have every stream beat in its second, for ever."""
        while True:
            await self._sleep(1)
            self._second = (self._second + 1) % BEAT_S
            for beat in tuple(self._beats[self._second]):
                beat()

    def _count(self, account: str, by: int) -> None:
        self._open += by
        self._of[account] += by
        if not self._of[account]:
            del self._of[account]
        _open.set(self._open)


@asynccontextmanager
async def streaming(most: int) -> AsyncIterator[Streams]:
    """Give the streams of a process, of which each account may have so many open; they beat until the block ends."""
    streams = Streams(most)
    beating = asyncio.create_task(streams.beat())
    try:
        yield streams
    finally:
        beating.cancel()
        await asyncio.wait([beating])


def event_of(sent: Sent) -> bytes:
    """Write a server-sent event."""
    id_ = "" if sent.id is None else f"id: {sent.id}\n"
    return b"%bevent: %b\ndata: %b\n\n" % (id_.encode(), sent.event.encode(), sent.data)


def line_of(line: bytes) -> bytes:
    """Write a line of NDJSON."""
    return line + b"\n"


def event_stream(
    request: AnyRequest,
    who: Identity,
    source: Source[T],
    *,
    write: Callable[[T], bytes] = event_of,  # type: ignore[assignment] # T is Sent where nothing else writes it
    during: AbstractContextManager[object] | None = None,
) -> ASGIResponse:
    """Answer with what a source yields as server-sent events; raise TooManyStreams.

    The stream is `who`'s and ends with the token that they came with; `during` is entered as long as it is open.
    `write` makes bytes of what the source yields, where that isn't `Sent`.
    """
    return _Stream(request, who, _Writing(EVENT_STREAM, _BEGINNING, b":\n\n", write), source, during)


def ndjson_stream(
    request: AnyRequest,
    who: Identity,
    source: Source[T],
    *,
    write: Callable[[T], bytes] = line_of,  # type: ignore[assignment] # T is bytes where nothing else writes it
    during: AbstractContextManager[object] | None = None,
) -> ASGIResponse:
    """Answer with what a source yields as lines of JSON, as long as that goes on; as `event_stream` in all else."""
    return _Stream(request, who, _Writing(NDJSON, b"\n", b"\n", write), source, during)


class _Writing(NamedTuple, Generic[T]):
    """How a stream is written: its media type, how it begins, its heartbeat, and what makes bytes of what is sent."""

    media_type: str
    beginning: bytes
    beat: bytes
    write: Callable[[T], bytes]


class _Stream(ASGIResponse, Generic[T]):
    """An answer that goes on.

    It is one task, that of its request. Whatever ends it from outside cancels that, and is told from who else may.
    """

    def __init__(
        self,
        request: AnyRequest,
        who: Identity,
        writing: _Writing[T],
        source: Source[T],
        during: AbstractContextManager[object] | None,
    ) -> None:
        self._streams: Streams = request.app.state.streams
        self._vigil: Vigil = request.app.state.vigil
        self._streams.admit(who.account)
        self._who = who
        self._writing = writing
        self._source = source
        self._during = during or nullcontext()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002 as ASGI calls it
        """Send it, to its end."""
        outlet = cast("Outlet", scope["state"][OUTLET])
        ending = _Ending()
        headers = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
        media_type = (b"content-type", self._writing.media_type.encode())
        start: HTTPResponseStartEvent = {
            "type": "http.response.start",
            "status": 200,
            "headers": [*headers, media_type],
        }
        try:
            await send(start)
            with (
                self._streams.opened(self._who.account, lambda: outlet.push(self._writing.beat)),
                ending,
                self._vigil.keep(self._who, ending.end),
                self._during,
            ):
                outlet.at_end(ending.end)
                # Whatever has ended by now ends it here: HEAD has had its answer.
                await asyncio.sleep(0)
                await self._pass_on(outlet)
        finally:
            await self._source.aclose()
        # To who takes nothing nothing more is said: the connection is cut.
        if not outlet.is_blocked():
            last: HTTPResponseBodyEvent = {"type": "http.response.body", "body": b"", "more_body": False}
            await send(last)

    async def _pass_on(self, outlet: Outlet) -> None:
        outlet.push(self._writing.beginning)
        if hasattr(self._source, "feed"):
            await feed(outlet, cast("Taken[T]", self._source), self._writing.write)
            return
        async for sent in self._source:
            while outlet.is_blocked():
                await outlet.writable()
            outlet.push(self._writing.write(sent))


async def feed(drain: Drain, source: Taken[T], write: Callable[[T], bytes]) -> None:
    """Push what can be taken: in passing as long as the client takes it at once, else when it does."""

    def go_on() -> bool:
        while not drain.is_blocked():
            sent = source.take()
            if sent is None:
                return source.is_at_newest
            drain.push(write(sent))
        return False

    while True:
        if go_on():
            await source.feed(go_on)
        elif drain.is_blocked():
            await drain.writable()
        elif source.is_over:
            return
        else:
            await source.more()


class _Ending:
    """Cancels the task that enters it when `end` is called, and ends the block then without an error."""

    def __init__(self) -> None:
        self._task = cast("asyncio.Task[None]", asyncio.current_task())
        self._is_within = False
        self._is_ended = False

    def end(self) -> None:
        """End the block, if it is entered and has not ended."""
        if self._is_within and not self._is_ended:
            self._is_ended = True
            self._task.cancel()

    def __enter__(self) -> None:
        self._is_within = True

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> bool:
        self._is_within = False
        if not self._is_ended:
            return False
        others = self._task.uncancel()
        return kind is asyncio.CancelledError and not others
