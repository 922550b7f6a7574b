"""Pages of other origins: what they may ask and read, whoever answers them and whatever comes of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service import games
from service.api.cors import SHOWN, TAKEN, Origins
from service.api.document import HEADERS
from service.api.endpoint import Endpoint
from service.app import endpoints
from service.parts import Sources
from service.settings import NO_LIMITS
from tests.raw import Raw, exchanged, judge, line, request
from tests.served import Person, served
from tests.service.api.conftest import NOWHERE, Company

ROUTES = endpoints(games.find())
PAGE = "https://cards.example.org"
OTHER = "https://evil.example.com"
ASKS = f"Origin: {PAGE}"
CLOSE = "Connection: close"

# What no browser counts as asking for more than a link does, by the Fetch standard.
SAFELISTED = {"content-type", "content-language", "cache-control", "content-length"}
HANDSHAKES = {"sec-websocket-version", "upgrade"}


def one(url: str, sent: bytes) -> Raw:
    """Return the one answer to a request that asks for the connection to be closed."""
    (answer,) = exchanged(url, sent)
    return answer


def listed(answer: Raw, name: str) -> set[str]:
    """Return what a header of CORS lists, in lower case."""
    return {word.strip().lower() for word in answer.headers[f"access-control-{name}"].split(",")}


def preflight(url: str, path: str, method: str, *headers: str, origin: str = PAGE) -> Raw:
    """Ask as a browser does before it sends what a page wants."""
    asked = [f"Origin: {origin}", f"Access-Control-Request-Method: {method}"]
    if headers:
        asked.append(f"Access-Control-Request-Headers: {','.join(sorted(map(str.lower, headers)))}")
    answer = one(url, request(path, CLOSE, *asked, method="OPTIONS"))
    judge(answer, "OPTIONS", path)
    return answer


@pytest.fixture(scope="module")
def narrow(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server that two origins' pages may use."""
    with served(valkey_url, tmp_path_factory.mktemp("keys"), origins=(PAGE, "http://localhost:5173")) as address:
        yield address


@pytest.fixture(scope="module")
def shut(valkey_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Give the address of a server that no other origin's pages may use."""
    with served(valkey_url, tmp_path_factory.mktemp("keys"), origins=()) as address:
        yield address


# --- Any origin ---


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_a_page_may_ask_for_every_route_with_all_that_it_takes(url: str, route: Endpoint) -> None:
    path = route.path.format(**NOWHERE)
    sent = [parameter.name for parameter in route.parameters if parameter.where == "header"]
    own = [*sent, *["Authorization"] * route.token, *["Content-Type"] * (route.body is not None)]
    answer = preflight(url, path, route.method, *own, "Traceparent", "X-Request-Id")
    assert (answer.status, answer.body) == (204, b"")
    assert answer.headers["access-control-allow-origin"] == "*"
    assert route.method.lower() in listed(answer, "allow-methods")
    assert {name.lower() for name in own} <= listed(answer, "allow-headers")
    assert {name.lower() for name in TAKEN} == listed(answer, "allow-headers")
    assert answer.headers["access-control-max-age"] == "7200"
    assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize("path", ["/v1/nonesuch", "/v1/me/", "/v1/%6de", "//", "/v1/players"])
def test_that_there_is_no_such_route_a_page_reads_in_the_answer(url: str, path: str) -> None:
    assert preflight(url, path, "PATCH").status == 204
    answer = one(url, request(path, CLOSE, ASKS, method="PATCH"))
    assert answer.status in {404, 405}
    assert answer.headers["access-control-allow-origin"] == "*"


ANSWERS = {
    "an answer": (200, request("/v1/games", CLOSE, ASKS)),
    "a page": (200, request("/docs/shuffle", CLOSE, ASKS)),
    "the document": (200, request("/openapi.json", CLOSE, ASKS)),
    "health": (200, request("/healthz", CLOSE, ASKS)),
    "the head of an answer": (200, request("/v1/games", CLOSE, ASKS, method="HEAD")),
    "what a path takes": (204, request("/v1/games", CLOSE, ASKS, method="OPTIONS")),
    "malformed": (400, request("/v1/games?x", CLOSE, ASKS)),
    "unauthenticated": (401, request("/v1/me", CLOSE, ASKS)),
    "not found": (404, request("/v2", CLOSE, ASKS)),
    "another method": (405, request("/v1/games", CLOSE, ASKS, method="DELETE")),
    "another media type": (415, request("/v1/players", CLOSE, ASKS, method="POST", body=b"x")),
    "a body too large": (413, request("/v1/players", ASKS, "Content-Length: 99999", method="POST")),
    "headers too large": (431, request("/", ASKS, "X: " + "x" * 17_000)),
    "headers too large before the origin": (431, request("/", "X: " + "x" * 40_000, ASKS)),
    "a target too large": (431, request("/" + "x" * 9_000, ASKS)),
    "no host": (400, f"GET / HTTP/1.1\r\n{ASKS}\r\n\r\n".encode()),
    "no request": (400, f"GET / HTTP/1.1\r\nHost: a\r\n{ASKS}\r\nx\r\n\r\n".encode()),
}


@pytest.mark.parametrize("case", ANSWERS)
def test_every_answer_may_be_read_by_any_page(url: str, case: str) -> None:
    status, sent = ANSWERS[case]
    with line(url) as raw:
        raw.send(sent)
        answer = raw.answer(bodiless=sent.startswith(b"HEAD"))
    assert answer.status == status
    assert answer.headers["access-control-allow-origin"] == "*"
    assert {name.lower() for name in SHOWN} == listed(answer, "expose-headers")


def test_what_the_document_says_of_headers_a_page_may_read_and_send() -> None:
    sent = {parameter.name for route in ROUTES for parameter in route.parameters if parameter.where == "header"}
    # What speaks of the WebSocket's handshake is the browser's business, never a page's.
    assert {name.lower() for name in HEADERS} <= {name.lower() for name in SHOWN} | SAFELISTED | HANDSHAKES
    assert {name.lower() for name in sent} <= {name.lower() for name in TAKEN}


def test_without_an_origin_nothing_is_said_of_any(url: str) -> None:
    for path in ("/v1/games", "/v1/me", "/v2"):
        answer = one(url, request(path, CLOSE))
        assert [name for name in answer.headers if name.startswith("access-control")] == []
        assert answer.headers.get("vary", "").find("Origin") == -1


def test_who_asks_too_much_may_read_that(valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path / "keys", limits=NO_LIMITS._replace(requests=1)) as slow:
        person = Person(slow)
        answers = [person.get("/v1/me", Origin=PAGE) for _ in range(3)]
        assert answers[-1].status_code == 429
        assert {answer.headers["Access-Control-Allow-Origin"] for answer in answers} == {"*"}
        assert "Retry-After" in answers[-1].headers["Access-Control-Expose-Headers"]
        person.http.close()


def test_a_fault_of_the_service_may_be_read(valkey_url: str, tmp_path: Path) -> None:
    def broken(count: int) -> bytes:
        raise RuntimeError(count)

    with served(valkey_url, tmp_path / "keys", sources=Sources(entropy=broken)) as address:
        person = Person(address)
        answer = person.post("/v1/chinkway/tables", Origin=PAGE)
        assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (500, "*")
        person.http.close()


def test_a_stream_may_be_read(company: Company) -> None:
    host = company.people[0]
    answer = host.get(f"{company.path}/events", Accept="application/x-ndjson", Origin=PAGE)
    assert (answer.status_code, answer.headers["Access-Control-Allow-Origin"]) == (200, "*")


# --- Some origins ---


@pytest.mark.parametrize("origin", [PAGE, "http://localhost:5173"])
def test_a_page_of_an_origin_that_is_named_may_ask_and_read(narrow: str, origin: str) -> None:
    asked = preflight(narrow, "/v1/me", "GET", "Authorization", origin=origin)
    answer = one(narrow, request("/v1/me", CLOSE, f"Origin: {origin}"))
    for each, status in ((asked, 204), (answer, 401)):
        assert each.status == status
        assert each.headers["access-control-allow-origin"] == origin
        assert each.headers["vary"] == "Origin"
    assert "authorization" in listed(asked, "allow-headers")


@pytest.mark.parametrize(
    "origin", [OTHER, "null", "http://cards.example.org", f"{PAGE}:8443", f"{PAGE}.evil.example.com", "*", PAGE.upper()]
)
def test_a_page_of_another_origin_may_read_nothing(narrow: str, origin: str) -> None:
    asked = preflight(narrow, "/v1/me", "GET", "Authorization", origin=origin)
    answers = [asked] + [one(narrow, request(path, CLOSE, f"Origin: {origin}")) for path in ("/v1/games", "/v1/me")]
    answers.append(one(narrow, request("/", f"Origin: {origin}", "X: " + "x" * 40_000)))
    assert [answer.status for answer in answers] == [204, 200, 401, 431]
    for answer in answers:
        assert [name for name in answer.headers if name.startswith("access-control")] == []
        assert answer.headers["vary"] == "Origin"


def test_where_origins_are_named_every_answer_varies_with_them(narrow: str) -> None:
    """A cache must not hand what was said to nobody's page to a page that may read."""
    assert one(narrow, request("/v1/games", CLOSE)).headers["vary"] == "Origin"
    with Person(narrow, None).http as nobody:
        assert nobody.get("/docs/shuffle").headers.get_list("vary") == ["Accept", "Origin"]


# --- None ---


def test_where_there_is_no_cors_nothing_is_said_of_it(shut: str) -> None:
    asked = preflight(shut, "/v1/me", "GET", "Authorization")
    assert (asked.status, asked.headers["allow"]) == (204, "DELETE, GET, HEAD, OPTIONS, PATCH")
    answer = one(shut, request("/v1/me", CLOSE, ASKS))
    assert answer.status == 401
    for each in (asked, answer):
        assert [name for name in each.headers if name.startswith("access-control") or name == "vary"] == []


# --- WebSockets ---


@pytest.mark.parametrize(
    ("allowed", "origin", "admitted"),
    [
        (("*",), OTHER, True),
        (("*",), "null", True),
        ((PAGE,), None, True),
        ((PAGE,), PAGE, True),
        ((PAGE,), OTHER, False),
        ((PAGE,), "null", False),
        ((PAGE,), "https://here:8000", True),
        ((PAGE,), "https://here", False),
        ((), None, True),
        ((), "http://here:8000", True),
        ((), PAGE, False),
        ((), "", False),
    ],
)
def test_a_socket_is_opened_from_no_page_its_own_and_one_that_may(
    allowed: tuple[str, ...], origin: str | None, admitted: bool
) -> None:
    stated = [(b"host", b"Here:8000")] + ([] if origin is None else [(b"origin", origin.encode())])
    scope = {"type": "websocket", "headers": stated}
    assert Origins(allowed).admit(scope) is admitted  # type: ignore[arg-type] # all that it looks at
