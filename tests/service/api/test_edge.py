"""What holds of every answer, whoever makes it: its request's name, its trace, HEAD and Allow; and what is logged."""

import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service import games, logs
from service.api.endpoint import Endpoint
from service.app import endpoints
from service.auth.scopes import ARBITER
from service.parts import Sources
from tests.raw import Raw, exchanged, line, request
from tests.served import Person, served
from tests.service.api.conftest import Company

ROUTES = endpoints(games.find())
GETS = [route for route in ROUTES if route.method == "GET"]
PATHS = sorted({route.path for route in ROUTES})
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"]

TRACE = "0af7651916cd43dd8448eb211c80319c"
PARENT = f"00-{TRACE}-b7ad6b7169203331-01"


def one(url: str, sent: bytes) -> Raw:
    """Return the one answer to a request that asks for the connection to be closed."""
    (answer,) = exchanged(url, sent)
    return answer


def health(url: str, *headers: str) -> Raw:
    return one(url, request("/healthz", "Connection: close", *headers))


def place(route: Endpoint, company: Company) -> str:
    """Return a path of a route, at which there is something."""
    of_game = route.tag in {game.name for game in games.find()}
    at = company.people[0].post(f"/v1/{route.tag}/tables").headers["Location"] if of_game else company.path
    table = at.rpartition("/")[2]
    path = route.path.format(table=table, player=company.people[0].id, game="chinkway", page="shuffle", token="0" * 26)
    return f"{path}?id={company.people[0].id}" if route.name == "getPlayers" else path


# --- The request's name ---

EVERYWHERE = {
    "an answer": request("/v1/games", "Connection: close"),
    "a page": request("/docs/shuffle", "Connection: close"),
    "no such path": request("/v2", "Connection: close"),
    "another method": request("/v1/games", "Connection: close", method="PUT"),
    "a refusal": request("/v1/me", "Connection: close"),
    "what is allowed": request("/v1/games", "Connection: close", method="OPTIONS"),
    "too large": request("/v1/players", "Content-Length: 99999", method="POST"),
    "too many headers": request("/", "X: " + "x" * 17_000),
    "no request": b"nonsense\r\n\r\n",
}


@pytest.mark.parametrize("case", EVERYWHERE)
def test_every_answer_names_its_request(url: str, case: str) -> None:
    names = {one(url, EVERYWHERE[case]).headers["x-request-id"] for _ in range(2)}
    assert len(names) == 2
    assert all(re.fullmatch("[0-9a-f]{32}", name) for name in names)


def test_a_stream_and_an_answer_without_body_name_their_request(unmoved: Company) -> None:
    host = unmoved.people[0]
    stream = host.get(f"{unmoved.path}/events", Accept="application/x-ndjson", X_Request_Id="a")
    tag = host.get(unmoved.path).headers["ETag"]
    unchanged = host.get(unmoved.path, If_None_Match=tag, X_Request_Id="b")
    assert (unchanged.status_code, unchanged.headers["X-Request-Id"]) == (304, "b")
    assert (stream.status_code, stream.headers["X-Request-Id"]) == (200, "a")


@pytest.mark.parametrize("name", ["a", "A.b-c_9", "x" * 128])
def test_a_request_keeps_the_name_it_came_with(url: str, name: str) -> None:
    assert health(url, f"X-Request-Id: {name}").headers["x-request-id"] == name


@pytest.mark.parametrize("name", ["", "x" * 129, "evf_" + "x" * 43, "a b", "a\tb", "a;b", "é", '"a"', "a,b"])
def test_a_name_that_may_not_be_logged_is_replaced(url: str, name: str) -> None:
    assert re.fullmatch("[0-9a-f]{32}", health(url, f"X-Request-Id: {name}").headers["x-request-id"])


# --- The trace (https://www.w3.org/TR/trace-context/) ---


def test_a_trace_is_passed_on_with_a_span_of_our_own(url: str) -> None:
    answers = [health(url, f"traceparent: {PARENT}", "tracestate: a=1,b=2") for _ in range(2)]
    spans = {re.fullmatch(f"00-{TRACE}-([0-9a-f]{{16}})-01", answer.headers["traceparent"]) for answer in answers}
    assert None not in spans
    assert len({match[1] for match in spans if match} | {"b7ad6b7169203331"}) == 3
    assert answers[0].headers["tracestate"] == "a=1,b=2"


def test_nothing_is_traced_that_was_not_traced_before(url: str) -> None:
    assert not {"traceparent", "tracestate"} & health(url, "tracestate: a=1").headers.keys()


INVALID = {
    "upper case": PARENT.upper(),
    "the version that is forbidden": "ff" + PARENT[2:],
    "a trace of zeros": PARENT.replace(TRACE, "0" * 32),
    "a parent of zeros": PARENT.replace("b7ad6b7169203331", "0" * 16),
    "too long for its version": PARENT + "-00",
    "too short": PARENT[:-1],
    "no hex": PARENT.replace("b7", "g7"),
    "too long for any version": "01" + PARENT[2:] + "00",
    "nothing": "",
}


@pytest.mark.parametrize("case", INVALID)
def test_a_trace_that_is_not_as_described_is_ignored(url: str, case: str) -> None:
    answer = health(url, f"traceparent: {INVALID[case]}", "tracestate: a=1")
    assert answer.status == 200
    assert not {"traceparent", "tracestate"} & answer.headers.keys()


def test_two_parents_are_none(url: str) -> None:
    assert "traceparent" not in health(url, f"traceparent: {PARENT}", f"traceparent: {PARENT}").headers


@pytest.mark.parametrize(("sent", "flags"), [("00", "00"), ("01", "01"), ("03", "03"), ("ff", "03")])
def test_flags_that_are_not_known_are_not_passed_on(url: str, sent: str, flags: str) -> None:
    assert health(url, f"traceparent: {PARENT[:-2]}{sent}").headers["traceparent"].endswith(f"-{flags}")


def test_a_version_to_come_is_read_as_far_as_it_is_known(url: str) -> None:
    answer = health(url, f"traceparent: 42{PARENT[2:-2]}ff-more")
    assert re.fullmatch(f"00-{TRACE}-[0-9a-f]{{16}}-01", answer.headers["traceparent"])


@pytest.mark.parametrize(
    ("states", "passed"),
    [
        (["a=1", "b=2"], "a=1,b=2"),
        (["a=1, ,\tb=2 "], "a=1,b=2"),
        (["t@v=x y"], "t@v=x y"),
        ([",".join(f"k{number}=1" for number in range(32))], ",".join(f"k{number}=1" for number in range(32))),
        ([",".join(f"k{number}=1" for number in range(33))], None),
        (["a=1,a=2"], None),
        (["A=1"], None),
        (["a"], None),
        (["a=b=c"], None),
        ([""], None),
    ],
)
def test_a_state_is_passed_on_whole_or_not_at_all(url: str, states: list[str], passed: str | None) -> None:
    answer = health(url, f"traceparent: {PARENT}", *(f"tracestate: {state}" for state in states))
    assert answer.headers.get("tracestate") == passed
    assert "traceparent" in answer.headers


# --- HEAD and Allow ---


@pytest.mark.parametrize("route", GETS, ids=lambda route: route.name)
def test_head_has_the_headers_of_get_and_no_body(url: str, unmoved: Company, arbiter: Person, route: Endpoint) -> None:
    target = place(route, unmoved)
    person = arbiter if route.scope == ARBITER else unmoved.people[0]
    bearer = f"Authorization: Bearer {person.token}"
    with line(url) as raw:
        raw.send(request(target, bearer, method="GET") + request(target, bearer, method="HEAD") + request("/healthz"))
        get, head, after = raw.answer(), raw.answer(bodiless=True), raw.answer()
    of_the_ended = {"record": 409, "views": 409, "inclusion": 404}
    expected = 426 if 101 in route.answers else of_the_ended.get(route.path.rpartition("/")[2], 200)
    assert (get.status, after.status) == (expected, 200)
    assert head.status == get.status
    own = {"date", "x-request-id", "transfer-encoding"}
    if route.path == "/metrics":
        own.add("content-length")  # They have counted the GET.
    assert {k: v for k, v in head.headers.items() if k not in own} == {
        k: v for k, v in get.headers.items() if k not in own
    }


def test_head_of_what_fails_is_the_head_of_the_problem(url: str) -> None:
    with line(url) as raw:
        raw.send(request("/v2", method="HEAD") + request("/v1/me", method="HEAD") + request("/healthz"))
        assert [raw.answer(bodiless=True).status, raw.answer(bodiless=True).status] == [404, 401]
        assert raw.answer().status == 200


def test_head_of_a_stream_ends_with_its_headers(url: str, unmoved: Company) -> None:
    headers = (f"Authorization: Bearer {unmoved.people[0].token}", "Accept: application/x-ndjson")
    with line(url) as raw:
        raw.send(request(f"{unmoved.path}/events", *headers, method="HEAD") + request("/healthz"))
        assert raw.answer(bodiless=True).headers["content-type"] == "application/x-ndjson"
        assert raw.answer().status == 200


@pytest.mark.parametrize("path", PATHS)
def test_a_path_takes_the_methods_that_it_says_and_no_others(url: str, path: str) -> None:
    taken = {route.method for route in ROUTES if route.path == path} | {"OPTIONS"}
    taken |= {"HEAD"} if "GET" in taken else set()
    target = re.sub(r"\{\w+\}", "0" * 26, path)
    with line(url) as raw:
        for method in METHODS:
            raw.send(request(target, method=method))
            answer = raw.answer(bodiless=method == "HEAD")
            assert (answer.status == 405) is (method not in taken), (method, answer)
            if answer.status in {204, 405}:
                assert answer.headers["allow"] == ", ".join(sorted(taken)), method


# --- The log ---


@pytest.fixture
def told() -> Iterator[Callable[[], list[dict[str, object]]]]:
    """Log as JSON from the level of information up; give a way to read the lines so far."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    stream = io.StringIO()
    logs.configure("json", "info", stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers[:] = before
    root.setLevel(level)


Lines = Callable[[], list[dict[str, object]]]


def of_requests(told: Lines, name: str) -> list[dict[str, object]]:
    return [entry for entry in told() if entry.get("request") == name]


def test_a_request_is_one_line_with_its_route_and_never_its_path(told: Lines, company: Company) -> None:
    host = company.people[0]
    host.get(f"{company.path}?at=2", X_Request_Id="one", traceparent=PARENT)
    (entry,) = of_requests(told, "one")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", str(entry["time"]))
    assert float(str(entry["ms"])) >= 0
    assert len(str(entry["span"])) == 16
    route = "/v1/chinkway/tables/{table}"
    stated = {"level": "info", "logger": "service.api.edge", "method": "GET", "route": route, "status": 200}
    assert {name: entry[name] for name in stated} == stated
    assert entry["trace"] == TRACE
    text = json.dumps([entry for entry in told() if str(entry["logger"]).startswith("service")])
    assert company.path.rpartition("/")[2] not in text
    assert host.token not in text
    assert "at=2" not in text


def test_what_finds_no_route_is_logged_without_its_path(told: Lines, url: str) -> None:
    one(url, request("/v1/secret-of-mine", "X-Request-Id: two", "Connection: close"))
    (entry,) = of_requests(told, "two")
    assert (entry["route"], entry["status"]) == ("-", 404)
    assert "secret-of-mine" not in json.dumps(told())


def test_a_fault_is_an_error_with_its_kind_and_place_and_its_request(
    told: Lines, valkey_url: str, tmp_path: Path
) -> None:
    def broken(count: int) -> bytes:
        raise RuntimeError("Q" * count)

    with served(valkey_url, tmp_path / "keys", sources=Sources(entropy=broken)) as address:
        person = Person(address)
        person.post("/v1/chinkway/tables", X_Request_Id="three")
        person.http.close()
    fault, line_of_it = of_requests(told, "three")
    assert (fault["level"], line_of_it["level"], line_of_it["status"]) == ("error", "error", 500)
    assert "RuntimeError" in str(fault["message"])
    assert "test_edge.py" in str(fault["message"])
    assert "QQQQ" not in json.dumps(told())


def test_a_line_of_text_ends_with_its_request() -> None:
    stream = io.StringIO()
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    try:
        logs.configure("text", "warning", stream)
        mark = logs.Mark("four")
        token = logs.marked.set(mark)
        logging.getLogger("a").warning("b")
        mark.over = True
        logging.getLogger("a").warning("c")
        logging.getLogger("a").info("d")
        logs.marked.reset(token)
    finally:
        root.handlers[:] = before
        root.setLevel(level)
    first, second = stream.getvalue().splitlines()
    assert re.fullmatch(r"\S+Z WARNING a: b \[request four\]", first)
    assert second.endswith("WARNING a: c")


def test_an_exception_is_told_by_kinds_and_places_alone() -> None:
    def refuse(card: str) -> None:
        try:
            raise KeyError(card)  # noqa: TRY301 it is caught to be the cause
        except KeyError as error:
            raise ValueError(card * 2) from error

    with pytest.raises(ValueError, match="QQ") as caught:
        refuse("Q" * 4)
    told = logs.kind_and_place(caught.value)
    assert re.search(r"^ValueError\n.*test_edge.py.*^after KeyError\n", told, re.DOTALL | re.MULTILINE)
    assert "QQQQ" not in told


def test_what_the_loop_caught_is_told_without_arguments(caplog: pytest.LogCaptureFixture) -> None:
    loop = None
    context = {"message": "Task exception was never retrieved", "exception": ValueError("SQ"), "future": "SQ"}
    logs.of_loop(loop, context)  # type: ignore[arg-type] # it makes no use of the loop
    assert "ValueError" in caplog.text
    assert "SQ" not in caplog.text
