"""Routes of what concerns whoever asks, at all tables at once: an inbox to page or follow, and what is to be done."""

from collections.abc import AsyncIterator
from typing import Annotated, Literal

from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from msgspec import Meta, Struct

from events.base import whole
from projections.notices import AnyNotice, Number
from service.api.answers import answer, encoded
from service.api.endpoint import Endpoint, Link, Parameter
from service.api.eventstream import (
    EVENT_STREAM,
    NDJSON,
    Sent,
    Streams,
    event_of,
    event_stream,
    line_of,
    ndjson_stream,
)
from service.api.following import FOLLOW, Form
from service.api.requests import AnyRequest, converted, header, identity, query, stream_identity
from service.auth.tokens import Identity
from service.inbox import PAGE, Inboxes, Reset, bell_of
from service.inbox import Page as InboxPage
from service.log import Log
from service.todo import CURSOR, AnyTask, Todo

HEADERS = {"Cache-Control": "private, no-store", "Vary": "Authorization, Accept"}

MAX_NOTICES = 1_000
MAX_TASKS = 500

InboxEvents = Annotated[
    str,
    Meta(
        description="Server-sent events, as long as it is open; `/docs/inbox` tells what each of them means.",
        extra_json_schema={"contentMediaType": EVENT_STREAM},
    ),
]
EventId = Annotated[str, Meta(pattern=whole("(0|[1-9][0-9]{0,15})"), examples=["41"])]
NoticeCount = Annotated[int, Meta(ge=1, le=MAX_NOTICES)]
TaskCount = Annotated[int, Meta(ge=1, le=MAX_TASKS)]
Cursor = Annotated[str, Meta(pattern=whole(CURSOR), description="Where to read on; opaque.")]


class Notices(Struct, frozen=True):
    """A page of your inbox, the oldest notice first; `next` is the number to ask after for more, null at the newest.

    `reset` is null where the page follows what you asked for. Else that is not there any more, and something may have
    escaped you: drop what you have, look at `/v1/me/todo`, and go on with this page, which begins after `reset`.
    """

    notices: Annotated[tuple[AnyNotice, ...], Meta(max_length=MAX_NOTICES)]
    next: Number | None
    reset: Number | None


class NoticeReset(Struct, frozen=True):
    """What a stream says where what you asked for is not there any more; the next notice follows `number`."""

    type: Literal["reset"]
    number: Number


class Tasks(Struct, frozen=True):
    """Tables that wait for you, in the order in which you came to them; `next` leads to the next page, null at the end.

    `number` is that of your newest notice before any table was looked at: ask `/v1/me/events` after it, and nothing
    that has changed since escapes you.
    """

    tasks: Annotated[tuple[AnyTask, ...], Meta(max_length=MAX_TASKS)]
    next: Cursor | None
    number: Number


async def events(request: AnyRequest) -> ASGIResponse:
    """Return notices after a number: a page of JSON, lines of NDJSON, or a stream."""
    who = await stream_identity(request)
    last = header(request, "Last-Event-ID")
    asked = query(request, "after", Number, -1)
    after = converted(last, Number, "Last-Event-ID") if last is not None else asked if asked >= 0 else None
    limit = query(request, "limit", NoticeCount, MAX_NOTICES)
    form = Form(request)
    form.only_of_a_page(request, "limit")
    if form.goes_on:
        return _stream(request, who, after, form.media)
    inboxes = _inboxes(request)
    if form.media == NDJSON:
        first = await inboxes.page(who.account, after, PAGE)
        return ASGIStreamingResponse(
            iterator=_lines(inboxes, who.account, first), media_type=NDJSON, headers=dict(HEADERS)
        )
    page = await inboxes.page(who.account, after, limit)
    return answer(Notices(page.notices, page.next, page.reset), headers=HEADERS)


async def todo(request: AnyRequest) -> ASGIResponse:
    """Return the tables that wait for whoever asks."""
    who = await identity(request)
    after = query(request, "after", Cursor, "") or None
    limit = query(request, "limit", TaskCount, MAX_TASKS)
    waiting: Todo = request.app.state.todo
    page = await waiting.page(who.account, after, limit)
    return answer(Tasks(page.tasks, page.next, page.number), headers=HEADERS)


def _stream(request: AnyRequest, who: Identity, after: int | None, media: str) -> ASGIResponse:
    """Return what follows a number, and what comes from then on."""
    streams: Streams = request.app.state.streams
    streams.admit(who.account)
    log: Log = request.app.state.log
    source = _inboxes(request).follow(who.account, after, log.bell(bell_of(who.account)))
    if media == NDJSON:
        return ndjson_stream(request, who, source, write=_line)
    return event_stream(request, who, source, write=_event)


async def _lines(inboxes: Inboxes, account: str, page: InboxPage) -> AsyncIterator[bytes]:
    """Yield notices one a line, from a first page on to the newest."""
    while True:
        reset = b"" if page.reset is None else _line(Reset(page.reset))
        yield reset + b"".join(map(_line, page.notices))
        if page.next is None:
            return
        page = await inboxes.page(account, page.next, PAGE)


def _event(sent: AnyNotice | Reset) -> bytes:
    """Write a notice, or where to go on, as a server-sent event; a browser comes again from either."""
    if isinstance(sent, Reset):
        return event_of(Sent(str(sent.number), "reset", encoded({"number": sent.number})))
    return event_of(Sent(str(sent.number), "notice", encoded(sent)))


def _line(sent: AnyNotice | Reset) -> bytes:
    """Write the same as a line of JSON."""
    return line_of(encoded(NoticeReset("reset", sent.number) if isinstance(sent, Reset) else sent))


def _inboxes(request: AnyRequest) -> Inboxes:
    inboxes: Inboxes = request.app.state.inboxes
    return inboxes


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/v1/me/events",
        name="getMyEvents",
        summary="All that concerns you, at all tables: your turns, what began and what ended; as a stream too.",
        about="""
        Your inbox keeps the last 1,000 notices, numbered without a gap from 1 on. It is filled a moment after things
        happen, each of them once.

        - `application/json`: a page of what follows the number `after`, the oldest first; without `after`, from the
          oldest that is kept.
        - `application/x-ndjson`: all of them, one on each line; with `follow=true` what comes from then on too.
        - `text/event-stream`: the same as server-sent events, `notice` by name. An event's id is the number, so that
          whoever comes again with `Last-Event-ID` goes on exactly there.

        If what follows the number that you ask after is not kept any more, or the number was never given, you are told
        by `reset`, and get what there is. More at `/docs/inbox`.
        """,
        handler=events,
        parameters=(
            Parameter("after", "query", Number, "Only notices after this number."),
            Parameter("limit", "query", NoticeCount, "At most so many notices in a page of JSON."),
            FOLLOW,
            Parameter(
                "Last-Event-ID",
                "header",
                EventId,
                "The id of the last event that came: as `after`, which it beats. Browsers send it by themselves.",
            ),
        ),
        answers={200: Notices},
        media={NDJSON: (AnyNotice, NoticeReset), EVENT_STREAM: InboxEvents},
        links=(Link("getMyTodo", {}),),
        errors=(400, 401, 406, 429, 503),
        ticketed=True,
        tag="players",
    ),
    Endpoint(
        method="GET",
        path="/v1/me/todo",
        name="getMyTodo",
        summary="Every table that waits for you, as the tables stand now.",
        about="""
        `act`: your seat must act. `start`: you are the host of a table that waits for you to start it, and may. It is
        behind nothing that was answered before you asked, whoever answered. `due` is null until there are clocks.
        """,
        handler=todo,
        parameters=(
            Parameter("after", "query", Cursor, "The `next` of the page before."),
            Parameter("limit", "query", TaskCount, "At most so many tables in a page."),
        ),
        answers={200: Tasks},
        links=(Link("getMyEvents", {"after": "$response.body#/number"}),),
        errors=(400, 401, 429, 503),
        tag="players",
    ),
)
