"""The record over HTTP: whoever has it, and the service's public keys, needs nothing more of the service."""

from random import Random

import httpx
import msgspec

from service import games
from service.audit.checking import Evidence, check
from service.audit.checkpoints import Checkpoint
from service.audit.keyring import PublicKeys
from service.audit.signing import Keys
from tests.served import Person
from tests.service.api.conftest import Company, seated


def keys(url: str) -> Keys:
    published = httpx.get(f"{url}/.well-known/evenfold-keys.json")
    assert published.status_code == 200
    return msgspec.json.decode(published.content, type=PublicKeys).by_id()


def checkpoint(person: Person, path: str) -> Checkpoint:
    answer = person.get(f"{path}/checkpoint")
    assert answer.status_code == 200
    return msgspec.json.decode(answer.content, type=Checkpoint)


def play_on(company: Company, random: Random) -> None:
    while company.people[0].get(company.path).json()["status"] != "ended":
        company.move(random)


def test_a_match_is_recorded_and_checked_against_checkpoints_kept_while_it_was_live(url: str, nobody: Person) -> None:
    random = Random(5)
    with seated(url, {"options": {"deals": 5, "partners": "five"}}) as company:
        watcher = company.people[2]
        kept = [checkpoint(watcher, company.path)]
        for _ in range(3):
            company.move(random)
            kept.append(checkpoint(watcher, company.path))
        early = watcher.get(f"{company.path}/record")
        assert (early.status_code, early.json()["code"]) == (409, "not_ended")
        play_on(company, random)
        record = watcher.get(f"{company.path}/record")
        assert record.headers["Content-Type"] == "application/x-ndjson"
        report = check(record.content, games.find(), Evidence(keys(url), kept)).report
        view = watcher.get(company.path).json()
        assert report.fault is None
        assert report.checkpoints == len(kept)
        assert report.places == tuple(view["places"])
        assert report.versions == view["version"]
        assert nobody.get(f"{company.path}/record").status_code == 401


def test_a_bots_token_gets_no_record(url: str, ada: Person) -> None:
    opened = ada.post("/v1/kowah/tables", {"bots": []}).json()
    path = f"/v1/kowah/tables/{opened['table']}"
    assert ada.post(f"{path}/commands", {"type": "table.abandon"}).status_code == 201
    token = ada.post("/v1/tokens", {"scopes": ["bot"]}).json()["token"]
    bot = httpx.get(f"{url}{path}/record", headers={"Authorization": f"Bearer {token}"})
    assert (bot.status_code, ada.get(f"{path}/record").status_code) == (403, 200)
