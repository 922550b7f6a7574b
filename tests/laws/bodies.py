"""The bodies that a type of command can have: what a client could post, legal or not.

Few are gone through by number. Many are drawn part by part, so that short lists are as likely as long ones, though
nearly all bodies are long; and half of those drawn differ from a legal one by a part or two.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from math import prod
from random import Random
from typing import Any, TypeVar

from msgspec import inspect

from service.game import Command
from tests.sizes import FULL

COMMAND = TypeVar("COMMAND", bound=Command)

# Up to FEW bodies are always gone through, up to WHOLE where some of them are legal; of more a sample is drawn.
FEW = 64 if FULL else 16
WHOLE = 4_096
SAMPLE = 256 if FULL else 24
# How many are drawn of each kind, once, for the samples to be taken from.
POOL = 8_192 if FULL else 1_024


@cache
def _fields(kind: type[Command]) -> dict[str, inspect.Type]:
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return {field.name: field.type for field in described.fields if field.name != "turn"}


@cache
def count_of(kind: type[Command]) -> int:
    """Return how many bodies the schema of a command allows, `turn` aside."""
    return prod(_count(field) for field in _fields(kind).values())


def body(kind: type[COMMAND], number: int) -> COMMAND:
    """Return the body of a number below `count_of`."""
    values = {}
    for name, field in _fields(kind).items():
        number, place = divmod(number, _count(field))
        values[name] = _value(field, place)
    return _command(kind, values)


def _command(kind: type[COMMAND], values: dict[str, Any]) -> COMMAND:
    return kind(**values)


def bodies(kind: type[COMMAND], random: Random, legal: Sequence[COMMAND] = ()) -> Iterator[COMMAND]:
    """Yield all bodies of a command if they are few, or not too many and some are `legal`; some of them otherwise.

    `legal` are those of this kind that are legal now; some of the others that come up are near them.
    """
    count = count_of(kind)
    if count <= FEW or (legal and count <= WHOLE):
        yield from _all(kind)
    else:
        for number in range(SAMPLE):
            yield near(legal, random) if legal and number % 2 else random.choice(_pool(kind))


@cache
def _pool(kind: type[COMMAND]) -> tuple[COMMAND, ...]:
    """Return bodies of a command, each of whose parts is as likely as another."""
    random = Random(kind.__name__)
    drawn = ({name: _drawn(field, random) for name, field in _fields(kind).items()} for _ in range(POOL))
    return tuple(_command(kind, values) for values in drawn)


def near(legal: Sequence[COMMAND], random: Random) -> COMMAND:
    """Return a body that differs from one of these, all of a kind, by a part or two.

    A part is changed, half the time to one that stands in another of them, left out, put in twice or in another place.
    A command that has no parts is returned as it is.
    """
    command = random.choice(legal)
    kind = type(command)
    values = {name: getattr(command, name) for name in _fields(kind)}
    known = {part: None for other in legal for part in _parts([getattr(other, name) for name in values])}
    for _ in range(random.randint(1, 2) if values else 0):
        name = random.choice([*values])
        values[name] = _near(_fields(kind)[name], values[name], [*known], random)
    return _command(kind, values)


def _parts(value: object) -> Iterator[object]:
    if isinstance(value, list | tuple):
        for part in value:
            yield from _parts(part)
    else:
        yield value


@cache
def _all(kind: type[COMMAND]) -> tuple[COMMAND, ...]:
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


def _drawn(kind: inspect.Type, random: Random) -> object:
    match kind:
        case inspect.Metadata(inner):
            return _drawn(inner, random)
        case inspect.UnionType(members):
            return _drawn(random.choice(members), random)
        case inspect.TupleType(items):
            return tuple(_drawn(item, random) for item in items)
        case inspect.VarTupleType(item, least, int(most)):
            return tuple(_drawn(item, random) for _ in range(random.randint(least or 0, most)))
        case _:
            return _value(kind, random.randrange(_count(kind)))


def _near(kind: inspect.Type, value: object, known: Sequence[object], random: Random) -> object:
    """Return a value of a type that is near another of it; what is `known` are parts that may stand there."""
    match kind, value:
        case inspect.Metadata(inner), _:
            return _near(inner, value, known, random)
        case inspect.UnionType(members), _:
            # Of what is no list it is not known which member it is of, so it is drawn from any.
            own = [member for member in members if _is_list(member) and isinstance(value, tuple)]
            return _near(own[0], value, known, random) if own else _drawn(random.choice(members), random)
        case inspect.TupleType(items), tuple():
            place = random.randrange(len(items))
            return (*value[:place], _near(items[place], value[place], known, random), *value[place + 1 :])
        case inspect.VarTupleType(item, least, int(most)), tuple():
            found = random.choice((_reordered, _shortened, _lengthened))(value, random)
            if len(found) in range(least or 0, most + 1) and found != value:
                return found
            place = random.randrange(len(value)) if value else 0
            part = _near(item, value[place], known, random) if value else _drawn(item, random)
            return (*value[:place], part, *value[place + 1 :])
        case inspect.LiteralType(values), _ if among := [part for part in known if part in values]:
            return random.choice(random.choice((values, among)))
        case _:
            return _drawn(kind, random)


def _is_list(kind: inspect.Type) -> bool:
    if isinstance(kind, inspect.Metadata):
        return _is_list(kind.type)
    return isinstance(kind, inspect.TupleType | inspect.VarTupleType)


def _reordered(value: tuple[object, ...], random: Random) -> tuple[object, ...]:
    return tuple(random.sample(value, len(value)))


def _shortened(value: tuple[object, ...], random: Random) -> tuple[object, ...]:
    place = random.randrange(len(value) + 1)
    return (*value[:place], *value[place + 1 :])


def _lengthened(value: tuple[object, ...], random: Random) -> tuple[object, ...]:
    return (*value, random.choice(value)) if value else value


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
