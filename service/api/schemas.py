"""JSON Schemas of the API's types: every struct a named component, every union told apart by its `type`.

msgspec writes schemas too, but without discriminators, under names that change with what else is described, and open
to fields that no answer has. So they are written here, from what msgspec says of a type (`msgspec.inspect`).

A component's name is `<game>.<Class>` for what is a game's, `table.<Class>` for what every table has, `<Class>` for the
rest. Two different components of one name are an error: rename one of the classes.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from inspect import cleandoc
from typing import Any, Literal, get_args, get_origin, get_type_hints

from msgspec import NODEFAULT, Struct, inspect, json
from msgspec.structs import StructConfig

from events import cards
from events.base import END, By, Event, PlayerId, Seat
from projections.notices import Notice
from service.api.frames import CommandMessage, Frame, SocketMessage, UnwatchMessage, WatchMessage
from service.changes import LobbyChange
from service.game import AnyGame
from service.referee import Create
from service.todo import Task

Schema = dict[str, Any]
# A body may leave out what has a default; an answer states it.
Use = Literal["body", "answer"]

REF = "#/components/schemas/"


class SeatBy(Struct, frozen=True):
    """The player on a seat asked for it."""

    seat: Seat
    player: PlayerId


class RoleBy(Struct, frozen=True):
    """A player asked for it in a role, not for a seat."""

    role: Literal["host", "arbiter", "director"]
    player: PlayerId


class ServiceBy(Struct, frozen=True):
    """A part of the service asked for it."""

    service: Literal["clock", "system"]


# Structs whose wire has fewer shapes than their fields allow.
_SHAPES: Mapping[object, tuple[type[Struct], ...]] = {
    By: (SeatBy, RoleBy, ServiceBy),
    SocketMessage: (WatchMessage, UnwatchMessage, CommandMessage),
}

# Unions by the last part of their names.
_UNIONS: Mapping[str, str] = {
    "Command": "All that can be posted to a table of the game, by a seat or by the host; `type` tells which.",
    "RecordedCommand": "All that decisions of a table answer, opening it and sitting down too; `type` tells which.",
    "LegalCommand": "What `legal` can list: the game's own commands; `type` tells which.",
    "Event": "What can happen at a table of the game; `type` tells which.",
    "Frame": "What a WebSocket sends that watches tables of the game; `type` tells which.",
    "LobbyChange": "What can change in the lobby; `type` tells which.",
    "Notice": "What can be in an inbox; `type` tells which.",
    "Task": "What can wait for you; `type` tells which.",
}

# Of these further members may come: a new meaning is a new event, a new kind of word a new frame, and further things
# will concern an account.
_OPEN = frozenset({"Event", "Frame", "Notice", "Task"})

# Sets of cards bear their own names, in printed order.
_CARDS = {frozenset(get_args(kind)): name for name, kind in vars(cards).items() if get_origin(kind) is Literal}


class Schemas:
    """The schemas of types, and the components that they refer to. Ask for all answers before the first body."""

    def __init__(self, games: Iterable[AnyGame]) -> None:
        """Name components by these games."""
        self.components: dict[str, Schema] = {}
        self._owners: dict[str, object] = {}
        self._references: dict[tuple[object, Use], Schema] = {}
        self._namespaces = {module: game.name for game in games for module in _modules(game)}

    def answer(self, kind: object) -> Schema:
        """Return the schema of what an answer holds."""
        return self._once(kind, "answer")

    def body(self, kind: object) -> Schema:
        """Return the schema of what a request may hold."""
        return self._once(kind, "body")

    def namespace(self, kind: object) -> str:
        """Return whose a class is: a game's name, `table`, or nobody's (empty)."""
        tag = kind.__struct_config__.tag if isinstance(kind, type) and issubclass(kind, Struct) else None
        if tag is not None and "." in str(tag):
            return str(tag).partition(".")[0]
        if arguments := get_args(kind):
            return self._shared(self.namespace(part) for part in _members(arguments))
        module = getattr(kind, "__module__", "")
        if module in self._namespaces:
            return self._namespaces[module]
        return "table" if module.endswith(".table") else ""

    def _once(self, kind: object, use: Use) -> Schema:
        # To find out what a type is made of is slow where it is a union of many structs.
        if (kind, use) not in self._references:
            self._references[kind, use] = self._of(inspect.type_info(kind), use)
        return self._references[kind, use]

    def _of(self, kind: inspect.Type, use: Use) -> Schema:
        match kind:
            case inspect.Metadata(inner, extra):
                return {**self._of(inner, use), **(extra or {})}
            case inspect.StructType():
                return self._struct(kind, use)
            case inspect.UnionType():
                return self._union(kind, use)
            case inspect.LiteralType():
                return self._literal(kind)
            case inspect.VarTupleType(item, least, most) | inspect.ListType(item, least, most):
                return _stated(type="array", items=self._of(item, use), minItems=least, maxItems=most)
            case inspect.TupleType(items):
                return self._tuple(items, use)
            case inspect.DictType():
                return self._mapping(kind, use)
            case inspect.IntType():
                return _integer(kind)
            case inspect.StrType(least, most, pattern):
                pattern = pattern and pattern.removesuffix(END)
                return _stated(type="string", minLength=least, maxLength=most, pattern=pattern)
            case inspect.BoolType():
                return {"type": "boolean"}
            case inspect.NoneType():
                return {"type": "null"}
            case inspect.RawType():
                return {}
            case _:
                raise TypeError(f"the document has no words for {kind}")

    def _struct(self, kind: inspect.StructType, use: Use) -> Schema:
        if shapes := _SHAPES.get(kind.cls):
            options = [self._of(inspect.type_info(shape), use) for shape in shapes]
            return self._component(self._name(kind.cls), kind.cls, {"description": _told(kind.cls), "oneOf": options})
        named = {kind.tag_field: {"type": "string", "const": kind.tag}} if kind.tag_field else {}
        fields = {field.encode_name: self._field(field, use) for field in kind.fields}
        whole = use == "answer" and not _config(kind.cls).omit_defaults
        required = [field.encode_name for field in kind.fields if field.required or (whole and _has_default(field))]
        schema = {
            "type": "object",
            "description": _told(kind.cls),
            "properties": {**named, **fields},
            "required": [*named, *required],
            "additionalProperties": False,
        }
        name = self._name(kind.cls)
        if use == "body" and self._owners.get(name) == kind.cls and self.components[name] != schema:
            name = ".".join([*name.split(".")[:-1], f"Chosen{name.split('.')[-1]}"])
        return self._component(name, kind.cls, schema)

    def _field(self, field: inspect.Field, use: Use) -> Schema:
        schema = self._of(field.type, use)
        stated = use == "body" and _has_default(field) and field.default is not None
        return {**schema, "default": json.decode(json.encode(field.default))} if stated else schema

    def _union(self, kind: inspect.UnionType, use: Use) -> Schema:
        members = [member for member in kind.types if not isinstance(member, inspect.NoneType)]
        schema = self._of(members[0], use) if len(members) == 1 else self._one_of(members, use)
        return _nullable(schema) if kind.includes_none else schema

    def _one_of(self, members: Sequence[inspect.Type], use: Use) -> Schema:
        options = [self._of(member, use) for member in members]
        classes = [member.cls for member in members if isinstance(member, inspect.StructType) and member.tag]
        if len(classes) < len(members):
            return {"oneOf": options}
        mapping = {str(_config(cls).tag): option["$ref"] for cls, option in zip(classes, options, strict=True)}
        name = self._union_name(classes)
        kind = name.rpartition(".")[2]
        schema: Schema = {
            "description": _UNIONS[kind],
            "oneOf": options,
            "discriminator": {"propertyName": "type", "mapping": mapping},
        }
        if kind in _OPEN:
            schema["x-open"] = True
        return self._component(name, frozenset(classes), schema)

    def _union_name(self, classes: Sequence[type]) -> str:
        """Return the name of a union.

        A game's `LegalCommand` lacks what every table takes, its `Command` has what is posted of that, and its
        `RecordedCommand` all that the log has.
        """
        whose = {self.namespace(cls) for cls in classes}
        first = _plain(classes[0])
        base = next((base for base in (Event, Frame, LobbyChange, Notice, Task) if issubclass(first, base)), None)
        if base is not None:
            name = base.__name__
        elif "table" not in whose:
            name = "LegalCommand"
        else:
            name = "RecordedCommand" if Create in classes else "Command"
        return ".".join(filter(None, [self._shared(whose), name]))

    def _literal(self, kind: inspect.LiteralType) -> Schema:
        name = _CARDS.get(frozenset(kind.values))
        if name is not None:
            values = list(get_args(getattr(cards, name)))
            told = "Cards in printed order." if "Card" in name else "Suits in printed order."
            return self._component(name, name, {"type": "string", "description": told, "enum": values})
        if len(kind.values) == 1:
            return {"type": _json_type(kind.values), "const": kind.values[0]}
        return {"type": _json_type(kind.values), "enum": list(kind.values)}

    def _tuple(self, items: Sequence[inspect.Type], use: Use) -> Schema:
        schemas = [self._of(item, use) for item in items]
        sized = {"minItems": len(items), "maxItems": len(items)}
        if all(schema == schemas[0] for schema in schemas):
            return {"type": "array", "items": schemas[0], **sized}
        return {"type": "array", "prefixItems": schemas, "items": False, **sized}

    def _mapping(self, kind: inspect.DictType, use: Use) -> Schema:
        """Return an object with keys of one shape, or any object at all."""
        if isinstance(kind.value_type, inspect.AnyType):
            return {"type": "object", "additionalProperties": True}
        return _stated(
            type="object",
            propertyNames=self._of(kind.key_type, use),
            additionalProperties=self._of(kind.value_type, use),
            maxProperties=kind.max_length,
        )

    def _component(self, name: str, owner: object, schema: Schema) -> Schema:
        """Keep a component under its name, and return the reference to it."""
        if re.fullmatch(r"[a-zA-Z0-9._-]+", name) is None:
            raise ValueError(f"{name!r} can't name a component")
        if self._owners.setdefault(name, owner) != owner or self.components.setdefault(name, schema) != schema:
            raise ValueError(f"two components would be called {name}: {self._owners[name]} and {owner}")
        return {"$ref": REF + name}

    def _name(self, cls: type) -> str:
        return ".".join(filter(None, [self.namespace(cls), _plain(cls).__name__]))

    def _shared(self, namespaces: Iterable[str]) -> str:
        """Return whose a thing is that is made of parts of these namespaces: the one game's among them."""
        found = set(namespaces) - {""}
        games = found - {"table"}
        if len(games) > 1:
            raise ValueError(f"a type is made of parts of several games: {sorted(games)}")
        return next(iter(games or found), "")


def _modules(game: AnyGame) -> Iterator[str]:
    """Yield the modules whose untagged structs are a game's own."""
    view = get_type_hints(game.projection.view)["return"]
    events = get_args(game.projection.events) or (game.projection.events,)
    for cls in (game.projection.options, view, *events, *game.command_types):
        yield cls.__module__ if isinstance(cls, type) else game.projection.view.__module__
    yield game.projection.evolve.__module__


def _members(arguments: Iterable[object]) -> Iterator[type]:
    """Yield the classes that type arguments are made of."""
    for argument in arguments:
        if get_args(argument) and get_origin(argument) is not Literal:
            yield from _members(get_args(argument))
        elif isinstance(argument, type):
            yield argument


def _plain(cls: type) -> type[Struct]:
    """Return a struct without its type arguments."""
    plain: type[Struct] = get_origin(cls) or cls
    return plain


def _config(cls: type) -> StructConfig:
    return _plain(cls).__struct_config__


def _has_default(field: inspect.Field) -> bool:
    """Tell whether a field that is left out has a value all the same."""
    return field.default is not NODEFAULT or field.default_factory is not NODEFAULT


def _told(cls: type) -> str:
    """Return a class's docstring, each paragraph in one line."""
    paragraphs = cleandoc(_plain(cls).__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def _integer(kind: inspect.IntType) -> Schema:
    least = kind.ge if kind.gt is None else kind.gt + 1
    most = kind.le if kind.lt is None else kind.lt - 1
    wide = most is not None and most >= 2**31
    return _stated(type="integer", format="int64" if wide else None, minimum=least, maximum=most)


def _nullable(schema: Schema) -> Schema:
    """Return a schema that takes null as well: a further type, or beside a reference or an enumeration one more option.

    A null among an enumeration's values would say the same, but makers of clients stumble over it.
    """
    if schema.keys() & {"type", "enum", "const"} == {"type"}:
        return {**schema, "type": [schema["type"], "null"]}
    kept = {name: value for name, value in schema.items() if name in {"description", "examples"}}
    rest = {name: value for name, value in schema.items() if name not in kept}
    return {**kept, "oneOf": [*rest.get("oneOf", [rest]), {"type": "null"}]}


def _json_type(values: Sequence[object]) -> str:
    return "string" if isinstance(values[0], str) else "integer"


def _stated(**keywords: object) -> Schema:
    """Return a schema of the keywords that say something."""
    return {name: value for name, value in keywords.items() if value is not None}
