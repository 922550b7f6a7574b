"""What a seat may do now, as data: a client that knows no rules plays any game by posting what is listed.

Resigning is open to every seat until play ends and is not listed: who posts anything that is listed plays on.
"""

from collections import Counter
from functools import cache
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta, Struct, inspect
from msgspec.structs import replace

from events.base import By, Seat, Version, whole
from service.game import LISTED, AnyGame, AnyTable, Ask, Command, Refused, tag_of

COMMAND = TypeVar("COMMAND")

# How many commands and types of commands a game may have listed at once.
MAX_LEGAL = 10_000
MAX_TYPES = 64

CommandTag = Annotated[str, Meta(max_length=64, pattern=whole(r"[a-z][a-z0-9_]*\.[a-z][a-z0-9_]*"))]
Reason = Annotated[str, Meta(max_length=64, pattern=whole("[a-z][a-z0-9_]*"))]
Schema = Annotated[dict[str, Any], Meta(description="A JSON Schema.")]


class Open(Struct, Generic[COMMAND], frozen=True):
    """A type of command with too many bodies to list: the schema that describes it, and a complete example."""

    type: CommandTag
    schema: Schema
    example: COMMAND


class Forbidden(Struct, frozen=True):
    """A type of command that is refused now, whatever its body, and why: the reason that lies deepest."""

    type: CommandTag
    reason: Reason


class Actions(Struct, Generic[COMMAND], frozen=True):
    """What the seat may do at this version; `complete` if `legal` lists every body that would be accepted.

    `turn` is the prompt that stands; each entry of `legal` is a complete body that names it. What is listed for a seat
    that the view's `to_act` does not name, it may do, but nobody waits for it. Without a seat nothing is listed.
    """

    version: Version
    seat: Seat | None
    turn: Version
    complete: bool
    legal: Annotated[tuple[COMMAND, ...], Meta(max_length=MAX_LEGAL)]
    open: Annotated[tuple[Open[COMMAND], ...], Meta(max_length=MAX_TYPES)]
    refused: Annotated[tuple[Forbidden, ...], Meta(max_length=MAX_TYPES)]


def actions(game: AnyGame, table: AnyTable, seat: int | None) -> Actions[Command]:
    """Return what this seat may do now."""
    if seat is None:
        return Actions(table.version, None, table.turn, complete=True, legal=(), open=(), refused=())
    legal = legal_now(game, table, seat)
    counts = Counter(type(command) for command in legal)
    listed = [command for command in legal if counts[type(command)] <= LISTED]
    opened = []
    for kind in (kind for kind, count in counts.items() if count > LISTED):
        example = next(command for command in legal if type(command) is kind)
        listed.append(example)
        opened.append(Open(tag_of(kind), msgspec.json.schema(kind), example))
    refused = tuple(
        Forbidden(tag_of(kind), _reason(game, table, seat, kind)) for kind in game.command_types if kind not in counts
    )
    return Actions(table.version, seat, table.turn, not opened, tuple(listed), tuple(opened), refused)


def legal_now(game: AnyGame, table: AnyTable, seat: int) -> tuple[Command, ...]:
    """Return the legal commands of a seat, each with the turn that stands; none of a seat that was given up.

    A seat that is not prompted has some where its game lets it act unasked.
    """
    if table.status != "playing" or seat in table.resigned:
        return ()
    return tuple(replace(command, turn=table.turn) for command in game.legal(table.play, seat))


def _reason(game: AnyGame, table: AnyTable, seat: int, kind: type[Command]) -> str:
    """Return why no command of this kind is legal: what deciding one of them says.

    Where that is about its card, the others are tried too, and the rarest reason is told: most cards are not held.
    """
    if table.status == "ended":
        return "ended"
    if table.play is None:
        return "not_started"
    if seat in table.resigned:
        return "resigned"
    if table.status == "paused":
        return "paused"
    reason = _reason_of(game, table, seat, sample(kind))
    if reason not in game.reasons:
        return reason
    reasons = Counter(_reason_of(game, table, seat, other) for other in _samples(kind))
    return min(reasons, key=reasons.__getitem__)


def _reason_of(game: AnyGame, table: AnyTable, seat: int, command: Command) -> str:
    try:
        for _ in game.decide(table.play, Ask(By(seat=seat), command, table.at, forfeits=table.resigned)):
            break
    except Refused as refused:
        return refused.reason
    message = f"{command} is accepted from seat {seat} but not listed as legal at version {table.version}"
    raise AssertionError(message)


@cache
def _samples(kind: type[Command]) -> tuple[Command, ...]:
    """Return the sample of a kind with each value of its first field, if that is one of a list of cards or the like."""
    first = next(iter(_required(kind).items()), None)
    match first:
        case (str(name), inspect.LiteralType(values) | inspect.Metadata(inspect.LiteralType(values))):
            return tuple(replace(sample(kind), **{name: value}) for value in values)
        case _:
            return (sample(kind),)


@cache
def sample(kind: type[Command]) -> Command:
    """Return some command of a kind, the first that its schema allows: right in shape, whatever the rules say of it."""
    return msgspec.convert({name: _sample(field) for name, field in _required(kind).items()}, kind)


def _required(kind: type[Command]) -> dict[str, inspect.Type]:
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)  # noqa: S101 for the type checker: a Command is a Struct
    return {field.name: field.type for field in described.fields if field.required}


def _sample(kind: inspect.Type) -> object:
    match kind:
        case inspect.Metadata(inner):
            return _sample(inner)
        case inspect.LiteralType(values):
            return values[0]
        case inspect.IntType():
            return kind.ge or 0
        case inspect.VarTupleType(item):
            return (_sample(item),) * (kind.min_length or 0)
        case inspect.TupleType(items):
            return tuple(_sample(item) for item in items)
        case inspect.UnionType(members):
            return None if kind.includes_none else _sample(members[0])
        case _:
            message = f"no sample is known of {kind}"
            raise NotImplementedError(message)
