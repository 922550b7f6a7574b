"""The verifier in JavaScript, which was written from the page alone, finds what it says that it finds."""

import json
import os
import re
from hashlib import sha256
from random import Random

import msgspec
import pytest
from msgspec import Raw

from service import games
from service.audit.checking import Evidence, check
from service.audit.checkpoints import Checkpoint, vouched
from service.audit.signing import is_signed
from service.chance import Chance
from service.games.kowah.deals import PACK
from tests.laws.matches import account
from tests.service.audit.records import (
    FIT,
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
    shuffled_at,
    with_two_cards_swapped,
    written,
)
from tests.service.audit.test_checking import mutation
from tests.service.audit.verifier import NEEDS_NODE, NODE, PUBLISHED, Verified, kept
from tests.sizes import sized
from tests.tree import ROOT

MUTATIONS = [(56, sized(700, 3_000, 20_000)), (7, sized(20, 200, 2_000))]
PAGE = (ROOT / "service/web/pages/record.md").read_text(encoding="utf-8")


def test_ci_has_node() -> None:
    assert NODE or os.environ.get("CI") != "true", "CI needs node on PATH: apt-get install nodejs"


@NEEDS_NODE
def test_records_of_every_game_hold(verified: Verified) -> None:
    matches = [*(match_of(game.name) for game in games.find()), contested("chinkway"), written()]
    found = verified(*((record_of(match), PUBLISHED, [kept(match, 4)]) for match in matches))
    for match, one in zip(matches, found, strict=True):
        ended = match.at(len(match.stored))
        assert one == {
            "ok": True,
            "signed": True,
            "table": match.table,
            "version": ended.version,
            "head": ended.head.hex(),
            "shuffles": len(ended.orders),
            "checkpoints": 1,
        }
        assert len(ended.orders) > 1


@NEEDS_NODE
def test_a_text_that_the_log_has_the_hash_of_holds(verified: Verified) -> None:
    (found,) = verified((record_of(written(), texts=(WRITTEN,)), PUBLISHED, []))
    assert found["ok"], found


@NEEDS_NODE
def test_a_deal_whose_number_was_chosen_is_found(verified: Verified) -> None:
    """Who may skip numbers may look for the deal that suits, though each is what seed and nonces make it."""
    match = match_of("kowah")
    entries = [stored.e for stored in match.stored]
    dealt = next(place for place, e in enumerate(entries) if b'"c":65536' in e)
    *before, pack = match.at(dealt + 1).orders
    later = Chance(match.seed, f"table:{match.table}", match.at(dealt + 1).nonces).shuffle(PACK, 131_072)
    for old, new in ((b"65536", b"131072"), (msgspec.json.encode(pack.order), msgspec.json.encode(later))):
        entries[dealt] = entries[dealt].replace(old, new, 1)
    (found,) = verified((recorded(match, entries), PUBLISHED, []))
    assert (before[0].c, pack.c) == (0, 65_536)
    assert (found["code"], found["line"]) == ("shuffle", dealt + 2)


@NEEDS_NODE
@pytest.mark.parametrize(("seed", "number"), MUTATIONS)
def test_no_mutation_of_any_byte_passes(verified: Verified, seed: int, number: int) -> None:
    record, random = record_of(match_of("kowah", seed)), Random(3)
    mutated = [one for _ in range(number) if (one := mutation(record, random)) != record]
    found = verified(*((one, PUBLISHED, []) for one in mutated))
    assert len(found) == len(mutated) > number / 2
    assert not any(one["ok"] for one in found)


@NEEDS_NODE
def test_salt_key_and_cause_have_their_formats(verified: Verified) -> None:
    match = match_of("kowah")
    entries = [stored.e for stored in match.stored]
    changed = [[*entries[:4], edited(entries[4], **members), *entries[5:]] for members in (*FIT, *UNFIT)]
    found = verified(*((recorded(match, one), PUBLISHED, []) for one in changed))
    assert [(one.get("code"), one.get("line")) for one in found] == [(None, None)] * len(FIT) + [("entry", 6)] * len(
        UNFIT
    )


@NEEDS_NODE
def test_time_and_who_asked_have_their_formats(verified: Verified) -> None:
    match, player = match_of("kowah"), account("p1ayer0")
    entries = [stored.e for stored in match.stored]
    fit = [{"seat": 7, "player": player}, {"role": "arbiter", "player": player}]
    fit += [{"seat": 3, "player": "bot:steady/1#3"}, {"role": "director", "player": player}]
    unfit: list[object] = [[], "host", None, {}, {"service": "clock"}]
    unfit += [{"seat": 0, "player": name} for name in ("\u2028 evil\n", "arb1ter", player + "\n", "bot:steady/1#2", "")]
    unfit += [{"seat": seat, "player": player} for seat in (-1, 8, 1.5, "0", None)]
    unfit += [{"role": "arbiter", "player": name} for name in ("bot:steady/1#0", 1, None, [player])]
    unfit += [{"role": "guest", "player": player}, {"player": player}]
    unfit += [{"seat": 0, "role": "host", "player": player}, {"player": player, "seat": 0}]

    def with_fifth(**members: object) -> bytes:
        return recorded(match, [*entries[:4], edited(entries[4], **members), *entries[5:]])

    def with_fifth_unfolded(**members: object) -> bytes:
        # What no log can hold is not folded: the chain is broken, and that is told only at the end.
        lines = record_of(match).splitlines()
        lines[5] = json.dumps(json.loads(lines[5]) | members, ensure_ascii=False, separators=(",", ":")).encode()
        return b"\n".join(lines) + b"\n"

    held = verified(*((with_fifth(by=Raw(msgspec.json.encode(by))), PUBLISHED, []) for by in fit))
    assert [one["ok"] for one in held] == [True] * len(fit), held
    changed = [*(("by", by) for by in unfit), *(("at", at) for at in (1.5, -1, "1", None))]
    found = verified(*((with_fifth_unfolded(**{member: value}), PUBLISHED, []) for member, value in changed))
    assert [(one["code"], one["line"]) for one in found] == [("entry", 6)] * len(changed)


@NEEDS_NODE
@pytest.mark.parametrize("keys", [PUBLISHED, None], ids=["signed", "unsigned"])
def test_header_and_trailer_are_held_to_the_byte(verified: Verified, keys: object) -> None:
    record, seed = record_of(written(), texts=(WRITTEN,)), written().seed.hex().encode()
    changed = {
        b'{"record":1,': (b'{"record":2,', b'{"record":true,', b'{"record":"1",', b'{"record": 1,', b'{"record":1.0,'),
        b'"text":"He': (b'"more":1,"text":"He', b'"text":"\\u0048e', b'"text":"H\\ud800e'),
        b'"salt":"abab': (b'"salt":"ab ab', b'"salt":"ABAB', b'"salt":"ababab'),
        b'"key":"': (b'"key":" ',),
        b'"signature":"': (b'"signature":"-', b'"signature":"zz', b'"signature":" ', b'"more":1,"signature":"'),
        b',"seed":"' + seed: (b',"seed":"%b ' % seed, b',"seed":["%b' % seed),
    }
    forged = [record.replace(old, new) for old, news in changed.items() for new in news]
    found = verified(*((one, keys, []) for one in forged))
    assert record not in forged
    assert [one["ok"] for one in found] == [False] * len(forged), found


@NEEDS_NODE
@pytest.mark.parametrize("keys", [PUBLISHED, None], ids=["signed", "unsigned"])
def test_header_and_trailer_state_what_the_log_does(verified: Verified, keys: object) -> None:
    match = match_of("kowah")
    *entries, last = (stored.e for stored in match.stored)
    record, end = record_of(match), len(match.stored) + 2
    seed, other = (b'","seed":"' + stated for stated in (match.seed.hex().encode(), b"0" * 64))
    opened = recorded(match, [*entries, last.replace(seed, other)])
    assert seed in last
    found = [
        (record.replace(b'"show":"pair"', b'"show":"hand"', 1), ("header", 1)),
        (record.replace(b'"ruleset":"kowah/1"', b'"ruleset":"kowah/2"', 1), ("header", 1)),
        (record.replace(b'"p1ayer0', b'"p1ayer9', 1), ("header", 1)),
        (record.replace(b'{"version":%d' % (end - 2), b'{"version":%d' % (end - 1)), ("trailer", end)),
        (record.replace(b'"nonces":["', b'"nonces":["x'), ("trailer", end)),
        (other.join(record.rsplit(seed, 1)), ("seed", end)),
        (opened, ("seed", end)),
        (seed.join(opened.rsplit(other, 1)), ("seed", end)),
    ]
    told = verified(*((forged, keys, []) for forged, _ in found))
    assert [(one.get("code"), one.get("line")) for one in told] == [place for _, place in found]


@NEEDS_NODE
def test_what_a_forger_does_is_named(verified: Verified) -> None:
    match, other = match_of("kowah"), match_of("kowah", 8)
    entries = [stored.e for stored in match.stored]
    record = record_of(match)
    lines = record.splitlines(keepends=True)
    seed = match.seed.hex().encode()
    forged = {
        "order": (b"".join([*lines[:9], lines[10], lines[9], *lines[11:]]), []),
        "not_ended": (b"".join([*lines[:-2], lines[-1]]), []),
        "seed": (recorded(match, [e.replace(seed, b"0" * 64) for e in entries]), []),
        "chain": (b"".join([*lines[:6], edited(lines[6][:-1], salt="A" * 22) + b"\n", *lines[7:]]), []),
        "header": (b"".join([lines[0].replace(b'"p1ayer0', b'"p1ayer9'), *lines[1:]]), []),
        "trailer": (b"".join([*lines[:-1], lines[-1].replace(b'"nonces":["', b'"nonces":["x')]), []),
        "shuffle": (recorded(match, with_two_cards_swapped(match)), []),
        "text": (record_of(match).replace(b'"texts":[]', b'"texts":[%b]' % msgspec.json.encode(WRITTEN), 1), []),
        "signature": (b"".join([*lines[:-1], record_of(match, THEIRS).splitlines(keepends=True)[-1]]), []),
        "checkpoint": (record, [vouched(f"table:{match.table}", 3, other.stored[2].h, 1, OURS)]),
        "entry": (b"".join([lines[0], lines[1].replace(b'"log":1', b'"log": 1'), *lines[2:]]), []),
        "not_a_record": (record[:-1], []),
    }
    found = verified(*((one, PUBLISHED, checkpoints) for one, checkpoints in forged.values()))
    assert {one.get("code") for one in found} == forged.keys()
    assert [one["code"] for one in found] == list(forged)
    (unknown,) = verified((record, {"keys": []}, []))
    assert (unknown["code"], unknown["line"]) == ("unknown_key", 1)


@NEEDS_NODE
def test_the_first_entry_that_is_wrong_is_told_before_checkpoints_of_later_versions(verified: Verified) -> None:
    match = match_of("kowah")
    stream, length, dealt = f"table:{match.table}", len(match.stored), shuffled_at(match)
    wrong = recorded(match, with_two_cards_swapped(match))
    asked = [[vouched(stream, version, bytes(32), 5, OURS)] for version in (dealt - 1, dealt, dealt + 1, length + 1)]
    asked.append([msgspec.structs.replace(kept(match, 2), version=3)])
    found = verified(*((wrong, PUBLISHED, checkpoints) for checkpoints in asked))
    assert [(one["code"], one["line"]) for one in found] == [("checkpoint", dealt), *[("shuffle", dealt + 1)] * 4]
    assert "flaws" in found[-1]
    (late,) = verified((record_of(match), PUBLISHED, asked[3]))
    assert (late["code"], late["line"]) == ("checkpoint", length + 1)


@NEEDS_NODE
def test_each_checkpoint_is_signed_and_of_the_table(verified: Verified) -> None:
    match, other = match_of("kowah"), vouched(f"table:{'1' * 26}", 3, bytes(32), 5, OURS)
    edits = ({"stream": f"table:{'1' * 26}"}, {"version": 3}, {"head": "1" * 64}, {"at": 6}, {"key": THEIRS.id})
    forged = [msgspec.structs.replace(kept(match, 2), **edit) for edit in edits]
    unknown = msgspec.structs.replace(kept(match, 2), key="0" * 16)
    wrong = recorded(match, with_two_cards_swapped(match))
    found, unmet, both, none = verified(
        (record_of(match), PUBLISHED, [*forged, unknown, kept(match, 4)]),
        (record_of(match), PUBLISHED, [other, kept(match, 4)]),
        (wrong, PUBLISHED, [other, kept(match, 4)]),
        (b"nothing", PUBLISHED, [other]),
    )
    assert (found["ok"], found["checkpoints"]) == (False, 1)
    told = [(flaw["stream"], flaw["version"], flaw["code"]) for flaw in found["flaws"]]
    assert told == [(one.stream, one.version, "checkpoint_signature") for one in (*forged, unknown)]
    assert (unmet["ok"], unmet["checkpoints"]) == (False, 1)
    assert (both["code"], none["code"]) == ("shuffle", "not_a_record")
    for one in (unmet, both, none):
        told = [(flaw["stream"], flaw["version"], flaw["code"]) for flaw in one["flaws"]]
        assert told == [(other.stream, 3, "unmet")]


@NEEDS_NODE
def test_a_table_is_opened_once_and_nobody_sits_down_after_a_shuffle(verified: Verified) -> None:
    """Else a seed that was not committed to, or a nonce that suits, could make the shuffles."""
    match = match_of("kowah")
    entries = [stored.e for stored in match.stored]
    created, seeded, *_ = events_of(entries[0])
    another = Raw(bytes(seeded).replace(match.seed.hex().encode(), b"0" * 64))
    taken = Raw(b'{"type":"table.seat_taken","seat":0,"player":"p1ayer0","nonce":"another","bot":null}')
    last = events_of(entries[-1])
    forged = [[*entries[:-1], edited(entries[-1], events=(more, *last))] for more in (created, another, taken)]
    found = verified(*((recorded(match, one), PUBLISHED, []) for one in forged))
    assert [(one["code"], one["line"]) for one in found] == [("entry", len(entries) + 1)] * 3


# The page's example.


def fenced(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


VALUES = dict(line.split(" = ", 1) for block in fenced("values") for line in block.splitlines())


def test_the_example_of_the_page_is_worked_out_right() -> None:
    (record,), (checkpoint,) = fenced("record"), fenced("checkpoint")
    header, *entries, _ = record.encode().splitlines()
    heads = [sha256(b"evenfold/head/1\0" + msgspec.json.decode(entries[0])["stream"].encode()).digest()]
    for entry in entries:
        heads.append(sha256(b"evenfold/head/1\0" + heads[-1] + entry).digest())
    public = bytes.fromhex(VALUES["public key"])
    assert [head.hex() for head in heads] == json.loads(VALUES["heads"])
    assert sha256(public).hexdigest()[:16] == VALUES["key"]
    assert sha256(header).hexdigest() == VALUES["SHA-256 of the header"]
    signature = bytes.fromhex(json.loads(record.splitlines()[-1])["signature"])
    assert is_signed(public, bytes.fromhex(VALUES["signed"]), signature)
    vouching = msgspec.json.decode(checkpoint, type=Checkpoint)
    assert is_signed(public, bytes.fromhex(VALUES["signed of the checkpoint"]), bytes.fromhex(vouching.signature))
    evidence = Evidence({VALUES["key"]: public}, (vouching,))
    report = check(record.encode(), games.find(), evidence).report
    assert (report.fault, report.checkpoints) == (None, 1)


@NEEDS_NODE
def test_the_verifier_holds_the_example_for_good(verified: Verified) -> None:
    (record,), (checkpoint,) = fenced("record"), fenced("checkpoint")
    keys = {"keys": [{"id": VALUES["key"], "public": VALUES["public key"]}]}
    (found,) = verified((record.encode(), keys, [msgspec.json.decode(checkpoint, type=Checkpoint)]))
    assert (found["ok"], found["head"]) == (True, json.loads(VALUES["heads"])[-1])
