"""Which disputes of a table are open, by its stored entries."""

import msgspec

from events.base import By, Entry, Event
from events.table import Created, DisputeFiled, Looked, Resumed, Ruled
from projections.docket import Contested, OpenDispute, add

CREATED = Created("kowah", "kowah/1", 2, {}, "full", "host", "0" * 64)


def entry(version: int, player: str, *events: Event) -> bytes:
    return msgspec.json.encode(
        Entry(
            log=1,
            stream="table:t",
            version=version,
            at=version * 100,
            by=By(player=player),
            command={"type": "table.rule"},
            cause=None,
            key=None,
            salt="s",
            events=events,
        )
    )


def filed(dispute: int, version: int, player: str) -> OpenDispute:
    return OpenDispute("kowah", "t", dispute, player, version, version * 100, 1, 2, "rules")


OPENED = entry(1, "host", CREATED)
ADAS = entry(7, "ada", DisputeFiled(1, 1, 2, "rules", None))
BOBS = entry(8, "bob", DisputeFiled(2, 1, 2, "rules", None))
RULED = entry(9, "ruth", Ruled(1, "upheld", None, None, (), None, None), Resumed())


def test_a_dispute_is_open_until_it_is_ruled_on() -> None:
    contested = add(Contested(), [OPENED])
    assert contested == Contested("kowah")
    contested = add(contested, [ADAS, BOBS])
    assert contested == Contested("kowah", 2, (filed(1, 7, "ada"), filed(2, 8, "bob")))
    assert add(contested, [RULED]) == Contested("kowah", 2, (filed(2, 8, "bob"),))


def test_nothing_else_changes_it() -> None:
    contested = add(Contested(), [OPENED, ADAS])
    assert add(contested, [entry(8, "ruth", Looked(1, 1, 2, 3))]) is contested
