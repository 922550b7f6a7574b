"""A backup that was altered, or is none, is refused before anything is written."""

import gzip
import re
from pathlib import Path

import pytest
from redis import Redis

from tests.served import served
from tests.service.cli.backups import lines_of, sealed
from tests.service.cli.houses import TABLES, House, url_of
from tests.service.cli.processes import Called

LOG_AS_A_KEY = b'{"key":"{00}:table:x","type":"stream","until":null,"value":[["1-0",[["e","x"]]]]}'


@pytest.mark.parametrize(
    ("how", "why"),
    [
        ("cut", r"is no backup, or damaged, at line \d+: the member has no end"),
        ("flipped", r"is no backup, or damaged, at line \d+: table:\w+ holds an entry at version 2 that is not"),
        ("short", "is not whole: it ends before its end"),
        ("none", "is no backup, or damaged, at line 1: the member has no end"),
        ("other", "is a backup of another form, 2"),
        ("log", "is no backup, or damaged, at line 2: no backup holds such a key"),
        ("fewer", "is not whole: it holds other than it says"),
        ("more", "goes on after its end"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_before_anything_is_written(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, how: str, why: str
) -> None:
    file = tmp_path / "backup.gz"
    lines = lines_of(backup)
    changed = {
        "cut": backup[: len(backup) // 2],
        "flipped": sealed([line.replace(b'"version":2', b'"version":3') for line in lines]),
        "short": gzip.compress(b"".join(line + b"\n" for line in lines[:-1])),
        "none": b"",
        "fewer": sealed(lines[:-2] + lines[-1:]),
        "more": sealed([*lines, lines[-1]]),
        "log": sealed([*lines[:1], LOG_AS_A_KEY, *lines[1:]]),
        "other": gzip.compress(b'{"backup":2,"made":1}\n'),
    }[how]
    file.write_bytes(changed)
    refusal = called("restore", str(file), "--redis", url_of(tmp_path / "other")).refusal
    assert re.search(f"{re.escape(str(file))} {why}", " ".join(refusal.split()))
    assert other.dbsize() == 0


@pytest.mark.parametrize(
    "line",
    [
        '{"key":"x","type":"zset","until":null,"value":[["a","abc"]]}',
        '{"key":"x","type":"zset","until":null,"value":[["a","nan"]]}',
        '{"key":"x","type":"zset","until":null,"value":[["a","1"],["a","2"]]}',
        '{"key":"x","type":"zset","until":null,"value":[["♠","1"]]}',
        '{"key":"x","type":"set","until":null,"value":["♠"]}',
        '{"key":"x","type":"set","until":null,"value":[]}',
        '{"key":"x","type":"string","until":null,"value":["a","b"]}',
        '{"key":"♠","type":"string","until":null,"value":["a"]}',
        '{"key":"x","type":"hash","until":null,"value":"a"}',
        '{"key":"x","type":"hash","until":null,"value":[]}',
        '{"key":"x","type":"hash","until":null,"value":[["a"]]}',
        '{"key":"x","type":"hash","until":null,"value":[["a","b"]],"more":1}',
        '{"key":"x","type":"stream","until":null,"value":[["0-0",[["a","b"]]]]}',
        '{"key":"x","type":"stream","until":null,"value":[["2-0",[["a","b"]]],["1-0",[["a","b"]]]]}',
        '{"key":"x","type":"stream","until":null,"value":[["18446744073709551616-0",[["a","b"]]]]}',
        '{"key":"x","type":"list","until":null,"value":["a"]}',
        '{"key":"x","type":"string","until":-5,"value":["a"]}',
        '{"key":"x","type":"string","until":9223372036854775808,"value":["a"]}',
        '{"key":"x","type":"string","until":9223372036854775807,"value":["a"]}',
        '{"key":"x","type":"string","value":["a"]}',
        '{"key":"text:00000000000000000000000000","type":"string","until":null,"value":["a"]}',
        '{"key":"text:00000000000000000000000000","type":"hash","until":null,"value":[["salt","00"],["text",""]]}',
        '{"tombstone":"table:x","says":"{}"}',
        '{"tombstone":"table:00000000000000000000000000","says":"{}"}',
        '{"key":"service:archive","type":"string","until":null,"value":["file:///archive"]}',
        '{"leaf":{"index":7,"stream":"table:00000000000000000000000000","version":1,"head":"' + 64 * "0" + '"}}',
    ],
)
def test_a_line_that_is_not_of_its_form_is_refused_by_its_number_before_anything_is_written(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, line: str
) -> None:
    refused_at(2, [line], backup, other, called, tmp_path)


def refused_at(number: int, added: list[str], backup: bytes, other: Redis, called: Called, folder: Path) -> None:
    """Hold a backup with lines added after its first to be refused, for its line of this number."""
    file = folder / "backup.gz"
    head, *rest = lines_of(backup)
    file.write_bytes(sealed([head, *map(str.encode, added), *rest]))
    refusal = called("restore", str(file), "--redis", url_of(folder / "other")).refusal
    assert f"line {number}" in " ".join(refusal.split())
    assert other.dbsize() == 0


@pytest.mark.parametrize(
    ("name", "secret"), [("../elsewhere", "0" * 64), ("", "0" * 64), ("secret", "0"), ("secret", "♠" * 64)]
)
def test_secrets_go_nowhere_but_to_their_own_files(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, name: str, secret: str
) -> None:
    file = tmp_path / "backup.gz"
    _, *rest = lines_of(backup)
    head = f'{{"backup":1,"made":1,"secrets":{{"{name}":"{secret}"}}}}'
    file.write_bytes(sealed([head.encode(), *rest]))
    place = ("--redis", url_of(tmp_path / "other"), "--keys", str(tmp_path / "new"))
    assert "at line 1: " in " ".join(called("restore", str(file), *place).refusal.split())
    assert (other.dbsize(), (tmp_path / "new").exists(), (tmp_path / "elsewhere").exists()) == (0, False, False)


TWICE = '{"key":"x","type":"string","until":null,"value":["a"]}'


def test_what_is_there_twice_is_refused(backup: bytes, other: Redis, called: Called, tmp_path: Path) -> None:
    refused_at(3, [TWICE, TWICE], backup, other, called, tmp_path)


def test_a_log_is_read_no_further_than_it_fits(backup: bytes, other: Redis, called: Called, tmp_path: Path) -> None:
    endless = '{"archive":1,"stream":"table:00000000000000000000000000","version":1000000000000,"head":"00"}'
    refused_at(3, [endless], backup, other, called, tmp_path)


def test_a_text_that_is_not_the_one_its_log_names_is_refused(
    house: House, other: Redis, called: Called, tmp_path: Path
) -> None:
    with served(house.store, house.keys) as url:
        ada = house.people[0]
        ada.http.base_url = url
        dispute = {"first": 1, "last": 2, "reason": "other", "text": "He peeked."}
        assert ada.post(f"{TABLES}/{house.tables[0]}/disputes", dispute).status_code == 201
    file = tmp_path / "backup.gz"
    assert called("backup", str(file), "--redis", house.store).code == 0
    lines = lines_of(file.read_bytes())
    (number,) = (number for number, line in enumerate(lines, 1) if b"He peeked." in line)
    altered = tmp_path / "altered.gz"
    altered.write_bytes(sealed([line.replace(b"He peeked.", b"He cheats.") for line in lines]))
    place = ("--redis", url_of(tmp_path / "other"), "--archive", house.archive)
    refusal = called("restore", str(altered), *place).refusal
    assert f"holds a text, line {number}, that is not the one" in " ".join(refusal.split())
    assert other.dbsize() == 0
    assert called("restore", str(file), *place).code == 0


def test_a_leaf_that_is_not_what_its_log_or_its_tombstone_says_is_refused(
    backup: bytes, other: Redis, called: Called, tmp_path: Path
) -> None:
    lines, file = lines_of(backup), tmp_path / "backup.gz"
    place = ("--redis", url_of(tmp_path / "other"), "--without-archive")
    leaves = [number for number, line in enumerate(lines) if line.startswith(b'{"leaf"')]
    refused = set[str]()
    for number in leaves:
        for pattern, wrong in ((rb"[0-9a-f]{64}", b"0" * 64), (rb'"version":\d+', b'"version":999')):
            file.write_bytes(sealed(put(lines, number, re.sub(pattern, wrong, lines[number]))))
            refusal = " ".join(called("restore", str(file), *place).refusal.split())
            assert f"holds a leaf, line {number + 1}, that is not what" in refusal
            refused.add(refusal.rpartition(" that is not what ")[2])
    assert (len(leaves), refused) == (2, {"its log says.", "the tombstone of its log says."})
    assert other.dbsize() == 0
    late = [line for line in lines if b'{"leaf"' not in line]
    file.write_bytes(sealed([*late[:-1], lines[leaves[0]], late[-1]]))
    assert "a leaf stands after its log" in " ".join(called("restore", str(file), *place).refusal.split())


def put(lines: list[bytes], number: int, line: bytes) -> list[bytes]:
    """Return lines with one of them replaced."""
    return [*lines[:number], line, *lines[number + 1 :]]


def test_leaves_that_there_is_nothing_to_hold_to_are_told(
    backup: bytes, other: Redis, called: Called, tmp_path: Path
) -> None:
    lines, file = lines_of(backup), tmp_path / "backup.gz"
    place = ("--redis", url_of(tmp_path / "other"), "--without-archive")
    (archived,) = re.findall(rb'"tombstone":"([^"]+)"', b"".join(lines))
    (number,) = (number for number, line in enumerate(lines) if b'{"leaf"' in line and archived in line)
    earlier = re.sub(rb'"version":\d+', b'"version":1', lines[number])
    file.write_bytes(sealed(put(lines, number, earlier)))
    restored = called("restore", str(file), *place)
    told = "1 leaf of the transparency log was held to no log, for what is told of there is not in the backup."
    assert (restored.code, told in " ".join(restored.told.split())) == (0, True)
    other.flushall()
    file.write_bytes(backup)
    assert "held to no log" not in called("restore", str(file), *place).told
    assert other.hlen("transparency:leaves") == 2


def test_whatever_was_altered_the_digest_tells(backup: bytes, other: Redis, called: Called, tmp_path: Path) -> None:
    lines, file = lines_of(backup), tmp_path / "backup.gz"
    place = ("--redis", url_of(tmp_path / "other"), "--without-archive")
    altered = [line.replace('"Bé"'.encode("latin-1"), b'"Ce"').replace(b'"Cy"', b'"Di"') for line in lines]
    assert altered != lines
    file.write_bytes(gzip.compress(b"".join(line + b"\n" for line in altered)))
    assert "do not have the digest that its end says" in " ".join(called("restore", str(file), *place).refusal.split())
    assert other.dbsize() == 0
    file.write_bytes(sealed(altered))
    assert called("restore", str(file), *place).code == 0


@pytest.mark.parametrize("more", [b"\0", b"more", gzip.compress(b"", mtime=0)], ids=["a byte", "some", "a member"])
def test_a_backup_is_one_member_and_nothing_follows_it(
    backup: bytes, other: Redis, called: Called, tmp_path: Path, more: bytes
) -> None:
    file = tmp_path / "backup.gz"
    file.write_bytes(backup + more)
    refusal = called("restore", str(file), "--redis", url_of(tmp_path / "other")).refusal
    assert "something follows the member" in " ".join(refusal.split())
    assert other.dbsize() == 0
