"""A record holds only if it is what rules, seed and key say: every way to change one is found, and named."""

import gzip
import re
from pathlib import Path
from random import Random

import msgspec
import pytest
from msgspec import Raw

from events.base import By
from service.archive import packed
from service.audit.checking import FAULTS, Evidence, Fault, check
from service.audit.signing import Signer
from service.game import AnyGame
from service.written import Text
from tests.laws.matches import HOST, JUDGE, Match, account
from tests.laws.setups import GAMES
from tests.service.audit.records import (
    FIT,
    KEYS,
    OURS,
    THEIRS,
    UNFIT,
    WRITTEN,
    contested,
    edited,
    events_of,
    match_of,
    record_of,
    recorded,
    written,
)
from tests.sizes import sized

EVERY = pytest.mark.parametrize("game", list(GAMES), ids=lambda game: game.name)
MUTATIONS = [(56, sized(2_000, 6_000, 40_000)), (7, sized(100, 1_000, 10_000))]
"""How many of which match of Kowah, by its seed: most of one that is very short, for the time that each takes."""
EVIDENCE = Evidence(KEYS)


def fault_of(record: bytes, evidence: Evidence = EVIDENCE) -> Fault | None:
    return check(record, GAMES, evidence).report.fault


def entries_of(match: Match) -> list[bytes]:
    return [stored.e for stored in match.stored]


@EVERY
def test_a_record_of_every_game_holds(game: AnyGame) -> None:
    match = match_of(game.name)
    report = check(record_of(match), GAMES, EVIDENCE).report
    ended = match.at(len(match.stored))
    assert report.fault is None
    assert (report.table, report.ruleset, report.outcome) == (match.table, game.ruleset, "finished")
    assert (report.scores, report.places) == (ended.scores, ended.places)
    assert report.versions == len(match.stored)
    assert report.events == sum(map(len, match.decided))
    assert report.shuffles == len(ended.orders)


@EVERY
def test_a_record_with_disputes_and_rulings_in_play_and_after_it_holds(game: AnyGame) -> None:
    match = contested(game.name)
    report = check(record_of(match), GAMES, EVIDENCE).report
    ended = match.at(len(match.stored))
    assert report.fault is None
    assert (report.outcome, report.scores, report.places) == (ended.outcome, ended.scores, ended.places)
    assert report.shuffles == len(ended.orders)


def test_every_fault_has_a_test() -> None:
    files = (Path(__file__), *map(Path(__file__).with_name, ("test_agreeing.py", "test_evidence.py")))
    told = re.findall(r'"([a-z_]+)"', "".join(file.read_text(encoding="utf-8") for file in files))
    assert set(FAULTS) <= set(told)


# What a file can suffer.


@pytest.mark.parametrize(
    "record", [b"", b"\n", b"\n\n\n", b"{}\n{}\n{}\n", b"\xff\n\xfe\n\xff\n", b"[" * 9999 + b"\n" * 3]
)
def test_what_is_no_record_is_told_so(record: bytes) -> None:
    assert fault_of(record) == Fault(1, None, "not_a_record")


def test_a_record_without_its_last_newline_is_cut(lines: list[bytes]) -> None:
    assert fault_of(b"".join(lines)[:-1]) == Fault(1, None, "not_a_record")


def test_a_file_of_the_archive_is_told_to_be_one(match: Match) -> None:
    file = packed(f"table:{match.table}", match.stored)
    assert fault_of(file) == fault_of(gzip.decompress(file)) == Fault(1, None, "archived")
    assert fault_of(file[:-9]) == Fault(1, None, "archived")


def test_a_record_that_was_zipped_is_no_file_of_the_archive(lines: list[bytes]) -> None:
    assert fault_of(gzip.compress(b"".join(lines))) == Fault(1, None, "not_a_record")
    assert fault_of(b"\x1f\x8b\n\n\n") == Fault(1, None, "not_a_record")


def test_an_entry_that_is_gone_is_missed_where_it_stood(lines: list[bytes]) -> None:
    for place in (1, 2, len(lines) - 3):
        found = fault_of(b"".join(lines[:place] + lines[place + 1 :]))
        assert found is not None
        assert (found.line, found.code) in {(place + 1, "order"), (2, "entry")}


def test_swapped_entries_are_found_at_the_first(lines: list[bytes]) -> None:
    swapped = [*lines[:9], lines[10], lines[9], *lines[11:]]
    assert fault_of(b"".join(swapped)) == Fault(10, 9, "order")


def test_a_log_that_is_cut_short_has_not_ended(lines: list[bytes]) -> None:
    assert fault_of(b"".join([*lines[:-2], lines[-1]])) == Fault(len(lines) - 1, None, "not_ended")


@pytest.mark.parametrize(("seed", "number"), MUTATIONS)
def test_no_mutation_of_any_byte_passes(seed: int, number: int) -> None:
    record, random = record_of(match_of("kowah", seed)), Random(11)
    for _ in range(number):
        mutated = mutation(record, random)
        assert mutated == record or fault_of(mutated) is not None


def mutation(record: bytes, random: Random) -> bytes:
    """Change, add, take away, double or exchange something at random, every third time in the header or the trailer."""
    header, *_, trailer = record.splitlines()
    ends = [(0, len(header)), (len(record) - len(trailer) - 1, len(record))]
    begin, end = random.choice([*ends, *[(0, len(record))] * 4])
    at = random.randrange(begin, end)
    match random.randrange(5):
        case 0:
            return record[:at] + bytes([record[at] ^ 1 << random.randrange(8)]) + record[at + 1 :]
        case 1:
            return record[:at] + record[at + random.randrange(1, 40) :]
        case 2:
            return record[:at] + random.choice([b" ", b"0", b"\n", b",", b'"', b"}"]) + record[at:]
        case 3:
            lines = record.splitlines(keepends=True)
            lines.insert(random.randrange(len(lines)), random.choice(lines))
            return b"".join(lines)
        case _:
            digits = [found.start() for found in re.compile(rb"[0-9]").finditer(record, begin, end)]
            at = random.choice(digits)
            return record[:at] + b"%d" % random.randrange(10) + record[at + 1 :]


# What a forger does who chains, states and signs anew, with a key that is known.


@pytest.mark.parametrize("signer", [OURS, THEIRS])
def test_another_score_is_found_whoever_signs(match: Match, signer: Signer) -> None:
    entries = entries_of(match)
    last = entries[-1]
    assert b'"points":[' in last
    entries[-1] = re.sub(rb'"points":\[(-?\d+)', lambda m: b'"points":[%d' % (int(m[1]) + 1), last, count=1)
    assert fault_of(recorded(match, entries, signer)) == Fault(len(entries) + 1, len(entries), "decision")


def test_another_deal_is_found(match: Match) -> None:
    entries = entries_of(match)
    version, e = next((n, e) for n, e in enumerate(entries, 1) if b'"kowah.dealt"' in e)
    first, second = re.findall(rb'"([A-Z][0-9A-Z])"', e)[:2]
    entries[version - 1] = re.sub(rb'"%b","%b"' % (first, second), b'"%b","%b"' % (second, first), e)
    assert fault_of(recorded(match, entries)) == Fault(version + 1, version, "decision")


def test_another_seed_is_found_against_its_commitment(match: Match) -> None:
    entries = entries_of(match)
    seed = match.seed.hex().encode()
    forged = [e.replace(seed, b"0" * 64) for e in entries]
    assert fault_of(recorded(match, forged)) == Fault(2, 1, "decision")


def test_a_first_entry_without_a_seed_is_found(match: Match, lines: list[bytes]) -> None:
    first, *_ = entries_of(match)
    created, *_ = events_of(first)
    forged = [lines[0], edited(first, events=(created,)) + b"\n", *lines[2:]]
    assert fault_of(b"".join(forged)) == Fault(2, 1, "seed")


def test_a_command_that_the_rules_refuse_is_found(match: Match) -> None:
    entries = entries_of(match)
    version, e = next((n, e) for n, e in enumerate(entries, 1) if b'"kowah.' in e and n > 5)
    entries[version - 1] = edited(e, command=Raw(b'{"type":"table.start"}'))
    assert fault_of(recorded(match, entries)) == Fault(version + 1, version, "refused")


def test_a_table_that_is_opened_twice_is_found(match: Match) -> None:
    entries = entries_of(match)
    entries[1] = edited(entries[1], command=msgspec.json.decode(entries[0])["command"])
    assert fault_of(recorded(match, entries)) == Fault(3, 2, "refused")


def test_a_decision_told_to_be_anothers_is_found(match: Match) -> None:
    entries = entries_of(match)
    entries[0] = edited(entries[0], by=By(role="arbiter", player=HOST))
    assert fault_of(recorded(match, entries)) == Fault(2, 1, "by")


def test_a_ruling_that_says_more_than_was_asked_is_found() -> None:
    match = contested("kowah")
    entries = entries_of(match)
    version, e = next((n, e) for n, e in enumerate(entries, 1) if b'"table.ruled"' in e)
    command, events = e.split(b'"events":')
    entries[version - 1] = command + b'"events":' + events.replace(b'"forfeits":[]', b'"forfeits":[0]')
    assert fault_of(recorded(match, entries)) == Fault(version + 1, version, "decision")


def test_a_look_that_lasts_longer_is_found() -> None:
    match = contested("kowah")
    entries = entries_of(match)
    version, e = next((n, e) for n, e in enumerate(entries, 1) if b'"table.looked"' in e)
    entries[version - 1] = re.sub(rb'"until":(\d+)', lambda m: b'"until":%d' % (int(m[1]) + 1), e)
    assert fault_of(recorded(match, entries)) == Fault(version + 1, version, "decision")


def test_a_ruling_by_somebody_who_sits_at_the_table_is_found() -> None:
    match = contested("kowah")
    entries = entries_of(match)
    version, e = next((n, e) for n, e in enumerate(entries, 1) if b'"table.ruled"' in e)
    entries[version - 1] = e.replace(JUDGE.encode(), account("p1ayer0").encode(), 1)
    assert fault_of(recorded(match, entries)) == Fault(version + 1, version, "refused")


def test_a_deal_that_was_dealt_again_until_it_pleased_is_found() -> None:
    """Who leaves out the ruling must leave out the deal, or the numbers do not follow one another."""
    match = contested("kowah")
    entries = entries_of(match)
    *_, (version, e) = [(n, e) for n, e in enumerate(entries, 1) if b'"table.deal_replayed"' in e]
    entries[version - 1] = re.sub(rb'"c":(\d+)', lambda m: b'"c":%d' % (int(m[1]) + 65_536), e)
    assert fault_of(recorded(match, entries)) == Fault(version + 1, version, "decision")


@pytest.mark.parametrize(
    ("stated", "holds"),
    [
        ((), True),
        ((WRITTEN,), True),
        ((WRITTEN, WRITTEN), False),
        ((msgspec.structs.replace(WRITTEN, text="She showed me her hand."),), False),
        ((msgspec.structs.replace(WRITTEN, salt="cd" * 16),), False),
        ((msgspec.structs.replace(WRITTEN, id="1" * 26),), False),
    ],
    ids=["erased", "as it was", "twice", "other words", "another salt", "another id"],
)
def test_texts_are_those_that_the_log_has_hashes_of(stated: tuple[Text, ...], holds: bool) -> None:
    assert fault_of(record_of(written(), texts=stated)) == (None if holds else Fault(1, None, "text"))


def test_an_entry_written_otherwise_is_found(lines: list[bytes]) -> None:
    spaced = lines[4].replace(b'"cause":null', b'"cause": null')
    assert fault_of(b"".join([*lines[:4], spaced, *lines[5:]])) == Fault(5, 4, "entry")


def test_salt_key_and_cause_have_their_formats(match: Match) -> None:
    entries = entries_of(match)
    for members in FIT:
        assert fault_of(recorded(match, [*entries[:4], edited(entries[4], **members), *entries[5:]])) is None
    for members in UNFIT:
        forged = recorded(match, [*entries[:4], edited(entries[4], **members), *entries[5:]])
        assert fault_of(forged) == Fault(6, 5, "entry"), members


@pytest.mark.parametrize("name", ["\u2028 evil\n", "bot:steady/1#2", JUDGE + "\n", JUDGE.upper(), "arb1ter"])
def test_who_asked_is_named_as_an_account_is(name: str) -> None:
    match, named = contested("kowah"), msgspec.json.encode(name)
    for asked in (b'"table.ruled"', b'"table.sit"', b'"table.create"'):
        entries = entries_of(match)
        version = next(n for n, e in enumerate(entries, 1) if asked in e)
        old = msgspec.json.encode(match.entries()[version - 1].by.player)
        entries = [e.replace(old, named) for e in entries]
        assert fault_of(recorded(match, entries)) == Fault(version + 1, version, "entry")


def test_time_that_runs_back_is_found(match: Match) -> None:
    entries = entries_of(match)
    entries[5] = edited(entries[5], at=1)
    assert fault_of(recorded(match, entries)) == Fault(7, 6, "order")


def test_another_salt_or_time_breaks_the_chain(lines: list[bytes]) -> None:
    forged = edited(lines[6][:-1], salt="A" * 22)
    assert fault_of(b"".join([*lines[:6], forged + b"\n", *lines[7:]])) == Fault(len(lines), None, "chain")


def test_an_unknown_ruleset_is_told(match: Match, lines: list[bytes]) -> None:
    forged = lines[1].replace(b'"ruleset":"kowah/1"', b'"ruleset":"kowah/9"')
    report = check(b"".join([lines[0], forged, *lines[2:]]), GAMES, EVIDENCE).report
    assert (report.fault, report.table) == (Fault(2, 1, "ruleset"), match.table)


@pytest.mark.parametrize(
    ("stated", "forged"),
    [
        (b'"ruleset":"kowah/1"', b'"ruleset":"kowah/2"'),
        (b'"p1ayer0', b'"p1ayer9'),
        (b'"options":{', b'"options":{"more":1,'),
    ],
)
def test_options_ruleset_and_players_of_the_header_are_the_logs(
    lines: list[bytes], stated: bytes, forged: bytes
) -> None:
    assert stated in lines[0]
    assert fault_of(b"".join([lines[0].replace(stated, forged), *lines[1:]])) == Fault(1, None, "header")


def test_the_trailer_is_what_the_log_says(match: Match, lines: list[bytes]) -> None:
    forged = lines[-1].replace(b'"version":%d' % len(match.stored), b'"version":1')
    assert fault_of(b"".join([*lines[:-1], forged])) == Fault(len(lines), None, "trailer")


def test_a_trailer_that_is_none_is_told_so(lines: list[bytes]) -> None:
    for forged in (b"{}\n", lines[-2]):
        assert fault_of(b"".join([*lines[:-1], forged])) == Fault(len(lines), None, "not_a_record")
