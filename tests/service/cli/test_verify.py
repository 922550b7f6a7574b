"""`evenfold verify`: records checked offline, by people and by programs."""

import json
import os
from pathlib import Path

import msgspec
import pytest

from service.audit.checking import FAULTS
from service.audit.checkpoints import vouched
from service.audit.transparency import Leaf
from service.cli.verify import FEW
from tests.laws.matches import account
from tests.laws.setups import TOY
from tests.service.audit.records import OURS, THEIRS, Transparent, edited, match_of, record_of, recorded
from tests.service.audit.test_verifier import fenced
from tests.service.cli.processes import Called, run
from tests.sizes import sized

MANY = sized(FEW + 1, 1_000, 1_000)
REPORTED = {"fault", "table", "ruleset", "outcome", "players", "scores", "places"}
REPORTED |= {"versions", "events", "shuffles", "checkpoints", "inclusions"}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the public keys, a record, and another one with a byte changed."""
    folder = tmp_path_factory.mktemp("records")
    public = {"id": OURS.id, "algorithm": "Ed25519", "public": OURS.public.hex(), "since": 1}
    (folder / "keys.json").write_text(json.dumps({"keys": [public]}))
    record = record_of(match_of("kowah"))
    (folder / "good.ndjson").write_bytes(record)
    (folder / "bad.ndjson").write_bytes(record.replace(b'"kowah.dealt"', b'"kowah.dealz"', 1))
    return folder


def test_a_person_is_told_what_a_good_record_says(called: Called, kept: Path) -> None:
    told = called("verify", str(kept / "good.ndjson"), "--keys", str(kept / "keys.json"))
    match = match_of("kowah")
    assert (told.code, told.told) == (0, "")
    assert f"good (signed)\n  table {match.table}, kowah/1, finished\n" in told.printed
    assert f"  {len(match.stored)} decisions, " in told.printed
    assert f"  seat 0 {account('p1ayer0')}: place " in told.printed
    assert told.printed.endswith("1 of 1 holds.\n")


def test_a_record_that_is_no_good_names_the_first_entry_that_is_wrong(called: Called, kept: Path) -> None:
    told = called("verify", str(kept), "--keys", str(kept / "keys.json"))
    assert told.code == 1
    bad, good = told.printed.splitlines()[:2]
    dealt = next(stored.version for stored in match_of("kowah").stored if b'"kowah.dealt"' in stored.e)
    assert bad.startswith(f"{kept / 'bad.ndjson'}: NOT GOOD, version {dealt} (line {dealt + 1}): decision. ")
    assert good == f"{kept / 'good.ndjson'}: good (signed)"
    assert told.printed.endswith("1 of 2 holds.\n")


def test_a_program_is_told_a_line_of_json_for_each(called: Called, kept: Path) -> None:
    told = called(
        "verify", str(kept / "bad.ndjson"), str(kept / "good.ndjson"), "--keys", str(kept / "keys.json"), "--json"
    )
    bad, good = map(json.loads, told.printed.splitlines())
    assert told.code == 1
    assert (bad["ok"], bad["code"], good["ok"], good["code"]) == (False, "decision", True, None)
    assert good["report"].keys() == REPORTED
    assert good["report"]["table"] == match_of("kowah").table
    assert good["report"]["places"] == list(match_of("kowah").at(len(match_of("kowah").stored)).places or ())


def test_checkpoints_are_met_or_found_out(called: Called, kept: Path) -> None:
    match, keys = match_of("kowah"), ("--keys", str(kept / "keys.json"))
    good = vouched(f"table:{match.table}", 3, match.stored[2].h, 1, OURS)
    other = vouched(f"table:{match.table}", 4, match.stored[2].h, 1, OURS)
    (kept / "met.json").write_bytes(msgspec.json.encode(good))
    (kept / "both.ndjson.kept").write_bytes(msgspec.json.encode(good) + b"\n" + msgspec.json.encode(other) + b"\n")
    met = called("verify", str(kept / "good.ndjson"), *keys, "--checkpoint", str(kept / "met.json"))
    assert (met.code, "(signed, 1 checkpoint met)" in met.printed) == (0, True)
    found = called("verify", str(kept / "good.ndjson"), *keys, "--checkpoint", str(kept / "both.ndjson.kept"))
    assert (found.code, "version 4 (line 5): checkpoint." in found.printed) == (1, True)


def test_evidence_that_is_wrongly_signed_is_named_and_hides_nothing(called: Called, kept: Path, tmp_path: Path) -> None:
    match = match_of("kowah")
    good = vouched(f"table:{match.table}", 3, match.stored[2].h, 1, OURS)
    forged = msgspec.structs.replace(good, version=2)
    (tmp_path / "kept").write_bytes(msgspec.json.encode(good) + b"\n" + msgspec.json.encode(forged) + b"\n")
    asked = ("verify", str(kept), "--keys", str(kept / "keys.json"), "--checkpoint", str(tmp_path / "kept"))
    told = called(*asked)
    first, bad, sound = told.printed.splitlines()[:3]
    assert told.code == 1
    assert first.startswith(f"Checkpoint of table:{match.table} at version 2: NOT GOOD: checkpoint_signature. ")
    assert ": decision. " in bad
    assert "good (signed, 1 checkpoint met)" in sound
    flaw, *_ = map(json.loads, called(*asked, "--json").printed.splitlines())
    assert (flaw["ok"], flaw["code"]) == (False, "checkpoint_signature")
    assert (flaw["stream"], flaw["version"]) == (f"table:{match.table}", 2)


def test_evidence_of_a_table_that_was_withheld_is_named(called: Called, kept: Path, tmp_path: Path) -> None:
    match, withheld = match_of("kowah"), match_of("chinkway")
    log = Transparent(Leaf(0, f"table:{'z' * 26}", 9, "0" * 64))
    met = vouched(f"table:{match.table}", 3, match.stored[2].h, 1, OURS)
    missed = vouched(f"table:{'1' * 26}", 3, withheld.stored[2].h, 1, OURS)
    (tmp_path / "kept").write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in (missed, met)))
    (tmp_path / "proof").write_bytes(msgspec.json.encode(log.inclusion(0, 1)))
    evidence = ("--checkpoint", str(tmp_path / "kept"), "--proof", str(tmp_path / "proof"))
    asked = ("verify", str(kept / "good.ndjson"), "--keys", str(kept / "keys.json"), *evidence)
    told = called(*asked)
    assert (told.code, told.printed.splitlines()[-3:]) == (
        1,
        [
            f"Checkpoint of table:{'1' * 26} at version 3: NOT GOOD: unmet. {FAULTS['unmet']}",
            f"Proof of inclusion of table:{'z' * 26} at version 9: NOT GOOD: unmet. {FAULTS['unmet']}",
            "1 of 1 holds.",
        ],
    )
    good, *flaws = map(json.loads, called(*asked, "--json").printed.splitlines())
    assert (good["ok"], good["report"]["checkpoints"]) == (True, 1)
    assert [(flaw["ok"], flaw["code"], flaw["stream"], flaw["version"]) for flaw in flaws] == [
        (False, "unmet", f"table:{'1' * 26}", 3),
        (False, "unmet", f"table:{'z' * 26}", 9),
    ]
    apart = called(*asked, "--other-tables")
    assert (apart.code, apart.printed.endswith("1 of 1 holds.\n"), "NOT GOOD" in apart.printed) == (0, True, False)
    assert apart.told == "Left aside what was kept of other tables: 2 versions\n"


def test_two_records_of_one_table_that_do_not_agree_are_both_named(called: Called, kept: Path, tmp_path: Path) -> None:
    match = match_of("kowah")
    *entries, last = (stored.e for stored in match.stored)
    (tmp_path / "told.ndjson").write_bytes(recorded(match, [*entries, last]))
    (tmp_path / "also.ndjson").write_bytes(recorded(match, [*entries, edited(last, salt="A" * 22)]))
    asked = ("verify", str(tmp_path), "--keys", str(kept / "keys.json"))
    told = called(*asked)
    both = f"{tmp_path / 'also.ndjson'} and {tmp_path / 'told.ndjson'}"
    sentence = f"{both}: NOT GOOD: contradiction. {FAULTS['contradiction']}"
    assert (told.code, told.printed.splitlines()[-2:]) == (1, [sentence, "2 of 2 hold."])
    *_, flaw = map(json.loads, called(*asked, "--json").printed.splitlines())
    assert (flaw["ok"], flaw["files"]) == (False, [str(tmp_path / "also.ndjson"), str(tmp_path / "told.ndjson")])


def test_tree_heads_are_looked_at_without_any_proof_of_inclusion(called: Called, kept: Path, tmp_path: Path) -> None:
    log = Transparent(*map(Transparent.other, range(7)))
    (tmp_path / "heads").write_bytes(b"".join(msgspec.json.encode(log.head(size)) + b"\n" for size in (3, 7)))
    (tmp_path / "bridge").write_bytes(msgspec.json.encode(log.consistency(3, 7)))
    asked = ("verify", str(kept / "good.ndjson"), "--keys", str(kept / "keys.json"), "--tree", str(tmp_path / "heads"))
    assert called(*asked, "--proof", str(tmp_path / "bridge")).code == 0
    told = called(*asked)
    assert told.code == 1
    assert told.printed.startswith("Tree heads of 3 and 7 leaves: NOT GOOD: consistency. ")
    assert told.printed.endswith("1 of 1 holds.\n")
    flaw, good = map(json.loads, called(*asked, "--json").printed.splitlines())
    assert (flaw["ok"], flaw["code"], flaw["sizes"], good["ok"]) == (False, "consistency", [3, 7], True)


def test_what_is_counted_is_told_in_the_singular_too(called: Called, kept: Path, tmp_path: Path) -> None:
    (tmp_path / "one.ndjson").write_bytes(fenced("record")[0].encode())
    (tmp_path / "other").touch()
    log = Transparent(*map(Transparent.other, range(2)))
    forged = msgspec.structs.replace(log.head(1), at=6)
    (tmp_path / "tree").write_bytes(msgspec.json.encode(forged))
    told = called("verify", str(tmp_path), "--keys", str(kept / "keys.json"), "--tree", str(tmp_path / "tree"))
    assert told.told == f"Left out 2 files in {tmp_path}: the name of a record ends in .ndjson\n"
    assert "Tree head of 1 leaf: NOT GOOD" in told.printed
    assert "  3 decisions, 5 events, no shuffle\n" in told.printed
    assert told.printed.endswith("1 of 1 holds.\n")


def test_how_many_files_of_a_folder_were_left_out_is_told(called: Called, kept: Path, tmp_path: Path) -> None:
    for name in ("one.ndjson", "two.NDJSON", "three.ndjson.txt"):
        (tmp_path / name).write_bytes((kept / "good.ndjson").read_bytes())
    told = called("verify", str(tmp_path), "--keys", str(kept / "keys.json"))
    assert (told.code, told.printed.endswith("1 of 1 holds.\n")) == (0, True)
    assert told.told == f"Left out 2 files in {tmp_path}: the name of a record ends in .ndjson\n"


@pytest.mark.parametrize(("encoding", "spelt"), [("utf-8", "käse"), ("ascii", r"k\xe4se")])
def test_what_the_output_has_no_character_for_is_spelt_out(
    kept: Path, tmp_path: Path, encoding: str, spelt: str
) -> None:
    for name in (b"r\xff.ndjson", "käse.ndjson".encode()):
        (tmp_path / os.fsdecode(name)).write_bytes((kept / "good.ndjson").read_bytes())
    asked = ("verify", str(tmp_path), "--keys", str(kept / "keys.json"))
    in_words = run(*asked, PYTHONIOENCODING=encoding)
    assert (in_words.returncode, in_words.stderr) == (0, "")
    assert f"{tmp_path}/{spelt}.ndjson: good (signed)" in in_words.stdout
    assert f"{tmp_path}/r\\xff.ndjson: good (signed)" in in_words.stdout
    in_json = run(*asked, "--json", PYTHONIOENCODING=encoding)
    named = {json.loads(line)["file"] for line in in_json.stdout.splitlines()}
    assert (in_json.returncode, named) == (0, {f"{tmp_path}/r\\xff.ndjson", f"{tmp_path}/käse.ndjson"})


def test_a_game_from_outside_the_tree_is_named(called: Called, kept: Path, tmp_path: Path) -> None:
    (tmp_path / "toy.ndjson").write_bytes(record_of(match_of("toy")))
    keys = ("--keys", str(kept / "keys.json"))
    assert "ruleset" in called("verify", str(tmp_path), *keys).printed
    assert called("verify", str(tmp_path), *keys, "--games", TOY).code == 0


def test_a_folder_of_many_is_shared_out_and_only_what_is_wrong_is_told(tmp_path: Path, kept: Path) -> None:
    for number in range(MANY):
        (tmp_path / f"{number:04}.ndjson").write_bytes((kept / "good.ndjson").read_bytes())
    deep = tmp_path / "deep" / "er"
    deep.mkdir(parents=True)
    (deep / "bad.ndjson").write_bytes((kept / "bad.ndjson").read_bytes())
    match = match_of("chinchon")
    *entries, last = (stored.e for stored in match.stored)
    for name, salt in (("one", "A" * 22), ("two", "B" * 22)):
        (deep / f"{name}.ndjson").write_bytes(recorded(match, [*entries, edited(last, salt=salt)]))
    told = run("verify", str(tmp_path), "--keys", str(kept / "keys.json"), "--jobs", "2")
    assert told.returncode == 1
    assert [line.split(":")[0] for line in told.stdout.splitlines() if "NOT GOOD" in line] == [
        str(deep / "bad.ndjson"),
        f"{deep / 'one.ndjson'} and {deep / 'two.ndjson'}",
    ]
    assert told.stdout.endswith(f"{MANY + 2} of {MANY + 3} hold.\n")
    assert f"{MANY + 3}/{MANY + 3}" in told.stderr


def test_without_keys_the_signature_is_said_not_to_be_looked_at(called: Called, kept: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs.ndjson").write_bytes(record_of(match_of("kowah"), THEIRS))
    told = called("verify", str(tmp_path), "--unsigned")
    assert (told.code, "good (signature NOT looked at)" in told.printed) == (0, True)
    assert called("verify", str(tmp_path), "--keys", str(kept / "keys.json")).code == 1


def test_a_program_is_told_whether_signatures_were_looked_at(called: Called, kept: Path) -> None:
    for asked, signed in ((("--unsigned",), False), (("--keys", str(kept / "keys.json")), True)):
        bad, good = map(json.loads, called("verify", str(kept), *asked, "--json").printed.splitlines())
        assert (bad["signed"], good["signed"]) == (None, signed)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("{kept}/good.ndjson",), "one of the two"),
        (("{kept}/good.ndjson", "--unsigned", "--keys", "{kept}/keys.json"), "one of the two"),
        (("{kept}/none.ndjson", "--unsigned"), "There is no {kept}/none.ndjson"),
        (("", "--unsigned"), "it is empty"),
        (("{kept}/" + 300 * "x", "--unsigned"), "File name too long"),
        (("{tmp}", "--unsigned"), "The folder {tmp} holds no record"),
        (("{kept}/good.ndjson", "--keys", "{kept}/none.json"), "Invalid value for '--keys'"),
        (("{kept}/good.ndjson", "--keys", "{kept}/good.ndjson"), "Invalid value for '--keys'"),
        (
            ("{kept}/good.ndjson", "--unsigned", "--checkpoint", "{kept}/good.ndjson"),
            "Invalid value for '--checkpoint'",
        ),
        (("{kept}/good.ndjson", "--unsigned", "--games", "no.such"), "Invalid value for '--games'"),
    ],
)
def test_what_cant_be_done_is_told_in_a_sentence(
    called: Called, kept: Path, tmp_path: Path, arguments: tuple[str, ...], sentence: str
) -> None:
    places = {"kept": str(kept), "tmp": str(tmp_path)}
    told = called("verify", *(argument.format(**places) for argument in arguments))
    assert sentence.format(**places) in told.refusal
