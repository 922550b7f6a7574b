"""Disputes over HTTP: players file them, an arbiter pauses, looks and rules, and everybody reads what came of it."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from redis.asyncio import Redis

from service import games
from service.audit.checking import Evidence, check
from service.auth.accounts import Accounts
from tests.reacting import reacting
from tests.served import Person
from tests.service.api.conftest import Company, seated
from tests.service.api.test_records import keys
from tests.service.cli.processes import until

WORDS = "He showed me his hand. ♠"
CONDUCT = {"first": 2, "last": 3, "reason": "conduct", "text": WORDS}
UPHELD = {"verdict": "upheld"}


def refusal(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


def file(person: Person, path: str, body: Any = CONDUCT, **headers: str) -> dict[str, Any]:  # noqa: ANN401 any JSON
    answer = person.post(f"{path}/disputes", body, **headers)
    assert answer.status_code == 201, answer.text
    filed: dict[str, Any] = answer.json()
    return filed


def listed(person: Person, path: str) -> list[dict[str, Any]]:
    disputes: list[dict[str, Any]] = person.get(f"{path}/disputes").json()["disputes"]
    return disputes


def test_a_dispute_is_listed_for_everybody_with_what_was_written(company: Company, nobody: Person) -> None:
    ada, bob = company.people[:2]
    filed = file(ada, company.path)
    assert filed["dispute"] == 1
    assert [event["type"] for event in filed["events"]] == ["table.dispute_filed"]
    (seen,) = listed(bob, company.path)
    assert (seen["player"], seen["version"], seen["text"]) == (ada.id, filed["version"], WORDS)
    assert (seen["reason"], seen["first"], seen["last"]) == ("conduct", 2, 3)
    assert (seen["ruling"], seen["looks"]) == (None, [])
    assert WORDS not in json.dumps(bob.get(f"{company.path}/events").json())
    assert nobody.get(f"{company.path}/disputes").status_code == 401


def test_a_repeat_has_the_same_answer_and_another_body_none(company: Company) -> None:
    ada = company.people[0]
    filed = file(ada, company.path, Idempotency_Key="once")
    assert file(ada, company.path, Idempotency_Key="once") == filed
    other = ada.post(f"{company.path}/disputes", {**CONDUCT, "text": "Another."}, Idempotency_Key="once")
    assert refusal(other) == (422, "key_reused")
    assert [seen["text"] for seen in listed(ada, company.path)] == [WORDS]


def test_a_dispute_may_have_no_words_and_only_so_many(company: Company) -> None:
    ada, bob, eve = company.people[0], company.people[1], company.people[2]
    file(ada, company.path, {"first": 1, "last": 1, "reason": "outage"})
    file(bob, company.path, {**CONDUCT, "text": "♠" * 2_000})
    assert [seen["text"] for seen in listed(ada, company.path)] == [None, "♠" * 2_000]
    for text in ("", " \n", "♠" * 2_001):
        assert eve.post(f"{company.path}/disputes", {**CONDUCT, "text": text}).status_code == 400


@pytest.mark.parametrize("text", ["\0", "a\0b", "\x1b[2J", "a\r\nb", "a\x7f", "a\x9b", "\u202eevil", "a\u2066b\u2069"])
def test_a_text_has_no_characters_that_steer(company: Company, arbiter: Person, text: str) -> None:
    ada, path = company.people[0], f"{company.path}/disputes"
    assert refusal(ada.post(path, {**CONDUCT, "text": text})) == (400, "malformed")
    assert refusal(arbiter.post(f"{path}/1/ruling", {**UPHELD, "text": text})) == (400, "malformed")


@pytest.mark.parametrize("text", ["\u200b", "\u3164", "\n\u2800 \ufffc", "\u0301", "\u2060\u00ad", "\ue000"])
def test_a_text_of_which_nothing_is_seen_is_none(company: Company, arbiter: Person, text: str) -> None:
    ada, path = company.people[0], f"{company.path}/disputes"
    assert refusal(ada.post(path, {**CONDUCT, "text": text})) == (409, "text_unreadable")
    assert refusal(arbiter.post(f"{path}/1/ruling", {**UPHELD, "text": text})) == (409, "text_unreadable")


@pytest.mark.parametrize("text", ["!", "\n\t5\n", "♠", "👩‍🚀", "\u200fשל", "e\u0301\n\n\tand so on", "हिन्दी"])
def test_what_is_seen_in_any_writing_is_kept_as_it_is(company: Company, text: str) -> None:
    ada = company.people[0]
    file(ada, company.path, {**CONDUCT, "text": text})
    assert [seen["text"] for seen in listed(ada, company.path)] == [text]


def test_one_dispute_a_player_is_open_and_only_of_the_tables_versions(company: Company) -> None:
    ada, bob = company.people[:2]
    file(ada, company.path)
    assert refusal(ada.post(f"{company.path}/disputes", CONDUCT)) == (409, "dispute_open")
    assert refusal(bob.post(f"{company.path}/disputes", {**CONDUCT, "last": 99})) == (409, "no_such_versions")
    stranger = Person(str(ada.http.base_url))
    assert refusal(stranger.post(f"{company.path}/disputes", CONDUCT)) == (403, "not_seated")
    stale = bob.post(f"{company.path}/disputes", CONDUCT, If_Match='"2"')
    assert stale.status_code == 412
    stranger.http.close()


def test_what_is_refused_without_a_look_at_the_table_keeps_no_text(
    company: Company, arbiter: Person, valkey_url: str
) -> None:
    ada, path = company.people[0], f"{company.path}/disputes"
    # Nothing can be kept of who is being erased, which is found out as it is: 401 would say that it was tried.
    asyncio.run(condemned(valkey_url, ada.id, arbiter.id))
    for wrong in ({"If_Match": "bogus"}, {"If_Match": '"1", "2"'}, {"Idempotency_Key": "a key"}):
        assert refusal(ada.post(path, CONDUCT, **wrong)) == (400, "malformed")
        assert refusal(arbiter.post(f"{path}/1/ruling", {**UPHELD, "text": WORDS}, **wrong)) == (400, "malformed")
    assert refusal(arbiter.post(f"{path}/none/ruling", {**UPHELD, "text": WORDS})) == (404, "not_found")
    assert refusal(ada.post(path, CONDUCT)) == (401, "unauthenticated")


def test_who_is_refused_leaves_no_text_however_often(company: Company, arbiter: Person, valkey_url: str) -> None:
    ada = company.people[0]
    file(ada, company.path)
    for _ in range(2):
        assert refusal(ada.post(f"{company.path}/disputes", CONDUCT)) == (409, "dispute_open")
        ruled = arbiter.post(f"{company.path}/disputes/2/ruling", {**UPHELD, "text": WORDS}, If_Match='"1"')
        assert ruled.status_code == 412
    assert asyncio.run(how_many_texts(valkey_url, ada.id, arbiter.id)) == [1, 0]


async def condemned(valkey_url: str, *accounts: str) -> None:
    redis = Redis.from_url(valkey_url)
    for account in accounts:
        await Accounts(redis).condemn(account)
    await redis.aclose()


async def how_many_texts(valkey_url: str, *accounts: str) -> list[int]:
    redis = Redis.from_url(valkey_url)
    kept = [len([ref async for ref in redis.sscan_iter(f"texts:{account}")]) for account in accounts]
    await redis.aclose()
    return kept


def test_an_arbiter_pauses_and_the_same_prompt_comes_back(company: Company, arbiter: Person) -> None:
    before = company.people[0].get(company.path).json()
    mover, legal = company.mover, company.legal(company.mover)[0]
    assert arbiter.post(f"{company.path}/pause").status_code == 201
    paused = arbiter.get(company.path).json()
    assert (paused["status"], paused["to_act"]) == ("paused", [])
    assert refusal(mover.post(f"{company.path}/commands", legal)) == (409, "paused")
    assert refusal(arbiter.post(f"{company.path}/pause")) == (409, "paused")
    assert arbiter.post(f"{company.path}/resume").status_code == 201
    after = arbiter.get(company.path).json()
    assert (after["status"], after["to_act"], after["turn"]) == ("playing", before["to_act"], before["turn"])
    assert mover.post(f"{company.path}/commands", legal).status_code == 201
    assert refusal(arbiter.post(f"{company.path}/resume")) == (409, "not_paused")


def test_a_ruling_closes_the_dispute_in_words(company: Company, arbiter: Person) -> None:
    ada = company.people[0]
    file(ada, company.path)
    path = f"{company.path}/disputes/1"
    looked = arbiter.post(f"{path}/looks", {"first": 2, "last": 3}).json()
    ruled = arbiter.post(f"{path}/ruling", {**UPHELD, "text": "Nothing was shown."}, Prefer="return=representation")
    assert ruled.json()["view"]["version"] == ruled.json()["version"]
    (seen,) = listed(ada, company.path)
    assert [look["arbiter"] for look in seen["looks"]] == [arbiter.id]
    assert seen["looks"][0]["until"] == looked["events"][0]["until"]
    assert seen["ruling"]["arbiter"] == arbiter.id
    assert (seen["ruling"]["verdict"], seen["ruling"]["text"]) == ("upheld", "Nothing was shown.")
    assert refusal(arbiter.post(f"{path}/ruling", UPHELD)) == (409, "dispute_closed")
    assert refusal(arbiter.post(f"{company.path}/disputes/2/ruling", UPHELD)) == (409, "no_such_dispute")
    assert arbiter.post(f"{company.path}/disputes/none/ruling", UPHELD).status_code == 404


def test_players_rule_on_nothing(company: Company) -> None:
    ada = company.people[0]
    file(ada, company.path)
    for path in ("pause", "resume", "disputes/1/looks", "disputes/1/ruling"):
        body = {"first": 1, "last": 1} if path.endswith("looks") else UPHELD if path.endswith("ruling") else None
        assert refusal(ada.post(f"{company.path}/{path}", body)) == (403, "forbidden")


def test_what_an_erased_account_wrote_is_gone_and_the_record_verifies(url: str, arbiter: Person) -> None:
    with seated(url) as company:
        ada, bob = company.people[:2]
        file(ada, company.path)
        file(bob, company.path, {**CONDUCT, "text": "Nor mine."})
        assert arbiter.post(f"{company.path}/disputes/1/ruling", {"verdict": "annulled"}).status_code == 201
        assert told(url, bob, company.path) == [WORDS, "Nor mine."]
        assert ada.delete("/v1/me").status_code == 204
        assert [seen["text"] for seen in listed(bob, company.path)] == [None, "Nor mine."]
        assert told(url, bob, company.path) == ["Nor mine."]


def told(url: str, person: Person, path: str) -> list[str]:
    """Return the texts of a table's record, which verifies."""
    record = person.get(f"{path}/record").content
    report = check(record, games.find(), Evidence(keys(url))).report
    assert report.fault is None
    return [text["text"] for text in json.loads(record.split(b"\n", 1)[0])["texts"]]


def test_a_text_that_was_tampered_with_is_found_out(company: Company, url: str, arbiter: Person) -> None:
    ada = company.people[0]
    file(ada, company.path)
    arbiter.post(f"{company.path}/disputes/1/ruling", {"verdict": "annulled"})
    record = ada.get(f"{company.path}/record").content
    forged = check(record.replace(b"his hand", b"her hand"), games.find(), Evidence(keys(url))).report
    assert forged.fault is not None
    assert forged.fault.code == "text"


def test_open_disputes_of_all_tables_are_listed_for_arbiters(
    url: str, valkey_url: str, tmp_path: Path, arbiter: Person
) -> None:
    with reacting(valkey_url, tmp_path), seated(url) as company:
        ada, bob = company.people[:2]
        file(ada, company.path)
        file(bob, company.path)
        until_listed(arbiter, company, 1, 2)
        assert arbiter.post(f"{company.path}/disputes/1/ruling", UPHELD).status_code == 201
        (dispute,) = until_listed(arbiter, company, 2)
        assert (dispute["game"], dispute["player"], dispute["reason"]) == ("chinkway", bob.id, "conduct")
        assert refusal(ada.get("/v1/disputes")) == (403, "forbidden")


def test_a_paused_table_is_listed_as_such(url: str, valkey_url: str, tmp_path: Path, arbiter: Person) -> None:
    with reacting(valkey_url, tmp_path), seated(url) as company:
        ada = company.people[0]
        mine = f"/v1/tables?player={ada.id}"
        assert arbiter.post(f"{company.path}/pause").status_code == 201
        until(lambda: ada.get(f"{mine}&status=paused").json()["tables"])
        assert [table["status"] for table in ada.get(mine).json()["tables"]] == ["paused"]
        assert arbiter.post(f"{company.path}/resume").status_code == 201
        until(lambda: ada.get(f"{mine}&status=playing").json()["tables"])


def until_listed(arbiter: Person, company: Company, *numbers: int) -> list[dict[str, Any]]:
    """Return a table's open disputes once they are these, read a page of one at a time."""
    found: list[dict[str, Any]] = []

    def is_listed() -> bool:
        found[:] = [dispute for dispute in pages(arbiter) if dispute["table"] in company.path]
        return [dispute["dispute"] for dispute in found] == [*numbers]

    until(is_listed)
    return found


def pages(arbiter: Person) -> Iterator[dict[str, Any]]:
    after = ""
    while after is not None:
        page = arbiter.get(f"/v1/disputes?limit=1{after and '&after='}{after}").json()
        yield from page["disputes"]
        after = page["next"]
