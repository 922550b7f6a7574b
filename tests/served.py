"""The service as a client meets it: a real server on a port of the loopback, and people who speak HTTP to it."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from litestar import Litestar

from service.api.connection import Connection
from service.api.server import configured
from service.app import create
from service.parts import Sources
from service.settings import NO_LIMITS, Durability, Limits, Settings
from tests.documented import serving_games

NO_TLS = ssl.create_default_context()
"""Made once: a client makes one of its own otherwise, which takes longer than a test."""

ENDING_S = 60.0
"""How long whatever runs in a thread may take to end: longer than its grace."""


@contextmanager
def served(
    redis: str,
    keys: Path,
    *games: str,
    sources: Sources | None = None,
    sign_up: bool = True,
    limits: Limits = NO_LIMITS,
    trust: tuple[str, ...] = (),
    origins: tuple[str, ...] = ("*",),
    durability: Durability = "store",
    archive: str | None = None,
    protocol: type[Connection] = Connection,
) -> Iterator[str]:
    """Serve on a free port of the loopback, in a thread with a loop of its own; yield the address."""
    settings = Settings(
        redis=redis,
        keys=keys,
        games=games,
        sign_up=sign_up,
        limits=limits,
        trust=trust,
        cors_origins=origins,
        durability=durability,
        archive=archive,
    )
    with running(create(settings, sources or Sources()), *games, protocol=protocol) as (url, _):
        yield url


@contextmanager
def running(
    app: Litestar, *games: str, protocol: type[Connection] = Connection
) -> Iterator[tuple[str, uvicorn.Server]]:
    """Run an application as `served` does; yield the address and the server."""
    server = uvicorn.Server(configured(app, protocol))
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        with serving_games(url, *games):
            _await_answer(url, thread)
            yield url, server
    finally:
        server.should_exit = True
        thread.join(ENDING_S)
        assert not thread.is_alive(), "it does not end"
        listening.close()


def _await_answer(url: str, thread: threading.Thread) -> None:
    transport = httpx.HTTPTransport(retries=8, verify=NO_TLS)
    with httpx.Client(transport=transport, timeout=20) as client:
        assert client.get(f"{url}/readyz").json() == {"status": "ready"}, thread


class Person:
    """Somebody with an account, or without one."""

    def __init__(self, url: str, name: str | None = "Ada") -> None:
        self.http = httpx.Client(base_url=url, timeout=20, verify=NO_TLS)
        self.id = ""
        if name is not None:
            welcome = self.http.post("/v1/players", json={"name": name}).json()
            self.id = welcome["player"]["id"]
            self.token = welcome["token"]
            self.http.headers["Authorization"] = f"Bearer {self.token}"

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Get a path, with headers whose names have `_` for `-`."""
        return self.http.get(path, headers=_named(headers))

    def post(self, path: str, body: Any = None, **headers: str) -> httpx.Response:  # noqa: ANN401 any JSON
        """Post JSON, an empty object by default."""
        return self.http.post(path, json={} if body is None else body, headers=_named(headers))

    def patch(self, path: str, body: Any) -> httpx.Response:  # noqa: ANN401 any JSON
        """Change what is at a path, by JSON."""
        return self.http.patch(path, json=body)

    def delete(self, path: str, **headers: str) -> httpx.Response:
        """Delete a path."""
        return self.http.delete(path, headers=_named(headers))


def _named(headers: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in headers.items()}
