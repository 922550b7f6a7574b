"""Every route against every kind of bad input: a clear problem each time, never a 500, and nothing has changed.

The routes, what they take and how long it may be come from the route table: a new route is covered by being there.
Answers are judged by the document, and all that the store holds is compared with what it held before.
"""

import functools
import gzip
import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

import msgspec
import pytest

from service import games
from service.api.endpoint import Endpoint, Parameter
from service.api.examples import examples
from service.api.requests import MAX_BODY
from service.app import endpoints
from service.auth.scopes import SCOPES
from service.embedded import Embedded
from tests.raw import Raw, RawLine, judge, line, request
from tests.served import served
from tests.service.api.conftest import NOWHERE, Company, appoint, seated
from tests.stores import everything

ROUTES = endpoints(games.find())
JSON = "Content-Type: application/json"

WRONG_IDS = [
    "x",
    "0" * 25,
    "0" * 27,
    "U" * 26,
    "%00",
    "%F0%9F%82%A1",
    "%ff",
    "%zz",
    "..%2f..%2fetc",
    "null",
    "-1",
    "{id}",
]


class Scene(NamedTuple):
    """A table in play, a connection to its server, and the token of a player who may act there."""

    line: RawLine
    token: str
    parts: dict[str, str]

    def path(self, route: Endpoint, **other: str) -> str:
        """Return a path of the route at which there is something; `other` replaces parts of it."""
        return route.path.format(**{**self.parts, **other})

    def ask(self, route: Endpoint, target: str, *headers: str, body: bytes = b"") -> Raw:
        """Send a request of the route's method and return its answer, judged by the document."""
        usual = (
            []
            if any(header.startswith("Authorization") for header in headers)
            else [f"Authorization: Bearer {self.token}"]
        )
        self.line.send(request(target, *usual, *headers, method=route.method, body=body))
        answer = self.line.answer()
        judge(answer, route.method, target.partition("?")[0])
        return answer


@pytest.fixture(scope="module")
def valkey_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give a store where nobody else writes, small enough to be compared whole."""
    with Embedded(tmp_path_factory.mktemp("store"), what="bad requests") as embedded:
        yield embedded.url


@pytest.fixture(scope="module")
def url(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server on that store."""
    with served(valkey_url, tmp_path_factory.mktemp("keys")) as address:
        yield address


@pytest.fixture(scope="module")
def company(url: str, valkey_url: str) -> Iterator[Company]:
    """Give one table in play to all of these tests: none of them changes anything there. Who moves may do anything."""
    with seated(url) as company:
        appoint(valkey_url, company.mover, *SCOPES)
        yield company


@pytest.fixture
def scene(url: str, valkey_url: str, company: Company) -> Iterator[Scene]:
    """Give a table in play; fail if anything that the store holds has changed when the test is through."""
    mover, table = company.mover, company.path.rpartition("/")[2]
    parts = {**NOWHERE, "table": table, "player": mover.id}
    before = everything(valkey_url)
    with line(url) as raw:
        yield Scene(raw, mover.token, parts)
    assert everything(valkey_url) == before


def problem(answer: Raw) -> dict[str, object]:
    """Return a problem, whole."""
    told: dict[str, object] = json.loads(answer.body)
    assert answer.headers["content-type"] == "application/problem+json"
    assert told["status"] == answer.status
    assert told["type"] == f"/docs/problems#{told['code']}"
    assert told["title"]
    assert told["detail"]
    return told


def malformed(answer: Raw, field: str | None = None) -> None:
    """Check that an answer says what is malformed."""
    told = problem(answer)
    assert (answer.status, told["code"]) == (400, "malformed"), told
    if field is not None:
        assert told.get("field") == field, told


every_route = pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)


def having(of: Callable[[Endpoint], object]) -> pytest.MarkDecorator:
    """Parametrize by the routes of which this is so."""
    return pytest.mark.parametrize("route", [route for route in ROUTES if of(route)], ids=lambda route: route.name)


def parameters(route: Endpoint, where: str) -> list[Parameter]:
    return [parameter for parameter in route.parameters if parameter.where == where]


# --- Queries ---

QUERIES = {
    "a parameter that there isn't": "unheard=1",
    "one without a value": "unheard",
    "one without a name": "=1",
    "nothing between": "&",
    "a % without digits": "%zz=1",
    "a % at the end": "a=%",
    "no UTF-8": "a=%ff",
    "half a character": "a=%F0%9F",
    "a surrogate": "a=%ed%a0%80",
    "a bracket": "a[]=1",
    "a quote": 'a="1"',
}


@every_route
def test_a_query_that_the_route_does_not_state_is_malformed(scene: Scene, route: Endpoint) -> None:
    for written in QUERIES.values():
        malformed(scene.ask(route, f"{scene.path(route)}?{written}"))


@having(lambda route: parameters(route, "query"))
def test_a_parameter_that_is_not_what_it_must_be_is_malformed(scene: Scene, route: Endpoint) -> None:
    for parameter in parameters(route, "query"):
        name = parameter.name
        values = ["", "%00", "%F0%9F%82%A1", "x" * 300, "-1", "1.5", "NaN", "9" * 30]
        if parameter.longest is None:
            values += ["0x1", "1e2", "%201", "1_0", "%2B1", "01", "%D9%A1"]  # The last is a digit in Arabic.
        for value in values:
            answer = scene.ask(route, f"{scene.path(route)}?{name}={value}")
            assert answer.status in {400, 404}, (name, value, answer)
            assert problem(answer)["code"] in {"malformed", "not_found"}
        if name != "id":
            malformed(scene.ask(route, f"{scene.path(route)}?{name}=1&{name}=1"), name)


# --- Headers ---


@having(lambda route: parameters(route, "header"))
def test_a_header_comes_once_in_ascii_and_is_no_longer_than_stated(scene: Scene, route: Endpoint) -> None:
    body = _body_of(route)
    for parameter in parameters(route, "header"):
        name = parameter.name
        headers = [JSON] if route.body is not None else []
        most = parameter.longest or 255
        path = scene.path(route)
        malformed(scene.ask(route, path, *headers, f"{name}: a", f"{name}: b", body=body), name)
        malformed(scene.ask(route, path, *headers, f"{name}: é", body=body), name)
        malformed(scene.ask(route, path, *headers, f"{name}: {'x' * (most + 1)}", body=body))


@having(lambda route: route.token)
def test_a_credential_that_is_none_is_refused(scene: Scene, route: Endpoint) -> None:
    for value in ("", "Bearer", "Bearer a b", "Basic YTpi", "Bearer " + "a" * 200, "evf_" + "a" * 43):
        answer = scene.ask(route, scene.path(route), f"Authorization: {value}")
        assert (answer.status, problem(answer)["code"]) == (401, "unauthenticated"), value
        assert answer.headers["www-authenticate"] == 'Bearer realm="evenfold"'
    bearer = f"Authorization: Bearer {scene.token}"
    malformed(scene.ask(route, scene.path(route), bearer, bearer), "Authorization")
    malformed(scene.ask(route, scene.path(route), "Authorization: Bearer é"), "Authorization")


ACCEPTED = ["a" * 1_025, "é", ",".join(["a/b"] * 400)]


@having(lambda route: route.media and route.answers.get(200) is not None)
def test_a_wish_that_is_none_is_malformed(scene: Scene, route: Endpoint) -> None:
    for value in ACCEPTED:
        malformed(scene.ask(route, scene.path(route), f"Accept: {value}"), "Accept")


# --- Ids ---


@having(lambda route: "{" in route.path)
def test_an_id_of_another_shape_is_of_nothing(scene: Scene, route: Endpoint) -> None:
    for part in NOWHERE:
        if f"{{{part}}}" not in route.path:
            continue
        for wrong in WRONG_IDS:
            target = scene.path(route, **{part: wrong})
            headers = [JSON] if route.body is not None else []
            body = msgspec.json.encode(examples(route)[0]) if route.body is not None else b""
            bearer = f"Authorization: Bearer {scene.token}"
            scene.line.send(request(target, bearer, *headers, method=route.method, body=body))
            answer = scene.line.answer()
            assert (answer.status, problem(answer)["code"]) == (404, "not_found"), (target, answer)


# --- Bodies ---

BODIES: dict[str, bytes] = {
    "nothing": b"",
    "spaces": b"  \r\n\t",
    "half of it": b'{"',
    "two of them": b"{}{}",
    "something after it": b"{} x",
    "a zero after it": b"{}\x00",
    "single quotes": b"{'a':1}",
    "a comment": b"{/**/}",
    "a comma too many": b'{"a":1,}',
    "a byte order mark": b"\xef\xbb\xbf{}",
    "UTF-16": "{}".encode("utf-16"),
    "no UTF-8": b'{"\xff":1}',
    "a surrogate in UTF-8": b'{"\xed\xa0\x80":1}',
    "half a pair of surrogates": b'{"\\ud800":1}',
    "a control character": b'{"\x01":1}',
    "NaN": b'{"a":NaN}',
    "infinity": b'{"a":-Infinity}',
    "a number with a leading zero": b'{"a":01}',
    "a number beyond everything": b'{"a":1e999}',
    "digits without end": b'{"a":' + b"9" * 10_000 + b"}",
    "deep arrays": b"[" * 30_000 + b"]" * 30_000,
    "deep objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "null": b"null",
    "true": b"true",
    "a number": b"1",
    "a text": b'"a"',
    "an array": b"[]",
    "an unknown field": b'{"unheard":1}',
    "a field without a name": b'{"":1}',
    "a field of the language": b'{"__class__":1}',
    "a form": b"a=1&b=2",
    "XML": b"<a/>",
}


@having(lambda route: route.body is not None)
def test_a_body_outside_the_contract_is_malformed(scene: Scene, route: Endpoint) -> None:
    for name, body in BODIES.items():
        answer = scene.ask(route, scene.path(route), JSON, *([] if body else ["Content-Length: 0"]), body=body)
        assert (answer.status, problem(answer)["code"]) == (400, "malformed"), (name, answer)
        assert "field" in problem(answer), name


KINDS = [
    "",
    "text/plain",
    "application/xml",
    "application/json-patch+json",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=a",
    "application/json; charset=latin-1",
    "application/json; charset=utf-16",
    "application/json, application/json",
    "json",
    "*/*",
]


@having(lambda route: route.body is not None)
def test_a_body_of_another_kind_is_not_read(scene: Scene, route: Endpoint) -> None:
    for kind in KINDS:
        answer = scene.ask(route, scene.path(route), f"Content-Type: {kind}", body=_body_of(route))
        assert (answer.status, problem(answer)["code"]) == (415, "unsupported_media_type"), kind
    answer = scene.ask(route, scene.path(route), body=_body_of(route))
    assert answer.status == 415
    malformed(scene.ask(route, scene.path(route), JSON, JSON, body=_body_of(route)), "Content-Type")


@having(lambda route: route.body is not None)
def test_a_compressed_body_is_not_read(scene: Scene, route: Endpoint) -> None:
    for coding in ("gzip", "deflate", "br", "zstd", "gzip, identity", "unheard"):
        headers = (JSON, f"Content-Encoding: {coding}")
        answer = scene.ask(route, scene.path(route), *headers, body=gzip.compress(_body_of(route)))
        assert (answer.status, problem(answer)["code"]) == (415, "unsupported_media_type"), coding


@having(lambda route: route.method != "GET")
def test_a_body_that_is_too_large_is_refused_however_it_comes(url: str, scene: Scene, route: Endpoint) -> None:
    head = functools.partial(request, scene.path(route), f"Authorization: Bearer {scene.token}", JSON)
    chunk = b"10000\r\n" + b" " * MAX_BODY + b"\r\n1\r\n \r\n"
    for sent in (
        head(method=route.method, body=b" " * (MAX_BODY + 1)),
        request(
            scene.path(route),
            f"Authorization: Bearer {scene.token}",
            JSON,
            "Transfer-Encoding: chunked",
            method=route.method,
        )
        + chunk,
    ):
        with line(url) as raw:
            raw.send(sent)
            answer = raw.answer()
            assert raw.is_closed()
        assert (answer.status, problem(answer)["code"]) == (413, "too_large"), answer
        judge(answer, route.method, scene.path(route))


@having(lambda route: route.body is None and route.method != "GET")
def test_a_route_that_takes_no_body_takes_an_empty_object_at_most(scene: Scene, route: Endpoint) -> None:
    for body in (b"[]", b"null", b'{"a":1}', b"x"):
        malformed(scene.ask(route, scene.path(route), JSON, body=body))


# --- What looks odd and is fine ---


@pytest.mark.parametrize(
    ("written", "status"),
    [
        ('{"seats":5}', 201),
        ('{"seats":5.0}', 201),
        ('{"seats":0.5e1}', 201),
        ('{"seats":50e-1}', 201),
        ('{"seats":"5"}', 400),
        ('{"seats":5.5}', 400),
        ('{"seats":true}', 400),
        ('{"seats":-0}', 400),
        ('{"seats":5,"seats":5}', 201),
        ('{"seats":"x","seats":5}', 201),
        ('{"\\u0073eats":5}', 201),
        (' \n{ "seats" : 5 }\t', 201),
    ],
)
def test_a_number_is_a_number_however_it_is_written(url: str, company: Company, written: str, status: int) -> None:
    bearer = f"Authorization: Bearer {company.people[0].token}"
    with line(url) as raw:
        raw.send(request("/v1/chinkway/tables", bearer, JSON, method="POST", body=written.encode()))
        answer = raw.answer()
    assert answer.status == status, answer
    judge(answer, "POST", "/v1/chinkway/tables")


@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "Application/JSON",
        "application/json;charset=utf-8",
        "application/json; charset=UTF-8",
        'application/json ; charset="utf-8"',
        "application/json;",
    ],
)
def test_json_may_say_that_it_is_utf_8(url: str, company: Company, kind: str) -> None:
    bearer = f"Authorization: Bearer {company.people[0].token}"
    with line(url) as raw:
        for coding in ((), ("Content-Encoding: identity",)):
            headers = (bearer, f"Content-Type: {kind}", *coding)
            raw.send(request("/v1/chinkway/tables", *headers, method="POST", body=b"{}"))
            assert raw.answer().status == 201


def _body_of(route: Endpoint) -> bytes:
    """Return a body that would do, were it not for what is wrong elsewhere; nothing is created by it."""
    return b"{}" if route.body is not None else b""
