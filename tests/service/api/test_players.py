"""The routes of players."""

import pytest

from tests.served import Person, served


def test_signing_up_gives_an_account_and_a_token_that_speaks_for_it(nobody: Person) -> None:
    answer = nobody.post("/v1/players", {"name": "  Ada\u0301 "})
    welcome = answer.json()
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store")
    assert welcome["player"]["name"] == "Ad\u00e1"
    assert len(welcome["token"]) == 47
    me = nobody.get("/v1/me", Authorization=f"Bearer {welcome['token']}").json()
    assert me == {"player": welcome["player"], "scopes": ["host", "play"]}


@pytest.mark.parametrize("name", ["a\u0000b", "a\nb", "\u202eevil", "\u200b", "a\ue000", "\u3164", "\U0001d160" * 64])
def test_a_name_that_nobody_could_read_is_refused(nobody: Person, name: str) -> None:
    answer = nobody.post("/v1/players", {"name": name})
    assert (answer.status_code, answer.json()["code"]) == (409, "name_unreadable")


@pytest.mark.parametrize("name", ["", " ", "x" * 65, 5, None])
def test_a_name_of_another_length_or_type_is_malformed(nobody: Person, name: object) -> None:
    answer = nobody.post("/v1/players", {"name": name})
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (400, "malformed", "/name")


def test_names_come_in_the_order_asked_for(ada: Person, url: str) -> None:
    bob = Person(url, "Bob")
    found = ada.get(f"/v1/players?id={bob.id}&id={ada.id}").json()
    assert found == {"players": [{"id": bob.id, "name": "Bob"}, {"id": ada.id, "name": "Ada"}]}
    assert ada.get(f"/v1/players/{bob.id}").json() == {"id": bob.id, "name": "Bob"}
    bob.http.close()


def test_players_that_are_not_there_are_not_found(ada: Person) -> None:
    for path in ("/v1/players/nonsense", f"/v1/players/{'0' * 26}", f"/v1/players?id={ada.id}&id=nonsense"):
        assert ada.get(path).status_code == 404, path


def test_who_is_not_there_is_left_out_of_the_names_of_many(ada: Person) -> None:
    answer = ada.get(f"/v1/players?id={'0' * 26}&id={ada.id}")
    assert answer.json() == {"players": [{"id": ada.id, "name": "Ada"}]}


def test_at_most_a_hundred_names_are_asked_for_at_once(ada: Person) -> None:
    assert ada.get("/v1/players").status_code == 400
    assert ada.get("/v1/players?" + "&".join(f"id={ada.id}" for _ in range(101))).status_code == 400
    assert len(ada.get("/v1/players?" + "&".join(f"id={ada.id}" for _ in range(100))).json()["players"]) == 100


def test_an_unknown_token_speaks_for_nobody(nobody: Person) -> None:
    answer = nobody.get("/v1/me", Authorization="Bearer evf_" + "a" * 43)
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


def test_sign_up_can_be_closed(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    with served(valkey_url, tmp_path_factory.mktemp("keys"), sign_up=False) as url:
        closed = Person(url, None)
        answer = closed.post("/v1/players", {"name": "Ada"})
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        closed.http.close()


@pytest.mark.parametrize("space", [*"\t\n\x0b\x0c\r\x1c\x1f \x85\xa0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff"])
def test_a_name_is_more_than_space(nobody: Person, space: str) -> None:
    assert nobody.post("/v1/players", {"name": space * 3}).status_code == 400
