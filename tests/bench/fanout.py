"""The floor of streams: a bare ASGI application that writes what is posted to whoever has an open stream.

`python -m tests.bench.fanout FD` answers on a listening socket, on uvloop and httptools. A GET opens a stream, to which
the body of every later POST is written as it is; it knows nothing of tables, tokens or versions.
"""

import asyncio
import socket
import sys
from typing import cast

import uvicorn
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, HTTPRequestEvent, Scope

from tests.bench.floors import Server

_STREAM = [(b"content-type", b"text/event-stream")]
_ANSWER = [(b"content-type", b"application/json"), (b"content-length", b"2")]


class Fanout:
    """The application."""

    def __init__(self) -> None:
        self._written: list[bytes] = []
        self._more = asyncio.Event()

    async def __call__(self, scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        if scope["method"] == "POST":
            self._write(await _body(receive))
            await send({"type": "http.response.start", "status": 201, "headers": _ANSWER, "trailers": False})
            await send({"type": "http.response.body", "body": b"{}", "more_body": False})
        else:
            await send({"type": "http.response.start", "status": 200, "headers": _STREAM, "trailers": False})
            await self._stream(send)

    def _write(self, body: bytes) -> None:
        self._written.append(body)
        self._more.set()
        self._more = asyncio.Event()

    async def _stream(self, send: ASGISendCallable) -> None:
        place = len(self._written)
        await send({"type": "http.response.body", "body": b":\n\n", "more_body": True})
        while True:
            more = self._more
            while place < len(self._written):
                place += 1
                await send({"type": "http.response.body", "body": self._written[place - 1], "more_body": True})
            await more.wait()


async def _body(receive: ASGIReceiveCallable) -> bytes:
    body = b""
    while True:
        event = cast("HTTPRequestEvent", await receive())
        body += event["body"]
        if not event["more_body"]:
            return body


def main() -> None:
    """Serve the floor until ended."""
    config = uvicorn.Config(
        Fanout(),
        loop="uvloop",
        http="httptools",
        lifespan="off",
        log_level="critical",
        access_log=False,
        timeout_graceful_shutdown=1,  # Its streams go on for ever.
    )
    Server(config).run([socket.socket(fileno=int(sys.argv[1]))])


if __name__ == "__main__":
    main()
