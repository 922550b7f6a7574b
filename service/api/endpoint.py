"""One route as a value: what it takes, what it answers, and how it can fail.

The routes, the document and the tests are all made from these values, so that none of them can say what another
does not do. Handlers read their request through service/api/requests.py: the framework's own injection converts more
than the contract allows (`"4"` for 4) and costs a quarter of a request.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import msgspec
from litestar.response.base import ASGIResponse

from service.api.requests import TICKET, AnyRequest, check_headers, check_path, check_query
from service.auth.scopes import ANY, Needed

Handler = Callable[[AnyRequest], Awaitable[ASGIResponse]]


@dataclass(frozen=True)
class Parameter:
    """A part of the path, the query or the headers; `kind` is a type msgspec can convert text to."""

    name: str
    where: Literal["path", "query", "header"]
    kind: object
    description: str
    required: bool = False
    example: str | None = None

    @property
    def longest(self) -> int | None:
        """How many characters it may have, None where only a pattern says so."""
        told = msgspec.inspect.type_info(self.kind)
        inner = told.type if isinstance(told, msgspec.inspect.Metadata) else told
        return inner.max_length if isinstance(inner, msgspec.inspect.StrType) else None


@dataclass(frozen=True)
class Link:
    """A route that an answer leads to, by its name.

    `parameters` and `body` say what to send there, as runtime expressions of OpenAPI (`$response.body#/table`).
    """

    to: str
    parameters: Mapping[str, str]
    body: str | None = None


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """A route.

    name      its operation id: what generated clients call it
    path      with parts in braces
    about     what the summary leaves out, as Markdown
    body      the type of the JSON body, None for none
    examples  bodies to show; none: they are made from the type
    answers   by status, the type of the JSON answer (None: no body)
    media     further media types that the answer can have, by what they hold: text, or one thing a line, of one or,
              as a tuple, of several types
    links     where the answer leads
    errors    the statuses of the problems that the route can answer with
    headers   what its answers carry, of those that service/api/document.py describes
    token     whether it needs a bearer token
    ticketed  whether a ticket in the query does instead: it is a stream, and reads its bearer by `stream_identity`
    scope     what that token must be able to do
    scope_of  what it must be able to do instead for some bodies, by what tells these
    tag       the game or the area that it belongs to
    socket    whether the same can be asked over a WebSocket (service/api/sockets.py)
    """

    method: Literal["GET", "POST", "PATCH", "DELETE"]
    path: str
    name: str
    summary: str
    handler: Handler
    answers: Mapping[int, object]
    about: str = ""
    body: object = None
    examples: tuple[object, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    media: Mapping[str, object] = field(default_factory=dict)
    links: tuple[Link, ...] = ()
    errors: tuple[int, ...] = ()
    headers: tuple[str, ...] = ()
    token: bool = True
    ticketed: bool = False
    scope: Needed = ANY
    scope_of: Mapping[str, Needed] = field(default_factory=dict)
    tag: str = "service"
    socket: bool = False

    async def answer(self, request: AnyRequest) -> ASGIResponse:
        """Let the handler answer a request whose path, query and headers are as stated here."""
        check_path(request, self.path)
        self.check(request)
        return await self.handler(request)

    def check(self, request: AnyRequest) -> None:
        """Raise Malformed unless query and headers are as stated here."""
        check_query(request, self._query)
        check_headers(request, self._headers)

    @cached_property
    def _query(self) -> frozenset[str]:
        named = (parameter.name for parameter in self.parameters if parameter.where == "query")
        return frozenset([*named, TICKET] if self.ticketed else named)

    @cached_property
    def _headers(self) -> Mapping[str, int | None]:
        return {parameter.name: parameter.longest for parameter in self.parameters if parameter.where == "header"}
