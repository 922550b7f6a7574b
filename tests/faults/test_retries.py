"""A request with an Idempotency-Key happens once, and has one answer, however often and wherever it is sent."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from service.embedded import Embedded
from service.ids import key_of
from tests.faults.clients import Post, Sitting, at_once, kill, sitting
from tests.faults.ledger import audited, lines_of
from tests.served import Person, served

OwnStore = Callable[..., Embedded]
Made = Callable[[Sitting], Post]


def a_command(match: Sitting) -> Post:
    return match.move("once")


def a_table(match: Sitting) -> Post:
    return Post(match.people[0], "/v1/chinkway/tables", {"bots": ["anyone"]}, "once")


def a_seat(match: Sitting) -> Post:
    table = match.people[0].post("/v1/chinkway/tables").json()["table"]
    return Post(match.people[0], f"/v1/chinkway/tables/{table}/seats", {"nonce": "luck"}, "once")


KINDS = pytest.mark.parametrize("made", [a_command, a_table, a_seat])


def only(responses: list[httpx.Response]) -> bytes:
    """Return the one answer that all of these are."""
    assert {(response.status_code, response.content) for response in responses} == {(201, responses[0].content)}
    return responses[0].content


def happened(store: str, post: Post, answer: httpx.Response) -> int:
    """Count the entries that a keyed request has made."""
    table = answer.json()["table"] if "table" in answer.json() else post.path.split("/")[4]
    remembered = key_of(post.person.id, f"POST {post.path}", post.key or "")
    return sum(line.key == remembered for line in lines_of(store, table))


@KINDS
def test_a_hundred_equal_requests_at_once_are_one_entry_and_have_equal_answers(
    match: Sitting, other_url: str, valkey_url: str, made: Made
) -> None:
    post = made(match)
    answers = at_once([post, post.at(other_url)] * 50)
    only(answers)
    assert happened(valkey_url, post, answers[0]) == 1
    assert only([post.send(), post.at(other_url).send()]) == answers[0].content


@KINDS
def test_of_two_bodies_with_one_key_at_once_one_happens_and_the_other_is_told(
    match: Sitting, other_url: str, valkey_url: str, made: Made
) -> None:
    post = made(match)
    other = post._replace(body=match.legal(post.person)[1] if made is a_command else {})
    answers = at_once([post, other, post.at(other_url), other.at(other_url)] * 10)
    done = [answer for answer in answers if answer.status_code == 201]
    only(done)
    assert happened(valkey_url, post, done[0]) == 1
    assert Counter(answer.status_code for answer in answers) == {201: 20, 422: 20}
    assert {answer.json()["code"] for answer in answers if answer not in done} == {"key_reused"}


@KINDS
def test_the_answer_stays_when_the_table_has_moved_on_and_its_version_with_it(match: Sitting, made: Made) -> None:
    post = made(match)
    first = post.send()
    for _ in range(3):
        assert match.move().send().status_code == 201
    # The key is looked up first, so not even a version that is long over matters.
    strict = post if made is a_table else post._replace(only_at=1)
    assert only([first, post.send(), strict.send()]) == first.content


def test_a_refusal_is_not_remembered_and_the_key_is_free_for_what_comes_of_it(match: Sitting) -> None:
    move = match.move()
    waiting = next(person for person in match.people if person is not move.person)
    too_early = move._replace(person=waiting, key="mine")
    for _ in range(2):
        refused = too_early.send()
        assert (refused.status_code, refused.json()["code"]) == (409, "not_your_turn")
    while (move := match.move("mine")).person is not waiting:
        assert match.move().send().status_code == 201
    only([move.send(), move.send()])


def test_a_request_for_a_stale_version_is_not_remembered_either(match: Sitting) -> None:
    version = match.view()["version"]
    move = match.move("mine")._replace(only_at=version - 1)
    for _ in range(2):
        stale = move.send()
        assert (stale.status_code, stale.json()["version"], len(stale.json()["missed"])) == (412, version, 1)
    only([move._replace(only_at=version).send(), move._replace(only_at=version).send(), move.send()])


def test_the_keys_of_accounts_and_of_routes_never_meet(match: Sitting, valkey_url: str) -> None:
    opened = [Post(person, "/v1/chinkway/tables", {}, "1").send().json()["table"] for person in match.people[:3]]
    assert len(set(opened)) == 3
    for number, table in enumerate(opened):
        path = f"/v1/chinkway/tables/{table}/seats"
        seats = [Post(person, path, {}, "1").send().json()["seat"] for person in match.people]
        assert seats == [0, 1, 2, 3, 4], number
        move = Sitting(path.removesuffix("/seats"), match.people).move("1")
        assert happened(valkey_url, move, move.send()) == 1
        keys = [line.key for line in lines_of(valkey_url, table) if line.key is not None]
        assert len(set(keys)) == len(keys) == 7


def test_a_request_is_remembered_by_a_store_that_was_killed_and_by_a_new_worker(
    own_store: OwnStore, tmp_path: Path
) -> None:
    store = own_store()
    with served(store.url, tmp_path / "keys") as url, sitting(url, "chinkway", 5) as match:
        posts = [made(match) for made in (a_table, a_seat, a_command)]
        answers = [post.send().content for post in posts]
        kill(store)
        assert [post.send().content for post in posts] == answers
        with served(store.url, tmp_path / "keys") as again:
            assert [post.at(again).send().content for post in posts] == answers
    # Six for the match, a table for the first request, one with a seat for the second, a command for the third.
    assert sum(len(lines) for lines in audited(store.url).values()) == 6 + 1 + 2 + 1


def test_a_service_with_another_secret_opens_another_table(ada: Person, valkey_url: str, tmp_path: Path) -> None:
    post = Post(ada, "/v1/chinkway/tables", {}, "1")
    with served(valkey_url, tmp_path / "other") as stranger:
        assert post.send().json()["table"] != post.at(stranger).send().json()["table"]
