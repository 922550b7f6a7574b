"""Presence as a client meets it: who may ask, who counts as there, and where nothing of it is told."""

import time
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

import service.presence
from service.api.eventstream import EVENT_STREAM, NDJSON
from tests.served import Person, served
from tests.service.api.conftest import Company, seated
from tests.stores import asking

WITHIN_S = 20


def presence(person: Person, path: str) -> dict[str, Any]:
    answer = person.get(f"{path}/presence")
    assert answer.status_code == 200, answer.text
    assert answer.headers["Cache-Control"] == "private, no-store"
    told: dict[str, Any] = answer.json()
    return told


def seats_there(told: dict[str, Any]) -> list[bool | None]:
    return [seat["present"] for seat in told["seats"]]


def until_there(person: Person, path: str, seats: list[bool | None]) -> None:
    """Return once these are told to be there, by another process than saw them."""
    until = time.monotonic() + WITHIN_S
    while (told := seats_there(presence(person, path))) != seats:
        assert time.monotonic() < until, told


def test_who_reads_or_acts_is_there_and_when_is_told(company: Company) -> None:
    now = time.time_ns() // 1_000_000
    told = presence(company.people[0], company.path)
    assert (told["version"], told["host"]["present"]) == (company.people[0].get(company.path).json()["version"], True)
    assert [seat["seat"] for seat in told["seats"]] == list(range(5))
    assert seats_there(told) == [True] * 5
    assert all(abs(seat["last_seen"] - now) < 60_000 for seat in told["seats"])


def test_another_process_tells_it_within_seconds_and_its_own_at_once(
    company: Company, valkey_url: str, tmp_path: Path
) -> None:
    with served(valkey_url, tmp_path) as url, ExitStack() as closing_all:
        there = [Person(url, None) for _ in company.people]
        for person, same in zip(there, company.people, strict=True):
            closing_all.callback(person.http.close)
            person.http.headers["Authorization"] = same.http.headers["Authorization"]
        host = there[0]
        until_there(host, company.path, [True] * 5)
        with asking(valkey_url) as client:
            for person in company.people:
                client.delete(f"presence:{person.id}")
        assert seats_there(presence(host, company.path)) == [True, False, False, False, False]
        for seat, kind in enumerate(("", "/actions", "/events"), 1):
            assert there[seat].get(f"{company.path}{kind}").status_code == 200
            assert seats_there(presence(host, company.path)) == [True] * (seat + 1) + [False] * (4 - seat)
        refused = there[4].post(f"{company.path}/commands", {"type": "table.abandon"})
        assert refused.status_code == 403
        assert seats_there(presence(host, company.path)) == [True] * 5


def test_bots_and_untaken_seats_have_none(url: str) -> None:
    with closing(Person(url).http) as http:
        host = Person(url, None)
        host.http.headers["Authorization"] = http.headers["Authorization"]
        opened = host.post("/v1/chinkway/tables", {"bots": ["anyone"]})
        path = f"/v1/chinkway/tables/{opened.json()['table']}"
        told = presence(host, path)
        assert told["host"]["present"] is True
        assert told["seats"] == [{"seat": seat, "present": None, "last_seen": None} for seat in range(5)]
        assert host.post(f"{path}/seats", {"seat": 1}).status_code == 201
        assert seats_there(presence(host, path)) == [None, True, None, None, None]
        host.http.close()


def test_who_looks_on_and_who_gave_a_seat_up_are_told_nothing_nor_told_of(url: str) -> None:
    with seated(url) as company, closing(Person(url).http) as onlooker:
        host, eve = company.people[0], company.people[4]
        assert eve.post(f"{company.path}/commands", {"type": "table.resign"}).status_code == 201
        for http in (onlooker, eve.http):
            for path in ("", "/actions", "/events"):
                assert http.get(f"{company.path}{path}").status_code == 200
            answer = http.get(f"{company.path}/presence")
            assert (answer.status_code, answer.json()["code"]) == (403, "not_seated")
        assert seats_there(presence(host, company.path)) == [True, True, True, True, None]
        assert presence(host, company.path)["seats"][4] == {"seat": 4, "present": None, "last_seen": None}


def test_a_host_who_gave_its_seat_up_is_still_the_host(url: str) -> None:
    with seated(url) as company:
        host, bob = company.people[:2]
        assert host.post(f"{company.path}/commands", {"type": "table.resign"}).status_code == 201
        told = presence(host, company.path)
        assert (told["host"]["present"], seats_there(told)) == (True, [None, True, True, True, True])
        assert presence(bob, company.path)["host"]["present"] is True


def test_neither_view_nor_tag_nor_log_knows_of_it(company: Company, valkey_url: str) -> None:
    ada, bob = company.people[:2]
    before = [ada.get(f"{company.path}{path}") for path in ("", "/actions", "/events")]
    with asking(valkey_url) as client:
        for person in company.people:
            client.delete(f"presence:{person.id}")
    presence(bob, company.path)
    after = [ada.get(f"{company.path}{path}") for path in ("", "/actions", "/events")]
    assert [answer.content for answer in after] == [answer.content for answer in before]
    assert after[0].headers["ETag"] == before[0].headers["ETag"]


@pytest.mark.parametrize("path", ["/v1/kowah/tables/{}/presence", "/v1/chinkway/tables/nothing/presence"])
def test_a_table_of_another_game_is_not_there(company: Company, path: str) -> None:
    table = company.path.rpartition("/")[2]
    assert company.people[0].get(path.format(table)).status_code == 404
    assert company.people[0].get(f"{company.path}/presence?seat=1").status_code == 400


@pytest.mark.parametrize("media", [EVENT_STREAM, NDJSON])
def test_who_has_a_stream_open_is_seen_again_and_again(
    url: str, valkey_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, media: str
) -> None:
    monkeypatch.setattr(service.presence, "FRESH_MS", 0)
    follow = {"follow": "true"} if media == NDJSON else {}
    with (
        served(valkey_url, tmp_path) as elsewhere,
        closing(Person(elsewhere, None).http) as http,
        seated(url) as company,
    ):
        host, bob = company.people[:2]
        http.headers["Authorization"] = host.http.headers["Authorization"]
        with bob.http.stream("GET", f"{company.path}/events", params=follow, headers={"Accept": media}) as answer:
            assert answer.status_code == 200
            for _ in range(2):
                with asking(valkey_url) as client:
                    client.delete(f"presence:{bob.id}")
                until = time.monotonic() + WITHIN_S
                while http.get(f"{company.path}/presence").json()["seats"][1]["present"] is not True:
                    assert time.monotonic() < until
