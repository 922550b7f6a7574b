"""Erasing one's account over HTTP."""

from tests.served import Person
from tests.service.api.conftest import Company


def test_an_erased_account_is_gone_for_everybody(company: Company) -> None:
    ada, bob = company.people[:2]
    second = ada.post("/v1/tokens", {"scopes": ["play"]}).json()["token"]
    opened = ada.post("/v1/chinkway/tables").headers["Location"]
    answer = ada.delete("/v1/me")
    assert (answer.status_code, answer.content) == (204, b"")
    for token in (ada.token, second):
        assert ada.get("/v1/me", Authorization=f"Bearer {token}").status_code == 401
    assert ada.delete("/v1/me").status_code == 401
    assert bob.get(f"/v1/players/{ada.id}").status_code == 404
    assert bob.get(opened).json()["outcome"] == "abandoned"


def test_the_table_goes_on_without_who_is_erased_and_keeps_an_id_that_nobody_can_name(company: Company) -> None:
    ada, bob = company.people[:2]
    ada.delete("/v1/me")
    view = bob.get(company.path).json()
    assert (view["status"], view["seats"][0]["player"], view["seats"][0]["resigned"]) == ("playing", ada.id, True)
    ids = "&".join(f"id={seat['player']}" for seat in view["seats"])
    named = bob.get(f"/v1/players?{ids}").json()["players"]
    assert [player["id"] for player in named] == [person.id for person in company.people[1:]]


def test_who_may_not_change_the_account_erases_nothing(ada: Person, nobody: Person) -> None:
    token = ada.post("/v1/tokens", {"scopes": ["play"]}).json()["token"]
    assert nobody.delete("/v1/me", Authorization=f"Bearer {token}").status_code == 403
    assert ada.get("/v1/me").status_code == 200
