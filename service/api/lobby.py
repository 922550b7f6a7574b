"""The route of the lobby: which tables there are to join or to watch, and what changes there."""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Annotated, Final, Literal, NamedTuple, cast

import msgspec
from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from msgspec import Meta, Struct

from events.base import MAX_SEATS, GameName, Id, whole
from projections.lobby import Summary
from service.api.answers import answer, encoded
from service.api.endpoint import Endpoint, Parameter
from service.api.eventstream import (
    EVENT_STREAM,
    NDJSON,
    Events,
    Sent,
    Streams,
    event_of,
    event_stream,
    ndjson_stream,
)
from service.api.following import FOLLOW, Form
from service.api.requests import AnyRequest, converted, header, query, stream_identity
from service.auth.tokens import Identity
from service.changes import Changes, Frame, LobbyAt, LobbyGone, LobbyReset, LobbyTable, Place, table
from service.errors import Malformed, NotFound
from service.game import AnyGame
from service.lobby import CURSOR, Filter, Lobby, Value

MAX_TABLES: Final = 100
MAX_OPTIONS: Final = 64
HEADERS: Final = {"Cache-Control": "no-store", "Vary": "Accept"}

Listing = Literal["open", "playing", "paused"]
Count = Annotated[int, Meta(ge=1, le=MAX_TABLES)]
OpenSeats = Annotated[int, Meta(ge=0, le=MAX_SEATS)]
Cursor = Annotated[str, Meta(pattern=whole(CURSOR), description="Where to read on; opaque.")]
Option = Annotated[str, Meta(max_length=65, pattern=whole("[a-z][a-z0-9_]{0,31}:[A-Za-z0-9_-]{1,32}"))]
Options = Annotated[tuple[Option, ...], Meta(max_length=MAX_OPTIONS)]


class Tables(Struct, frozen=True):
    """A page of the lobby, newest first; `next` is what to ask `after` for the next page, null at the end.

    A page of tables that are rare among the others may have fewer than were asked for, or none, though there is a
    `next`. `cursor` is from where to follow what changes after this page was read, null on all pages but the first.
    """

    tables: Annotated[tuple[Summary, ...], Meta(max_length=MAX_TABLES)]
    next: Cursor | None
    cursor: Place | None


class _Wanted(NamedTuple):
    """What is asked for, and from where changes are to be followed."""

    tables: Filter
    since: str | None


async def tables(request: AnyRequest) -> ASGIResponse:
    """List the tables that are open or in play: a page of JSON or all of them as lines; or follow what changes."""
    who = await stream_identity(request)
    wanted = _Wanted(_filter(request), _since(request))
    after = query(request, "after", Cursor, "") or None
    limit = query(request, "limit", Count, MAX_TABLES)
    form = Form(request)
    form.only_of_a_page(request, "limit")
    form.only_of_a_page(request, "after")
    form.only_where_it_goes_on(request, "since")
    if form.goes_on:
        return await _stream(request, who, wanted, form.media)
    lobby: Lobby = request.app.state.lobby
    page = await lobby.tables(wanted.tables, after, limit)
    if form.media == NDJSON:
        lines = _lines(lobby, wanted.tables, page.change)
        return ASGIStreamingResponse(iterator=lines, media_type=NDJSON, headers=HEADERS)
    return answer(Tables(page.tables, page.next, page.change if after is None else None), headers=HEADERS)


async def _stream(request: AnyRequest, who: Identity, wanted: _Wanted, media: str) -> ASGIResponse:
    """Return what changes as a stream."""
    streams: Streams = request.app.state.streams
    streams.admit(who.account)
    changes: Changes = request.app.state.changes
    frames = await changes.follow(*wanted)
    if media == NDJSON:
        return ndjson_stream(request, who, frames, write=_line)
    return event_stream(request, who, frames, write=_event)


async def _lines(lobby: Lobby, wanted: Filter, change: str) -> AsyncIterator[bytes]:
    """Yield all tables that are wanted one a line."""
    after = None
    while True:
        page = await lobby.tables(wanted, after, MAX_TABLES)
        yield b"".join(_line(table(change, encoded(summary))) for summary in page.tables)
        after = page.next
        if after is None:
            return


@lru_cache(maxsize=1_024)
def _event(frame: Frame) -> bytes:
    """Write a frame as a server-sent event.

    `at` has its data, too: EventSource tells a page of no id that comes alone.
    """
    return event_of(Sent(frame.place, frame.kind, frame.data))


def _line(frame: Frame) -> bytes:
    """Write a frame as a line of NDJSON."""
    return frame.data + b"\n"


def _filter(request: AnyRequest) -> Filter:
    """Return what is asked for."""
    game = _game(request)
    status: Listing | None = query(request, "status", Listing, None)  # type: ignore[arg-type] # mypy takes no Literal for a type
    started: bool | None = query(request, "started", bool, None)
    return Filter(
        game=None if game is None else game.name,
        status=status,
        started=started,
        open_seats=query(request, "open_seats", OpenSeats, 0),
        host=query(request, "host", Id, "") or None,
        player=query(request, "player", Id, "") or None,
        options=_options(request, game),
    )


def _game(request: AnyRequest) -> AnyGame | None:
    """Return the game that is asked for, None where any is; raise NotFound."""
    name = query(request, "game", GameName, "")
    if not name:
        return None
    game: AnyGame | None = request.app.state.games.named(name)
    if game is None:
        raise NotFound(f"There is no game {name} here.")
    return game


def _options(request: AnyRequest, game: AnyGame | None) -> Mapping[str, frozenset[Value]]:
    """Return the values of which an option must have one, by its name."""
    asked = request.query_params.getall("option", [])
    if not asked:
        return {}
    if game is None:
        raise Malformed("Options are a game's own: ask for one game by `game`.", "option")
    if len(asked) > MAX_OPTIONS:
        raise Malformed(f"Ask for up to {MAX_OPTIONS} values of options.", "option")
    kinds = {field.name: field.type for field in msgspec.structs.fields(game.projection.options)}
    wanted: dict[str, set[Value]] = defaultdict(set)
    for text in asked:
        name, _, value = converted(text, Option, "option").partition(":")
        if name not in kinds:
            raise Malformed(f"{game.title} has no option {name}; GET /v1/games/{game.name} has those it has.", "option")
        wanted[name].add(_value(value, name, kinds[name]))
    return {name: frozenset(values) for name, values in wanted.items()}


def _value(text: str, name: str, kind: object) -> Value:
    """Return the value of an option that is written so."""
    written: list[Value] = [text]
    if text.removeprefix("-").isdecimal():
        written.append(int(text))
    elif text in {"true", "false"}:
        written.append(text == "true")
    for value in written:
        with suppress(msgspec.ValidationError):
            return cast("Value", msgspec.convert(value, kind))
    raise Malformed(f"The option {name} is never {text}.", "option")


def _since(request: AnyRequest) -> str | None:
    """Return the change after which to go on, None for the newest."""
    last = header(request, "Last-Event-ID")
    if last is not None:
        return converted(last, Place, "Last-Event-ID")
    return query(request, "since", Place, "") or None


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/v1/tables",
        name="getTables",
        summary="The tables that are open or in play, newest first, and what changes among them.",
        about="""
        A page of JSON; or with `Accept: application/x-ndjson` all of them, one on each line.

        With `Accept: text/event-stream`, or as lines with `follow=true`, what changes from now on, or `since` the
        `cursor` of a page, for the same filters: `table` brings a table as it is now, `gone` takes one out, `reset`
        says to fetch the list anew, `at` where you are among the changes when none was yours; an event's data is what a
        line has. To keep a list: fetch it, follow from its
        `cursor`, and do what comes, in its order; of a table's summaries the one of the higher version counts.
        Filters hold together. More at `/docs/lobby`.
        """,
        handler=tables,
        parameters=(
            Parameter("game", "query", GameName, "Only tables of this game."),
            Parameter("status", "query", Listing, "Only tables that are open, in play, or paused by an arbiter."),
            Parameter("started", "query", bool, "Only tables at which play has begun, or has not."),
            Parameter(
                "open_seats", "query", OpenSeats, "Only tables where a person could take at least so many seats."
            ),
            Parameter(
                "option",
                "query",
                Options,
                "Only tables with this value of an option, as `deals:5`; only with `game`. May come several times: "
                "values of one option are alternatives, different options must all be as asked.",
            ),
            Parameter("host", "query", Id, "Only tables that this account hosts."),
            Parameter("player", "query", Id, "Only tables where this account holds a seat."),
            Parameter("after", "query", Cursor, "The `next` of the page before; for pages alone."),
            Parameter("limit", "query", Count, "At most so many tables in a page of JSON."),
            Parameter("since", "query", Place, "The change after which to follow; for streams alone."),
            FOLLOW,
            Parameter(
                "Last-Event-ID",
                "header",
                Place,
                "The id of the last event that came: as `since`, which it beats. Browsers send it when they come "
                "again.",
            ),
        ),
        answers={200: Tables},
        media={NDJSON: LobbyTable | LobbyGone | LobbyReset | LobbyAt, EVENT_STREAM: Events},
        errors=(400, 401, 404, 406, 429, 503),
        ticketed=True,
        tag="tables",
    ),
)
