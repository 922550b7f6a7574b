"""The story of two disputes, as clients meet it: a deal played again, and places corrected after the end."""

import json
from pathlib import Path
from random import Random
from typing import Any

import httpx

from tests.served import Person
from tests.service.api.conftest import Company, seated
from tests.service.cli.processes import run

SHORT = {"options": {"deals": 5, "partners": "five"}}
PEEKED = {"first": 2, "last": 6, "reason": "conduct", "text": "He looked at my cards."}


def test_a_deal_is_played_again_and_places_are_corrected_and_the_record_says_so(
    url: str, arbiter: Person, tmp_path: Path
) -> None:
    random = Random(8)
    with seated(url, SHORT) as company:
        ada, bob, cyd = company.people[:3]
        for _ in range(4):
            company.move(random)
        kept = [ada.get(f"{company.path}/checkpoint").json()]

        # Ada disputes what Bob did; the arbiter pauses play, so that nothing more comes of it.
        filed = posted(ada, f"{company.path}/disputes", PEEKED)
        posted(arbiter, f"{company.path}/pause")
        assert view(bob, company)["to_act"] == []

        # The arbiter looks at all hands, and everybody is told of that at once.
        looked = posted(arbiter, f"{company.path}/disputes/{filed['dispute']}/looks", {"first": 2, "last": 6})
        hands = arbiter.get(f"{company.path}/views?at=6").json()["views"]
        assert [hand["hand"] for hand in hands] == [own(person, company, 6)["hand"] for person in company.people]
        told = cyd.get(f"{company.path}/events?after={looked['version'] - 1}").json()["decisions"][0]
        assert (told["by"]["player"], told["events"][0]["type"]) == (arbiter.id, "table.looked")
        assert refused(bob.get(f"{company.path}/views?at=6")) == "not_ended"

        # The deal is played again: dealt anew, and play goes on by itself.
        before = own(ada, company, looked["version"])["hand"]
        ruling = {"verdict": "replayed", "deal": 1, "text": "The hand was seen."}
        ruled = posted(arbiter, f"{company.path}/disputes/1/ruling", ruling)
        happened = [event["type"] for event in ruled["events"]]
        assert happened[0] == "table.ruled"
        assert {"table.resumed", "table.deal_replayed", "table.shuffled"} <= {*happened}
        assert view(ada, company)["status"] == "playing"
        assert view(ada, company)["hand"] != before
        kept.append(ada.get(f"{company.path}/checkpoint").json())

        # The match is played to its end.
        while view(ada, company)["status"] != "ended":
            company.move(random)
        places = view(ada, company)["places"]

        # Bob disputes the outcome, and the arbiter turns the places round.
        posted(bob, f"{company.path}/disputes", {**PEEKED, "reason": "mistake", "text": "The score is wrong."})
        other = [5, 4, 3, 2, 1] if places == [1, 2, 3, 4, 5] else [1, 2, 3, 4, 5]
        posted(arbiter, f"{company.path}/disputes/2/ruling", {"verdict": "corrected", "places": other})
        corrected = view(cyd, company)
        assert (corrected["outcome"], corrected["places"]) == ("adjudicated", other)

        # Whoever kept checkpoints needs nothing more of the service to see that all of this is so.
        report = verified(url, cyd, company, kept, tmp_path)
        assert (report["places"], report["outcome"]) == (other, "adjudicated")
        assert report["versions"] == corrected["version"]
        assert report["checkpoints"] == len(kept)


def posted(person: Person, path: str, body: object = None) -> dict[str, Any]:
    answer = person.post(path, body)
    assert answer.status_code == 201, answer.text
    done: dict[str, Any] = answer.json()
    return done


def refused(answer: httpx.Response) -> str:
    code: str = answer.json()["code"]
    return code


def view(person: Person, company: Company) -> dict[str, Any]:
    seen: dict[str, Any] = person.get(company.path).json()
    return seen


def own(person: Person, company: Company, version: int) -> dict[str, Any]:
    """Return the table as somebody saw it at a version."""
    seen: dict[str, Any] = person.get(f"{company.path}?at={version}").json()
    return seen


def verified(url: str, person: Person, company: Company, kept: list[Any], folder: Path) -> dict[str, Any]:
    """Return what `evenfold verify` reports of a table's record, with the checkpoints that were kept."""
    (folder / "record.ndjson").write_bytes(person.get(f"{company.path}/record").content)
    (folder / "keys.json").write_bytes(httpx.get(f"{url}/.well-known/evenfold-keys.json").content)
    (folder / "kept.ndjson.kept").write_text("".join(f"{json.dumps(one)}\n" for one in kept))
    evidence = ("--keys", str(folder / "keys.json"), "--checkpoint", str(folder / "kept.ndjson.kept"))
    said = run("verify", str(folder / "record.ndjson"), *evidence, "--json")
    told: dict[str, Any] = json.loads(said.stdout)
    assert told["ok"], told
    report: dict[str, Any] = told["report"]
    return report
