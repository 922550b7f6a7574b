"""What the routes of one game's tables have in common: their paths and names, and how a table is asked about."""

from typing import Annotated, Any, Final, get_type_hints

from msgspec import Meta

from events.base import Id, Version
from service.api.endpoint import Parameter
from service.api.requests import AnyRequest, query
from service.eyes import Wanted
from service.game import AnyGame
from service.tables import Asked, Tables

JSON: Final = "application/json"
VIEW_HEADERS: Final = {"Cache-Control": "private, no-cache", "Vary": "Authorization, Accept"}

Past = Annotated[int, Meta(ge=1, le=2**53)]

TABLE = Parameter("table", "path", Id, "The table's id.", required=True)
AT = Parameter("at", "query", Past, "The version to look at, with the rights you have today.")
AFTER = Parameter("after", "query", Version, "Only decisions after this version.")


class GameRoutes:
    """Routes of the tables of one game."""

    def __init__(self, game: AnyGame) -> None:
        """Make the routes of this game."""
        self.game = game
        self.tables = f"/v1/{game.name}/tables"
        self.table = f"{self.tables}/{{table}}"
        # In the names of operations, which generated clients turn into functions: a title may have accents.
        self.kind = game.name.title().replace("_", "")

    def asked(self, request: AnyRequest, account: str, wanted: Wanted = None) -> Asked:
        """Return what an account asks of the table in the request's path, to be seen through the eyes it wants."""
        return Asked(account, self.game.name, request.path_params[TABLE.name], eyes=wanted)


def tables_of(request: AnyRequest) -> Tables:
    """Return the tables of this process."""
    tables: Tables = request.app.state.tables
    return tables


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
