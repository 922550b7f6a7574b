"""Who has had a part in a table: who opened it, who sat down and when, and whether play has ended.

Folded from the neutral events alone; only the few entries that may hold one of these are decoded.
"""

import re
from collections.abc import Iterable

import msgspec
from msgspec import Raw, Struct, field

from events.base import Entry, Millis, PlayerId
from events.table import Created, Ended, SeatTaken

_CONCERNING = Created | SeatTaken | Ended
_TAGS = frozenset(str(kind.__struct_config__.tag) for kind in _CONCERNING.__args__)
_MARK = re.compile('"type":"(?:{})"'.format("|".join(map(re.escape, sorted(_TAGS)))).encode())


class Attended(Struct):
    """A table: its host and when it was opened, the accounts that sat down, each with when, and whether it has ended.

    Who stood up again counts too; bots don't. The host is "" before the first entry.
    """

    host: PlayerId = ""
    opened_at: Millis = 0
    sat: dict[PlayerId, Millis] = field(default_factory=dict)
    ended: bool = False


class _Tagged(Struct):
    type: str


_entry = msgspec.json.Decoder(Entry[Raw, Raw])
_tagged = msgspec.json.Decoder(_Tagged)
_event = msgspec.json.Decoder(_CONCERNING)


def add(attended: Attended, entries: Iterable[bytes]) -> None:
    """Add the stored entries that follow."""
    for stored in entries:
        if _MARK.search(stored) is None:
            continue
        entry = _entry.decode(stored)
        for raw in entry.events:
            if _tagged.decode(raw).type in _TAGS:
                _evolve(attended, _event.decode(raw), entry.at)


def _evolve(attended: Attended, event: _CONCERNING, at: Millis) -> None:
    match event:
        case Created():
            attended.host, attended.opened_at = event.host, at
        case SeatTaken(_, player, _, None):
            attended.sat.setdefault(player, at)
        case SeatTaken():
            pass
        case Ended():
            attended.ended = True
