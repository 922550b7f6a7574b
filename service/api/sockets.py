"""All WebSockets: who may open one, and the application with them in front of its routes.

Who may open one is decided by a route too, before the handshake is answered; so whoever may not gets the problem that
HTTP has for it, and no frame. That a page's origin may is the operator's wish, and no security: no browser adds a token
by itself, as it does a cookie.
"""

import logging
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import cast

from litestar.enums import ScopeType
from litestar.response.base import ASGIResponse
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send, WebSocketScope

from service.api import problems
from service.api.answers import empty
from service.api.cors import Origins
from service.api.edge import Edge
from service.api.endpoint import Endpoint
from service.api.requests import AnyRequest, stream_identity
from service.api.socket import ADMITTED, Collected, Socket
from service.api.websocket import LINE, PATH, WebSocket
from service.errors import Forbidden, NotFound, UpgradeRequired
from service.logs import FIELDS, Mark, marked
from service.metrics import Gauge

_SWITCHING = 101

_logger = logging.getLogger(__name__)
_open = Gauge("evenfold_sockets", "sum", "WebSockets that are open.")


async def open_socket(request: AnyRequest) -> ASGIResponse:
    """Let a client open a WebSocket, if its request is the handshake of one."""
    origins: Origins = request.app.state.origins
    if not origins.admit(cast("WebSocketScope", request.scope)):
        raise Forbidden("Pages of this origin may open no WebSocket here.")
    who = await stream_identity(request)
    if ADMITTED not in request.scope["state"]:
        raise UpgradeRequired
    request.app.state.streams.admit(who.account)
    request.scope["state"][ADMITTED] = who
    return empty(_SWITCHING)


class Sockets:
    """The application with its WebSockets: in front of the routes, which they are made of."""

    def __init__(self, http: ASGIApp, routes: Iterable[Endpoint]) -> None:
        """Answer by the application of these routes."""
        self._http = http
        self._takes = re.compile("|".join(_pattern_of(route.path) for route in routes if route.socket))
        self._open = 0
        _open.set(0)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a socket, or pass a request on."""
        if scope["type"] != ScopeType.WEBSOCKET:
            await self._http(scope, receive, send)
            return
        # A client that is gone is no error.
        with suppress(OSError):
            await self._meet(scope, receive, send)

    async def _ask(self, scope: HTTPScope, body: bytes) -> Collected:
        """Answer a request that came over a socket."""
        answer = Collected(body)
        app = self._http if self._takes.fullmatch(scope["path"]) else _NOWHERE
        await app(scope, answer.receive, answer.send)
        return answer

    async def _meet(self, scope: WebSocketScope, receive: Receive, send: Send) -> None:
        """Answer the handshake as the route does, and serve the socket if that opens it."""
        await receive()
        line: WebSocket = scope["state"].pop(LINE)
        state = {**scope["state"], ADMITTED: None}
        request = cast("HTTPScope", {**scope, "type": "http", "method": "GET", "state": state})
        answer = Collected()
        await self._http(request, answer.receive, answer.send)
        if answer.status != _SWITCHING:
            start = {"type": "websocket.http.response.start", "status": answer.status, "headers": answer.headers}
            await send(cast("Message", start))
            await send(cast("Message", {"type": "websocket.http.response.body", "body": answer.body}))
            return
        await send({"type": "websocket.accept", "subprotocol": None, "headers": answer.headers})
        name = dict(answer.headers)[b"x-request-id"].decode()
        marked.set(mark := Mark(name))
        self._count(1)
        began = time.perf_counter()
        code = 1006
        try:
            code = await Socket(self._ask, request, line, receive, send).serve()
        finally:
            self._count(-1)
            fields = {"route": PATH, "code": code, "seconds": round(time.perf_counter() - began, 1)}
            _logger.info("a socket was closed with %d after %s s", code, fields["seconds"], extra={FIELDS: fields})
            mark.over = True

    def _count(self, more: int) -> None:
        self._open += more
        _open.set(self._open)


async def _nowhere(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer what is posted to no route that a socket takes."""
    await problems.refusal(NotFound("Over a socket nothing can be posted to this address."))(scope, receive, send)


_NOWHERE = Edge(_nowhere)


def _pattern_of(template: str) -> str:
    """Return the pattern of the paths that a route's template stands for."""
    return "".join(
        "[!-$&-.0-~]+" if part.startswith("{") else re.escape(part) for part in re.split(r"(\{\w+\})", template)
    )


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path=PATH,
        name="openSocket",
        summary="Open a WebSocket: several tables on one connection, and commands.",
        about="""
        Takes the handshake of a WebSocket (RFC 6455) in HTTP/1.1. [How it is spoken](/docs/sockets) takes a page.
        """,
        handler=open_socket,
        answers={101: None},
        errors=(400, 401, 403, 426, 429, 503),
        ticketed=True,
        tag="tables",
    ),
)
