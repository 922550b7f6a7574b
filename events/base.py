"""What every event, every decision and every entry of the log is made of.

An *event* is one thing that happened. A *decision* is what one command made happen, one entry of a stream.
The bytes of an entry are fixed for ever: its members are encoded in the order in which `Entry` declares them.
"""

import re
from typing import Annotated, Generic, Literal, TypeVar

import msgspec
from msgspec import Meta

COMMAND = TypeVar("COMMAND")
EVENT = TypeVar("EVENT")

MAX_SEATS = 8

END = r"(?!\n)"
"""What `$` lacks in Python, where it also stands before a last newline."""


def whole(pattern: str) -> str:
    """Return the pattern of texts that match this one from end to end.

    Raise ValueError for alternatives outside of parentheses: the first would be open at its end, the last at its begin.
    """
    if "|" in re.sub(r"\(.*\)|\[.*?\]", "", pattern):
        raise ValueError(f"the alternatives of {pattern!r} need parentheses")
    return f"^{pattern}${END}"


MAX_EVENTS = 1_000

Seat = Annotated[int, Meta(ge=0, lt=MAX_SEATS, description="A place at a table, counted from 0.")]
Version = Annotated[int, Meta(ge=0, le=2**53, description="The number of decisions in a stream.")]
Millis = Annotated[int, Meta(ge=0, le=2**53, description="UTC, in milliseconds since 1970.")]
Id = Annotated[
    str,
    Meta(
        min_length=26,
        max_length=26,
        pattern=whole("[0-9a-hjkmnp-tv-z]{26}"),
        description="130 bits in lower-case Crockford base32.",
        examples=["zwyrd6z1rv0whe6m1110rdv1ew"],
    ),
]
GameName = Annotated[str, Meta(max_length=32, pattern=whole("[a-z][a-z0-9_]*"), description="The game's name.")]
Ruleset = Annotated[
    str,
    Meta(max_length=40, pattern=whole("[a-z][a-z0-9_]*/[1-9][0-9]*"), description="The game and its rules' number."),
]
BotLabel = Annotated[
    str, Meta(max_length=40, pattern=whole("[a-z][a-z0-9_]*/[0-9]+"), description="A bot's name and build.")
]
PlayerId = Annotated[
    str,
    Meta(min_length=1, max_length=64, description="An account's id, or `bot:<name>/<build>#<seat>`."),
]
Head = Annotated[
    str,
    Meta(pattern=whole("[0-9a-f]{64}"), description="The hash that a stream's entries chain up to, in hex."),
]


class Event(msgspec.Struct, frozen=True, gc=False, tag_field="type"):
    """One thing that happened; each kind names itself by a dotted tag that never changes."""


class By(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Who asked for a decision: a seat's player, a player in a role, or a part of the service."""

    seat: Seat | None = None
    role: Literal["host", "arbiter", "director"] | None = None
    service: Literal["clock", "system"] | None = None
    player: PlayerId | None = None


class Entry(msgspec.Struct, Generic[COMMAND, EVENT], frozen=True):
    """One entry of a stream, as it is stored; the head is kept beside it.

    `command` is null only where a decision answers no command, `key` is the hex of an idempotency key's hash,
    `cause` names the decision of another stream that led to this one.
    """

    log: Literal[1]
    stream: str
    version: Version
    at: Millis
    by: By
    command: COMMAND
    cause: str | None
    key: str | None
    salt: str
    events: tuple[EVENT, ...]


class Decision(msgspec.Struct, Generic[EVENT], frozen=True):
    """One entry as a viewer may see it: without command, cause, key and salt, its events redacted."""

    version: Version
    at: Millis
    by: By
    head: Head
    events: Annotated[tuple[EVENT, ...], Meta(max_length=MAX_EVENTS)]
