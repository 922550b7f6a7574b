"""The route of a table's decisions: as a page, as lines, and as a stream of what happens from now on."""

from collections.abc import AsyncIterator
from functools import lru_cache
from typing import Annotated, NamedTuple

from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from msgspec import Meta

from events.base import Decision, Version, whole
from events.table import TableEvent
from service.api.answers import Decisions, Word, answer, empty, encoded
from service.api.endpoint import Endpoint, Parameter
from service.api.eventstream import (
    EVENT_STREAM,
    HEADERS,
    NDJSON,
    Events,
    Sent,
    Streams,
    event_of,
    event_stream,
    ndjson_stream,
)
from service.api.eyes import AS, SCOPE_OF_AS, eyes
from service.api.following import FOLLOW, Form
from service.api.gameroutes import AFTER, TABLE, VIEW_HEADERS, GameRoutes, tables_of, typed
from service.api.requests import AnyRequest, converted, header, query, stream_identity
from service.audit.checkpoints import CheckpointLine
from service.auth.tokens import Identity
from service.live import Besides, Live
from service.log import PAGE
from service.presence import Presence
from service.tables import Asked, Page, Tables
from service.watched import Frame

Count = Annotated[int, Meta(ge=1, le=PAGE)]
EventId = Annotated[str, Meta(pattern=whole("(0|[1-9][0-9]{0,15})"), examples=["41"])]


class _Following(NamedTuple):
    """A stream that is wanted: of which table, after which version, as which media type, with what besides play."""

    asked: Asked
    after: int
    media: str
    besides: Besides


LAST_EVENT_ID = Parameter(
    "Last-Event-ID",
    "header",
    EventId,
    "The id of the last event that came: as `after`, which it beats. Browsers send it when they come again.",
)
RULINGS = Parameter(
    "rulings",
    "query",
    bool,
    "Whether what goes on does so once play has ended, with disputes and what rulings bring.",
)
CHECKPOINTS = Parameter(
    "checkpoints",
    "query",
    bool,
    "Whether what goes on vouches for what it has sent, by a checkpoint after the newest decision.",
)
LIMIT = Parameter("limit", "query", Count, "At most so many decisions in a page of JSON.")


class EventRoutes(GameRoutes):
    """What happens at the tables of one game."""

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the routes."""
        event_types = TableEvent | self.game.projection.events
        events = Endpoint(
            method="GET",
            path=f"{self.table}/events",
            name=f"get{self.kind}Events",
            summary="The decisions after a version, as you may see them; as a stream too.",
            about="""
            - `application/json`: a page, whose `next` is what to ask `after` for the next page.
            - `application/x-ndjson`: all of them, one on each line, up to the newest; with `follow=true` what happens
              from then on too, as it happens. An empty line says that the stream is alive.
            - `text/event-stream`: the same as server-sent events. An event's id is the version, so that whoever comes
              again with `Last-Event-ID` goes on exactly there.

            Besides `decision`s a stream tells `reset` (what you have does not count: look at the table anew, the stream
            goes on after this version), `lagged` (you were too slow: come again from this version) and `ended` (play
            has ended). Who comes again after that with `Last-Event-ID` gets 204. With `rulings=true` the stream goes on
            after `ended`, with what is disputed and ruled then. With `checkpoints=true` it tells `checkpoint` after the
            newest decision, at most once a second. More at `/docs/streams`.

            Once play has ended `as` shows them through the eyes of any seat, or with what `all` seats saw together.
            """,
            handler=self.events,
            parameters=(TABLE, AFTER, LIMIT, FOLLOW, RULINGS, CHECKPOINTS, AS, LAST_EVENT_ID),
            answers={200: typed(Decisions, event_types), 204: None},
            media={NDJSON: (typed(Decision, event_types), Word, CheckpointLine), EVENT_STREAM: Events},
            errors=(400, 401, 403, 404, 406, 409, 429, 503),
            ticketed=True,
            scope_of=SCOPE_OF_AS,
            tag=self.game.name,
        )
        return (events,)

    async def events(self, request: AnyRequest) -> ASGIResponse:
        """Return decisions after a version: a page of JSON, lines of NDJSON, or a stream."""
        who = await stream_identity(request)
        asked = self.asked(request, who, eyes(request, who, AS))
        last = header(request, "Last-Event-ID")
        after = query(request, "after", Version, 0)
        if last is not None:
            after = converted(last, Version, "Last-Event-ID")
        limit = query(request, "limit", Count, PAGE)
        form = Form(request)
        form.only_of_a_page(request, "limit")
        form.only_where_it_goes_on(request, RULINGS.name)
        form.only_where_it_goes_on(request, CHECKPOINTS.name)
        besides = Besides(
            rulings=query(request, RULINGS.name, bool, default=False),
            checkpoints=query(request, CHECKPOINTS.name, bool, default=False),
        )
        if form.goes_on:
            return await self._stream(request, who, _Following(asked, after, form.media, besides))
        tables = tables_of(request)
        if form.media == NDJSON:
            first = await tables.decisions(asked, after, PAGE)
            return ASGIStreamingResponse(
                iterator=_lines(tables, asked, first), media_type=NDJSON, headers=dict(VIEW_HEADERS)
            )
        page = await tables.decisions(asked, after, limit)
        return answer(Decisions(page.decisions, page.next), headers=VIEW_HEADERS)

    async def _stream(self, request: AnyRequest, who: Identity, wanted: _Following) -> ASGIResponse:
        """Return what happens after a version as a stream; nothing to who has been told that there is no more."""
        state = request.app.state
        streams: Streams = state.streams
        live: Live = state.live
        streams.admit(who.account)
        reading = await live.open(wanted.asked, wanted.after, wanted.besides)
        presence: Presence = state.presence
        there = presence.attending(who.account, wanted.asked.table)
        if wanted.media == NDJSON:
            return ndjson_stream(request, who, reading, write=_line, during=there)
        if reading.has_ended and header(request, "Last-Event-ID") is not None:
            await reading.aclose()
            return empty(204, HEADERS)
        return event_stream(request, who, reading, write=_event, during=there)


async def _lines(tables: Tables, asked: Asked, page: Page) -> AsyncIterator[bytes]:
    """Yield decisions one a line, from a first page on to the newest."""
    while True:
        yield b"".join(encoded(decision) + b"\n" for decision in page.decisions)
        if page.next is None:
            return
        page = await tables.decisions(asked, page.next, PAGE)


@lru_cache(maxsize=1_024)
def _event(frame: Frame) -> bytes:
    """Write a frame as a server-sent event: once for all who are sent the same at about the same time."""
    # Whoever comes again goes on from a decision, which a checkpoint is not.
    return event_of(Sent(None if frame.kind == "checkpoint" else str(frame.version), frame.kind, frame.data))


@lru_cache(maxsize=1_024)
def _line(frame: Frame) -> bytes:
    """Write a frame as a line of NDJSON; as `_event`."""
    match frame.kind:
        case "decision":
            return frame.data + b"\n"
        case "checkpoint":
            return b'{"type":"checkpoint",%b\n' % frame.data.removeprefix(b"{")
        case kind:
            return encoded(Word(kind, frame.version)) + b"\n"
