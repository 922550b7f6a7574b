"""What the routes of one game's tables have in common: their paths and names, and how a table is asked about."""

from collections.abc import Awaitable, Mapping
from typing import Annotated, Any, Final, Literal, TypedDict, get_type_hints

from litestar.response.base import ASGIResponse
from msgspec import Meta

from events.base import Id, Version
from events.table import TableEvent
from service.api.answers import Done, answer
from service.api.endpoint import Parameter
from service.api.parameters import IDEMPOTENCY_KEY, IF_MATCH, PREFER
from service.api.requests import AnyRequest, once, only_at, prefers_view, query
from service.auth.scopes import ARBITER, suffices
from service.auth.tokens import Identity
from service.eyes import Wanted
from service.game import AnyGame, Command
from service.tables import Asked, Tables
from service.tables import Done as Decided

VIEW_HEADERS: Final = {"Cache-Control": "private, no-cache", "Vary": "Authorization, Accept"}

Past = Annotated[int, Meta(ge=1, le=2**53)]

TABLE = Parameter("table", "path", Id, "The table's id.", required=True)
AT = Parameter("at", "query", Past, "The version to look at, with the rights you have today.")
AFTER = Parameter("after", "query", Version, "Only decisions after this version.")

COMMAND_PARAMETERS = (IDEMPOTENCY_KEY, IF_MATCH, PREFER)
COMMAND_ERRORS = (400, 401, 403, 404, 409, 412, 413, 415, 422, 429, 503)


class _Taking(TypedDict):
    method: Literal["POST"]
    answers: Mapping[int, object]
    headers: tuple[str, ...]
    errors: tuple[int, ...]
    tag: str
    socket: bool


class GameRoutes:
    """Routes of the tables of one game."""

    def __init__(self, game: AnyGame) -> None:
        """Make the routes of this game."""
        self.game = game
        self.tables = f"/v1/{game.name}/tables"
        self.table = f"{self.tables}/{{table}}"
        # In the names of operations, which generated clients turn into functions: a title may have accents.
        self.kind = game.name.title().replace("_", "")
        self.event_type = TableEvent | game.projection.events
        self.done_type = typed(Done, self.event_type, view_of(game))
        # Of every route that has its table take a command which a `Done` tells, beside `COMMAND_PARAMETERS`.
        self.taking: _Taking = {
            "method": "POST",
            "answers": {201: self.done_type},
            "headers": ("Preference-Applied",),
            "errors": COMMAND_ERRORS,
            "tag": game.name,
            "socket": True,
        }

    def asked(self, request: AnyRequest, who: Identity, wanted: Wanted = None) -> Asked:
        """Return what somebody asks of the table in the request's path, to be seen through the eyes that are wanted."""
        judges = suffices(who.scopes, ARBITER)
        return Asked(who.account, self.game.name, request.path_params[TABLE.name], eyes=wanted, judges=judges)

    def act(self, request: AnyRequest, account: str, command: Command) -> Awaitable[Decided]:
        """Have the table in the request's path take a command of an account."""
        return tables_of(request).act(self.addressed(request, account), command)

    def addressed(self, request: AnyRequest, account: str) -> Asked:
        """Return which table a command of an account is for, once, and at which version; raise Malformed."""
        return Asked(account, self.game.name, request.path_params[TABLE.name], once(request, account), only_at(request))


def tables_of(request: AnyRequest) -> Tables:
    """Return the tables of this process."""
    tables: Tables = request.app.state.tables
    return tables


async def done_answer(request: AnyRequest, done: Decided, status: int) -> ASGIResponse:
    """Answer with the decision, and with the view right after it if the client prefers that."""
    version, head, events = done.decision.version, done.decision.head, done.decision.events
    if not prefers_view(request):
        return answer(Done(version, head, events), status)
    view = await tables_of(request).view_after(done)
    return answer(Done(version, head, events, view), status, {"Preference-Applied": "return=representation"})


def at(request: AnyRequest) -> int | None:
    """Return the version that a request would look at, None for the newest."""
    version = query(request, AT.name, Past, 0)
    return version or None


def typed(generic: Any, *parameters: object) -> object:  # noqa: ANN401 a generic class, which has no type of its own
    """Return a generic type with parameters that are known at run time alone."""
    return generic[parameters]


def view_of(game: AnyGame) -> object:
    """Return the type of the game's views, as its `view` declares it."""
    return get_type_hints(game.projection.view)["return"]
