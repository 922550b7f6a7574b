"""A match as its players live it: five clients at once, each with its own seat's eyes and nothing else."""

from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

from tests.served import Person
from tests.service.api.conftest import Company, seated

DEALS = 5


def test_five_clients_play_a_match_to_a_result_that_all_of_them_see(url: str) -> None:
    with seated(url, {"options": {"deals": DEALS, "partners": "five"}}) as company:
        with ThreadPoolExecutor(5) as clients:
            views = list(clients.map(_played, company.people, range(5), [company.path] * 5))
        _holds_together(company, views)


def _holds_together(company: Company, views: list[dict[str, Any]]) -> None:
    """Hold that all have seen one match to its end, and that its events add up to what they saw."""
    public = [{name: view[name] for name in ("outcome", "scores", "places", "version", "head")} for view in views]
    assert public[0]["outcome"] == "finished"
    assert public == [public[0]] * 5
    decisions = [decision for page in _pages(company) for decision in page]
    assert [decision["version"] for decision in decisions] == list(range(1, public[0]["version"] + 1))
    events = [event for decision in decisions for event in decision["events"]]
    points = [event["points"] for event in events if event["type"] == "table.scored"]
    assert len(points) == DEALS
    assert [sum(deal) for deal in zip(*points, strict=True)] == public[0]["scores"]
    assert public[0]["places"] == [
        1 + sum(other > score for other in public[0]["scores"]) for score in public[0]["scores"]
    ]
    assert len(next(event for event in events if event["type"] == "table.opened")["orders"]) == 3 + DEALS


def _played(person: Person, seat: int, path: str) -> dict[str, Any]:
    """Play one seat by what it is shown, polling with the tag it has, to the end; return its last view."""
    rng, tag = Random(seat), ""
    view: dict[str, Any] = {"status": "playing", "to_act": []}
    while view["status"] == "playing":
        seen = person.get(path, If_None_Match=tag)
        if seen.status_code == 200:
            tag, view = seen.headers["ETag"], seen.json()
            assert view["you"] == seat
        if seat in view["to_act"]:
            legal = person.get(f"{path}/actions").json()["legal"]
            assert person.post(f"{path}/commands", rng.choice(legal)).status_code == 201
    return view


def _pages(company: Company) -> list[list[dict[str, Any]]]:
    pages: list[list[dict[str, Any]]] = []
    after: int | None = 0
    while after is not None:
        page = company.people[0].get(f"{company.path}/events?after={after}").json()
        pages.append(page["decisions"])
        after = page["next"]
    return pages
