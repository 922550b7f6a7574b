"""Each way to tamper with a record, before both verifiers: one knows the rules, the other knows the page.

What is chained, stated and signed anew by a key that is known is a record of its own to who knows no rules; then a
checkpoint that was kept shows it.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from msgspec import Raw

from service.audit.checking import Evidence, check
from service.audit.checkpoints import Checkpoint
from tests.laws.matches import account
from tests.laws.setups import GAMES
from tests.service.audit.records import (
    KEYS,
    OURS,
    THEIRS,
    edited,
    match_of,
    record_of,
    recorded,
    shuffled_at,
    with_header,
    with_two_cards_swapped,
)
from tests.service.audit.verifier import NEEDS_NODE, PUBLISHED, Verified, kept

Found = tuple[str, int] | None
"""A code and a line; None where nothing is found."""


class Tampered(NamedTuple):
    """What became of a record, what is found by the rules, and what without them."""

    record: bytes
    by_rules: Found
    by_page: Found


OPTION = (b'"last_discard":"off"', b'"last_discard":"on"')
NAME = (account("p1ayer0").encode(), account("p1ayer9").encode())


def joined(*lines: bytes) -> bytes:
    return b"".join(lines)


def replaced(entries: Sequence[bytes], place: int, *change: bytes) -> list[bytes]:
    """Return the entries with a change in one of them."""
    assert change[0] in entries[place]
    return [*entries[:place], entries[place].replace(change[0], change[1], 1), *entries[place + 1 :]]


def everywhere(entries: Sequence[bytes], change: tuple[bytes, bytes]) -> list[bytes]:
    """Return the entries with a change in all of them."""
    return [e.replace(*change) for e in entries]


@cache
def tampered() -> dict[str, Tampered]:
    match = match_of("kowah")
    entries = [stored.e for stored in match.stored]
    lines = record_of(match).splitlines(keepends=True)
    header, end = lines[0].rstrip(b"\n"), len(lines)
    deal, sat = shuffled_at(match), b'"table.seat_taken","seat":0,"player":"'
    seated = next(place for place, e in enumerate(entries) if sat + NAME[0] in e)
    played = next(place for place, e in enumerate(entries) if place > deal and NAME[0] in e)
    other = edited(entries[played], command=Raw(b'{"type":"table.start"}'))
    command, created = entries[0].split(b'"events":')
    event_only = command + b'"events":' + created.replace(*OPTION)
    score = re.sub(rb'"points":\[(-?\d+)', lambda m: b'"points":[%d' % (int(m[1]) + 1), entries[-1], count=1)
    assert entries[-1] != score
    assert created != created.replace(*OPTION)
    return {
        "a changed byte": Tampered(
            joined(*replaced(lines, played + 1, b'"at":1', b'"at":2')), ("order", played + 3), ("order", played + 3)
        ),
        "a dropped entry": Tampered(joined(*lines[:9], *lines[10:]), ("order", 10), ("order", 10)),
        "swapped entries": Tampered(joined(*lines[:9], lines[10], lines[9], *lines[11:]), ("order", 10), ("order", 10)),
        "a cut tail": Tampered(joined(*lines[:-2], lines[-1]), ("not_ended", end - 1), ("not_ended", end - 1)),
        "a cut tail, signed anew": Tampered(
            recorded(match, entries[:-1]), ("not_ended", end - 1), ("not_ended", end - 1)
        ),
        "a forged entry": Tampered(
            joined(*lines[: played + 1], other + b"\n", *lines[played + 2 :]), ("refused", played + 2), ("chain", end)
        ),
        "a forged entry, chained and signed anew": Tampered(
            recorded(match, [*entries[:played], other, *entries[played + 1 :]]), ("refused", played + 2), None
        ),
        "another deal": Tampered(
            recorded(match, with_two_cards_swapped(match)), ("decision", deal + 1), ("shuffle", deal + 1)
        ),
        "a wrong score": Tampered(joined(*lines[:-2], score + b"\n", lines[-1]), ("decision", end - 1), ("chain", end)),
        "a wrong score, signed anew": Tampered(recorded(match, [*entries[:-1], score]), ("decision", end - 1), None),
        "a foreign signature": Tampered(
            joined(*lines[:-1], record_of(match, THEIRS).splitlines(keepends=True)[-1]),
            ("signature", end),
            ("signature", end),
        ),
        "other options in the header": Tampered(
            joined(lines[0].replace(*OPTION), *lines[1:]), ("header", 1), ("header", 1)
        ),
        "other options in the header, signed anew": Tampered(
            with_header(match, entries, header.replace(*OPTION)), ("header", 1), ("header", 1)
        ),
        "other options in the log, signed anew": Tampered(
            with_header(match, everywhere(entries, OPTION), header), ("decision", end - 1), ("header", 1)
        ),
        "other options in the event, signed anew": Tampered(
            recorded(match, [event_only, *entries[1:]]), ("decision", 2), None
        ),
        "other options everywhere, signed anew": Tampered(
            recorded(match, everywhere(entries, OPTION)), ("decision", end - 1), None
        ),
        "another name in the header": Tampered(
            joined(lines[0].replace(*NAME), *lines[1:]), ("header", 1), ("header", 1)
        ),
        "another name in the header, signed anew": Tampered(
            with_header(match, entries, header.replace(*NAME)), ("header", 1), ("header", 1)
        ),
        "another name in the log, signed anew": Tampered(
            with_header(match, everywhere(entries, NAME), header), ("header", 1), ("header", 1)
        ),
        "another name in one event, signed anew": Tampered(
            recorded(match, replaced(entries, seated, sat + NAME[0], sat + NAME[1])),
            ("decision", seated + 2),
            None,
        ),
        # A log like any other: only who has kept something of the true one can tell.
        "another name everywhere, signed anew": Tampered(recorded(match, everywhere(entries, NAME)), None, None),
    }


def found_by_rules(record: bytes, *checkpoints: Checkpoint) -> Found:
    fault = check(record, GAMES, Evidence(KEYS, checkpoints)).report.fault
    return None if fault is None else (fault.code, fault.line)


def test_who_knows_the_rules_finds_all_but_a_log_that_keeps_to_them() -> None:
    found = {name: found_by_rules(one.record) for name, one in tampered().items()}
    assert found == {name: one.by_rules for name, one in tampered().items()}


@NEEDS_NODE
def test_who_knows_the_page_finds_what_takes_no_rules(verified: Verified) -> None:
    found = verified(*((one.record, PUBLISHED, []) for one in tampered().values()))
    told = [None if one["ok"] else (one["code"], one["line"]) for one in found]
    assert dict(zip(tampered(), told, strict=True)) == {name: one.by_page for name, one in tampered().items()}


@NEEDS_NODE
def test_with_a_checkpoint_of_the_end_both_find_everything(verified: Verified) -> None:
    checkpoint = kept(match_of("kowah"), len(match_of("kowah").stored))
    found = verified(*((one.record, PUBLISHED, [checkpoint]) for one in tampered().values()))
    assert [name for name, one in zip(tampered(), found, strict=True) if one["ok"]] == []
    assert [name for name, one in tampered().items() if found_by_rules(one.record, checkpoint) is None] == []


@NEEDS_NODE
def test_a_key_that_is_not_known_signs_nothing(verified: Verified) -> None:
    foreign, ours = record_of(match_of("kowah"), THEIRS), [key for key in PUBLISHED["keys"] if key["id"] == OURS.id]
    (found,) = verified((foreign, {"keys": ours}, []))
    fault = check(foreign, GAMES, Evidence({OURS.id: OURS.public})).report.fault
    assert (found["code"], fault and fault.code) == ("unknown_key", "unknown_key")
