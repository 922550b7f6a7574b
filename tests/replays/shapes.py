"""What golden logs must hold: every kind of event and command with each of its fields, every value of every option.

A shape is named by its path: `chinkway.declare.trump`, `table.ended.outcome=finished`, `chinkway.options.void=free`.
Of a field that takes a few stated values, each is a shape. A deal played again is one of each game: `chinkway again`.
"""

from collections.abc import Iterator
from typing import Any, get_args

import msgspec
from msgspec import Struct, inspect

from events.table import DealReplayed
from service.game import AnyGame
from service.referee import NEUTRAL
from tests.laws.audience import events_of
from tests.laws.matches import Match
from tests.laws.setups import values_of

# A field of more values than this is one of names, such as cards, and any of them will do.
FEW = 8

# What no type tells: who asks, a remembered key, a person, a seat that nobody took.
BESIDES = frozenset(
    {
        "by.seat",
        "by.player",
        "by.role=host",
        "by.role=arbiter",
        "key",
        "table.seat_taken.bot=null",
        "table.scored.points=null",
    }
)

# What tells that a deal is played again.
AGAIN = str(DealReplayed.__struct_config__.tag)

# Shapes of values that no command leads to.
UNREACHED = frozenset(
    {
        # Play that has ended by itself is adjudicated by a ruling, which is an event of its own.
        "table.ended.outcome=adjudicated",
    }
)


def needed(game: AnyGame) -> frozenset[str]:
    """Return every shape that the game's golden logs must hold."""
    kinds = (*events_of(game), *game.command_types)
    options = {f"{game.name}.options.{name}={_told(v)}" for name, values in values_of(game).items() for v in values}
    return frozenset({f"{game.name} again"}.union(options, *(_of_kind(kind) for kind in kinds)))


def needed_of_any() -> frozenset[str]:
    """Return every shape that the golden logs of all games together must hold: what is the same at every table."""
    commands = frozenset(shape for kind in get_args(NEUTRAL) for shape in _of_kind(kind) if shape[-5:] != ".turn")
    events = frozenset(shape for kind in events_of(None) for shape in _of_kind(kind))
    return (commands | events | BESIDES) - UNREACHED


def _of_kind(kind: type[Struct]) -> frozenset[str]:
    tag = str(kind.__struct_config__.tag)
    return frozenset({tag, *_fields(inspect.type_info(kind), tag)})


def _fields(kind: inspect.Type, path: str) -> Iterator[str]:
    match kind:
        case inspect.Metadata(inner):
            yield from _fields(inner, path)
        case inspect.StructType(fields=fields):
            for field in fields:
                yield f"{path}.{field.name}"
                yield from _fields(field.type, f"{path}.{field.name}")
        case inspect.LiteralType(values) if len(values) <= FEW:
            yield from (f"{path}={_told(value)}" for value in values)
        case inspect.TupleType(items):
            for item in items:
                yield from _fields(item, path)
        case inspect.VarTupleType(item) | inspect.UnionType((item, *_)):
            yield from _fields(item, path)
        case _:
            pass


def held(match: Match) -> frozenset[str]:
    """Return every shape, needed or not, that a match holds."""
    return frozenset(_of_match(match))


def _of_match(match: Match) -> Iterator[str]:
    for stored in match.stored:
        entry: dict[str, Any] = msgspec.json.decode(stored.e)
        yield from _paths(entry["by"], "by")
        yield from ["key"] if entry["key"] else []
        for told in (entry["command"], *entry["events"]):
            tag = told.pop("type")
            yield from _paths(told, tag)
            yield from [f"{match.game.name} again"] if tag == AGAIN else []
    yield from _paths(msgspec.to_builtins(match.setup.options), f"{match.game.name}.options")


def _paths(value: object, path: str) -> Iterator[str]:
    """Yield the path of every member of a JSON value, and of what stands there."""
    yield path
    match value:
        case dict():
            for name, member in value.items():
                yield from _paths(member, f"{path}.{name}")
        case list():
            for item in value:
                yield from _paths(item, path)
        case _:
            yield f"{path}={_told(value)}"


def _told(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
