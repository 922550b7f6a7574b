"""The routes of what the service vouches for: the record of an ended table, checkpoints of live ones, and its keys."""

from typing import Annotated, Generic, Literal, TypeVar

from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from msgspec import Meta, Struct

from events.base import MAX_EVENTS, By, Millis, Version, whole
from events.table import TableEvent
from service.api.answers import answer
from service.api.endpoint import Endpoint
from service.api.eventstream import NDJSON
from service.api.requests import AnyRequest, identity
from service.api.tables import TABLE, VIEW_HEADERS, typed
from service.audit.checkpoints import Checkpoint, Stream
from service.audit.keyring import Keyring, PublicKeys
from service.audit.record import Header, Trailer
from service.audit.records import Records
from service.auth.scopes import PERSON
from service.game import AnyGame
from service.referee import NEUTRAL
from service.tables import Asked

KEYS_PATH = "/.well-known/evenfold-keys.json"


COMMAND = TypeVar("COMMAND")
EVENT = TypeVar("EVENT")

Name = Annotated[str, Meta(pattern=whole("[0-9a-f]{64}"))]


class Logged(Struct, Generic[COMMAND, EVENT], frozen=True):
    """An entry of the log, as it is stored: `key` is the hash of an Idempotency-Key, `salt` is 128 random bits."""

    log: Literal[1]
    stream: Stream
    version: Version
    at: Millis
    by: By
    command: COMMAND
    cause: Annotated[str, Meta(max_length=64)] | None
    key: Name | None
    salt: Annotated[str, Meta(pattern=whole("[A-Za-z0-9_-]{22}"))]
    events: Annotated[tuple[EVENT, ...], Meta(max_length=MAX_EVENTS)]


class RecordRoutes:
    """What is vouched for at the tables of one game."""

    def __init__(self, game: AnyGame) -> None:
        """Make the routes of this game."""
        self._game = game
        self._path = f"/v1/{game.name}/tables/{{table}}"
        self._kind = game.name.title().replace("_", "")
        self._logged = typed(Logged, NEUTRAL | game.commands, TableEvent | game.projection.events)

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the routes."""
        return (
            Endpoint(
                method="GET",
                path=f"{self._path}/record",
                name=f"get{self._kind}Record",
                summary="The whole log of a table that has ended, opened and signed, to be checked without us.",
                about="""
                A header line, each entry of the log as its exact bytes, one a line, and a trailer line with the
                signature; `evenfold verify` checks it, and `/docs/record` tells how anybody can. Until play has ended
                it is refused with 409 `not_ended`. A token of scope `bot` alone gets none.
                """,
                handler=self.record,
                parameters=(TABLE,),
                answers={200: None},
                media={NDJSON: (Header, self._logged, Trailer)},
                errors=(400, 401, 403, 404, 409, 429, 503),
                scope=PERSON,
                tag=self._game.name,
            ),
            Endpoint(
                method="GET",
                path=f"{self._path}/checkpoint",
                name=f"get{self._kind}Checkpoint",
                summary="The version and head of a table's log now, signed: evidence to keep.",
                about="""
                A log that is cut or decided anew later does not go through the heads that were vouched for:
                `evenfold verify --checkpoint` finds that out.
                """,
                handler=self.checkpoint,
                parameters=(TABLE,),
                answers={200: Checkpoint},
                errors=(400, 401, 404, 429, 503),
                tag=self._game.name,
            ),
        )

    async def record(self, request: AnyRequest) -> ASGIResponse:
        """Return the record of a table that has ended."""
        who = await identity(request, PERSON)
        record = await _records(request).record(self._asked(request, who.account))
        return ASGIStreamingResponse(iterator=record, media_type=NDJSON, headers=dict(VIEW_HEADERS))

    async def checkpoint(self, request: AnyRequest) -> ASGIResponse:
        """Return a checkpoint of a table."""
        who = await identity(request)
        vouched = await _records(request).checkpoint(self._asked(request, who.account))
        return answer(vouched, headers={"Cache-Control": "no-store"})

    def _asked(self, request: AnyRequest, account: str) -> Asked:
        return Asked(account, self._game.name, request.path_params["table"])


async def keys(request: AnyRequest) -> ASGIResponse:
    """Return every public key that the service has signed with."""
    keyring: Keyring = request.app.state.keyring
    return answer(await keyring.published(), headers={"Cache-Control": "public, max-age=300"})


def _records(request: AnyRequest) -> Records:
    records: Records = request.app.state.records
    return records


KEYS = Endpoint(
    method="GET",
    path=KEYS_PATH,
    name="getKeys",
    summary="Every public key that the service has signed with, for `evenfold verify --keys`.",
    handler=keys,
    answers={200: PublicKeys},
    errors=(400, 503),
    token=False,
    tag="audit",
)
