"""Whoever races for a seat or a turn gets an answer, and no more of them win than there is room for."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.faults.clients import Post, Sitting, at_once, people, seated
from tests.faults.ledger import lines_of
from tests.laws.setups import TOY
from tests.served import Person, served

TABLES = "/v1/chinkway/tables"


@pytest.fixture(scope="module")
def workers(valkey_url: str, keys: Path) -> Iterator[tuple[str, str]]:
    """Give two servers that also know the game whose seats all answer at the same time."""
    with served(valkey_url, keys, TOY) as one, served(valkey_url, keys, TOY) as other:
        yield one, other


@pytest.fixture(scope="module")
def crowd(url: str) -> Iterator[list[Person]]:
    """Give fifty people with accounts."""
    with people(url, 50) as all_of_them:
        yield all_of_them


def opened(host: Person) -> str:
    """Open a table and return its path."""
    return f"{TABLES}/{host.post(TABLES).json()['table']}"


def test_fifty_who_join_at_once_fill_exactly_the_five_seats_and_all_are_answered(
    crowd: list[Person], other_url: str, valkey_url: str
) -> None:
    path = opened(crowd[0])
    joins = [Post(person, f"{path}/seats", {}) for person in crowd]
    answers = at_once(join.at(other_url) if number % 2 else join for number, join in enumerate(joins))
    assert Counter(answer.status_code for answer in answers) == {201: 5, 409: 45}
    assert sorted(answer.json()["seat"] for answer in answers if answer.status_code == 201) == [0, 1, 2, 3, 4]
    assert {answer.json()["reason"] for answer in answers if answer.status_code == 409} <= {"table_full", "not_open"}
    seats = crowd[0].get(path).json()["seats"]
    winners = [person.id for person, answer in zip(crowd, answers, strict=True) if answer.status_code == 201]
    assert sorted(seat["player"] for seat in seats) == sorted(winners)
    assert len(lines_of(valkey_url, path.rpartition("/")[2])) == 6


def test_one_account_that_joins_often_at_once_gets_one_seat(crowd: list[Person], other_url: str) -> None:
    path = opened(crowd[0])
    joins = [Post(crowd[1], f"{path}/seats", {"seat": number % 5}) for number in range(20)]
    answers = at_once([join.at(other_url) if number % 3 else join for number, join in enumerate(joins)])
    assert Counter(answer.status_code for answer in answers) == {201: 1, 409: 19}
    seats = crowd[0].get(path).json()["seats"]
    assert sum(seat is not None and seat["player"] == crowd[1].id for seat in seats) == 1


def test_of_two_who_race_for_one_seat_one_gets_it_and_the_other_is_told(crowd: list[Person], other_url: str) -> None:
    for number in range(5):
        path = opened(crowd[0])
        racers = crowd[2 * number : 2 * number + 2]
        posts = [Post(person, f"{path}/seats", {"seat": 3}) for person in racers]
        first, second = at_once([posts[0], posts[1].at(other_url)])
        assert {first.status_code, second.status_code} == {201, 409}
        loser = first if first.status_code == 409 else second
        assert (loser.json()["reason"], loser.json()["version"]) == ("seat_taken", 2)


def test_seats_that_answer_at_once_through_two_workers_are_all_taken(workers: tuple[str, str], valkey_url: str) -> None:
    rng = Random(5)
    with people(workers[0], 4) as all_of_them:
        match = seated("toy", all_of_them)
        for _ in range(12):
            moves = match.moves()
            # Both workers' caches are stale half of the time: each sees the other's decisions by losing to them.
            answers = at_once(move.at(rng.choice(workers)) for move in moves)
            assert [answer.status_code for answer in answers] == [201] * len(moves)
            versions = sorted(answer.json()["version"] for answer in answers)
            assert versions == list(range(versions[0], versions[0] + len(moves)))
        end_alike(match, workers, valkey_url)


def test_one_turn_answered_many_times_is_played_once_and_every_loser_learns_of_it(
    workers: tuple[str, str], valkey_url: str
) -> None:
    rng = Random(6)
    with people(workers[0], 5) as all_of_them:
        match = seated("chinkway", all_of_them)
        for _ in range(12):
            version = match.view()["version"]
            move = match.move()
            others = rng.sample(match.legal(move.person), min(3, len(match.legal(move.person))))
            posts = [move, *(move._replace(body=body) for body in others), *(move._replace(only_at=version),) * 2]
            answers = at_once(post.at(workers[number % 2]) for number, post in enumerate(posts * 2))
            assert sum(answer.status_code == 201 for answer in answers) == 1
            assert {answer.status_code for answer in answers} <= {201, 409, 412}
            for answer in answers:
                problem = answer.json()
                assert problem["version"] == version + 1
                assert answer.status_code != 409 or problem["legal"] is not None
                assert answer.status_code != 412 or [one["version"] for one in problem["missed"]] == [version + 1]
        end_alike(match, workers, valkey_url)


def end_alike(match: Sitting, workers: tuple[str, str], store: str) -> None:
    """Hold that both workers show everybody the same, and that it is what the log says."""
    lines = lines_of(store, match.table)
    for person in match.people:
        one, other = (person.get(f"{worker}{match.path}") for worker in workers)
        assert one.content == other.content
        assert (one.json()["version"], one.json()["head"]) == (len(lines), lines[-1].head)
