"""The route of the lobby: which tables there are to join or to watch."""

from typing import Annotated, Literal

from litestar.response.base import ASGIResponse
from msgspec import Meta, Struct

from events.base import GameName, whole
from projections.lobby import Summary
from service.api.answers import answer
from service.api.endpoint import Endpoint, Parameter
from service.api.requests import AnyRequest, identity, query
from service.errors import NotFound
from service.lobby import CURSOR, Filter, Lobby

MAX_TABLES = 100

Listing = Literal["open", "playing"]
Count = Annotated[int, Meta(ge=1, le=MAX_TABLES)]
Cursor = Annotated[str, Meta(pattern=whole(CURSOR), description="Where to read on; opaque.")]


class Tables(Struct, frozen=True):
    """A page of the lobby, newest first; `next` is what to ask `after` for the next page, null at the end."""

    tables: Annotated[tuple[Summary, ...], Meta(max_length=MAX_TABLES)]
    next: Cursor | None


async def tables(request: AnyRequest) -> ASGIResponse:
    """List the tables that are open or in play."""
    await identity(request)
    game = query(request, "game", GameName, "") or None
    if game is not None and request.app.state.games.named(game) is None:
        raise NotFound(f"There is no game {game} here.")
    status: Listing | None = query(request, "status", Listing, None)  # type: ignore[arg-type] # mypy takes no Literal for a type
    after = query(request, "after", Cursor, "") or None
    limit = query(request, "limit", Count, MAX_TABLES)
    lobby: Lobby = request.app.state.lobby
    page = await lobby.tables(Filter(game, status), after, limit)
    return answer(Tables(page.tables, page.next), headers={"Cache-Control": "no-store"})


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/v1/tables",
        name="getTables",
        summary="The tables that are open or in play, newest first.",
        handler=tables,
        parameters=(
            Parameter("game", "query", GameName, "Only tables of this game."),
            Parameter("status", "query", Listing, "Only tables that are open, or in play."),
            Parameter("after", "query", Cursor, "The `next` of the page before."),
            Parameter("limit", "query", Count, "At most so many tables in a page."),
        ),
        answers={200: Tables},
        errors=(400, 401, 404, 429, 503),
        tag="tables",
    ),
)
