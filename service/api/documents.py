"""Routes of what the service says of itself: the document, the reference made of it, and pages for people."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Annotated, Any

import msgspec
from litestar.response.base import ASGIResponse
from msgspec import Meta

from events.base import whole
from service import web
from service.api import problems
from service.api.answers import answer, told
from service.api.catalogue import HTML, MARKDOWN, Page
from service.api.document import written
from service.api.endpoint import Endpoint, Parameter
from service.api.requests import AnyRequest, accepts
from service.errors import NotFound
from service.game import REASONS
from service.games import Games
from service.web import HEADERS, page, pages
from service.web.reference import reference

JAVASCRIPT = "text/javascript"
VERIFIER = (files(web) / "verify.mjs").read_text(encoding="utf-8")

Document = Annotated[dict[str, Any], Meta(description="An OpenAPI document.")]
PageName = Annotated[str, Meta(max_length=32, pattern=whole("[a-z]+"), examples=["shuffle"])]


async def document(request: AnyRequest) -> ASGIResponse:
    """Return the OpenAPI document."""
    return answer(_written(request))


async def overview(request: AnyRequest) -> ASGIResponse:
    """Return the reference, with links to everything there is to read."""
    accepts(request, HTML)
    return told(_shown(request), HEADERS, HTML)


async def one_page(request: AnyRequest) -> ASGIResponse:
    """Return a page, as HTML or as the Markdown it is written in."""
    text = texts(request.app.state.games).get(request.path_params["page"])
    if text is None:
        raise NotFound("There is no such page.")
    media = accepts(request, HTML, MARKDOWN)
    headers = {"Vary": "Accept", **HEADERS}
    return told(page(text) if media == HTML else text, headers, media)


async def verifier(request: AnyRequest) -> ASGIResponse:  # noqa: ARG001 every handler takes its request
    """Return the program that checks records in a browser, or with Node."""
    return told(VERIFIER, {"X-Content-Type-Options": "nosniff"}, JAVASCRIPT)


def texts(games: Games) -> dict[str, str]:
    """Return the Markdown of every page by its name; that of problems ends with the reasons of refusals."""
    written_pages = pages()
    return {**written_pages, "problems": written_pages["problems"] + "".join(_refusals(games))}


def _refusals(games: Games) -> Iterator[str]:
    yield from _table("At every table", REASONS)
    for game in games:
        yield from _table(game.title, game.reasons)


def _table(title: str, reasons: Mapping[str, str]) -> Iterator[str]:
    statuses = problems.reasons(reasons)
    yield f"\n### {title}\n\n| code | status | what it means |\n| --- | --- | --- |\n"
    for reason, sentence in reasons.items():
        yield f"| `{reason}` | {statuses[reason]} | {sentence} |\n"


def _written(request: AnyRequest) -> bytes:
    """Return the document's bytes, made once a process."""
    state = request.app.state
    if "document" not in state:
        state["document"] = written(state.routes, state.games)
    made: bytes = state["document"]
    return made


def _shown(request: AnyRequest) -> str:
    """Return the reference, made once a process."""
    state = request.app.state
    if "reference" not in state:
        state["reference"] = reference(msgspec.json.decode(_written(request)), _links(state.games))
    made: str = state["reference"]
    return made


def _links(games: Games) -> dict[str, str]:
    return {
        "The OpenAPI document, to make clients from": "/openapi.json",
        "Problems: every code, and what to do": "/docs/problems",
        "Playing from a browser: tickets, and a client to start from": "/docs/browsers",
        "Streams of a table: what comes, and how to go on after a break": "/docs/streams",
        "How the WebSocket is spoken": "/docs/sockets",
        "The lobby: filters, what changes, and who is there": "/docs/lobby",
        "What concerns you, and what waits for you": "/docs/inbox",
        "How cards are shuffled, and how to check it": "/docs/shuffle",
        "Replay: any version, through any eyes, in words": "/docs/replay",
        "The record of a table, and how to check it": "/docs/record",
        "Disputes, an arbiter's looks and rulings": "/docs/disputes",
        **{f"Rules of {game.title}": f"/v1/games/{game.name}/rules" for game in games},
    }


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/openapi.json",
        name="getDocument",
        summary="This document.",
        handler=document,
        answers={200: Document},
        errors=(400,),
        token=False,
    ),
    Endpoint(
        method="GET",
        path="/verify.mjs",
        name="getVerifier",
        summary="A program that checks records without the service: one file of JavaScript, for Node and browsers.",
        about="`node verify.mjs RECORD KEYS`, or `import { verify }` in a page; `/docs/record` says what it does.",
        handler=verifier,
        answers={200: None},
        media={JAVASCRIPT: Page},
        errors=(400,),
        token=False,
        tag="audit",
    ),
    Endpoint(
        method="GET",
        path="/docs",
        name="getReference",
        summary="The document as a page for people.",
        handler=overview,
        answers={200: None},
        media={HTML: Page},
        errors=(400, 406),
        token=False,
    ),
    Endpoint(
        method="GET",
        path="/docs/{page}",
        name="getPage",
        summary="A page for people, such as `problems` and `shuffle`.",
        handler=one_page,
        parameters=(Parameter("page", "path", PageName, "The page's name.", required=True),),
        answers={200: None},
        media={HTML: Page, MARKDOWN: Page},
        errors=(400, 404, 406),
        token=False,
    ),
)
