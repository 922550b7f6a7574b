"""The outermost layer: what holds of every answer, whoever makes it, and what is told of it afterwards.

Every answer names its request: the client's own `X-Request-Id`, or a new one. A trace that the request belongs to is
passed on. HEAD is answered wherever GET is. Which pages may read answers is the same for all of them, and said in each
(service/api/cors.py). Each request ends in one call of `finished` and one line of the log, with the template of its
route: paths, queries and bodies may hold what no log may.
"""

import logging
import random
import re
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import cast

from litestar.enums import ScopeType
from litestar.types import ASGIApp, HTTPScope, Message, Receive, Scope, Send

from service.api import problems
from service.api.cors import NOBODY, Origins
from service.api.requests import route_of, state_headers
from service.api.trace import Trace, followed
from service.logs import FIELDS, Mark, kind_and_place, marked

# What looks like a token or a ticket of ours is no name for a request: it would be logged.
REQUEST_ID = re.compile(rb"(?!.*ev[ft]_)[A-Za-z0-9._-]{1,128}")
SLOW_S = 1.0
"""From when on an answer's begin is slow."""

Finished = Callable[[str, str, int, float], None]
"""Called after each request with its route's template, its method, its status, and the seconds to its answer."""

_NOT_ALLOWED = HTTPStatus.METHOD_NOT_ALLOWED.value
_FAILED = HTTPStatus.INTERNAL_SERVER_ERROR.value

_logger = logging.getLogger(__name__)
_draw = random.Random().getrandbits  # noqa: S311 a request's name is no secret


class Edge:
    """An application as the world meets it."""

    def __init__(self, app: ASGIApp, finished: Finished | None = None, origins: Origins = NOBODY) -> None:
        """Wrap an application that pages of these origins may use.

        `finished` is called when a request is answered, or given up after its answer began.
        """
        self._app = app
        self._finished = finished
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != ScopeType.HTTP:
            await self._app(scope, receive, send)
            return
        passage = _Passage(scope, send, self._origins)
        app = (self._origins.preflight(scope) if passage.method == "OPTIONS" else None) or self._app
        try:
            await app(scope, receive, passage.send)
        except Exception as error:  # noqa: BLE001 whatever it is, it must not pass unanswered
            if passage.status:
                # What has begun can't become a problem; the server cuts it off where it is.
                told = kind_and_place(error)
                _logger.error("an answer of %s broke off: %s", route_of(scope), told)  # noqa: TRY400 its message may hold a card
            else:
                await problems.failure(scope, error)(scope, receive, passage.send)
        finally:
            if passage.status:
                self._tell(route_of(scope), passage)
            passage.mark.over = True

    def _tell(self, route: str, passage: "_Passage") -> None:
        method, status, seconds = passage.method, passage.status, passage.seconds
        if self._finished is not None:
            self._finished(route, method, status, seconds)
        level = _level(status, seconds)
        if _logger.isEnabledFor(level):
            ms = round(seconds * 1_000, 1)
            fields = {"method": method, "route": route, "status": status, "ms": ms}
            _logger.log(level, "%s %s %d in %s ms", method, route, status, ms, extra={FIELDS: fields})


class _Passage:
    """One request on its way in, and its answer on its way out."""

    __slots__ = ("_began", "_headers", "_headless", "_send", "mark", "method", "seconds", "status")

    def __init__(self, scope: HTTPScope, send: Send, origins: Origins) -> None:
        self._began = time.perf_counter()
        self._send = send
        self.status = 0
        self.seconds = 0.0
        self.method: str = scope["method"]
        self._headless = self.method == "HEAD"
        if self._headless:
            scope["method"] = "GET"
        stated = state_headers(scope)
        name = stated.get(b"x-request-id")
        if name is None or REQUEST_ID.fullmatch(name) is None:
            name = b"%032x" % _draw(128)
        trace = followed(cast("list[tuple[bytes, bytes]]", scope["headers"])) if b"traceparent" in stated else None
        self._headers = [(b"x-request-id", name), *(trace.headers if trace is not None else ())]
        if origins.vary or b"origin" in stated:
            self._headers += origins.headers(stated.get(b"origin"))
        self.mark = _mark(name, trace)
        marked.set(self.mark)

    async def send(self, message: Message) -> None:
        """Pass a part of the answer on; of an answer to HEAD its head alone, for what streams would never end."""
        if message["type"] == "http.response.start":
            self.seconds = time.perf_counter() - self._began
            self.status = message["status"]
            headers = [*message["headers"], *self._headers]
            if self.status == _NOT_ALLOWED:
                headers = [(name, _with_head(value) if name == b"allow" else value) for name, value in headers]
            message["headers"] = headers
            await self._send(message)
            if self._headless:
                await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        elif not self._headless:
            await self._send(message)


def _mark(name: bytes, trace: Trace | None) -> Mark:
    return Mark(name.decode()) if trace is None else Mark(name.decode(), trace.trace, trace.span)


def _with_head(allowed: bytes) -> bytes:
    """Return an Allow with HEAD, where GET is, in alphabetical order."""
    methods = set(allowed.decode().replace(",", " ").split())
    if "GET" in methods:
        methods.add("HEAD")
    return ", ".join(sorted(methods)).encode()


def _level(status: int, seconds: float) -> int:
    if status >= _FAILED:
        return logging.ERROR
    return logging.WARNING if seconds > SLOW_S else logging.INFO
