"""What the service says of itself, as it serves it: the document, the pages; and that its answers are as it says."""

import json
import re
from pathlib import Path
from random import Random

import pytest

from service import games
from service.api import problems
from service.api.documents import texts
from service.api.examples import examples
from service.app import endpoints
from service.web import rendered
from tests.documented import Documented
from tests.served import Person
from tests.service.api.conftest import Company

ROOT = Path(__file__).parents[3]
BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
SHIPPED = games.find()
PAGES = [
    "/docs",
    "/docs/problems",
    "/docs/shuffle",
    "/docs/sockets",
    "/docs/streams",
    *(f"/v1/games/{game.name}/rules" for game in SHIPPED),
]
ROUTES = endpoints(SHIPPED)


def listed(markdown: str) -> dict[str, int]:
    """Return the codes of a page's tables, with their statuses."""
    return {code: int(status) for code, status in re.findall(r"^\| `(\w+)` \| (\d{3}) \|", markdown, re.MULTILINE)}


# --- The document ---


def test_the_document_is_served_as_it_is_kept(nobody: Person) -> None:
    answer = nobody.get("/openapi.json")
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.content == (ROOT / "openapi" / "openapi.json").read_bytes()


def test_the_answers_of_a_match_are_as_documented(company: Company, nobody: Person) -> None:
    documented = Documented(nobody.get("/openapi.json").json())
    host, guest = company.people[0], company.people[1]
    for person in (*company.people, nobody):
        person.http.event_hooks["response"] = [documented.check]
    rng = Random(41)
    for _ in range(70):
        company.move(rng)
    for person in (host, guest):
        person.get(company.path)
        person.get(f"{company.path}/actions")
        person.get(f"{company.path}/events")
        person.get(f"{company.path}/events", Accept="application/x-ndjson")
    tag = host.get(company.path).headers["ETag"]
    assert host.get(company.path, If_None_Match=tag).status_code == 304
    mover = company.mover
    mover.post(f"{company.path}/commands", company.legal(mover)[0], Prefer="return=representation")
    assert {status for _, status in documented.seen} == {200, 201, 304}


def test_the_problems_of_a_match_are_as_documented(company: Company, nobody: Person) -> None:
    documented = Documented(nobody.get("/openapi.json").json())
    host = company.people[0]
    for person in (*company.people, nobody):
        person.http.event_hooks["response"] = [documented.check]
    nobody.get(company.path)
    host.get(company.path.replace(company.path[-26:], "nothing"))
    host.post(f"{company.path}/start")
    host.post(f"{company.path}/commands", {"type": "chinkway.play", "card": "S1"})
    host.post(f"{company.path}/commands", {"type": "chinkway.play", "card": "SQ", "turn": 1})
    host.post(f"{company.path}/commands", {"type": "table.resign"}, If_Match='"1"')
    host.http.post(f"{company.path}/commands", content=b"{}", headers={"Content-Type": "text/plain"})
    host.get(f"{company.path}/events", Accept="image/png")
    host.post(f"{company.path}/commands", {"type": "table.resign"}, Idempotency_Key="one")
    host.post(f"{company.path}/commands", {"type": "table.abandon"}, Idempotency_Key="one")
    nobody.get("/v1/games/bridge")
    assert {status for _, status in documented.seen} >= {400, 401, 404, 406, 409, 412, 415, 422}


def test_the_judge_of_answers_finds_what_is_wrong(nobody: Person) -> None:
    document = nobody.get("/openapi.json").json()
    del document["components"]["schemas"]["GameSummary"]["properties"]["title"]
    nobody.http.event_hooks["response"] = [Documented(document).check]
    with pytest.raises(AssertionError, match="title"):
        nobody.get("/v1/games")


def test_no_example_is_refused_for_its_shape(company: Company) -> None:
    host = company.people[0]
    token = host.get("/v1/tokens").json()["tokens"][0]["id"]
    tables = {game.name: host.post(f"/v1/{game.name}/tables").headers["Location"] for game in SHIPPED}
    for route in ROUTES:
        for body in examples(route):
            path = route.path.replace(f"/v1/{route.tag}/tables/{{table}}", tables.get(route.tag, ""))
            path = path.replace("{token}", token).replace("{dispute}", "1")
            answer = host.http.request(route.method, path, json=body)
            assert answer.status_code in {200, 201, 403, 409}, (path, body, answer.text)
            if route.name == "rotateToken":
                host.http.headers["Authorization"] = f"Bearer {answer.json()['token']}"


# --- Pages ---


def test_the_page_of_problems_lists_every_code_and_no_other() -> None:
    own = {reason: sentence for game in SHIPPED for reason, sentence in game.reasons.items()}
    assert listed(texts(SHIPPED)["problems"]) == {**problems.codes(), **problems.reasons(own)}


def test_a_games_reasons_come_to_the_page_by_themselves() -> None:
    with_toy = games.find("tests.toy.service.toy")
    toy = with_toy.named("toy")
    assert toy is not None
    added = listed(texts(with_toy)["problems"]).keys() - listed(texts(SHIPPED)["problems"]).keys()
    assert added == toy.reasons.keys() - {reason for game in SHIPPED for reason in game.reasons}


def test_the_type_of_a_problem_leads_to_its_row(company: Company, nobody: Person) -> None:
    problem = company.people[0].post(f"{company.path}/start").json()
    page, _, code = problem["type"].partition("#")
    assert f'<tr id="{code}">' in nobody.get(page, Accept=BROWSER).text


@pytest.mark.parametrize("path", PAGES)
def test_a_page_fetches_nothing_and_runs_nothing(nobody: Person, path: str) -> None:
    answer = nobody.get(path, Accept=BROWSER)
    assert answer.status_code == 200
    assert answer.headers["Content-Type"].startswith("text/html")
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert re.findall(r"<(?:script|link|img|iframe|form|object)\b|\son\w+=|\sstyle=|@import|url\(", answer.text) == []


@pytest.mark.parametrize("path", PAGES)
def test_every_link_of_a_page_leads_somewhere_here(nobody: Person, path: str) -> None:
    text = nobody.get(path, Accept=BROWSER).text
    places = set(re.findall(r'\sid="?([\w.-]+)', text))
    for target in re.findall(r'href="([^"]+)"', text):
        if target.startswith("#"):
            assert target[1:] in places, target
        elif not target.startswith("https://"):
            assert nobody.get(target).status_code == 200, target


def test_the_reference_shows_every_route_and_every_schema(nobody: Person) -> None:
    text = nobody.get("/docs", Accept=BROWSER).text
    document = json.loads((ROOT / "openapi" / "openapi.json").read_bytes())
    for name in (*document["components"]["schemas"], *(route.name for route in ROUTES)):
        assert f'<section id="{name}">' in text, name


def test_the_reference_says_all_that_the_document_says_of_a_route(nobody: Person) -> None:
    page = nobody.get("/docs", Accept=BROWSER).text
    document = json.loads((ROOT / "openapi" / "openapi.json").read_bytes())
    told = [o["description"] for path in document["paths"].values() for o in path.values() if "description" in o]
    assert told
    for text in (*told, document["components"]["securitySchemes"]["bearer"]["description"]):
        assert rendered(text) in page, text


def test_a_page_is_to_be_had_as_markdown(nobody: Person) -> None:
    answer = nobody.get("/docs/shuffle", Accept="text/markdown")
    assert answer.headers["Content-Type"].startswith("text/markdown")
    assert answer.text.startswith("# How cards are shuffled")


def test_there_is_no_other_page(nobody: Person) -> None:
    assert nobody.get("/docs/nothing").status_code == 404
    assert nobody.get("/docs/page.html").status_code == 404


def test_markdown_can_hold_no_html_of_its_own() -> None:
    assert "<script>" not in rendered("# One\n\n<script>alert(1)</script>")
