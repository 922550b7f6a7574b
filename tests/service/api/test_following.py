"""What goes with a page, what with lines and streams: a parameter that the form asked for has no use for is refused."""

import pytest

from service.api.eventstream import EVENT_STREAM, NDJSON
from tests.served import Person

JSON = "application/json"


@pytest.fixture
def paths(ada: Person) -> dict[str, str]:
    """Give the routes that answer in all three forms, by a word for each."""
    table = ada.post("/v1/chinkway/tables").json()["table"]
    return {"table": f"/v1/chinkway/tables/{table}/events", "inbox": "/v1/me/events", "lobby": "/v1/tables"}


@pytest.mark.parametrize("path", ["table", "inbox", "lobby"])
@pytest.mark.parametrize("accept", [NDJSON, EVENT_STREAM])
def test_only_a_page_has_a_limit(ada: Person, paths: dict[str, str], path: str, accept: str) -> None:
    refused = ada.get(f"{paths[path]}?limit=2", Accept=accept)
    assert (refused.status_code, refused.json()["field"]) == (400, "limit")
    assert accept in refused.json()["detail"]
    assert ada.get(f"{paths[path]}?limit=2", Accept=JSON).status_code == 200


def test_a_story_in_plain_text_has_none_either(ada: Person, paths: dict[str, str]) -> None:
    story = paths["table"].replace("/events", "/story")
    refused = ada.get(f"{story}?limit=2", Accept="text/plain")
    assert (refused.status_code, refused.json()["field"]) == (400, "limit")
    assert ada.get(f"{story}?limit=2").status_code == 200


@pytest.mark.parametrize("path", ["table", "inbox", "lobby"])
def test_a_page_of_json_is_not_followed(ada: Person, paths: dict[str, str], path: str) -> None:
    refused = ada.get(f"{paths[path]}?follow=true", Accept=JSON)
    assert (refused.status_code, refused.json()["field"]) == (400, "follow")


@pytest.mark.parametrize("accept", [NDJSON, JSON])
def test_changes_of_the_lobby_belong_to_what_goes_on(ada: Person, paths: dict[str, str], accept: str) -> None:
    refused = ada.get(f"{paths['lobby']}?since=0-0", Accept=accept)
    assert (refused.status_code, refused.json()["field"]) == (400, "since")


@pytest.mark.parametrize("accept", [NDJSON, EVENT_STREAM])
def test_pages_of_the_lobby_alone_follow_one_another(ada: Person, paths: dict[str, str], accept: str) -> None:
    ada.post("/v1/chinkway/tables")
    cursor = ada.get(f"{paths['lobby']}?limit=1").json()["next"]
    refused = ada.get(f"{paths['lobby']}?after={cursor}", Accept=accept)
    assert (refused.status_code, refused.json()["field"]) == (400, "after")
