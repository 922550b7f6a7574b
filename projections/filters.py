"""The few kinds of neutral events that a projection is folded from, found in stored entries.

Whoever follows all tables reads every entry that any of them has. Most hold nothing of these kinds, which is told by
their bytes; of those that may, only the events concerned are decoded.
"""

import re
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Generic, TypeVar, cast

import msgspec
from msgspec import Raw, Struct

from events.base import Entry

EVENT = TypeVar("EVENT")


class _Tagged(Struct):
    type: str


_entry = msgspec.json.Decoder(Entry[Raw, Raw])
_tagged = msgspec.json.Decoder(_Tagged)


class EventFilter(Generic[EVENT]):
    """Finds the events of a union of neutral kinds."""

    def __init__(self, union: UnionType) -> None:
        """Find events of these kinds."""
        self._tags = frozenset(str(kind.__struct_config__.tag) for kind in union.__args__)
        self._mark = re.compile('"type":"(?:{})"'.format("|".join(map(re.escape, sorted(self._tags)))).encode())
        self._event = msgspec.json.Decoder(union)

    def may_be_in(self, stored: bytes) -> bool:
        """Tell, by its bytes, whether a stored entry may have any of them; False is sure."""
        return self._mark.search(stored) is not None

    def decisions(self, entries: Iterable[bytes]) -> Iterator[tuple[Entry[Raw, Raw], tuple[EVENT, ...]]]:
        """Yield of stored entries those that may have any, as `read` does."""
        for stored in entries:
            if (decision := self.read(stored)) is not None:
                yield decision

    def read(self, stored: bytes) -> tuple[Entry[Raw, Raw], tuple[EVENT, ...]] | None:
        """Return a stored entry with those of its events that are of these kinds; None where surely none is."""
        if not self.may_be_in(stored):
            return None
        entry = _entry.decode(stored)
        found = [self._event.decode(raw) for raw in entry.events if _tagged.decode(raw).type in self._tags]
        return entry, cast("tuple[EVENT, ...]", tuple(found))
