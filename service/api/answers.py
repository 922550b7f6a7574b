"""What the API answers: the shapes of bodies, and how they become bytes."""

from collections.abc import Mapping
from typing import Annotated, Final, Generic, Literal, TypeVar

import msgspec
from litestar.response.base import ASGIResponse
from litestar.types import HTTPResponseBodyEvent, HTTPResponseStartEvent, Receive, Send
from litestar.types import Scope as ConnectionScope
from msgspec import UNSET, Meta, Struct, UnsetType

from events.base import MAX_EVENTS, Decision, Head, Id, Millis, Seat, Version, whole
from service.auth.scopes import SCOPES, Scope
from service.auth.tokens import MAX_TOKENS
from service.log import PAGE

JSON: Final = "application/json"

EVENT = TypeVar("EVENT")
VIEW = TypeVar("VIEW")

MAX_IDS = 100
MAX_LIFE_S = 10 * 366 * 86_400
Ids = Annotated[tuple[Id, ...], Meta(min_length=1, max_length=MAX_IDS)]

Name = Annotated[str, Meta(min_length=1, max_length=256, description="What people call the player.", examples=["Ada"])]
Label = Annotated[str, Meta(min_length=1, max_length=256, description="What its owner calls a token.")]
# Something that is no space. What `\S` takes for one differs between Python, JavaScript and Rust.
SEEN = r"[^\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]"
NewName = Annotated[str, Meta(min_length=1, max_length=64, pattern=SEEN, examples=["Ada"])]
Scopes = Annotated[tuple[Scope, ...], Meta(max_length=len(SCOPES), description="What a token may do.")]
Secret = Annotated[str, Meta(pattern=whole("evf_[A-Za-z0-9_-]{43}"), description="A bearer token.")]
StreamPath = Annotated[
    str,
    Meta(pattern=whole("/v1/[a-z0-9_/]{1,120}"), examples=["/v1/chinkway/tables/zwyrd6z1rv0whe6m1110rdv1ew/events"]),
]
BotName = Annotated[str, Meta(pattern=whole("[a-z][a-z0-9_]*"), max_length=32, examples=["anyone"])]

_encode = msgspec.json.Encoder().encode


class Player(Struct, frozen=True):
    """An account as everybody may see it."""

    id: Id
    name: Name


class NewPlayer(Struct, frozen=True, forbid_unknown_fields=True):
    """What opening an account takes; a name is kept with 1 to 64 characters, none of them invisible."""

    name: NewName


class Welcome(Struct, frozen=True):
    """A new account, and the token that speaks for it; the token is shown this once."""

    player: Player
    token: Secret


class Me(Struct, frozen=True):
    """Whom the token speaks for, and what it may do."""

    player: Player
    scopes: Scopes


class Players(Struct, frozen=True):
    """The accounts asked for, in the order of the question, without those that are erased or never were."""

    players: Annotated[tuple[Player, ...], Meta(max_length=MAX_IDS)]


class Renaming(Struct, frozen=True, forbid_unknown_fields=True):
    """What changing an account takes; a name is kept with 1 to 64 characters, none of them invisible."""

    name: NewName


class NewToken(Struct, frozen=True, forbid_unknown_fields=True):
    """What making a token takes: what it may do, how many seconds it lives, and what to call it.

    It may do no more than the token that asks for it; `bot` may be given by who has `play`. It never lives longer than
    that token either, and exactly as long where nothing is said.
    """

    scopes: Annotated[tuple[Scope, ...], Meta(max_length=len(SCOPES), examples=[["play"]])]
    expires_in_s: Annotated[int, Meta(ge=1, le=MAX_LIFE_S, examples=[86_400])] | UnsetType = UNSET
    label: Annotated[str, Meta(min_length=1, max_length=64, pattern=SEEN, examples=["my phone"])] | UnsetType = UNSET


class Rotation(Struct, frozen=True, forbid_unknown_fields=True):
    """What rotating a token takes: for how many seconds the secret before stays good.

    A token that rotates itself without that grace can't ask again if the answer is lost.
    """

    grace_s: Annotated[int, Meta(ge=0, le=86_400)] = 0


class OwnToken(Struct, frozen=True):
    """A token without its secret; `label` is null where none was given, `expires_at` where it never ends.

    `current` marks the one that asks.
    """

    id: Id
    label: Label | None
    scopes: Scopes
    created_at: Millis
    expires_at: Millis | None
    current: bool


class OwnTokens(Struct, frozen=True):
    """The account's tokens that have not ended, the oldest first."""

    tokens: Annotated[tuple[OwnToken, ...], Meta(max_length=MAX_TOKENS)]


class IssuedToken(Struct, frozen=True):
    """A token with its secret, `token`, which is shown this once."""

    id: Id
    label: Label | None
    scopes: Scopes
    created_at: Millis
    expires_at: Millis | None
    token: Secret


class NewTicket(Struct, frozen=True, forbid_unknown_fields=True):
    """What a ticket takes: the path of the stream that it is to open, as a request for that has it, without a query."""

    path: StreamPath


class IssuedTicket(Struct, frozen=True):
    """A ticket, which is shown this once, and when it expires."""

    ticket: Annotated[str, Meta(pattern=whole("evt_[A-Za-z0-9_-]{43}"), description="What opens one stream once.")]
    expires_at: Millis


class Seated(Struct, frozen=True):
    """The seat that was taken, by the decision that did it."""

    seat: Seat
    version: Version
    head: Head


class Done(Struct, Generic[EVENT, VIEW], frozen=True):
    """The decision that a command became, as its player may see it; `view` if it was asked for."""

    version: Version
    head: Head
    events: Annotated[tuple[EVENT, ...], Meta(max_length=MAX_EVENTS)]
    view: VIEW | UnsetType = UNSET


class Decisions(Struct, Generic[EVENT], frozen=True):
    """A page of decisions; `next` is the version to ask after for the next page, null at the newest."""

    decisions: Annotated[tuple[Decision[EVENT], ...], Meta(max_length=PAGE)]
    next: Version | None


class Word(Struct, frozen=True):
    """What a stream of lines says besides decisions.

    `reset`: what came before does not count, look at the table anew; the stream goes on after `version`. `lagged`: you
    were too slow; come again from `version`. `ended`: play has ended, with `version`.
    """

    type: Literal["reset", "lagged", "ended"]
    version: Version


class Health(Struct, frozen=True):
    """That the process answers."""

    status: Literal["alive"]


class Readiness(Struct, frozen=True):
    """Whether commands are taken; `full` says that for want of room in the store no new tables are opened."""

    status: Literal["ready", "full"]


def encoded(body: object) -> bytes:
    """Write a body as JSON."""
    return _encode(body)


class Answer(ASGIResponse):
    """A response whose bytes and headers are known: sent as they are, without the framework's merging of headers."""

    def __init__(self, body: bytes, status: int, headers: Mapping[str, str], media_type: str | None) -> None:
        self._body = body
        self._status = status
        self._headers = [(name.lower().encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]
        if media_type is not None:
            self._headers.append((b"content-type", media_type.encode("ascii")))
            self._headers.append((b"content-length", b"%d" % len(body)))

    async def __call__(self, scope: ConnectionScope, receive: Receive, send: Send) -> None:  # noqa: ARG002 as ASGI calls it
        """Send it."""
        start: HTTPResponseStartEvent = {
            "type": "http.response.start",
            "status": self._status,
            "headers": self._headers,
        }
        body: HTTPResponseBodyEvent = {"type": "http.response.body", "body": self._body, "more_body": False}
        await send(start)
        await send(body)


def answer(body: object, status: int = 200, headers: Mapping[str, str] | None = None, media_type: str = JSON) -> Answer:
    """Return a response with this body: a value to write as JSON, or bytes as they are."""
    return Answer(body if isinstance(body, bytes) else _encode(body), status, headers or {}, media_type)


def told(text: str, headers: Mapping[str, str], media_type: str) -> Answer:
    """Return a response that is text for people, in UTF-8."""
    return Answer(text.encode(), 200, headers, f"{media_type}; charset=utf-8")


def empty(status: int, headers: Mapping[str, str] | None = None) -> Answer:
    """Return a response without a body."""
    return Answer(b"", status, headers or {}, None)
