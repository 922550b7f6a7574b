"""The lines of a backup, each held to its form."""

import re
from collections.abc import Callable, Mapping
from typing import Annotated, Final, TypeAlias

import msgspec
from msgspec import Meta

from events.base import whole
from events.table import Hex256
from service import values
from service.audit.transparency import Leaf
from service.streams import Stored
from service.values import Key

Line: TypeAlias = bytes

FOUND_ANEW: Final = re.compile(
    rb"\{\d\d\}:(?:table|tournament|keys|gone|cursor|aside):|\{\d\d\}:(?:feed|streams|lease)$"
    rb"|transparency:|ticket:|presence:|reactors$|bells$|service:(?:mark|restoring|archive)$"
)
"""Keys that no backup holds: a store finds them anew, or they are told by other lines."""

_Secret = Annotated[str, Meta(pattern=whole("(secret|signing)"))]
"""A file of the keys' folder: it is written there by this name."""


class HeaderLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The first line: when it was made (UTC ms), and the service's secrets by name, in hex, if they were asked for.

    `archive` is the address of the archive that the store was used with, None where that is not known.
    """

    backup: int
    made: int
    secrets: dict[_Secret, Hex256] = {}
    archive: str | None = None


class Counted(msgspec.Struct):
    """How much there is of everything."""

    streams: int = 0
    archived: int = 0
    leaves: int = 0
    keys: int = 0


class StreamLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The header of a log, as that of its file in the archive: its entries follow, a line each."""

    archive: int
    stream: str
    version: int
    head: str


class TombstoneLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the store keeps of a log that lies in the archive."""

    tombstone: str
    says: str


class LeafLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A leaf of the transparency log."""

    leaf: Leaf


class EndLine(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last line: how much there is, and the digest of all lines before it."""

    end: Counted
    sha256: Hex256


Item: TypeAlias = tuple[str, list[Stored]] | TombstoneLine | LeafLine | Key
"""What a backup holds: a log with its entries, or anything else."""

AnyLine: TypeAlias = StreamLine | TombstoneLine | LeafLine | Key | EndLine

_KINDS: Final[Mapping[bytes, Callable[[bytes], AnyLine]]] = {
    b'{"archive":': msgspec.json.Decoder(StreamLine).decode,
    b'{"tombstone":': msgspec.json.Decoder(TombstoneLine).decode,
    b'{"leaf":': msgspec.json.Decoder(LeafLine).decode,
    b'{"key":': values.key_of,
    b'{"end":': msgspec.json.Decoder(EndLine).decode,
}

read_header: Callable[[bytes], HeaderLine] = msgspec.json.Decoder(HeaderLine).decode
"""Read the first line; raise msgspec.DecodeError."""

encode: Callable[[object], Line] = msgspec.json.Encoder().encode


def read_line(line: bytes) -> AnyLine:
    """Read any other line, but for an entry's; raise ValueError."""
    kind = next((kind for begin, kind in _KINDS.items() if line.startswith(begin)), None)
    if kind is None:
        raise ValueError("a line of a kind that is not known")
    return kind(line)
