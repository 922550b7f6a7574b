"""The verifier in JavaScript as it is started on the command line, and what it says where it can't look."""

import json
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest

from service.audit.checkpoints import vouched
from tests.service.audit.records import OURS, WRITTEN, match_of, record_of, written
from tests.service.audit.verifier import NEEDS_NODE, NODE, PUBLISHED, VERIFIER, called, kept


@pytest.fixture(name="files", scope="module")
def _files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with a record, another one with a byte changed, the public keys, and a checkpoint."""
    folder, record = tmp_path_factory.mktemp("files"), record_of(match_of("kowah"))
    (folder / "good").write_bytes(record)
    (folder / "bad").write_bytes(record.replace(b"kowah.dealt", b"kowah.dealz", 1))
    (folder / "keys").write_text(json.dumps(PUBLISHED))
    (folder / "kept").write_bytes(msgspec.json.encode(kept(match_of("kowah"), 2)) + b"\n")
    return folder


@NEEDS_NODE
def test_it_runs_on_the_command_line(files: Path) -> None:
    for name, code in (("good", 0), ("bad", 1)):
        told = called(files / name, files / "keys", files / "kept")
        assert (told.returncode, json.loads(told.stdout)["ok"]) == (code, code == 0), told


@NEEDS_NODE
def test_it_runs_under_any_name_and_by_a_link(files: Path, tmp_path: Path) -> None:
    other, link = tmp_path / "a name of mine.mjs", tmp_path / "link.mjs"
    shutil.copy(VERIFIER, other)
    link.symlink_to(VERIFIER)
    for verifier in (other, link):
        told = called(files / "bad", files / "keys", verifier=verifier)
        assert (told.returncode, json.loads(told.stdout)["ok"]) == (1, False), told


@NEEDS_NODE
def test_it_runs_from_the_standard_input(files: Path) -> None:
    command = [str(NODE), "--input-type=module", "-", str(files / "bad"), str(files / "keys")]
    source = VERIFIER.read_text(encoding="utf-8")
    told = subprocess.run(command, input=source, capture_output=True, text=True, timeout=60, check=False)
    assert (told.returncode, json.loads(told.stdout)["ok"]) == (1, False), told


@NEEDS_NODE
def test_it_does_nothing_where_it_is_imported(files: Path, tmp_path: Path) -> None:
    (tmp_path / "verify.mjs").write_text(f"import {json.dumps(VERIFIER.as_uri())};")
    told = called(files / "bad", files / "keys", verifier=tmp_path / "verify.mjs")
    assert (told.returncode, told.stdout, told.stderr) == (0, "", "")


@NEEDS_NODE
def test_checkpoints_of_other_tables_are_left_aside_where_that_is_said(files: Path, tmp_path: Path) -> None:
    other = vouched(f"table:{'1' * 26}", 3, bytes(32), 5, OURS)
    (tmp_path / "kept").write_bytes((files / "kept").read_bytes() + msgspec.json.encode(other) + b"\n")
    for options, code in (((), 1), (("--other-tables",), 0)):
        told = called(files / "good", files / "keys", tmp_path / "kept", *options)
        found = json.loads(told.stdout)
        assert (told.returncode, found["ok"], found["checkpoints"]) == (code, code == 0, 1), told


@NEEDS_NODE
def test_it_asks_for_keys_or_to_be_told_that_there_are_none(files: Path) -> None:
    good, keys, checkpoints = (files / name for name in ("good", "keys", "kept"))
    for arguments in ((), (good,), ("--unsigned",), (good, "--lax"), (good, keys, checkpoints, good)):
        told = called(*arguments)
        assert (told.returncode, told.stdout, told.stderr.count("\n")) == (2, "", 1), told
        assert told.stderr.startswith("Usage: node verify.mjs RECORD KEYS [CHECKPOINTS]"), told


@NEEDS_NODE
def test_it_says_whether_the_signature_was_looked_at(files: Path) -> None:
    for arguments, signed in (((files / "keys",), True), (("--unsigned",), False)):
        found = json.loads(called(files / "good", *arguments, files / "kept").stdout)
        assert (found["ok"], found["signed"], found["checkpoints"]) == (True, signed, 1)


@NEEDS_NODE
def test_keys_and_checkpoints_that_are_none_are_no_fault_of_the_record(tmp_path: Path) -> None:
    (tmp_path / "record").write_bytes(record_of(match_of("kowah")))
    (tmp_path / "keys").write_text(json.dumps(PUBLISHED))
    (tmp_path / "none").write_text('{"keys":[{"id":"0","public":"0"}]}')
    for keys, checkpoints in (("none", "/dev/null"), ("keys", "none")):
        told = called(*(tmp_path / name for name in ("record", keys, checkpoints)))
        assert (told.returncode, told.stdout) == (2, ""), told


@NEEDS_NODE
@pytest.mark.parametrize(
    ("crypto", "missing"),
    [
        ("{}", "crypto.subtle is missing"),
        (
            '{ subtle: { importKey: () => Promise.reject(new DOMException("", "NotSupportedError")) } }',
            "Ed25519 is missing",
        ),
    ],
)
def test_where_nothing_can_be_verified_no_record_is_slandered(tmp_path: Path, crypto: str, missing: str) -> None:
    (tmp_path / "record").write_bytes(record_of(match_of("kowah")))
    (tmp_path / "keys").write_text(json.dumps(PUBLISHED))
    poor = f"Object.defineProperty(globalThis, 'crypto', {{ value: {crypto} }});"
    (tmp_path / "poor.mjs").write_text(poor)
    files = (str(tmp_path / "record"), str(tmp_path / "keys"))
    command = [str(NODE), "--import", str(tmp_path / "poor.mjs"), str(VERIFIER), *files]
    told = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (told.returncode, told.stdout, missing in told.stderr) == (2, "", True), told


@NEEDS_NODE
def test_bytes_that_are_no_utf_8_are_no_text(tmp_path: Path) -> None:
    text = msgspec.structs.replace(WRITTEN, text="\ufffd")
    record = record_of(written(text), texts=(text,))
    (tmp_path / "keys").write_text(json.dumps(PUBLISHED))
    for one, code in ((record, None), (record.replace(b"\xef\xbf\xbd", b"\xff"), "not_a_record")):
        (tmp_path / "record").write_bytes(one)
        told = called(tmp_path / "record", tmp_path / "keys")
        assert json.loads(told.stdout).get("code") == code, told
