"""The OpenAPI document of the API, made from the routes that serve it.

Whoever has the document needs no other words of ours: it names every status, header, code and reason that a route can
answer with, and bounds everything that goes in or comes out. It says OpenAPI 3.1, which newer generators read as well.
"""

from collections.abc import Iterable, Mapping
from http import HTTPStatus
from inspect import cleandoc
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from events.base import whole
from events.table import TableEvent
from service.api import frames, problems
from service.api.answers import JSON
from service.api.endpoint import Endpoint, Link, Parameter
from service.api.examples import examples
from service.api.frames import SocketMessage
from service.api.problems import Problem, TableProblem
from service.api.requests import TICKET
from service.api.schemas import Schema, Schemas
from service.auth.scopes import SCOPES, told
from service.game import AnyGame
from service.games import Games
from service.version import version

# A list that grows: what a client does not find in it is to be taken by what it comes with, a problem by its status.
OPEN = Meta(extra_json_schema={"x-open": True})

_ABOUT = cleandoc(
    """
    Evenfold referees card games for any client. Open a table, sit down, and post commands; whatever happens at a table
    is a numbered *decision*, and what you see of it is a *view*.

    - **Start** with `POST /v1/players`: it answers with a bearer token. Everything at a table needs one.
    - **Know no rules?** `GET …/actions` lists every command you may post now, as complete bodies.
    - **Versions.** A view's `version` counts the table's decisions and is its `ETag`. `GET …/events?after=` has what
      you missed.
    - **Races.** `turn` says which prompt a command answers, `If-Match` insists on a version.
    - **Retries.** Send a POST again with the same `Idempotency-Key` and body: it happens once, the answer is the same.
    - **Problems** are `application/problem+json`; the closed list of their codes is at `/docs/problems`.
    - **Requests** have names: every answer has `X-Request-Id`, your own if you sent one. A `traceparent` is passed on.
    - **Streams.** `GET …/events` [goes on](/docs/streams) as `text/event-stream`, or as lines with `follow=true`. A
      [WebSocket](/docs/sockets) watches many tables at once, and takes commands too.
    - **HEAD** is answered wherever GET is; OPTIONS says in `Allow` what a path takes.
    - **Browsers** may use all of this from a page of any origin, unless who runs the service has it otherwise. They
      open streams with a ticket of `POST /v1/tickets`.

    Bodies are strict: a field that is not described here is refused. Of a field that comes twice the last counts.
    Answers may come to hold further fields; of the lists of values in them only those marked `x-open` may grow.
    """
)

_TOKENS = cleandoc(
    """
    A token of `POST /v1/players` or `POST /v1/tokens`, or one that the operator gave out. What it may do is its scopes:

    - `play`: sit down, leave, and play on your seats
    - `host`: open, start and abandon tables, and seat bots
    - `bot`: sit down, leave and play, as a bot does, and nothing else
    - `arbiter`, `admin`: given by the operator alone

    A token of no scope looks on. One with both `play` and `host`, as signing up gives it, may change the account too:
    its name, its tokens, its end.
    """
)

_TICKETS = cleandoc(
    """
    A ticket of `POST /v1/tickets`, for who can't send a header: a browser's `EventSource` and `WebSocket`. It opens one
    stream, within half a minute, at the path that it was asked for, and stands for the token that asked.
    """
)

_AREAS: Mapping[str, str] = {
    "games": "What can be played: options, commands and rules pages.",
    "tables": "Tables of every game.",
    "players": "Accounts, names, and who you are.",
    "tokens": "Tokens of your account, and tickets that open streams.",
    "audit": "What lets anybody check a table without trusting the service.",
    "service": "Whether the service works, and what it says of itself.",
}

# Every header that an answer can have, by its name: what it says, and its type.
HEADERS: Mapping[str, tuple[str, object]] = {
    "Allow": ("The methods that this path takes.", Annotated[str, Meta(pattern=whole("[A-Z, ]{3,64}"))]),
    "Content-Language": ("The language of the page.", Annotated[str, Meta(pattern=whole("[a-z]{2,3}"))]),
    "ETag": (
        "The version of the view, in quotes; absent where a past version was asked for.",
        Annotated[str, Meta(pattern=whole('"[0-9]{1,16}"'), examples=['"41"'])],
    ),
    "Location": (
        "Where the new table is.",
        Annotated[str, Meta(pattern=whole("/v1/[a-z0-9_]{1,32}/tables/[0-9a-z]{26}"))],
    ),
    "Preference-Applied": ("Stands there if the view was asked for.", Literal["return=representation"]),
    "RateLimit": (
        "What is left of a policy, `r`, and for how many seconds, `t`.",
        Annotated[
            str, Meta(pattern=whole('"[a-z-]{1,32}";r=[0-9]{1,9}(;t=[0-9]{1,9})?'), examples=['"requests";r=0;t=1'])
        ],
    ),
    "RateLimit-Policy": (
        "A policy: `q` requests in `w` seconds, or without `w` so many things at any one time.",
        Annotated[
            str, Meta(pattern=whole('"[a-z-]{1,32}";q=[0-9]{1,9}(;w=[0-9]{1,9})?'), examples=['"requests";q=200;w=1'])
        ],
    ),
    "Retry-After": ("After how many seconds to try again.", Annotated[int, Meta(ge=0, le=86_400)]),
    "Sec-WebSocket-Version": ("The version of the WebSocket protocol that is spoken here.", Literal["13"]),
    "Upgrade": ("The protocol that is spoken here.", Literal["websocket"]),
    "X-Request-Id": (
        "The name of this request: the `X-Request-Id` that it came with, else a new one.",
        Annotated[str, Meta(pattern=whole("[A-Za-z0-9._-]{1,128}"), examples=["opening-41"])],
    ),
    "WWW-Authenticate": ("That a bearer token is wanted.", Annotated[str, Meta(pattern=whole(r"Bearer [ -~]{1,200}"))]),
}

# Headers that every problem of a status has.
_PROBLEM_HEADERS: Mapping[int, tuple[str, ...]] = {
    401: ("WWW-Authenticate",),
    405: ("Allow",),
    426: ("Sec-WebSocket-Version", "Upgrade"),
    429: ("RateLimit", "RateLimit-Policy", "Retry-After"),
    503: ("Retry-After",),
}
# Headers that depend on what the request asked for.
_ON_REQUEST = frozenset({"ETag", "Preference-Applied"})
# What has no body.
_BODILESS = (HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED)
# What every route can answer with, whatever it does.
_ANYWHERE = (400, 408, 413, 431, 500, 503)
# Headers that every answer has.
_ALWAYS = ("X-Request-Id",)


def document(routes: Iterable[Endpoint], games: Games) -> Schema:
    """Return the document of these routes; ValueError where two operations or components would share a name."""
    return _Writer(tuple(routes), games).document()


def written(routes: Iterable[Endpoint], games: Games) -> bytes:
    """Return the document as the bytes that are served and kept."""
    return msgspec.json.format(msgspec.json.encode(document(routes, games)), indent=2) + b"\n"


class _Writer:
    """Writes one document."""

    def __init__(self, routes: tuple[Endpoint, ...], games: Games) -> None:
        self._routes = routes
        self._games = {game.name: game for game in games}
        self._schemas = Schemas(games)
        self._responses: dict[str, Schema] = {}

    def document(self) -> Schema:
        answers = {route.name: self._answers(route) for route in self._routes}
        spoken = {name: self._schemas.answer(_frames_of(game)) for name, game in self._games.items()}
        paths: dict[str, dict[str, Schema]] = {}
        for route in self._routes:
            operation = self._operation(route, answers[route.name])
            if HTTPStatus.SWITCHING_PROTOCOLS in route.answers:
                operation["x-websocket"] = {"messages": self._schemas.body(SocketMessage), "frames": spoken}
            paths.setdefault(route.path, {})[route.method.lower()] = operation
        if len(answers) < len(self._routes):
            raise ValueError(f"two routes share a name: {sorted(route.name for route in self._routes)}")
        return {
            "openapi": "3.1.0",
            "info": {
                "title": "Evenfold",
                "summary": "A referee for card games over HTTP.",
                "description": _ABOUT,
                "version": version(),
                "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
            },
            "servers": [{"url": "/", "description": "The server that sent this document."}],
            "tags": self._tags(),
            "paths": paths,
            "components": {
                "schemas": dict(sorted(self._schemas.components.items())),
                "responses": dict(sorted(self._responses.items())),
                "headers": {name: self._header(name) for name in HEADERS},
                "securitySchemes": {
                    "bearer": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": _TOKENS,
                    },
                    "ticket": {"type": "apiKey", "in": "query", "name": TICKET, "description": _TICKETS},
                },
            },
        }

    def _tags(self) -> list[Schema]:
        used = dict.fromkeys(route.tag for route in self._routes)
        titles = {name: f"Tables of {game.title}." for name, game in self._games.items()}
        return [{"name": tag, "description": {**_AREAS, **titles}[tag]} for tag in used]

    def _operation(self, route: Endpoint, answers: Schema) -> Schema:
        operation: Schema = {"operationId": route.name, "summary": route.summary, "tags": [route.tag]}
        if told := [text for text in (cleandoc(route.about), _needs(route), _SOCKET if route.socket else "") if text]:
            operation["description"] = "\n\n".join(told)
        if route.parameters:
            operation["parameters"] = [self._parameter(parameter) for parameter in route.parameters]
        if route.body is not None:
            operation["requestBody"] = self._body(route)
        operation["responses"] = answers
        operation["security"] = _security(route)
        return operation

    def _parameter(self, parameter: Parameter) -> Schema:
        described: Schema = {
            "name": parameter.name,
            "in": parameter.where,
            "description": parameter.description,
            "required": parameter.required,
            "schema": self._schemas.body(parameter.kind),
        }
        if parameter.example is not None:
            described["example"] = parameter.example
        return described

    def _body(self, route: Endpoint) -> Schema:
        shown: dict[str, Schema] = {}
        for body in examples(route):
            name = str(body.get("type", "body"))
            while name in shown:
                name += "_more"
            shown[name] = {"value": body}
        return {
            "required": True,
            "content": {JSON: {"schema": self._schemas.body(route.body), "examples": shown}},
        }

    def _answers(self, route: Endpoint) -> Schema:
        answers = {str(status): self._answer(route, status) for status in route.answers}
        problems_of_it = {str(status): self._problem(route, status) for status in sorted({*route.errors, *_ANYWHERE})}
        return {**answers, **problems_of_it}

    def _answer(self, route: Endpoint, status: int) -> Schema:
        kind = route.answers[status]
        answer: Schema = {"description": _ANSWERS[status], "headers": _referred(*route.headers, *_ALWAYS)}
        content = {} if kind is None else {JSON: {"schema": self._schemas.answer(kind)}}
        if status not in _BODILESS:
            content.update((media, {"schema": self._further(media, held)}) for media, held in route.media.items())
        if content:
            answer["content"] = content
        if route.links and status not in _BODILESS:
            answer["links"] = {link.to: self._link(link) for link in route.links}
        return answer

    def _link(self, link: Link) -> Schema:
        target = next((route for route in self._routes if route.name == link.to), None)
        if target is None:
            raise ValueError(f"a link leads to {link.to}, which is no route")
        described: Schema = {
            "operationId": target.name,
            "description": target.summary,
            "parameters": dict(link.parameters),
        }
        return described if link.body is None else {**described, "requestBody": link.body}

    def _further(self, media: str, held: object) -> Schema:
        if media.startswith("text/"):
            return self._schemas.answer(held)
        kinds = held if isinstance(held, tuple) else (held,)
        schemas = [self._schemas.answer(kind) for kind in kinds]
        schema = {"oneOf": schemas} if len(schemas) > 1 else schemas[0]
        return {**schema, "description": "One of these on each line."}

    def _problem(self, route: Endpoint, status: int) -> Schema:
        """Return a reference to what every route of a game, or beside the games, answers with such a status."""
        game = self._games.get(route.tag)
        name = f"{game.name}.{status}" if game is not None else str(status)
        possible = _codes(game)
        codes = [code for code, its_status in possible.items() if its_status == status]
        if not codes:
            raise ValueError(f"{route.name} answers with {status}, for which there is no code")
        response: Schema = {
            "description": f"{problems.TITLES[status]}: {', '.join(f'`{code}`' for code in codes)}.",
            "content": {problems.MEDIA_TYPE: {"schema": self._schemas.answer(_problem_of(game))}},
            "headers": _referred(*_PROBLEM_HEADERS.get(status, ()), *_ALWAYS),
        }
        self._responses[name] = response
        return {"$ref": f"#/components/responses/{name}"}

    def _header(self, name: str) -> Schema:
        told, kind = HEADERS[name]
        return {"description": told, "required": name not in _ON_REQUEST, "schema": self._schemas.answer(kind)}


def _referred(*headers: str) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in headers}


_SOCKET = "A [WebSocket](/docs/sockets) takes it too."

_ANSWERS: Mapping[int, str] = {
    101: "From here on the connection is a WebSocket.",
    200: "Done; the body says what was asked for.",
    201: "It happened.",
    204: "It happened; there is nothing more to say.",
    304: "You have the newest already.",
}


def _security(route: Endpoint) -> list[Schema]:
    """Return the sets of scopes of which a token needs one; OpenAPI calls them roles where a scheme has no scopes."""
    if not route.token:
        return []
    tickets: list[Schema] = [{"ticket": []}] if route.ticketed else []
    if not route.scope:
        return [{"bearer": []}, *tickets]
    enough = [*route.scope, *(scopes for needed in route.scope_of.values() for scopes in needed)]
    tokens = [{"bearer": [scope for scope in SCOPES if scope in scopes]} for scopes in dict.fromkeys(enough)]
    return [*tokens, *tickets]


def _needs(route: Endpoint) -> str:
    """Say which scopes a route needs, nothing if it needs none."""
    usual = [f"Needs a token with {told(route.scope)}."] if route.scope else []
    others = [f"For {what}: {told(needed)}." for what, needed in route.scope_of.items()]
    return " ".join([*usual, *others])


def _codes(game: AnyGame | None) -> dict[str, int]:
    return problems.codes() if game is None else {**problems.codes(), **problems.reasons(game.reasons)}


def _frames_of(game: AnyGame) -> object:
    """Return the type of what a WebSocket sends that watches tables of a game."""
    return (
        frames.WatchedFrame
        | frames.UnwatchedFrame
        | frames.DecisionFrame[TableEvent | game.projection.events]  # type: ignore[name-defined] # known at run time
        | frames.CheckpointFrame
        | frames.ResetFrame
        | frames.LaggedFrame
        | frames.EndedFrame
        | frames.AnswerFrame
        | frames.ErrorFrame[_problem_of(game)]  # type: ignore[misc] # the same
    )


def _problem_of(game: AnyGame | None) -> object:
    """Return the type of the problems of a game's routes, or of those beside the games."""
    codes = Annotated[Literal[tuple(_codes(game))], OPEN]  # type: ignore[valid-type] # codes known at run time
    if game is None:
        return Problem[codes]  # type: ignore[valid-type] # the same
    reasons = Annotated[Literal[tuple(problems.reasons(game.reasons))], OPEN]  # type: ignore[valid-type] # the same
    events = TableEvent | game.projection.events
    return TableProblem[codes, reasons, game.commands, events]  # type: ignore[name-defined,valid-type] # the same
