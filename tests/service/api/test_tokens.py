"""The routes of tokens."""

import pytest

from tests.served import Person

LIFE_S = 3_600


def made(person: Person, **wanted: object) -> dict[str, object]:
    """Make a token; return the answer."""
    answer = person.post("/v1/tokens", {"scopes": ["play"], **wanted})
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store"), answer.text
    token: dict[str, object] = answer.json()
    return token


def bearing(person: Person, token: object) -> Person:
    person.http.headers["Authorization"] = f"Bearer {token}"
    return person


def listed(person: Person) -> dict[str, dict[str, object]]:
    """Return the tokens that an account has, by id."""
    return {token["id"]: token for token in person.get("/v1/tokens").json()["tokens"]}


def test_a_token_does_what_it_was_made_for(ada: Person, nobody: Person) -> None:
    token = made(ada, label=" my bot ", scopes=["bot", "bot", "play"])
    assert (token["label"], token["scopes"], token["expires_at"]) == ("my bot", ["play", "bot"], None)
    me = bearing(nobody, token["token"]).get("/v1/me").json()
    assert (me["player"]["id"], me["scopes"]) == (ada.id, ["bot", "play"])


def test_the_list_of_tokens_holds_no_secret_and_marks_the_one_that_asks(ada: Person) -> None:
    token = made(ada)
    answer = ada.get("/v1/tokens")
    first, second = answer.json()["tokens"]
    assert (first["current"], second["current"]) == (True, False)
    assert second == {**{name: value for name, value in token.items() if name != "token"}, "current": False}
    assert str(token["token"]) not in answer.text
    assert ada.token not in answer.text


def test_a_token_lives_no_longer_than_the_one_that_made_it(ada: Person) -> None:
    short = made(ada, scopes=["play", "host"], expires_in_s=LIFE_S)
    assert short["expires_at"] == pytest.approx(short["created_at"] + 1_000 * LIFE_S, abs=5_000)  # type: ignore[operator] # the JSON of an answer
    heir = bearing(ada, short["token"])
    assert made(heir)["expires_at"] == short["expires_at"]
    assert made(heir, expires_in_s=10 * LIFE_S)["expires_at"] == short["expires_at"]
    assert made(heir, expires_in_s=60)["expires_at"] < short["expires_at"]  # type: ignore[operator] # the JSON of an answer


def test_a_token_that_ends_gives_none_that_outlives_it_another_secret(ada: Person) -> None:
    lasting = made(ada)
    own = next(id_ for id_, token in listed(ada).items() if token["current"])
    short = made(ada, scopes=["play", "host"], expires_in_s=LIFE_S)
    shorter = made(ada, expires_in_s=60)
    heir = bearing(ada, short["token"])
    for id_ in (lasting["id"], own):
        refused = heir.post(f"/v1/tokens/{id_}/rotate")
        assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert heir.post(f"/v1/tokens/{shorter['id']}/rotate").status_code == 201
    assert heir.post(f"/v1/tokens/{short['id']}/rotate").json()["expires_at"] == short["expires_at"]


def test_what_a_secret_makes_in_its_grace_ends_with_it(ada: Person) -> None:
    own = next(id_ for id_, token in listed(ada).items() if token["current"])
    assert ada.post(f"/v1/tokens/{own}/rotate", {"grace_s": 60}).status_code == 201
    heir = made(ada, scopes=["play", "host"])
    assert heir["expires_at"] <= heir["created_at"] + 60_000  # type: ignore[operator] # the JSON of an answer


@pytest.mark.parametrize("scope", ["arbiter", "admin"])
def test_what_the_operator_gives_nobody_else_does(ada: Person, scope: str) -> None:
    answer = ada.post("/v1/tokens", {"scopes": ["play", scope]})
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")


@pytest.mark.parametrize(
    ("wanted", "field"),
    [
        ({}, "/scopes"),
        ({"scopes": ["root"]}, "/scopes/0"),
        ({"scopes": ["play"] * 6}, "/scopes"),
        ({"scopes": [], "expires_in_s": 0}, "/expires_in_s"),
        ({"scopes": [], "expires_in_s": 2**40}, "/expires_in_s"),
        ({"scopes": [], "label": ""}, "/label"),
        ({"scopes": [], "label": " "}, "/label"),
        ({"scopes": [], "label": "x" * 65}, "/label"),
        ({"scopes": [], "account": "0" * 26}, "/account"),
    ],
)
def test_a_token_of_another_shape_is_malformed(ada: Person, wanted: object, field: str) -> None:
    answer = ada.post("/v1/tokens", wanted)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_a_label_that_nobody_could_read_is_refused(ada: Person) -> None:
    assert ada.post("/v1/tokens", {"scopes": [], "label": "a\u200b"}).json()["code"] == "name_unreadable"


def test_a_token_that_is_revoked_speaks_for_nobody_at_once(ada: Person, nobody: Person) -> None:
    token = made(ada)
    other = bearing(nobody, token["token"])
    assert other.get("/v1/me").status_code == 200
    assert ada.delete(f"/v1/tokens/{token['id']}").status_code == 204
    revoked = other.get("/v1/me")
    unknown = bearing(nobody, "evf_" + "a" * 43).get("/v1/me")
    assert revoked.status_code == 401
    assert (revoked.json(), revoked.headers["WWW-Authenticate"]) == (
        unknown.json(),
        unknown.headers["WWW-Authenticate"],
    )
    assert ada.delete(f"/v1/tokens/{token['id']}").status_code == 404
    assert list(listed(ada)) == [one for one, token in listed(ada).items() if token["current"]]


def test_the_tokens_of_another_account_are_not_found(ada: Person, url: str) -> None:
    bob = Person(url, "Bob")
    token = made(ada)
    for path in (str(token["id"]), "0" * 26, "nonsense"):
        for answer in (bob.delete(f"/v1/tokens/{path}"), bob.post(f"/v1/tokens/{path}/rotate")):
            assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert token["id"] in listed(ada)
    bob.http.close()


def test_a_rotated_token_has_another_secret_and_all_else_as_before(ada: Person, nobody: Person) -> None:
    token = made(ada, label="phone", expires_in_s=LIFE_S)
    rotated = ada.post(f"/v1/tokens/{token['id']}/rotate", {"grace_s": 0}).json()
    assert {**rotated, "token": token["token"]} == token
    assert bearing(nobody, token["token"]).get("/v1/me").status_code == 401
    assert bearing(nobody, rotated["token"]).get("/v1/me").status_code == 200


def test_with_grace_the_secret_before_stays_good(ada: Person) -> None:
    token = made(ada)
    bearing(ada, token["token"])
    rotated = ada.post(f"/v1/tokens/{token['id']}/rotate", {"grace_s": 60}).json()
    assert ada.get("/v1/me").status_code == 200
    assert bearing(ada, rotated["token"]).get("/v1/me").status_code == 200


def test_of_a_keyed_request_for_a_token_only_that_it_ran_is_remembered(ada: Person) -> None:
    body = {"scopes": ["play"], "label": "phone"}
    first = ada.post("/v1/tokens", body, Idempotency_Key="one").json()
    again = ada.post("/v1/tokens", body, Idempotency_Key="one")
    assert (again.status_code, again.json()["code"], again.json()["id"]) == (409, "already_created", first["id"])
    assert first["token"] not in again.text
    assert ada.post("/v1/tokens", {"scopes": []}, Idempotency_Key="one").json()["code"] == "key_reused"
    # The same key names another request at another route, and for another account.
    path = f"/v1/tokens/{first['id']}/rotate"
    assert ada.post(path, Idempotency_Key="one").status_code == 201
    assert ada.post(path, Idempotency_Key="one").json()["id"] == first["id"]
    assert len(listed(ada)) == 2


def test_a_secret_that_was_lost_is_had_by_rotating_what_the_repeat_names(ada: Person, nobody: Person) -> None:
    ada.post("/v1/tokens", {"scopes": ["play"]}, Idempotency_Key="lost")
    named = ada.post("/v1/tokens", {"scopes": ["play"]}, Idempotency_Key="lost").json()["id"]
    rotated = ada.post(f"/v1/tokens/{named}/rotate").json()
    assert bearing(nobody, rotated["token"]).get("/v1/me").json()["player"]["id"] == ada.id


def test_an_account_has_at_most_fifty_tokens(ada: Person) -> None:
    for _ in range(49):
        made(ada)
    answer = ada.post("/v1/tokens", {"scopes": ["play"]})
    assert (answer.status_code, answer.json()["code"]) == (409, "too_many_tokens")
    ada.delete(f"/v1/tokens/{next(one for one, token in listed(ada).items() if not token['current'])}")
    made(ada)


def test_a_name_is_changed_for_everybody(ada: Person, url: str) -> None:
    bob = Person(url, "Bob")
    assert ada.patch("/v1/me", {"name": " Grace "}).json() == {
        "player": {"id": ada.id, "name": "Grace"},
        "scopes": ["host", "play"],
    }
    assert bob.get(f"/v1/players/{ada.id}").json()["name"] == "Grace"
    for name, status in (("", 400), (" ", 400), ("a\u200b", 409)):
        assert ada.patch("/v1/me", {"name": name}).status_code == status
    bob.http.close()
