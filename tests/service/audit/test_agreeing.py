"""What was kept is good by itself, and tree heads go together; or it is told what is not."""

from collections.abc import Sequence

import msgspec
import pytest

from events.base import Entry
from events.table import Ended, Opened
from service import games
from service.audit import checkpoints
from service.audit.agreeing import Files, Flaw, Subject, TreeSizes, contradictions, sifted, unmet
from service.audit.checking import Evidence, check
from service.referee import Abandon
from tests.laws.matches import Match
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

LOG = Transparent(*map(Transparent.other, range(9)))
SPLIT = Transparent(*(Transparent.other(index, bytes([index > 1] * 32)) for index in range(9)))
"""The same log up to 2 leaves, and another one from there on."""


def evidence(*kept: int, proofs: Sequence[tuple[int, int]] = (), proven: Sequence[int] = ()) -> Evidence:
    heads, inclusions = map(LOG.head, kept), [LOG.inclusion(0, size) for size in proven]
    return Evidence(KEYS, (), inclusions, tuple(heads), tuple(LOG.consistency(*sizes) for sizes in proofs))


def flaws_of(given: Evidence) -> Sequence[Flaw]:
    _, flaws = sifted(given)
    return flaws


def inconsistent(*sizes: int) -> Flaw:
    return Flaw("consistency", TreeSizes(sizes))


@pytest.mark.parametrize(
    ("given", "flaw"),
    [
        (evidence(), None),
        (evidence(5), None),
        (evidence(5, 5), None),
        (evidence(3, 5), (3, 5)),
        (evidence(5, 3, proofs=[(3, 5)]), None),
        (evidence(3, 5, 8, proofs=[(3, 5)]), (5, 8)),
        (evidence(3, 5, 8, proofs=[(3, 5), (5, 8)]), None),
        (evidence(3, 5, 8, proofs=[(3, 8), (5, 8)]), None),
        (evidence(3, 5, proofs=[(3, 8), (5, 8)]), (3, 5)),
        (evidence(3, 5, proofs=[(3, 8), (5, 8)], proven=[8]), None),
        (evidence(3, 5, proofs=[(3, 5)], proven=[8]), (5, 8)),
        (evidence(3, 5, proofs=[(3, 5), (5, 8)], proven=[8]), None),
        (evidence(8, proofs=[(5, 8)], proven=[5]), None),
        (evidence(8, proven=[5]), (5, 8)),
        (evidence(proven=[5, 8]), None),
        (evidence(5, proofs=[(1, 2)]), None),
    ],
    ids=repr,
)
def test_each_must_be_shown_to_begin_the_next(given: Evidence, flaw: tuple[int, int] | None) -> None:
    assert flaws_of(given) == ([] if flaw is None else [inconsistent(*flaw)])


def test_heads_of_a_log_that_was_split_are_found() -> None:
    both = Evidence(KEYS, (), (), (LOG.head(5), SPLIT.head(5)))
    assert flaws_of(both) == [inconsistent(5, 5)]
    proven = Evidence(KEYS, (), (SPLIT.inclusion(0, 5),), (LOG.head(5),))
    assert flaws_of(proven) == [inconsistent(5, 5)]
    for proof in (LOG.consistency(3, 5), SPLIT.consistency(3, 5)):
        assert flaws_of(Evidence(KEYS, (), (), (LOG.head(3), SPLIT.head(5)), (proof,))) == [inconsistent(3, 5)]
    assert flaws_of(Evidence(KEYS, (), (), (LOG.head(2), SPLIT.head(5)), (SPLIT.consistency(2, 5),))) == []


def test_a_proof_that_does_not_hold_is_found_beside_one_that_does() -> None:
    good = evidence(3, 5, proofs=[(3, 5)])
    both = good._replace(consistencies=(*good.consistencies, SPLIT.consistency(3, 5)))
    assert flaws_of(both) == [inconsistent(3, 5)]


def test_every_head_is_signed() -> None:
    forged = msgspec.structs.replace(LOG.head(3), at=6)
    given = Evidence(KEYS, (), (), (LOG.head(3), forged))
    unsigned = Flaw("tree_signature", TreeSizes((3,)))
    assert flaws_of(given) == [unsigned]
    assert flaws_of(Evidence({THEIRS.id: THEIRS.public}, (), (), (LOG.head(3),))) == [unsigned]
    assert flaws_of(given._replace(keys=None)) == []


def test_a_checkpoint_is_signed_whatever_table_it_is_of() -> None:
    good = checkpoints.vouched(f"table:{'0' * 26}", 3, bytes(32), 5, OURS)
    edits = ({"stream": f"table:{'1' * 26}"}, {"version": 4}, {"head": "1" * 64}, {"at": 6}, {"key": THEIRS.id})
    forged = [msgspec.structs.replace(good, **edit) for edit in edits]
    sound, flaws = sifted(Evidence(KEYS, (good, *forged)))
    assert sound.checkpoints == (good,)
    assert flaws == [Flaw("checkpoint_signature", one) for one in forged]
    assert sifted(Evidence(None, tuple(forged))) == (Evidence(None, tuple(forged)), [])


def test_a_proof_of_inclusion_holds_whatever_table_it_is_of() -> None:
    good = LOG.inclusion(2, 5)
    broken = msgspec.structs.replace(good, proof=good.proof[:-1])
    other = msgspec.structs.replace(good, leaf=msgspec.structs.replace(good.leaf, stream=f"table:{'z' * 26}"))
    unsigned = msgspec.structs.replace(good, tree=msgspec.structs.replace(good.tree, at=6))
    sound, flaws = sifted(Evidence(KEYS, (), (broken, good, other, unsigned)))
    assert sound.inclusions == (good,)
    assert flaws == [
        Flaw("inclusion", broken.leaf),
        Flaw("inclusion", other.leaf),
        Flaw("tree_signature", unsigned.leaf),
    ]
    assert sifted(Evidence(None, (), (unsigned,))) == (Evidence(None, (), (unsigned,)), [])


def test_tree_heads_that_disagree_are_told_after_the_pieces() -> None:
    forged = checkpoints.vouched(f"table:{'0' * 26}", 3, bytes(32), 5, OURS)
    forged = msgspec.structs.replace(forged, version=4)
    _, flaws = sifted(evidence(3, 5)._replace(checkpoints=(forged,)))
    assert flaws == [Flaw("checkpoint_signature", forged), inconsistent(3, 5)]


def test_what_no_record_is_of_is_told_once_for_each_version() -> None:
    met, missed = f"table:{'0' * 26}", f"table:{'1' * 26}"
    kept = [checkpoints.vouched(stream, 3, bytes(32), at, OURS) for stream in (met, missed) for at in (5, 6)]
    inclusion = LOG.inclusion(2, 5)
    given = Evidence(KEYS, tuple(kept), (inclusion, inclusion))
    assert list(unmet(given, {met})) == [Flaw("unmet", kept[3]), Flaw("unmet", inclusion.leaf)]
    assert list(unmet(given, {met, missed, inclusion.leaf.stream})) == []


# Records beside one another.


def record_ending_at(match: Match, version: int, salt: str | None = None) -> bytes:
    """Record a match up to a version, with another salt of its last entry if one is given."""
    *entries, last = (stored.e for stored in match.stored[:version])
    return recorded(match, [*entries, last if salt is None else edited(last, salt=salt)])


def test_records_of_one_table_agree_if_one_begins_the_other() -> None:
    match = contested("kowah")
    end = next(n for n, events in enumerate(match.decided, 1) if any(isinstance(event, Ended) for event in events))
    length = len(match.stored)
    assert end < length - 1
    told = {version: record_ending_at(match, version) for version in (end, end + 1, length)}
    forked = {version: record_ending_at(match, version, "A" * 22) for version in (end, end + 1, length)}
    other = record_of(match_of("chinkway"))

    def contradicted(*records: bytes) -> list[Subject]:
        checked = [check(record, games.find(), Evidence(KEYS)) for record in records]
        assert [one.report.fault for one in checked] == [None] * len(records)
        flaws = list(contradictions((str(number), one) for number, one in enumerate(checked)))
        assert {flaw.code for flaw in flaws} <= {"contradiction"}
        return [flaw.subject for flaw in flaws]

    assert contradicted(told[length], told[end], other, told[end + 1], told[end]) == []
    assert contradicted(told[length], forked[length]) == [Files("0", "1")]
    assert contradicted(told[length], forked[end], told[end + 1]) == [Files("1", "2")]
    assert contradicted(forked[end + 1], told[length]) == [Files("0", "1")]


def test_a_record_that_ends_before_play_ended_in_another_is_no_beginning_of_it() -> None:
    match = match_of("kowah")
    first, *_ = match.stored
    abandoned = Entry(
        1,
        f"table:{match.table}",
        2,
        match.entries()[0].at,
        match.entries()[0].by,
        Abandon(),
        None,
        None,
        "A" * 22,
        (Ended("abandoned", (None,) * len(match.at(1).players)), Opened(match.seed.hex(), ())),
    )
    checked = [
        check(record, games.find(), Evidence(KEYS))
        for record in (record_of(match), recorded(match, [first.e, msgspec.json.encode(abandoned)]))
    ]
    assert [one.report.fault for one in checked] == [None, None]
    assert list(contradictions(zip("ab", checked, strict=True))) == [Flaw("contradiction", Files("b", "a"))]


def test_a_record_that_is_wrong_by_itself_contradicts_no_other() -> None:
    good = record_of(match_of("kowah"))
    bad = good.replace(b'"kowah.dealt"', b'"kowah.dealz"', 1)
    checked = [check(record, games.find(), Evidence(KEYS)) for record in (good, bad)]
    assert list(contradictions(zip("ab", checked, strict=True))) == []
