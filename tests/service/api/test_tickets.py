"""Tickets over HTTP: each opens one stream once, and nobody reads of it."""

import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from service import games
from service.api.endpoint import Endpoint
from service.app import endpoints
from service.settings import NO_LIMITS
from tests.served import Person, served
from tests.service.api.conftest import Company

ROUTES = endpoints(games.find())
# That a WebSocket opens with one, by its handshake, is in sockets/test_opening.py.
STREAMS = [
    route
    for route in ROUTES
    if route.ticketed and 101 not in route.answers and route.tag in {"chinkway", "tables", "players"}
]
PAIRS = [(one, other) for one in STREAMS for other in STREAMS if one is not other or "{table}" in one.path]
"""Streams, and others than they: of tables, also those of two."""

OTHERS = [route for route in ROUTES if route.token and not route.ticketed and route.method == "GET"]
UNKNOWN = "evt_" + "a" * 43


def path_of(route: Endpoint, company: Company) -> str:
    return route.path.format(table=company.path.rpartition("/")[2], player="0" * 26, game="chinkway")


def ticket(person: Person, path: str) -> str:
    """Take a ticket for a path."""
    answer = person.post("/v1/tickets", {"path": path})
    assert (answer.status_code, answer.headers["Cache-Control"]) == (201, "no-store"), answer.text
    taken: str = answer.json()["ticket"]
    return taken


def opened(url: str, path: str, query: str = "", **headers: str) -> tuple[int, str | None]:
    """Open a stream, look no further than its head, and return its status and, of a problem, its code."""
    headers = {"Accept": "text/event-stream, */*;q=0.1", **headers}
    with closing(Person(url, None).http) as browser, browser.stream("GET", path + query, headers=headers) as answer:
        if answer.is_success:
            return answer.status_code, None
        return answer.status_code, json.loads(answer.read())["code"]


@pytest.fixture(params=STREAMS, ids=lambda route: route.name)
def stream(request: pytest.FixtureRequest, unmoved: Company) -> str:
    """Give the path of a stream that a ticket opens."""
    return path_of(request.param, unmoved)


def test_there_are_streams() -> None:
    assert STREAMS


def test_a_ticket_opens_its_stream_without_a_header(stream: str, unmoved: Company, url: str) -> None:
    assert opened(url, stream, f"?ticket={ticket(unmoved.people[1], stream)}") == (200, None)


def test_what_a_ticket_shows_is_what_its_token_may_see(unmoved: Company, url: str) -> None:
    """Each of two seats sees its own cards and not the other's."""
    path = f"{unmoved.path}/events"
    first, second = unmoved.people[:2]
    seen = []
    for person in (first, second):
        with closing(Person(url, None).http) as browser:
            answer = browser.get(f"{path}?ticket={ticket(person, path)}", headers={"Accept": "application/json"})
        assert answer.json() == person.get(path).json()
        seen.append(answer.content)
    assert seen[0] != seen[1]


def test_a_ticket_is_good_once(stream: str, unmoved: Company, url: str) -> None:
    query = f"?ticket={ticket(unmoved.people[1], stream)}"
    assert opened(url, stream, query) == (200, None)
    assert opened(url, stream, query) == (401, "unauthenticated")


def test_of_fifty_who_come_with_one_ticket_at_once_one_gets_in(stream: str, unmoved: Company, url: str) -> None:
    query = f"?ticket={ticket(unmoved.people[1], stream)}"
    with ThreadPoolExecutor(50) as rivals:
        came = list(rivals.map(lambda _: opened(url, stream, query)[0], range(50)))
    assert sorted(came) == [200] + [401] * 49


def test_a_worker_takes_the_tickets_of_another(unmoved: Company, valkey_url: str, tmp_path: Path) -> None:
    path = f"{unmoved.path}/events"
    with served(valkey_url, tmp_path / "keys") as other:
        assert opened(other, path, f"?ticket={ticket(unmoved.people[1], path)}") == (200, None)


@pytest.mark.parametrize(("one", "other"), PAIRS, ids=lambda route: route.name)
def test_a_ticket_opens_no_other_stream(one: Endpoint, other: Endpoint, unmoved: Company, url: str) -> None:
    stream, elsewhere = path_of(one, unmoved), path_of(other, unmoved)
    if elsewhere == stream:
        elsewhere = stream.replace(unmoved.path, unmoved.people[0].post("/v1/chinkway/tables").headers["Location"])
    query = f"?ticket={ticket(unmoved.people[1], stream)}"
    assert opened(url, elsewhere, query) == (401, "unauthenticated")
    assert opened(url, stream, query) == (200, None)


@pytest.mark.parametrize("route", OTHERS, ids=lambda route: route.name)
def test_where_there_is_no_stream_a_ticket_is_no_parameter(route: Endpoint, unmoved: Company, url: str) -> None:
    path = f"{unmoved.path}/events"
    query = f"?ticket={ticket(unmoved.people[1], path)}"
    assert opened(url, path_of(route, unmoved), query) == (400, "malformed")
    assert opened(url, path, query) == (200, None)


def test_a_ticket_is_none_for_a_table_that_is_written_otherwise(unmoved: Company, url: str) -> None:
    path = f"{unmoved.path}/events"
    query = f"?ticket={ticket(unmoved.people[1], path)}"
    for spelling in (f"{path}/", path.replace("tables", "%74ables"), f"/{path}"):
        assert opened(url, spelling, query) == (404, "not_found")
    assert opened(url, path, query) == (200, None)


@pytest.mark.parametrize("given", [UNKNOWN, "", "evf_" + "a" * 43, "%C3%A4", "a" * 7_000])
def test_what_was_never_a_ticket_opens_nothing(stream: str, url: str, given: str) -> None:
    assert opened(url, stream, f"?ticket={given}") == (401, "unauthenticated")


def test_a_token_is_no_ticket(stream: str, unmoved: Company, url: str) -> None:
    assert opened(url, stream, f"?ticket={unmoved.people[1].token}") == (401, "unauthenticated")


def test_a_ticket_and_a_token_together_are_malformed_and_spend_nothing(stream: str, unmoved: Company, url: str) -> None:
    person = unmoved.people[1]
    query = f"?ticket={ticket(person, stream)}"
    for header in (f"Bearer {person.token}", "Bearer nonsense", "Basic YTpi"):
        assert opened(url, stream, query, Authorization=header) == (400, "malformed")
    assert opened(url, stream, f"{query}&{query[1:]}") == (400, "malformed")
    assert opened(url, stream, query) == (200, None)


def test_a_ticket_ends_with_the_token_that_asked(stream: str, unmoved: Company, url: str) -> None:
    person = unmoved.people[1]
    other = Person(url, None)
    made = person.post("/v1/tokens", {"scopes": ["play"]}).json()
    other.http.headers["Authorization"] = f"Bearer {made['token']}"
    query = f"?ticket={ticket(other, stream)}"
    assert person.delete(f"/v1/tokens/{made['id']}").status_code == 204
    assert opened(url, stream, query) == (401, "unauthenticated")
    other.http.close()


def test_a_stream_that_a_ticket_opened_ends_with_the_token_that_asked(stream: str, unmoved: Company, url: str) -> None:
    person = unmoved.people[1]
    with closing(Person(url, None).http) as browser:
        made = person.post("/v1/tokens", {"scopes": ["play"]}).json()
        asking = {"Authorization": f"Bearer {made['token']}"}
        taken = browser.post("/v1/tickets", json={"path": stream}, headers=asking).json()["ticket"]
        accept = {"Accept": "text/event-stream"}
        with browser.stream("GET", f"{stream}?ticket={taken}", headers=accept) as answer:
            sent = answer.iter_raw()
            assert answer.headers["Content-Type"] == "text/event-stream"
            assert next(sent)
            assert person.delete(f"/v1/tokens/{made['id']}").status_code == 204
            assert b"event: ended" not in b"".join(sent)


def test_a_ticket_ends_with_its_account(stream: str, url: str) -> None:
    person = Person(url)
    query = f"?ticket={ticket(person, stream)}"
    assert person.delete("/v1/me").status_code == 204
    assert opened(url, stream, query) == (401, "unauthenticated")
    person.http.close()


def test_a_ticket_of_any_token_is_given_and_sees_no_more_than_that(unmoved: Company, url: str) -> None:
    """A token of no scope looks on; so does its ticket."""
    host = unmoved.people[0]
    path = f"{unmoved.path}/events"
    with closing(Person(url, None).http) as onlooker:
        token = host.post("/v1/tokens", {"scopes": []}).json()["token"]
        onlooker.headers["Authorization"] = f"Bearer {token}"
        assert onlooker.post("/v1/tickets", json={"path": path}).status_code == 201


def test_a_ticket_counts_as_a_request_and_so_does_its_use(valkey_url: str, tmp_path: Path, unmoved: Company) -> None:
    path = f"{unmoved.path}/events"
    with served(valkey_url, tmp_path / "keys", limits=NO_LIMITS._replace(requests=1)) as slow:
        person = Person(slow)
        query = f"?ticket={ticket(person, path)}"
        assert opened(slow, path, query)[0] == 200
        assert person.post("/v1/tickets", {"path": path}).status_code == 429
        person.http.close()


@pytest.mark.parametrize(
    "path",
    [
        "/v1/me",
        "/v1/tickets",
        "/v1/nonesuch",
        "/v1/nonesuch/tables/00000000000000000000000000/events",
        "/v1/me/events/",
    ],
)
def test_where_there_is_no_stream_there_is_no_ticket(ada: Person, path: str) -> None:
    answer = ada.post("/v1/tickets", {"path": path})
    assert (answer.status_code, answer.json()["code"]) == (409, "no_stream")


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "/path"),
        ({"path": ""}, "/path"),
        ({"path": 1}, "/path"),
        ({"path": "/metrics"}, "/path"),
        ({"path": "/v1/chinkway/tables/00000000000000000000000000/events?after=1"}, "/path"),
        ({"path": "/v1/chinkway/tables/%30/events"}, "/path"),
        ({"path": "https://here/v1/me/events"}, "/path"),
        ({"path": "/v1/" + "a" * 200}, "/path"),
        ({"path": "/v1/me/events", "token": "evf_"}, "/token"),
    ],
)
def test_a_ticket_for_what_is_no_path_is_malformed(ada: Person, body: object, field: str) -> None:
    answer = ada.post("/v1/tickets", body)
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_a_ticket_takes_a_token(nobody: Person, unmoved: Company) -> None:
    answer = nobody.post("/v1/tickets", {"path": f"{unmoved.path}/events"})
    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")


def test_no_problem_repeats_a_ticket(stream: str, unmoved: Company, url: str) -> None:
    taken = ticket(unmoved.people[1], stream)
    for query in (f"?ticket={taken}x", f"?ticket={taken}&nonesuch=1", f"?after=x&ticket={taken}", f"?ticket={taken}"):
        with closing(Person(url, None).http) as browser:
            answer = browser.get(stream + query)
        assert answer.status_code in {400, 401}, query
        assert taken not in answer.text + str(answer.headers)
