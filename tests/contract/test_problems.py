"""Every problem that the document and its page list can be met, and is as they say."""

import re

import httpx
import pytest

from service.api import problems
from service.api.endpoint import Endpoint
from service.errors import (
    AlreadyCreated,
    ArchiveAway,
    Archived,
    Busy,
    Damaged,
    Forbidden,
    HeadersTooLarge,
    KeyReused,
    Malformed,
    NoRoom,
    NoStream,
    NotFound,
    Obstacle,
    Overloaded,
    Stale,
    StoreDown,
    TimedOut,
    TooLarge,
    TooMany,
    TooManyStreams,
    TooManyTables,
    TooManyTokens,
    Unacceptable,
    Unauthenticated,
    Unconfirmed,
    Unreadable,
    UnreadableText,
    Unsupported,
    UpgradeRequired,
)
from service.game import Refused
from tests.contract.api import ROUTES, SHIPPED
from tests.documented import documented
from tests.tree import tracked

CODES = {*problems.codes(), *(code for game in SHIPPED for code in problems.reasons(game.reasons))}
TOLD = [path.read_text(encoding="utf-8") for path in tracked("tests/*.py")]
ID = "zwyrd6z1rv0whe6m1110rdv1ew"

OBSTACLES: list[Obstacle] = [
    AlreadyCreated(ID),
    ArchiveAway("The bucket does not answer."),
    Archived(),
    Busy(),
    Damaged("The log ends in the middle."),
    Forbidden("The token lacks a scope."),
    HeadersTooLarge("Too much."),
    KeyReused(),
    Malformed("Not this.", "/" + "x" * 2_000),
    NoRoom(),
    NoStream(),
    NotFound(),
    Overloaded(),
    Stale(41, 42),
    StoreDown("It does not answer."),
    TimedOut("Too slow."),
    TooLarge("x" * 2_000),
    TooMany("Too often.", "requests", 200, 1, 1),
    TooManyTables(100),
    TooManyStreams(256),
    TooManyTokens(50),
    Unacceptable("Not that."),
    Unauthenticated("Who?"),
    Unconfirmed("table:" + ID, 42),
    Unreadable(),
    UnreadableText(),
    Unsupported("Not so."),
    UpgradeRequired(),
]


def of(kind: type[Obstacle]) -> str:
    return problems.STATUS[kind][1]


@pytest.mark.parametrize("code", sorted(CODES))
def test_some_test_names_the_problem_that_it_provokes(code: str) -> None:
    quoted = re.compile(rf"[\"']{code}[\"']")
    constructed = {of(type(obstacle)) for obstacle in OBSTACLES}
    assert code in constructed or any(quoted.search(text) for text in TOLD)


def test_every_obstacle_is_tried_here() -> None:
    assert {type(obstacle) for obstacle in OBSTACLES} == {kind for kind in problems.STATUS if kind not in REFUSALS}


REFUSALS = {kind for kind in problems.STATUS if issubclass(kind, Refused)}


@pytest.mark.parametrize("obstacle", OBSTACLES, ids=lambda obstacle: type(obstacle).__name__)
def test_an_obstacle_is_told_as_the_document_says_wherever_it_is_met(obstacle: Obstacle) -> None:
    told = problems.response_to(obstacle)
    met = [route for route in ROUTES if told.status_code in route.errors or told.status_code in {408, 413, 431}]
    assert met
    for route in met:
        if not isinstance(obstacle, Stale) or "{table}" in route.path:
            documented().check(answered(route, told.status_code or 0, {**told.headers}, told.content))


def answered(route: Endpoint, status: int, headers: dict[str, str], body: bytes) -> httpx.Response:
    """Return an answer of a route as a client gets it."""
    whole = {"X-Request-Id": "one", "Content-Type": problems.MEDIA_TYPE, **headers}
    request = httpx.Request(route.method, f"http://here{route.path}")
    return httpx.Response(status, headers=whole, content=body, request=request)
