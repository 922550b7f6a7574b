"""The routes of tables, met over HTTP."""

import json
from random import Random
from typing import Any

import pytest

from tests.served import Person
from tests.service.api.conftest import Company

ABSENT = "/v1/chinkway/tables/00000000000000000000000000"


def test_opening_a_table_answers_with_its_view_and_its_place(ada: Person) -> None:
    answer = ada.post("/v1/chinkway/tables", {"options": {"aces": "court"}})
    view = answer.json()
    assert answer.status_code == 201
    assert answer.headers["Location"] == f"/v1/chinkway/tables/{view['table']}"
    assert answer.headers["ETag"] == '"1"'
    assert (view["status"], view["you"], view["version"], view["ruleset"]) == ("open", None, 1, "chinkway/1")
    assert view["options"]["aces"] == "court"
    assert view["options"]["deals"] == 10
    assert [seat["player"] for seat in view["seats"]] == [None] * 5


def test_options_that_contradict_each_other_are_refused(ada: Person) -> None:
    answer = ada.post("/v1/chinkway/tables", {"options": {"deals": 5}})
    assert answer.status_code == 409
    assert answer.json()["code"] == answer.json()["reason"] == "options_conflict"


def test_a_number_of_seats_that_the_game_does_not_have_is_refused(ada: Person) -> None:
    assert ada.post("/v1/chinkway/tables", {"seats": 4}).json()["code"] == "seats_out_of_range"


def test_bots_take_the_highest_seats_when_the_table_opens(ada: Person) -> None:
    view = ada.post("/v1/chinkway/tables", {"bots": ["anyone", "anyone"]}).json()
    assert [seat["player"] for seat in view["seats"]] == [None, None, None, "bot:anyone/1#3", "bot:anyone/1#4"]
    assert [seat["bot"] for seat in view["seats"]] == [None, None, None, "anyone/1", "anyone/1"]


def test_an_unknown_bot_is_refused(ada: Person) -> None:
    assert ada.post("/v1/chinkway/tables", {"bots": ["nobody"]}).json()["code"] == "no_such_bot"


def test_the_last_seat_taken_starts_play(company: Company) -> None:
    view = company.people[4].get(company.path).json()
    assert (view["status"], view["you"], view["version"], view["turn"]) == ("playing", 4, 6, 6)
    assert len(view["hand"]) in (10, 12)


def test_a_seat_without_a_number_is_the_lowest_free_one(ada: Person, url: str) -> None:
    path = _opened(ada)
    ada.post(f"{path}/seats", {"seat": 0})
    other = Person(url)
    assert other.post(f"{path}/seats").json()["seat"] == 1
    other.http.close()


def test_an_account_has_one_seat(ada: Person) -> None:
    path = _opened(ada)
    assert ada.post(f"{path}/seats").status_code == 201
    again = ada.post(f"{path}/seats")
    assert (again.status_code, again.json()["code"]) == (409, "already_seated")


def test_who_left_may_come_back_to_the_same_seat_alone(ada: Person) -> None:
    path = _opened(ada)
    ada.post(f"{path}/seats", {"seat": 2})
    assert ada.delete(f"{path}/seats/me").json()["events"][0]["type"] == "table.seat_left"
    assert ada.post(f"{path}/seats", {"seat": 3}).json()["code"] == "already_seated"
    assert ada.post(f"{path}/seats").json()["seat"] == 2


def test_a_seat_that_is_taken_or_missing_is_refused(ada: Person, url: str) -> None:
    path = _opened(ada)
    ada.post(f"{path}/seats", {"seat": 0})
    other = Person(url)
    assert other.post(f"{path}/seats", {"seat": 0}).json()["code"] == "seat_taken"
    assert other.post(f"{path}/seats", {"seat": 7}).json()["code"] == "no_such_seat"
    other.http.close()


@pytest.mark.parametrize(("body", "bots"), [({}, 2), ({"seats": 5}, 4), ({"seats": 2}, 1), ({"bots": ["anyone"]}, 1)])
def test_a_rival_takes_all_seats_but_one_where_nothing_is_said_of_bots(
    ada: Person, body: dict[str, Any], bots: int
) -> None:
    view = ada.post("/v1/kowah/tables", body).json()
    name = body.get("bots", ["steady"])[0]
    seated = [seat["bot"].partition("/")[0] if seat["bot"] else None for seat in view["seats"]]
    assert seated == [None] * (body.get("seats", 3) - bots) + [name] * bots
    assert ada.get("/v1/games/kowah").json()["rival"] == "steady"


def test_one_post_and_one_seat_start_a_game_against_two_bots(ada: Person) -> None:
    path = f"/v1/kowah/tables/{ada.post('/v1/kowah/tables', {}).json()['table']}"
    ada.post(f"{path}/seats", {})
    assert ada.get(path).json()["status"] == "playing"


def test_nobody_is_seated_where_a_table_of_a_game_with_a_rival_is_to_have_no_bots(ada: Person) -> None:
    seats = ada.post("/v1/kowah/tables", {"bots": []}).json()["seats"]
    assert [seat["player"] for seat in seats] == [None, None, None]


def test_the_host_seats_bots_and_nobody_else_does(ada: Person, url: str) -> None:
    path = _opened(ada)
    assert ada.post(f"{path}/seats", {"bot": "anyone", "seat": 3}).json()["seat"] == 3
    other = Person(url)
    refused = other.post(f"{path}/seats", {"bot": "anyone"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_host")
    other.http.close()


def test_a_bot_is_seated_without_a_nonce(ada: Person) -> None:
    assert ada.post(f"{_opened(ada)}/seats", {"bot": "anyone", "nonce": "n"}).json()["code"] == "bot_takes_no_nonce"


def test_nobody_leaves_a_table_in_play(company: Company) -> None:
    assert company.people[1].delete(f"{company.path}/seats/me").json()["code"] == "not_open"


def test_the_host_can_start_only_with_enough_seats(ada: Person) -> None:
    path = _opened(ada, {"start": "host"})
    ada.post(f"{path}/seats")
    refused = ada.post(f"{path}/start")
    assert (refused.status_code, refused.json()["code"]) == (409, "seats_missing")


def test_the_host_starts_a_table_that_waits_for_it(ada: Person) -> None:
    path = _opened(ada, {"start": "host", "bots": ["anyone"] * 4})
    ada.post(f"{path}/seats")
    assert ada.get(path).json()["status"] == "open"
    started = ada.post(f"{path}/start")
    assert started.status_code == 201
    assert started.json()["events"][0] == {"type": "table.started", "seats": [0, 1, 2, 3, 4]}
    assert ada.get(path).json()["status"] == "playing"


def test_the_host_may_abandon_a_table_before_play_and_its_seed_opens(ada: Person) -> None:
    path = _opened(ada)
    ended, opened = ada.post(f"{path}/commands", {"type": "table.abandon"}).json()["events"]
    assert (ended["type"], ended["outcome"]) == ("table.ended", "abandoned")
    assert (opened["type"], opened["orders"]) == ("table.opened", [])
    assert len(opened["seed"]) == 64
    assert ada.get(path).json()["status"] == "ended"


def test_a_view_that_is_known_is_not_sent_again(company: Company) -> None:
    person = company.people[0]
    tag = person.get(company.path).headers["ETag"]
    known = person.get(company.path, If_None_Match=tag)
    assert (known.status_code, known.content, known.headers["ETag"]) == (304, b"", tag)
    company.move(Random(0))
    assert person.get(company.path, If_None_Match=tag).status_code == 200


def test_a_view_can_be_had_as_it_was_at_any_version(company: Company) -> None:
    person = company.people[2]
    views = [person.get(company.path).json()]
    for _ in range(5):
        company.move(Random(1))
        views.append(person.get(company.path).json())
    assert [person.get(f"{company.path}?at={view['version']}").json() for view in views] == views
    beyond = person.get(f"{company.path}?at={views[-1]['version'] + 1}")
    assert (beyond.status_code, beyond.json()["code"]) == (404, "not_found")


def test_there_is_no_view_before_the_first_version(company: Company) -> None:
    refused = company.people[0].get(f"{company.path}?at=0")
    assert (refused.status_code, refused.json()["field"]) == (400, "at")


def test_whoever_must_not_act_is_refused_and_told_why(company: Company) -> None:
    waiting = next(person for person in company.people if person is not company.mover)
    refused = waiting.post(f"{company.path}/commands", {"type": "chinkway.declare", "trump": "S"})
    assert refused.status_code == 409
    assert refused.headers["Content-Type"] == "application/problem+json"
    assert refused.json()["reason"] == "not_your_turn"
    assert refused.json()["version"] == 6
    assert refused.json()["legal"] == []


def test_a_refusal_lists_what_would_be_legal(company: Company) -> None:
    mover = company.mover
    refused = mover.post(f"{company.path}/commands", {"type": "chinkway.declare", "trump": "S"}).json()
    assert refused["reason"] == "not_now"
    assert refused["legal"] == company.legal(mover)


def test_a_command_for_a_turn_that_is_over_is_refused(company: Company) -> None:
    mover, legal = company.mover, company.legal(company.mover)
    stale = legal[0] | {"turn": legal[0]["turn"] - 1}
    refused = mover.post(f"{company.path}/commands", stale)
    assert (refused.status_code, refused.json()["code"]) == (409, "turn_over")


def test_a_strict_command_at_another_version_is_told_what_it_missed(company: Company) -> None:
    company.move(Random(2))
    mover = company.mover
    stale = mover.post(f"{company.path}/commands", company.legal(mover)[0], If_Match='"5"')
    assert (stale.status_code, stale.json()["code"], stale.json()["version"]) == (412, "stale", 7)
    assert [decision["version"] for decision in stale.json()["missed"]] == [6, 7]
    assert mover.post(f"{company.path}/commands", company.legal(mover)[0], If_Match='"7"').status_code == 201


def test_a_command_answers_with_the_view_if_that_is_preferred(company: Company) -> None:
    mover = company.mover
    answer = mover.post(f"{company.path}/commands", company.legal(mover)[0], Prefer="return=representation")
    assert answer.headers["Preference-Applied"] == "return=representation"
    assert answer.json()["view"] == mover.get(company.path).json()


def test_a_repeated_command_with_its_key_happens_once_and_is_answered_alike(company: Company) -> None:
    mover = company.mover
    body = company.legal(mover)[0]
    headers = {"Idempotency_Key": "a-key", "Prefer": "return=representation"}
    first = mover.post(f"{company.path}/commands", body, **headers)
    company.move(Random(3))
    again = mover.post(f"{company.path}/commands", body, **headers)
    assert (again.status_code, again.json()) == (first.status_code, first.json())
    assert mover.get(company.path).json()["version"] == first.json()["version"] + 1


def test_a_key_with_another_body_is_refused(company: Company) -> None:
    mover = company.mover
    one, other, *_ = company.legal(mover)
    assert mover.post(f"{company.path}/commands", one, Idempotency_Key="k").status_code == 201
    reused = mover.post(f"{company.path}/commands", other, Idempotency_Key="k")
    assert (reused.status_code, reused.json()["code"]) == (422, "key_reused")


def test_a_key_of_a_refused_command_is_not_remembered(company: Company) -> None:
    mover = company.mover
    wrong = mover.post(f"{company.path}/commands", {"type": "chinkway.decline"}, Idempotency_Key="k")
    assert wrong.status_code == 409
    assert mover.post(f"{company.path}/commands", company.legal(mover)[0], Idempotency_Key="k").status_code == 201


def test_a_keyed_table_is_opened_once(ada: Person) -> None:
    first = ada.post("/v1/chinkway/tables", {"bots": ["anyone"]}, Idempotency_Key="t")
    again = ada.post("/v1/chinkway/tables", {"bots": ["anyone"]}, Idempotency_Key="t")
    assert again.json() == first.json()
    other = ada.post("/v1/chinkway/tables", {"bots": []}, Idempotency_Key="t")
    assert (other.status_code, other.json()["code"]) == (422, "key_reused")


def test_a_keyed_table_has_the_answer_of_then_for_a_host_who_has_sat_down_since(ada: Person) -> None:
    first = ada.post("/v1/chinkway/tables", Idempotency_Key="t")
    ada.post(f"/v1/chinkway/tables/{first.json()['table']}/seats")
    again = ada.post("/v1/chinkway/tables", Idempotency_Key="t")
    assert (again.status_code, again.json()) == (201, first.json())


def test_a_look_back_shows_what_the_seat_held_today_saw(ada: Person) -> None:
    path = _opened(ada, {"bots": ["anyone"] * 4})
    ada.post(f"{path}/seats")
    assert ada.get(f"{path}?at=1").json()["you"] == 0


def test_a_look_back_has_no_tag(ada: Person) -> None:
    path = _opened(ada)
    assert "ETag" not in ada.get(f"{path}?at=1", If_None_Match='"1"').headers


def test_who_resigned_looks_on_as_a_spectator(company: Company) -> None:
    person = company.people[1]
    person.post(f"{company.path}/commands", {"type": "table.resign"})
    view = person.get(company.path).json()
    assert (view["you"], view["hand"], view["seats"][1]["resigned"]) == (None, None, True)
    assert _dealt(person.get(f"{company.path}/events").json()["decisions"]) == [None] * 5
    refused = person.post(f"{company.path}/commands", {"type": "table.resign"})
    assert (refused.status_code, refused.json()["code"]) == (409, "resigned")


def test_a_bot_is_looked_for_only_at_a_table_that_is_there(ada: Person) -> None:
    assert ada.post(f"{ABSENT}/seats", {"bot": "nobody"}).status_code == 404
    refused = ada.post(f"{_opened(ada)}/seats", {"bot": "nobody"}).json()
    assert (refused["code"], refused["version"]) == ("no_such_bot", 1)


def test_a_view_is_for_its_viewer_alone(company: Company) -> None:
    answer = company.people[0].get(company.path)
    assert answer.headers["Cache-Control"] == "private, no-cache"
    assert answer.headers["Vary"] == "Authorization, Accept"


def test_keys_of_two_accounts_have_nothing_to_do_with_each_other(ada: Person, url: str) -> None:
    bob = Person(url, "Bob")
    tables = {person.post("/v1/chinkway/tables", Idempotency_Key="t").json()["table"] for person in (ada, bob)}
    assert len(tables) == 2
    bob.http.close()


def test_a_keyed_seat_is_taken_once(ada: Person) -> None:
    path = _opened(ada)
    first = ada.post(f"{path}/seats", {"nonce": "mine"}, Idempotency_Key="s")
    again = ada.post(f"{path}/seats", {"nonce": "mine"}, Idempotency_Key="s")
    assert (first.status_code, first.json()) == (again.status_code, again.json())


def test_actions_list_complete_bodies_and_say_why_the_rest_is_refused(company: Company) -> None:
    actions = company.mover.get(f"{company.path}/actions").json()
    assert (actions["complete"], actions["open"], actions["turn"]) == (True, [], 6)
    assert len(actions["legal"]) == 66
    assert all(body["type"] == "chinkway.discard" and body["turn"] == 6 for body in actions["legal"])
    assert actions["refused"] == [
        {"type": f"chinkway.{kind}", "reason": "not_now"} for kind in ("declare", "play", "capture", "decline")
    ]


def test_a_spectator_has_no_actions(company: Company, ada: Person) -> None:
    actions = ada.get(f"{company.path}/actions").json()
    assert (actions["seat"], actions["legal"], actions["open"], actions["refused"]) == (None, [], [], [])


def test_a_spectator_sees_no_hand_and_commands_nothing(company: Company, ada: Person) -> None:
    view = ada.get(company.path).json()
    assert (view["you"], view["hand"]) == (None, None)
    refused = ada.post(f"{company.path}/commands", {"type": "table.resign"})
    assert (refused.status_code, refused.json()["code"]) == (403, "not_seated")


def test_events_come_in_pages(company: Company) -> None:
    person = company.people[0]
    whole = person.get(f"{company.path}/events").json()
    assert [decision["version"] for decision in whole["decisions"]] == [1, 2, 3, 4, 5, 6]
    assert whole["next"] is None
    first = person.get(f"{company.path}/events?limit=4").json()
    rest = person.get(f"{company.path}/events?limit=4&after={first['next']}").json()
    assert first["decisions"] + rest["decisions"] == whole["decisions"]
    assert rest["next"] is None


def test_a_page_that_ends_at_the_newest_version_says_so(company: Company) -> None:
    assert company.people[0].get(f"{company.path}/events?limit=6").json()["next"] is None


def test_events_come_one_a_line(company: Company) -> None:
    person = company.people[0]
    answer = person.get(f"{company.path}/events", Accept="application/x-ndjson")
    assert answer.headers["Content-Type"] == "application/x-ndjson"
    lines = [json.loads(line) for line in answer.text.splitlines()]
    assert lines == person.get(f"{company.path}/events").json()["decisions"]


def test_events_show_a_hand_to_its_seat_alone(company: Company) -> None:
    hands = [_dealt(person.get(f"{company.path}/events").json()["decisions"]) for person in company.people]
    for seat, seen in enumerate(hands):
        assert [hand is not None for hand in seen] == [other == seat for other in range(5)]


def test_the_seed_and_every_order_stay_sealed_while_play_goes_on(company: Company) -> None:
    events = _events(company.people[0].get(f"{company.path}/events").json()["decisions"])
    sealed = [event for event in events if event["type"] in ("table.seeded", "table.shuffled")]
    assert len(sealed) == 5
    assert all(event.get("seed") is None and event.get("order") is None for event in sealed)


def test_a_match_goes_on_without_who_resigned_and_ranks_them_last(company: Company) -> None:
    rng = Random(4)
    assert company.people[3].post(f"{company.path}/commands", {"type": "table.resign"}).status_code == 201
    view: dict[str, Any] = company.people[0].get(company.path).json()
    while view["status"] == "playing":
        assert 3 not in view["to_act"]
        company.move(rng)
        view = company.people[0].get(company.path).json()
    assert view["outcome"] == "finished"
    assert view["places"][3] == 5


def test_when_one_seat_is_left_the_table_ends_at_once_and_everything_opens(company: Company) -> None:
    for person in company.people[:3]:
        assert person.post(f"{company.path}/commands", {"type": "table.resign"}).status_code == 201
    last = company.people[3].post(f"{company.path}/commands", {"type": "table.resign"}).json()
    assert last["events"][0] == {"type": "table.resigned", "seat": 3}
    assert last["events"][1] == {"type": "table.ended", "outcome": "finished", "places": [5, 4, 3, 2, 1]}
    assert last["events"][-1]["type"] == "table.opened"
    after = company.people[4].post(f"{company.path}/commands", {"type": "table.resign"})
    assert (after.status_code, after.json()["code"]) == (409, "ended")


def test_tables_and_ids_that_are_not_there_are_not_found(ada: Person) -> None:
    for path in (ABSENT, "/v1/chinkway/tables/nonsense", f"{ABSENT}/events", f"{ABSENT}/actions"):
        missing = ada.get(path)
        assert (missing.status_code, missing.json()["code"]) == (404, "not_found"), path
    assert ada.post(f"{ABSENT}/commands", {"type": "table.resign"}).status_code == 404
    assert ada.post("/v1/bridge/tables").status_code == 404


def _opened(person: Person, body: dict[str, Any] | None = None) -> str:
    return f"/v1/chinkway/tables/{person.post('/v1/chinkway/tables', body).json()['table']}"


def _events(decisions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [event for decision in decisions for event in decision["events"]]


def _dealt(decisions: list[dict[str, Any]]) -> list[list[str] | None]:
    (dealt,) = (event for event in _events(decisions) if event["type"] == "chinkway.dealt")
    hands: list[list[str] | None] = dealt["hands"]
    return hands
