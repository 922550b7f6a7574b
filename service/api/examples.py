"""Examples of bodies, made from their types: what the document shows, and what tests execute.

A value is the first example its type states, else its default, else the first that the type allows.
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import NODEFAULT, inspect

from service.api.endpoint import Endpoint


def examples(route: Endpoint) -> list[Any]:
    """Return bodies that the route's contract allows, as JSON has them, whatever a rule may say of them; [] for none.

    Of each struct that a body can be: with what it requires, and with all of it that has an example or a default.
    """
    if route.body is None:
        return []
    if route.examples:
        return list(route.examples)
    kind = inspect.type_info(route.body)
    members = kind.types if isinstance(kind, inspect.UnionType) else (kind,)
    found: list[Any] = []
    for member in members:
        found.extend(body for body in _bodies(member) if body not in found)
    return found


def _bodies(kind: inspect.Type) -> Iterator[Any]:
    if not isinstance(kind, inspect.StructType):
        raise TypeError(f"a body is a struct, not {kind}")
    yield {**_tagged(kind), **{field.encode_name: _value(field.type) for field in kind.fields if field.required}}
    yield _whole(kind)


def _whole(kind: inspect.StructType) -> dict[str, Any]:
    stated = {field.encode_name: _stated(field) for field in kind.fields}
    return {**_tagged(kind), **{name: value for name, value in stated.items() if value is not None}}


def _tagged(kind: inspect.StructType) -> dict[str, Any]:
    return {kind.tag_field: kind.tag} if kind.tag_field else {}


def _stated(field: inspect.Field) -> Any:  # noqa: ANN401 a value of any type
    """Return a field's value, None where it may be left out and nothing is said of it."""
    if field.required or _is_shown(field.type):
        return _value(field.type)
    return None if field.default is NODEFAULT else msgspec.to_builtins(field.default)


def _is_shown(kind: inspect.Type) -> bool:
    match kind:
        case inspect.Metadata(inner, extra):
            return bool(extra and "examples" in extra) or _is_shown(inner)
        case inspect.VarTupleType(item):
            return _is_shown(item)
        case _:
            return isinstance(kind, inspect.StructType)


def _value(kind: inspect.Type) -> Any:  # noqa: ANN401 a value of any type
    match kind:
        case inspect.Metadata(inner, extra):
            return extra["examples"][0] if extra and "examples" in extra else _value(inner)
        case inspect.StructType():
            return _whole(kind)
        case inspect.LiteralType(values):
            return values[0]
        case inspect.VarTupleType(item, least):
            return [_value(item)] * (least or 1)
        case inspect.TupleType(items):
            return [_value(item) for item in items]
        case inspect.IntType():
            return kind.ge or 0
        case inspect.BoolType():
            return False
        case inspect.UnionType(members):
            return None if kind.includes_none else _value(members[0])
        case _:
            raise TypeError(f"state an example of {kind} with Meta(examples=[…])")
