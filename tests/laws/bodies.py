"""Every body that a type of command can have, by number: what a client could post, legal or not."""

from collections.abc import Iterator
from functools import cache
from math import prod
from random import Random

from msgspec import inspect

from service.game import Command
from tests.laws.setups import FULL

# Up to FEW bodies are always gone through, up to WHOLE where some of them are legal; otherwise a sample is.
FEW = 64
WHOLE = 4_096
SAMPLE = 256 if FULL else 24


@cache
def _fields(kind: type[Command]) -> dict[str, inspect.Type]:
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return {field.name: field.type for field in described.fields if field.name != "turn"}


@cache
def count_of(kind: type[Command]) -> int:
    """Return how many bodies the schema of a command allows, `turn` aside."""
    return prod(_count(field) for field in _fields(kind).values())


def body(kind: type[Command], number: int) -> Command:
    """Return the body of a number below `count_of`."""
    values = {}
    for name, field in _fields(kind).items():
        number, place = divmod(number, _count(field))
        values[name] = _value(field, place)
    return kind(**values)  # type: ignore[arg-type] # fields known at run time


def bodies(kind: type[Command], random: Random, *, whole: bool) -> Iterator[Command]:
    """Yield all bodies of a command if they are few, some of them otherwise, or where they are not wanted `whole`."""
    count = count_of(kind)
    if count <= FEW or (whole and count <= WHOLE):
        yield from _all(kind)
    else:
        yield from (body(kind, random.randrange(count)) for _ in range(SAMPLE))


@cache
def _all(kind: type[Command]) -> tuple[Command, ...]:
    return tuple(body(kind, number) for number in range(count_of(kind)))


def _count(kind: inspect.Type) -> int:
    match kind:
        case inspect.Metadata(inner):
            return _count(inner)
        case inspect.LiteralType(values):
            return len(values)
        case inspect.BoolType():
            return 2
        case inspect.IntType(ge=int(least), le=int(most)):
            return most - least + 1
        case inspect.IntType(ge=int(least), lt=int(end)):
            return end - least
        case inspect.NoneType():
            return 1
        case inspect.UnionType(members):
            return sum(map(_count, members))
        case inspect.TupleType(items):
            return prod(map(_count, items))
        case inspect.VarTupleType(item, least, int(most)):
            return sum(_count(item) ** length for length in range(least or 0, most + 1))
        case _:
            raise NotImplementedError(f"a command has {kind}, of which the laws know no values")


def _value(kind: inspect.Type, place: int) -> object:
    match kind:
        case inspect.Metadata(inner):
            return _value(inner, place)
        case inspect.LiteralType(values):
            return values[place]
        case inspect.BoolType():
            return bool(place)
        case inspect.IntType(ge=int(least)):
            return least + place
        case inspect.UnionType(members):
            return _member(members, place)
        case inspect.TupleType(items):
            return tuple(_row(items, place))
        case inspect.VarTupleType(item, least):
            length = least or 0
            while place >= (of_length := _count(item) ** length):
                place -= of_length
                length += 1
            return tuple(_row((item,) * length, place))
        case _:
            return None


def _row(items: tuple[inspect.Type, ...], place: int) -> Iterator[object]:
    for item in items:
        place, own = divmod(place, _count(item))
        yield _value(item, own)


def _member(members: tuple[inspect.Type, ...], place: int) -> object:
    for member in members:
        if place < _count(member):
            return _value(member, place)
        place -= _count(member)
    raise ValueError(f"no member of {members} has number {place}")
