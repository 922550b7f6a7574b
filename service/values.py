"""What a store keeps beside the logs, key by key, as lines of JSON tell it: each of a type of the store, held to it.

    {"key":"…","type":"hash","until":<UTC ms>|null,"value":[…]}

    string    ["…"]                             zset      [["<member>","<score>"], …]
    hash      [["<field>","…"], …]              stream    [["<id>",[["<field>","…"], …]], …], the oldest first
    set       ["…", …]

Keys are ASCII; in values each character stands for the byte of its number, so that any byte can be told. Nothing is
empty, for the store has no empty key, and nothing is there twice.

Left out: which keys those are (backup/).
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Annotated, Final, TypeAlias, cast

import msgspec
from msgspec import Meta, Raw, Struct
from redis.asyncio import Redis
from redis.asyncio.client import Pipeline
from redis.typing import EncodableT

from events.base import whole

_Bytes = Annotated[str, Meta(pattern=whole("[\\x00-\\xff]*"))]
_Score = Annotated[str, Meta(pattern=whole(r"-?(inf|[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?)"), max_length=32)]
_EntryId = Annotated[str, Meta(pattern=whole("(0|[1-9][0-9]{0,19})-(0|[1-9][0-9]{0,19})"))]
_Pairs = Annotated[tuple[tuple[_Bytes, _Bytes], ...], Meta(min_length=1)]
_Until = Annotated[int, Meta(ge=1, lt=1 << 52)]

_HIGHEST: Final = (1 << 64) - 1


class _Key(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    key: Annotated[str, Meta(pattern=whole("[\\x00-\\x7f]+"))]
    until: _Until | None


class String(_Key, frozen=True, tag="string"):
    """A key of one value."""

    value: tuple[_Bytes]

    def write(self, pipe: Pipeline) -> None:
        """Have it written with whatever else goes through the pipe."""
        pipe.set(self.key, _bytes(self.value[0]))


class Hash(_Key, frozen=True, tag="hash"):
    """A key of fields and their values."""

    value: _Pairs

    def __post_init__(self) -> None:
        """Hold each field to be there once."""
        _check_once(name for name, _ in self.value)

    @property
    def fields(self) -> dict[bytes, bytes]:
        """Its fields, as the store has them."""
        return {_bytes(name): _bytes(value) for name, value in self.value}

    def write(self, pipe: Pipeline) -> None:
        """Have it written with whatever else goes through the pipe."""
        pipe.hset(self.key, mapping=_mapping(self.value))


class Set(_Key, frozen=True, tag="set"):
    """A key of members."""

    value: Annotated[tuple[_Bytes, ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        """Hold each member to be there once."""
        _check_once(self.value)

    def write(self, pipe: Pipeline) -> None:
        """Have it written with whatever else goes through the pipe."""
        pipe.sadd(self.key, *map(_bytes, self.value))


class SortedSet(_Key, frozen=True, tag="zset"):
    """A key of members and their scores."""

    value: Annotated[tuple[tuple[_Bytes, _Score], ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        """Hold each member to be there once."""
        _check_once(member for member, _ in self.value)

    def write(self, pipe: Pipeline) -> None:
        """Have it written with whatever else goes through the pipe."""
        pipe.zadd(self.key, {_bytes(member): float(score) for member, score in self.value})


class Entries(_Key, frozen=True, tag="stream"):
    """An inbox, or the changes of the lobby: whatever is a stream of the store and no log."""

    value: Annotated[tuple[tuple[_EntryId, _Pairs], ...], Meta(min_length=1)]

    def __post_init__(self) -> None:
        """Hold the ids to be such as the store gives, in their order."""
        last = (0, 0)
        for id_, _ in self.value:
            ms, _, number = id_.partition("-")
            this = (int(ms), int(number))
            if this <= last or max(this) > _HIGHEST:
                raise ValueError("ids of a stream are not in their order")
            last = this

    def write(self, pipe: Pipeline) -> None:
        """Have it written with whatever else goes through the pipe."""
        derived = self.key
        for id_, fields in self.value:
            pipe.xadd(derived, _mapping(fields), id=id_)


Key: TypeAlias = String | Hash | Set | SortedSet | Entries
"""A key, whichever type it is of."""

key_of: "Callable[[bytes], Key]" = msgspec.json.Decoder(Key).decode
"""Read a line that tells a key; raise msgspec.DecodeError."""


class _Line(Struct, frozen=True):
    """A key on its way into a line, `key` first."""

    key: str
    type: str
    until: int | None
    value: Raw


_encode = msgspec.json.Encoder().encode


async def lines_of(redis: Redis, keys: list[str]) -> list[bytes]:
    """Return the lines that tell these keys of a store, none for those that are not there any more."""
    async with redis.pipeline(transaction=False) as pipe:
        for key in keys:
            pipe.type(key)
            pipe.pexpiretime(key)
        about = await pipe.execute()
    lines: list[bytes] = []
    for key, kind, until in zip(keys, about[::2], about[1::2], strict=True):
        value = await _READERS[kind](redis, key) if kind in _READERS else None
        if value:  # It may have gone meanwhile.
            lines.append(_encode(_Line(key, kind.decode(), until if until > 0 else None, Raw(_encode(value)))))
    return lines


async def write(redis: Redis, key: Key) -> None:
    """Put a key into a store, all of it at once."""
    async with redis.pipeline(transaction=True) as pipe:
        key.write(pipe)
        if key.until is not None:
            pipe.pexpireat(key.key, key.until)
        await pipe.execute()


async def _string(redis: Redis, key: str) -> object:
    value = cast("bytes | None", await redis.get(key))
    return None if value is None else [_text(value)]


async def _hash(redis: Redis, key: str) -> object:
    return _texts(cast("dict[bytes, bytes]", await redis.hgetall(key)).items())


async def _set(redis: Redis, key: str) -> object:
    return sorted(map(_text, cast("set[bytes]", await redis.smembers(key))))


async def _zset(redis: Redis, key: str) -> object:
    scored = cast("list[tuple[bytes, float]]", await redis.zrange(key, 0, -1, withscores=True))
    return [[_text(member), repr(score)] for member, score in scored]


async def _stream(redis: Redis, key: str) -> object:
    rows = cast("list[tuple[bytes, dict[bytes, bytes]]]", await redis.xrange(key))
    return [[_text(id_), _texts(row.items())] for id_, row in rows]


_READERS: Final[Mapping[bytes, Callable[[Redis, str], Awaitable[object]]]] = {
    b"string": _string,
    b"hash": _hash,
    b"set": _set,
    b"zset": _zset,
    b"stream": _stream,
}


def _texts(pairs: Iterable[tuple[bytes, bytes]]) -> list[list[str]]:
    return [[_text(name), _text(value)] for name, value in pairs]


def _text(value: bytes) -> str:
    return value.decode("latin-1")


def _bytes(text: str) -> bytes:
    return text.encode("latin-1")


def _mapping(pairs: Iterable[tuple[str, str]]) -> dict[EncodableT, EncodableT]:
    return {_bytes(name): _bytes(value) for name, value in pairs}


def _check_once(names: Iterable[str]) -> None:
    listed = list(names)
    if len(set(listed)) != len(listed):
        raise ValueError("something is there twice")
