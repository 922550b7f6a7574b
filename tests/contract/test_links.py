"""The links of the document are true: each leads from an answer to a request that is understood.

Every link is followed from a real answer, for every game; then schemathesis chains requests by them, with what it
makes up, and looks for what is still there after it was deleted, or not there after it was made.
"""

from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import httpx
import pytest
from hypothesis import HealthCheck, settings

from service.api.endpoint import Endpoint, Link
from service.api.examples import examples
from service.chance import Shuffles
from service.game import AnyGame
from service.parts import Sources
from tests.contract.api import API, ROUTES, SHIPPED, Case, Visitor
from tests.served import Person, served
from tests.sizes import sized

T = TypeVar("T")

SCENARIOS = sized(10, 20, 100)
NAMED = {route.name: route for route in ROUTES}


class Request(NamedTuple):
    """A request: which route, its parts by their names, its body."""

    route: Endpoint
    parts: dict[str, Any]
    body: Any

    def sent_by(self, person: Person) -> httpx.Response:
        """Send it."""
        path = {one.name: self.parts[one.name] for one in self.route.parameters if one.where == "path"}
        query = {name: value for name, value in self.parts.items() if name not in path}
        url = self.route.path.format(**path)
        return person.http.request(self.route.method, url, params=query, json=self.body)


class Unresolved(Exception):
    """The answer has nothing at the place that a link names."""


def resolved(expression: str, request: Request, answer: Any) -> Any:  # noqa: ANN401 any JSON
    """Return what a runtime expression stands for."""
    source, _, pointer = expression.partition("#")
    if source != "$response.body":
        return request.parts[expression.removeprefix("$request.path.")]
    value = answer
    for step in pointer.split("/")[1:]:
        try:
            value = value[int(step) if isinstance(value, list) else step]
        except (IndexError, KeyError):
            raise Unresolved(expression) from None
    return value


def followed(link: Link, request: Request, answer: Any) -> Request:  # noqa: ANN401 any JSON
    """Return the request that a link leads to; where it names no body, any that is shown of the route will do."""
    target = NAMED[link.to]
    parts = {name: resolved(value, request, answer) for name, value in link.parameters.items()}
    if link.body is not None:
        return Request(target, parts, resolved(link.body, request, answer))
    return Request(target, parts, examples(target)[0] if target.body else None)


def beginnings(game: AnyGame) -> Iterator[Request]:
    """Yield a request for each route that leads on and needs nothing from elsewhere; one seat of the table is free."""
    for route in ROUTES:
        if route.links and "{" not in route.path:
            opens = route.path == f"/v1/{game.name}/tables"
            body = {"bots": ["anyone"] * (game.seats.usual - 1)} if opens else None
            yield Request(route, {}, body or (examples(route)[0] if route.body else None))


@pytest.mark.parametrize("game", list(SHIPPED), ids=lambda game: game.name)
def test_every_link_leads_to_a_request_that_is_understood(url: str, game: AnyGame) -> None:
    of_others = {other.name for other in SHIPPED} - {game.name}
    left = {(route.name, link.to) for route in ROUTES for link in route.links if route.tag not in of_others}
    person = Person(url)
    with closing(person.http):
        for _ in range(100):  # who begins at a table is drawn by lot, and it must once be this person
            follow(deque(beginnings(game)), left, person)
    assert left == set()


def follow(waiting: deque[Request], left: set[tuple[str, str]], person: Person) -> None:
    """Follow from these requests on every link that is left, and take those off that led to something."""
    taken: set[tuple[str, str]] = set()
    while waiting and left:
        request = waiting.popleft()
        answer = request.sent_by(person)
        # A rule may say no; the request was understood.
        understood = answer.is_success or answer.status_code == 409 or "not_seated" in answer.text
        assert understood, (request, answer.text)
        for link in request.route.links if answer.is_success else ():
            step = (request.route.name, link.to)
            if step not in taken:
                with suppress(Unresolved):
                    waiting.append(followed(link, request, answer.json()))
                    taken.add(step)
                    left.discard(step)


class Unshuffled(Shuffles):
    """Packs that stay as they are: the same requests have the same answers, as the tester wants it."""

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:  # noqa: ARG002 whichever shuffle it is
        return tuple(pack)


def test_no_chain_of_requests_finds_a_fault(valkey_url: str, tmp_path: Path) -> None:
    """What ends the account or its token is left out: nothing could follow it."""
    lasting = API.exclude(path_regex="^/v1/me$", method="DELETE").exclude(path_regex="^/v1/tokens/")

    class Chain(lasting.as_state_machine()):  # type: ignore[misc] # a class made at run time
        def setup(self) -> None:
            self.visitor = Visitor(url)

        def call(self, case: Case, **_: object) -> Any:  # noqa: ANN401 as schemathesis has it
            return self.visitor.send_as_it_is(case)

        def teardown(self) -> None:
            self.visitor.close()

    size = settings(max_examples=SCENARIOS, stateful_step_count=8, suppress_health_check=list(HealthCheck))
    with served(valkey_url, tmp_path, sources=Sources(chances=lambda _: Unshuffled())) as url:
        Chain.run(settings=size)
