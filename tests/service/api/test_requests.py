"""What lies outside the contract: each gets a clear answer, and changes nothing."""

from typing import Any

import pytest

from service.api.requests import MAX_BODY
from tests.served import Person
from tests.service.api.conftest import Company

DISCARD = '{"type":"chinkway.discard","cards":["S2","S3"]'

BODIES = {
    "no JSON": (b"{", ""),
    "nothing": (b"", ""),
    "no UTF-8": (b'{"type":"\xff"}', ""),
    "another shape": (b"[]", ""),
    "null": (b"null", ""),
    "no type": (b'{"card":"S2"}', "/type"),
    "an unknown type": (b'{"type":"chinkway.fly"}', "/type"),
    "another game's type": (b'{"type":"chinchon.draw"}', "/type"),
    "a command of the referee's own": (b'{"type":"table.create"}', "/type"),
    "an unknown field": (DISCARD.encode() + b',"why":1}', "/why"),
    "a missing field": (b'{"type":"chinkway.play"}', "/card"),
    "a card that is none": (b'{"type":"chinkway.play","card":"S1"}', "/card"),
    "a card in lower case": (b'{"type":"chinkway.play","card":"s2"}', "/card"),
    "one card too many": (b'{"type":"chinkway.discard","cards":["S2","S3","S4"]}', "/cards"),
    "a turn as text": (DISCARD.encode() + b',"turn":"6"}', "/turn"),
    "a turn with a fraction": (DISCARD.encode() + b',"turn":6.5}', "/turn"),
    "a turn below zero": (DISCARD.encode() + b',"turn":-1}', "/turn"),
    "a turn beyond bounds": (DISCARD.encode() + b',"turn":9007199254740993}', "/turn"),
    "a turn beyond everything": (DISCARD.encode() + b',"turn":1e400}', "/turn"),
    "nested too deep": (b"[" * 30_000 + b"]" * 30_000, ""),
    "two values": (b"{}{}", ""),
}


@pytest.mark.parametrize("case", BODIES)
def test_a_body_outside_the_contract_is_told_where(unmoved: Company, case: str) -> None:
    raw, field = BODIES[case]
    mover = unmoved.mover
    answer = mover.http.post(f"{unmoved.path}/commands", content=raw, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400, answer.text
    problem = answer.json()
    assert (problem["code"], problem["status"], problem.get("field", "")) == ("malformed", 400, field)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert mover.get(unmoved.path).json()["version"] == 6


def test_an_integral_float_is_the_integer_it_is(company: Company) -> None:
    mover = company.mover
    body = company.legal(mover)[0] | {"turn": 6.0}
    assert mover.post(f"{company.path}/commands", body).status_code == 201


def test_a_body_of_another_media_type_is_not_read(unmoved: Company) -> None:
    answer = unmoved.mover.http.post(f"{unmoved.path}/commands", content=b"{}", headers={"Content-Type": "text/plain"})
    assert (answer.status_code, answer.json()["code"]) == (415, "unsupported_media_type")


def test_a_media_type_may_have_parameters_and_any_case(ada: Person) -> None:
    kind = "Application/JSON; charset=utf-8"
    answer = ada.http.post("/v1/chinkway/tables", content=b"{}", headers={"Content-Type": kind})
    assert answer.status_code == 201


def test_a_body_larger_than_any_that_is_needed_is_not_read(ada: Person) -> None:
    answer = ada.post("/v1/chinkway/tables", {"options": "x" * MAX_BODY})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


def test_a_large_body_of_unstated_length_is_not_read_either(ada: Person) -> None:
    pieces = (b" " * 8_192 for _ in range(16))
    answer = ada.http.post("/v1/chinkway/tables", content=pieces, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")


OPENINGS: dict[str, tuple[Any, str]] = {
    "an option of another game": ({"options": {"limit": 100}}, "/options/limit"),
    "an option's value that is none": ({"options": {"aces": "wild"}}, "/options/aces"),
    "deals as text": ({"options": {"deals": "10"}}, "/options/deals"),
    "no seats": ({"seats": 0}, "/seats"),
    "too many seats": ({"seats": 9}, "/seats"),
    "a start that is none": ({"start": "now"}, "/start"),
    "a bot without a name": ({"bots": [""]}, "/bots/0"),
    "too many bots": ({"bots": ["anyone"] * 9}, "/bots"),
    "options as null": ({"options": None}, "/options"),
}


@pytest.mark.parametrize("case", OPENINGS)
def test_a_table_is_not_opened_by_a_body_outside_the_contract(ada: Person, case: str) -> None:
    body, field = OPENINGS[case]
    answer = ada.post("/v1/chinkway/tables", body)
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "malformed", field)


@pytest.mark.parametrize("nonce", ["a b", "é", "x" * 65, "a/b", "a\n"])
def test_a_nonce_of_other_characters_is_refused(ada: Person, nonce: str) -> None:
    path = f"/v1/chinkway/tables/{ada.post('/v1/chinkway/tables').json()['table']}"
    problem = ada.post(f"{path}/seats", {"nonce": nonce}).json()
    assert problem["field"] == "/nonce"
    assert "regex" not in problem["detail"]


@pytest.mark.parametrize("tag", ["6", 'W/"6"', '"6", "7"', "*", '"06"', '"-1"', '"6', '""', '"99999999999999999999"'])
def test_an_if_match_that_is_not_one_strong_version_is_malformed(unmoved: Company, tag: str) -> None:
    mover = unmoved.mover
    answer = mover.post(f"{unmoved.path}/commands", unmoved.legal(mover)[0], If_Match=tag)
    assert (answer.status_code, answer.json()["field"]) == (400, "If-Match")
    assert mover.get(unmoved.path).json()["version"] == 6


@pytest.mark.parametrize("key", ["", "a b", "x" * 256])
def test_an_idempotency_key_of_other_characters_is_malformed(unmoved: Company, key: str) -> None:
    mover = unmoved.mover
    answer = mover.post(f"{unmoved.path}/commands", unmoved.legal(mover)[0], Idempotency_Key=key)
    assert (answer.status_code, answer.json()["field"]) == (400, "Idempotency-Key")


def test_the_quotes_of_an_idempotency_key_belong_to_it(ada: Person) -> None:
    tables = {ada.post("/v1/chinkway/tables", Idempotency_Key=key).json()["table"] for key in ("k", '"k"')}
    assert len(tables) == 2


def test_a_header_that_must_come_once_must_come_once(unmoved: Company) -> None:
    mover = unmoved.mover
    headers = [("Idempotency-Key", "a"), ("Idempotency-Key", "b")]
    answer = mover.http.post(f"{unmoved.path}/commands", json=unmoved.legal(mover)[0], headers=headers)
    assert (answer.status_code, answer.json()["field"]) == (400, "Idempotency-Key")


QUERIES = ["at=x", "at=0", "at=-1", "at=1.5", "at=", "at=1&at=2", "version=1", "at=99999999999999999999"]


@pytest.mark.parametrize("query", QUERIES)
def test_a_query_outside_the_contract_is_malformed(unmoved: Company, query: str) -> None:
    answer = unmoved.people[0].get(f"{unmoved.path}?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "malformed")


@pytest.mark.parametrize("query", ["after=-1", "after=x", "limit=0", "limit=501", "limit=1&limit=2", "before=1"])
def test_a_page_outside_the_contract_is_malformed(unmoved: Company, query: str) -> None:
    assert unmoved.people[0].get(f"{unmoved.path}/events?{query}").status_code == 400


def test_what_can_not_be_had_in_a_media_type_is_said_so(unmoved: Company) -> None:
    answer = unmoved.people[0].get(f"{unmoved.path}/events", Accept="application/xml")
    assert (answer.status_code, answer.json()["code"]) == (406, "not_acceptable")


@pytest.mark.parametrize("quality", ["1e999", "nan", "x", "-1"])
def test_a_quality_that_is_no_number_is_malformed_or_ignored(unmoved: Company, quality: str) -> None:
    answer = unmoved.people[0].get(f"{unmoved.path}/events", Accept=f"application/json;q={quality}")
    assert answer.status_code in (200, 400, 406)


@pytest.mark.parametrize(
    "value", ["", "Bearer", "Basic YTpi", "Bearer a b", "Bearer évf", "evf_x", "Bearer " + "a" * 200]
)
def test_a_credential_that_is_no_bearer_token_is_refused(nobody: Person, value: str) -> None:
    answer = nobody.http.get("/v1/me", headers=[(b"Authorization", value.encode())])
    assert answer.status_code in (400, 401)
    assert answer.json()["code"] in ("malformed", "unauthenticated")


def test_without_a_token_nothing_of_a_table_is_told(nobody: Person, unmoved: Company) -> None:
    paths = [unmoved.path, f"{unmoved.path}/events", f"{unmoved.path}/actions", "/v1/me", "/v1/players?id=x"]
    for path in paths:
        answer = nobody.get(path)
        assert answer.status_code == 401, path
        assert answer.headers["WWW-Authenticate"] == 'Bearer realm="evenfold"'
    for path in (f"{unmoved.path}/commands", f"{unmoved.path}/seats", f"{unmoved.path}/start", "/v1/chinkway/tables"):
        assert nobody.post(path).status_code == 401, path
    assert nobody.delete(f"{unmoved.path}/seats/me").status_code == 401


def test_a_method_that_a_path_does_not_have_is_told_which_it_has(unmoved: Company) -> None:
    answer = unmoved.people[0].http.put(unmoved.path)
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert "GET" in answer.headers["Allow"]


def test_a_path_that_leads_nowhere_is_not_found(nobody: Person) -> None:
    answer = nobody.get("/v2/players")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_a_field_is_told_as_a_json_pointer(ada: Person) -> None:
    assert ada.post("/v1/chinkway/tables", {"a/b~c": 1}).json()["field"] == "/a~1b~0c"


@pytest.mark.parametrize("path", ["/v1/me/", "//v1/me", "/v1//me", "/v1/%6de", "/v1%2fme", "/healthz/", "/metrics%2F"])
def test_an_address_is_written_in_one_way(ada: Person, path: str) -> None:
    answer = ada.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert ada.http.request("OPTIONS", path).status_code in {204, 404}


def test_a_key_opens_one_table_however_its_path_is_written(ada: Person) -> None:
    paths = ["/v1/chinkway/tables", "/v1/chinkway/tables/", "/v1//chinkway/tables", "/v1/chinkway/t%61bles"]
    assert [ada.post(path, Idempotency_Key="one").status_code for path in paths] == [201, 404, 404, 404]
