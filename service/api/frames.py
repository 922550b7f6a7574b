"""What goes over a WebSocket: the messages that a client sends, and the frames that it is sent, all of them JSON text.

A message has one member, which says what is wanted, as `{"watch": {"table": …}}`. A frame says by `type` what it is.
What another part of the service has written already, a decision or an answer's body, goes into a frame as it stands.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Generic, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Meta, Raw, Struct, UnsetType, field

from events.base import Decision, Id, Version
from service.api.eyes import OfAny
from service.api.requests import parsed
from service.audit.checkpoints import Checkpoint
from service.errors import Malformed

EVENT = TypeVar("EVENT")
PROBLEM = TypeVar("PROBLEM")

MAX_HEADERS = 16

Said: TypeAlias = dict[str, str]
"""The `id` of a command, or the `table` of a watch, by which its problem is told; nothing where neither is known."""

OwnId = Annotated[str, Meta(min_length=1, max_length=64, examples=["c1"], description="The client's own name for it.")]
CommandPath = Annotated[str, Meta(min_length=1, max_length=256, examples=["/v1/chinkway/tables/{table}/commands"])]
HeaderValue = Annotated[str, Meta(max_length=16_384)]
HeaderName = Annotated[str, Meta(max_length=64)]
Carried = Annotated[
    dict[HeaderName, HeaderValue],
    Meta(max_length=MAX_HEADERS, description="What the answer's headers say over HTTP, by their names in lower case."),
]
Body = Annotated[Raw, Meta(description="Any JSON that the route takes or gives.")]


class Watch(Struct, frozen=True, forbid_unknown_fields=True):
    """Send what happened at a table after a version, and what happens from then on.

    A table that is watched already is from now on watched from there. `as` says through whose eyes, where not your own,
    `rulings` that it goes on after `ended`, `checkpoints` that they are told, as the parameters of the route of events
    do.
    """

    table: Id
    after: Version = 0
    through: OfAny | UnsetType = field(default=UNSET, name="as")
    rulings: bool = False
    checkpoints: bool = False


class Unwatch(Struct, frozen=True, forbid_unknown_fields=True):
    """Send no more of a table."""

    table: Id


class SocketCommand(Struct, frozen=True, forbid_unknown_fields=True):
    """Post to a table: `path` and `body` as over HTTP, `id` comes back in the answer.

    `key`, `if_match` and `prefer` are the headers `Idempotency-Key`, `If-Match` and `Prefer`.
    """

    id: OwnId
    path: CommandPath
    body: Body | UnsetType = UNSET
    key: HeaderValue | UnsetType = UNSET
    if_match: HeaderValue | UnsetType = UNSET
    prefer: HeaderValue | UnsetType = UNSET


class SocketMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """What a client may send: one of the three."""

    watch: Watch | UnsetType = UNSET
    unwatch: Unwatch | UnsetType = UNSET
    command: SocketCommand | UnsetType = UNSET

    def said(self) -> tuple[Watch | Unwatch | SocketCommand, ...]:
        """Return what is there of the three."""
        parts = (self.watch, self.unwatch, self.command)
        return tuple(part for part in parts if not isinstance(part, UnsetType))


class WatchMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """Asks for a table's decisions."""

    watch: Watch


class UnwatchMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """Asks for no more of them."""

    unwatch: Unwatch


class CommandMessage(Struct, frozen=True, forbid_unknown_fields=True):
    """Posts to a table."""

    command: SocketCommand


class Frame(Struct, frozen=True, tag_field="type", omit_defaults=True):
    """What a client is sent."""


class WatchedFrame(Frame, frozen=True, tag="watched"):
    """The table is watched: what happened `after` a version follows, up to `version` at once."""

    table: Id
    after: Version
    version: Version


class UnwatchedFrame(Frame, frozen=True, tag="unwatched"):
    """No more of the table follows."""

    table: Id


class DecisionFrame(Frame, Generic[EVENT], frozen=True, tag="decision"):
    """A decision at a table, as its player may see it: the next one after `version` - 1."""

    table: Id
    version: Version
    decision: Decision[EVENT]


class CheckpointFrame(Frame, frozen=True, tag="checkpoint"):
    """What the service vouches for: the newest decision that was sent is that of `version`, as `checkpoint` says."""

    table: Id
    version: Version
    checkpoint: Checkpoint


class ResetFrame(Frame, frozen=True, tag="reset"):
    """The table has no such version as was asked for; what follows begins after `version`."""

    table: Id
    version: Version


class LaggedFrame(Frame, frozen=True, tag="lagged"):
    """The client was too slow: the table is watched no more; watch it again `after` `version`."""

    table: Id
    version: Version


class EndedFrame(Frame, frozen=True, tag="ended"):
    """Play has ended with `version`: the table is watched no more, unless `rulings` are wanted."""

    table: Id
    version: Version


class AnswerFrame(Frame, frozen=True, tag="answer"):
    """The answer to a command, named by its `id`: status, headers and body as over HTTP, problems included."""

    id: OwnId
    status: Annotated[int, Meta(ge=200, le=599)]
    headers: Carried
    body: Body


class ErrorFrame(Frame, Generic[PROBLEM], frozen=True, tag="error"):
    """A message that could not be taken, or a watch that ended: the problem is the one that HTTP would answer with.

    `id` names the command that it was to be, `table` the table that is not, or no more, watched; neither is there
    where the message does not say.
    """

    problem: PROBLEM
    headers: Carried
    id: OwnId | UnsetType = UNSET
    table: Id | UnsetType = UNSET


_encode = msgspec.json.Encoder().encode
_message = msgspec.json.Decoder(SocketMessage)
_NOT_CARRIED = frozenset({b"content-type", b"content-length", b"cache-control", b"vary"})


def read(text: str | None) -> Watch | Unwatch | SocketCommand:
    """Return what a message says; raise Malformed where it is none."""
    if text is None:
        raise Malformed("A message is JSON in a text message, never a binary one.", "")
    match parsed(text, _message, "message").said():
        case (said,):
            return said
        case _:
            raise Malformed("A message has one member: `watch`, `unwatch` or `command`.", "")


def named_in(text: str | None) -> Said:
    """Return the `id` or the `table` that a message which is none names, as far as that can be read."""
    try:
        said = msgspec.json.decode(text or "")
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return {}
    for member, name, kind in (("command", "id", OwnId), ("watch", "table", Id), ("unwatch", "table", Id)):
        with suppress(AttributeError, KeyError, TypeError, msgspec.ValidationError):
            return {name: msgspec.convert(said[member][name], kind)}
    return {}


def of_table(kind: str, table: str, version: int, data: bytes = b"") -> bytes:
    """Return a frame of a table that is watched; `data` is the JSON of the decision or checkpoint that it tells."""
    beginning = b'{"type":"%b","table":"%b","version":%d' % (kind.encode("ascii"), table.encode("ascii"), version)
    return b'%b,"%b":%b}' % (beginning, kind.encode("ascii"), data) if data else beginning + b"}"


def answered(own_id: str, status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> bytes:
    """Return the frame of an answer to a command; `body` is its JSON."""
    return b'{"type":"answer","id":%b,"status":%d,"headers":%b,"body":%b}' % (
        _encode(own_id),
        status,
        _carried(headers),
        body,
    )


def failed(problem: bytes, headers: list[tuple[bytes, bytes]], said: Mapping[str, str]) -> bytes:
    """Return the frame of a problem, which is JSON already; `said` has its `id` or `table`, as far as is known."""
    named = b"".join(b',"%b":%b' % (name.encode("ascii"), _encode(value)) for name, value in said.items())
    return b'{"type":"error","problem":%b,"headers":%b%b}' % (problem, _carried(headers), named)


def told(frame: Frame) -> bytes:
    """Return any other frame."""
    return _encode(frame)


def _carried(headers: list[tuple[bytes, bytes]]) -> bytes:
    return _encode({name.decode(): value.decode("latin-1") for name, value in headers if name not in _NOT_CARRIED})
