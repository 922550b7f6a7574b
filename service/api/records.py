"""The routes of what the service vouches for: the record of an ended table, checkpoints of live ones, and its keys."""

from typing import Annotated, Generic, Literal, TypeVar

from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from msgspec import Meta, Struct

from events.base import MAX_EVENTS, By, Millis, Version, whole
from events.table import TableEvent
from service.api.answers import answer
from service.api.endpoint import Endpoint, Parameter
from service.api.eventstream import NDJSON
from service.api.gameroutes import TABLE, VIEW_HEADERS, GameRoutes, Past, typed
from service.api.requests import AnyRequest, identity, query
from service.audit.checkpoints import Checkpoint, Stream
from service.audit.keyring import Keyring, PublicKeys
from service.audit.record import Header, Trailer
from service.audit.records import Records
from service.audit.transparency import Consistency, Inclusion, Index, Leaf, SignedTree, Size, Transparency
from service.auth.scopes import PERSON
from service.game import AnyGame
from service.referee import NEUTRAL

MAX_LEAVES = 1_000
FRESH = {"Cache-Control": "no-store"}

Count = Annotated[int, Meta(ge=1, le=MAX_LEAVES)]

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


class Leaves(Struct, frozen=True):
    """Leaves that follow one another; `next` is the index to go on from, null at the newest."""

    leaves: Annotated[tuple[Leaf, ...], Meta(max_length=MAX_LEAVES)]
    next: Index | None


class RecordRoutes(GameRoutes):
    """What is vouched for at the tables of one game."""

    def __init__(self, game: AnyGame) -> None:
        """Make the routes of this game."""
        super().__init__(game)
        self._logged = typed(Logged, NEUTRAL | game.commands, TableEvent | game.projection.events)

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the routes."""
        return (self._get_record(), self._get_inclusion(), self._get_checkpoint())

    def _get_record(self) -> Endpoint:
        return Endpoint(
            method="GET",
            path=f"{self.table}/record",
            name=f"get{self.kind}Record",
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
            tag=self.game.name,
        )

    async def record(self, request: AnyRequest) -> ASGIResponse:
        """Return the record of a table that has ended."""
        who = await identity(request, PERSON)
        record = await _records(request).record(self.asked(request, who))
        return ASGIStreamingResponse(iterator=record, media_type=NDJSON, headers=dict(VIEW_HEADERS))

    def _get_inclusion(self) -> Endpoint:
        return Endpoint(
            method="GET",
            path=f"{self.table}/inclusion",
            name=f"get{self.kind}Inclusion",
            summary="The proof that a version of the table, its last by default, is in the transparency log.",
            about="""
            A table is logged a moment after play has ended: until then 404. `evenfold verify --proof` checks the
            answer together with the record.
            """,
            handler=self.inclusion,
            parameters=(TABLE, Parameter("version", "query", Past, "A version at which the table had ended.")),
            answers={200: Inclusion},
            errors=(400, 401, 404, 429, 503),
            tag=self.game.name,
        )

    async def inclusion(self, request: AnyRequest) -> ASGIResponse:
        """Return the proof that a version of a table is in the transparency log."""
        who = await identity(request)
        version = query(request, "version", Past, 0)
        stream, newest = await _records(request).newest(self.asked(request, who))
        return answer(await _transparency(request).inclusion(stream, version or newest), headers=FRESH)

    def _get_checkpoint(self) -> Endpoint:
        return Endpoint(
            method="GET",
            path=f"{self.table}/checkpoint",
            name=f"get{self.kind}Checkpoint",
            summary="The version and head of a table's log now, signed: evidence to keep.",
            about="""
            A log that is cut or decided anew later does not go through the heads that were vouched for:
            `evenfold verify --checkpoint` finds that out.
            """,
            handler=self.checkpoint,
            parameters=(TABLE,),
            answers={200: Checkpoint},
            errors=(400, 401, 404, 429, 503),
            tag=self.game.name,
        )

    async def checkpoint(self, request: AnyRequest) -> ASGIResponse:
        """Return a checkpoint of a table."""
        who = await identity(request)
        vouched = await _records(request).checkpoint(self.asked(request, who))
        return answer(vouched, headers=FRESH)


async def keys(request: AnyRequest) -> ASGIResponse:
    """Return every public key that the service has signed with."""
    keyring: Keyring = request.app.state.keyring
    return answer(await keyring.published(), headers={"Cache-Control": "public, max-age=300"})


def _records(request: AnyRequest) -> Records:
    records: Records = request.app.state.records
    return records


async def tree(request: AnyRequest) -> ASGIResponse:
    """Return the head of the transparency log as it is now, signed."""
    await identity(request)
    return answer(await _transparency(request).tree(), headers=FRESH)


async def leaves(request: AnyRequest) -> ASGIResponse:
    """Return leaves of the transparency log."""
    await identity(request)
    first = query(request, "first", Index, 0)
    limit = query(request, "limit", Count, MAX_LEAVES)
    page = await _transparency(request).leaves(first, limit)
    return answer(Leaves(page.leaves, page.next), headers=FRESH)


async def consistency(request: AnyRequest) -> ASGIResponse:
    """Return the proof that one tree begins with another."""
    await identity(request)
    first = query(request, "first", Size, 0)
    second = query(request, "second", Size, -1)
    if second < 0:
        second = await _transparency(request).size()
    return answer(await _transparency(request).consistency(first, second), headers=FRESH)


def _transparency(request: AnyRequest) -> Transparency:
    transparency: Transparency = request.app.state.transparency
    return transparency


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path=KEYS_PATH,
        name="getKeys",
        summary="Every public key that the service has signed with, for `evenfold verify --keys`.",
        handler=keys,
        answers={200: PublicKeys},
        errors=(400, 503),
        token=False,
        tag="audit",
    ),
    Endpoint(
        method="GET",
        path="/v1/transparency",
        name="getTree",
        summary="The head of the transparency log now, signed: evidence to keep.",
        about="""
        Every table that has ended is a leaf of a Merkle tree (RFC 6962) that only grows. Whoever keeps a tree head can
        have it proven later that the tree of then is the beginning of the tree of now.
        """,
        handler=tree,
        answers={200: SignedTree},
        errors=(400, 401, 429, 503),
        tag="audit",
    ),
    Endpoint(
        method="GET",
        path="/v1/transparency/leaves",
        name="getLeaves",
        summary="What the transparency log has, leaf by leaf, from an index on.",
        handler=leaves,
        parameters=(
            Parameter("first", "query", Index, "The first leaf, counted from 0."),
            Parameter("limit", "query", Count, "At most so many leaves in a page."),
        ),
        answers={200: Leaves},
        errors=(400, 401, 429, 503),
        tag="audit",
    ),
    Endpoint(
        method="GET",
        path="/v1/transparency/consistency",
        name="getConsistency",
        summary="The proof that the tree of `second` leaves begins with the tree of `first`.",
        handler=consistency,
        parameters=(
            Parameter("first", "query", Size, "The size of the smaller tree; 0, which any begins with."),
            Parameter("second", "query", Size, "The size of the larger tree; that of the newest."),
        ),
        answers={200: Consistency},
        errors=(400, 401, 404, 429, 503),
        tag="audit",
    ),
)
