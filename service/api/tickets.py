"""The route of tickets: what opens a stream for a browser, whose EventSource and WebSocket send no headers of ours."""

import re
from collections.abc import Iterable
from functools import cache

import msgspec
from litestar.response.base import ASGIResponse

from service.api.answers import IssuedTicket, NewTicket, answer
from service.api.endpoint import Endpoint
from service.api.requests import AnyRequest, body, identity
from service.auth.tickets import Tickets
from service.errors import NoStream

UNCACHED = {"Cache-Control": "no-store"}

_new_ticket = msgspec.json.Decoder(NewTicket)
_PART = re.compile(r"\\{\w+\\}")


async def issue(request: AnyRequest) -> ASGIResponse:
    """Give a ticket for a stream to whom the token speaks for."""
    who = await identity(request)
    wanted = await body(request, _new_ticket)
    if not is_stream(wanted.path, request.app.state.routes):
        raise NoStream
    tickets: Tickets = request.app.state.tickets
    issued = await tickets.issue(who, wanted.path)
    return answer(IssuedTicket(issued.secret, issued.expires_at), 201, UNCACHED)


def is_stream(path: str, routes: Iterable[Endpoint]) -> bool:
    """Tell whether a path is that of a route which takes tickets; whether its table is there the stream itself says."""
    return any(route.ticketed and _written(route.path).fullmatch(path) for route in routes)


@cache
def _written(template: str) -> re.Pattern[str]:
    return re.compile(_PART.sub("[^/]+", re.escape(template)))


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/v1/tickets",
        name="takeTicket",
        summary="Take a ticket that opens one stream once, within half a minute: `?ticket=` in place of a header.",
        about="""
        For a browser, whose `EventSource` and `WebSocket` send no `Authorization`. `path` is the stream's, without a
        query; what the query says when the stream is opened is up to you then. The ticket sees what the token sees that
        asked for it, the stream that it opens ends with that token, and another stream takes another ticket: so does
        the same one after a break. This takes no Idempotency-Key: if the answer is lost, ask for another.
        """,
        handler=issue,
        body=NewTicket,
        answers={201: IssuedTicket},
        errors=(400, 401, 409, 413, 415, 429, 503),
        tag="tokens",
    ),
)
