"""Streams: their names and keys, their entries, and the heads that chain these.

A stream is `table:<id>` or `tournament:<id>`. Its entries are dense, the first is `1-0`, and each has two fields, whose
bytes are fixed for ever: `e`, the entry, and `h`, its head (32 bytes), which chains it to the one before. What else the
store keeps for a stream lies in the same hash slot, by the two digits of its partition in braces:

    {37}:table:<id>   the stream                       {37}:feed     which stream grew: fields `s` stream, `v` version
    {37}:keys:<id>    idempotency keys and versions    {37}:streams  every stream of the partition, by name
    {37}:gone:<id>    the tombstone of an archived stream

Left out: what an entry says (events/base.py), and all traffic with the store (log.py).
"""

import logging
from collections.abc import Iterable
from functools import lru_cache
from hashlib import sha256
from typing import Final, NamedTuple, TypeAlias

import msgspec

from service.errors import Damaged
from service.ids import is_id, partition
from service.metrics import Counter

_HEAD_TAG: Final = b"evenfold/head/1\0"

_WORDS: Final = 4
"""How many words an entry has in the store: names and values of two fields."""

_journal = logging.getLogger(__name__)
_read = Counter("evenfold_decisions_read_total", "Decisions read from the store, whatever for.")

Row: TypeAlias = tuple[bytes, list[bytes]]
"""An entry as the store gives it: its id, and names and values in turn."""


class Keys(NamedTuple):
    """The keys of a stream in the store, in the order in which the function takes them."""

    stream: str
    feed: str
    remembered: str
    catalogue: str
    tombstone: str


def table_stream(id: str) -> str:  # noqa: A002 the word is id
    """Return the name of a table's stream."""
    return f"table:{id}"


@lru_cache(maxsize=8_192)
def keys_of(stream: str) -> Keys:
    """Return the keys of a stream; raise ValueError if it can't be one's name."""
    kind, _, id_ = stream.partition(":")
    if kind not in {"table", "tournament"} or not is_id(id_):
        raise ValueError(f"not the name of a stream: {stream!r}")
    number = partition(id_)
    slot = f"{{{number:02}}}"
    return Keys(f"{slot}:{stream}", feed_key(number), f"{slot}:keys:{id_}", catalogue_key(number), f"{slot}:gone:{id_}")


def feed_key(partition: int) -> str:
    """Return the key of a partition's feed."""
    return f"{{{partition:02}}}:feed"


def catalogue_key(partition: int) -> str:
    """Return the key of a partition's catalogue: a sorted set of its streams' names, all of score 0."""
    return f"{{{partition:02}}}:streams"


def genesis(stream: str) -> bytes:
    """Return head 0 of a stream, which its first entry chains to."""
    return sha256(_HEAD_TAG + stream.encode("ascii")).digest()


def head_after(previous: bytes, e: bytes) -> bytes:
    """Return the head of the entry `e` that follows the one with head `previous`."""
    return sha256(_HEAD_TAG + previous + e).digest()


class Stored(msgspec.Struct, frozen=True, gc=False):
    """One entry of a stream: its version, its exact bytes, and its head."""

    version: int
    e: bytes
    h: bytes


def stored_of(stream: str, rows: list[Row], first: int) -> list[Stored]:
    """Return rows as entries; raise Broken unless they are the versions from `first` on, without a gap."""
    entries = []
    for version, (id_, fields) in enumerate(rows, first):
        if id_ != b"%d-0" % version:
            raise broken(f"{stream} has the entry {id_.decode()} where version {version} belongs")
        if len(fields) != _WORDS:
            raise broken(f"{stream} has an entry of other fields at version {version}")
        _, e, _, h = fields
        entries.append(Stored(version, e, h))
    _read.add(by=len(entries))
    return entries


def check_chain(stream: str, version: int, head: bytes, entries: Iterable[Stored]) -> None:
    """Raise Broken unless each entry after the version with this head is chained to the one before it.

    It costs a microsecond an entry, and tells what no append has made: what another wrote, or what came with a cut.
    """
    previous = head if version else genesis(stream)
    for stored in entries:
        if stored.version > version:
            if head_after(previous, stored.e) != stored.h:
                raise broken(
                    f"{stream} holds an entry at version {stored.version} that is not chained to the one before"
                )
            previous = stored.h


class Broken(Damaged):
    """A stream is not what appends alone can have made of it; whoever raises it has said so to the operator."""


def broken(message: str) -> Broken:
    """Tell the operator what is wrong with a stream, and return it as what is to be raised."""
    _journal.critical("the log is damaged: %s", message)
    return Broken(message)


UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, IndexError)
"""What reading an entry raises that is none."""


def unreadable(stream: str, version: int) -> Broken:
    """Tell the operator of an entry that is none of its stream, and return it as what is to be raised."""
    return broken(f"{stream} has at version {version} what is no entry of such a stream")


class Receded(Broken):
    """A stream does not hold what was read from it before: the store has lost entries, by a failover or worse."""


class Replaced(Receded):
    """A stream holds another entry at a version that was read from it before: some were lost, others came since."""

    def __init__(self, stream: str, version: int) -> None:
        super().__init__(f"{stream} holds another entry at version {version} than was read before")


class Shorter(Receded):
    """A stream of `length` entries is shorter than the version that was read from it before."""

    def __init__(self, stream: str, length: int, version: int) -> None:
        super().__init__(f"{stream} has {length} entries where version {version} was read before")
        self.stream = stream
        self.length = length
