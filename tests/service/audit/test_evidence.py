"""A record is held against the key, against checkpoints that were kept, and against proofs of the transparency log."""

from dataclasses import replace

from msgspec import Raw

from events.table import Ended
from service.audit import checkpoints
from service.audit.checking import Evidence, Fault, check
from service.audit.checkpoints import Checkpoint
from service.audit.signing import Signer
from service.audit.transparency import Leaf
from tests.laws.matches import Match
from tests.laws.setups import GAMES
from tests.service.audit.records import (
    KEYS,
    OURS,
    THEIRS,
    Transparent,
    contested,
    edited,
    match_of,
    record_of,
    recorded,
)
from tests.service.audit.test_checking import entries_of, fault_of


def vouched(match: Match, version: int, signer: Signer = OURS, head: bytes = b"") -> Checkpoint:
    return checkpoints.vouched(f"table:{match.table}", version, head or match.stored[version - 1].h, 5, signer)


# Keys and checkpoints.


def test_a_foreign_key_is_told(match: Match) -> None:
    assert fault_of(record_of(match, THEIRS), Evidence({OURS.id: OURS.public})) == Fault(1, None, "unknown_key")


def test_a_signature_is_of_this_record_and_key(match: Match, lines: list[bytes]) -> None:
    other = record_of(match, THEIRS).splitlines(keepends=True)
    assert fault_of(b"".join([*lines[:-1], other[-1]])) == Fault(len(lines), None, "signature")
    impostor = {OURS.id: THEIRS.public}
    assert fault_of(b"".join(lines), Evidence(impostor)) == Fault(len(lines), None, "signature")
    assert fault_of(b"".join([*lines[:-1], other[-1]]), Evidence(None)) is None


def test_checkpoints_bind_what_came_before_them(match: Match, lines: list[bytes]) -> None:
    record, length = b"".join(lines), len(match.stored)
    good = tuple(vouched(match, version) for version in (1, 7, length))
    assert check(record, GAMES, Evidence(KEYS, good)).report.checkpoints == 3
    assert fault_of(record, Evidence(KEYS, (*good, vouched(match, 7, head=bytes(32))))) == Fault(8, 7, "checkpoint")
    later = vouched(match, length + 1, head=bytes(32))
    assert fault_of(record, Evidence(KEYS, (later,))) == Fault(length + 1, length + 1, "checkpoint")


def test_the_first_entry_that_is_wrong_is_told_before_what_was_kept_of_its_version_or_of_later_ones(
    match: Match,
) -> None:
    entries, length = entries_of(match), len(match.stored)
    entries[20] = edited(entries[20], command=Raw(b'{"type":"table.start"}'))
    record = recorded(match, entries)
    end = Transparent.with_end_of(match, before=3, later=2).inclusion(3, 4)
    for version in (21, 22, length, length + 7):
        given = Evidence(KEYS, (vouched(match, version, head=bytes(32)),), (end,))
        assert fault_of(record, given) == Fault(22, 21, "refused")
    given = Evidence(KEYS, (vouched(match, 20, head=bytes(32)),))
    assert fault_of(record, given) == Fault(21, 20, "checkpoint")
    assert fault_of(record[:-4] + b"}\n") == Fault(22, 21, "refused")


def test_checkpoints_of_other_tables_are_left_aside(lines: list[bytes]) -> None:
    report = check(b"".join(lines), GAMES, Evidence(KEYS, (vouched(match_of("chinkway"), 3),))).report
    assert (report.fault, report.checkpoints) == (None, 0)


# The transparency log.


def test_a_record_is_found_in_the_transparency_log(match: Match, lines: list[bytes]) -> None:
    log = Transparent.with_end_of(match, before=6, after=1)
    inclusion, record, end = log.inclusion(6, 8), b"".join(lines), len(match.stored)
    report = check(record, GAMES, Evidence(KEYS, (), (inclusion,))).report
    assert (report.fault, report.inclusions) == (None, 1)
    other = Transparent(Leaf(0, inclusion.leaf.stream, end, "0" * 64)).inclusion(0, 1)
    assert fault_of(record, Evidence(KEYS, (), (other,))) == Fault(end + 1, end, "inclusion")


def test_a_proof_of_a_later_version_shows_that_a_record_is_outdated(match: Match, lines: list[bytes]) -> None:
    record, length = b"".join(lines), len(match.stored)
    later = Transparent.with_end_of(match, before=3, later=2).inclusion(3, 4)
    assert fault_of(record, Evidence(KEYS, (), (later,))) == Fault(len(lines), length + 2, "outdated")


def test_a_proof_of_the_end_beside_later_rulings_is_no_fault() -> None:
    match = contested("kowah")
    end = next(n for n, events in enumerate(match.decided) if any(isinstance(event, Ended) for event in events))
    log = Transparent.with_end_of(replace(match, stored=match.stored[: end + 1]), before=3)
    report = check(record_of(match), GAMES, Evidence(KEYS, (), (log.inclusion(3, 4),))).report
    assert (report.fault, report.inclusions) == (None, 1)


def test_a_proof_of_another_table_is_left_aside(lines: list[bytes]) -> None:
    inclusion = Transparent.with_end_of(match_of("chinkway"), before=2).inclusion(2, 3)
    assert check(b"".join(lines), GAMES, Evidence(KEYS, (), (inclusion,))).report.inclusions == 0


def test_a_signed_checkpoint_finds_a_log_that_was_decided_anew(match: Match) -> None:
    # The same players, another match: all of it holds by itself, and it is not what was vouched for.
    other = match_of("kowah", seed=8)
    claimed = checkpoints.vouched(f"table:{other.table}", 7, match.stored[6].h, 5, OURS)
    assert fault_of(record_of(other)) is None
    assert fault_of(record_of(other), Evidence(KEYS, (claimed,))) == Fault(8, 7, "checkpoint")
