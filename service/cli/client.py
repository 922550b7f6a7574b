"""A client of the API as any third party would write one: HTTP, JSON, a token, and patience with a restart."""

import asyncio
import secrets
import time
from collections.abc import Sequence
from typing import Any, Self

import httpx

from service.cli.sentences import Failed, Unusable

PATIENCE_S = 30.0
"""For how long a server that is away, can't reach its store, or finds us too fast, is asked again."""

PAUSE_S = 0.2

ANSWER_S = 30.0

_NAMES = 100


class Refusal(Exception):
    """The server refuses a request; `code` is the problem's, `detail` its sentence."""

    def __init__(self, status: int, code: str, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.status = status
        self.code = code
        self.detail = detail


class Client:
    """One player's way to a server; POSTs bear an Idempotency-Key, so that asking again is safe."""

    def __init__(self, url: str, token: str | None = None, *, patience_s: float = PATIENCE_S) -> None:
        """Take the server's address and the player's token; raise Unusable for what is no address."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._patience_s = patience_s
        try:
            parsed = httpx.URL(url)
        except httpx.InvalidURL as error:
            raise Unusable(f"{url!r} is not the address of a server: {error}") from None
        if parsed.scheme not in {"http", "https"} or not parsed.host:
            raise Unusable(f"{url!r} is not the address of a server: write http://host:port")
        self._http = httpx.AsyncClient(base_url=parsed, headers=headers, timeout=ANSWER_S)

    async def get(self, path: str) -> Any:  # noqa: ANN401 any JSON
        """Get JSON; raise Refusal, Failed where the server stays away."""
        return (await self._asked("GET", path)).json()

    async def find(self, path: str) -> Any | None:  # noqa: ANN401 any JSON
        """Get JSON; None if there is no such thing."""
        try:
            return await self.get(path)
        except Refusal as refusal:
            if refusal.status == httpx.codes.NOT_FOUND:
                return None
            raise

    async def lines(self, path: str) -> bytes:
        """Get NDJSON."""
        return (await self._asked("GET", path, headers={"Accept": "application/x-ndjson"})).content

    async def post(self, path: str, body: object, *, once: bool = True) -> Any:  # noqa: ANN401 any JSON
        """Post JSON and return the answer, with the table's view where there is one; raise as `get` does.

        Sign-up alone takes no key: without `once`, a lost answer costs an account that nobody uses.
        """
        headers = {"Prefer": "return=representation"}
        if once:
            headers["Idempotency-Key"] = secrets.token_hex(16)
        return (await self._asked("POST", path, json=body, headers=headers)).json()

    async def names(self, players: Sequence[str]) -> dict[str, str]:
        """Return what players are called, by id; those that are unknown are left out."""
        called: dict[str, str] = {}
        for first in range(0, len(players), _NAMES):
            query = "&".join(f"id={player}" for player in players[first : first + _NAMES])
            found = await self.find(f"/v1/players?{query}")
            called |= {player["id"]: player["name"] for player in (found or {"players": []})["players"]}
        return called

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def _asked(self, method: str, path: str, **request: Any) -> httpx.Response:  # noqa: ANN401 httpx's own
        until = time.monotonic() + self._patience_s
        while True:
            try:
                response = await self._http.request(method, path, **request)
            except httpx.TransportError as error:
                complaint = (
                    f"The server at {self._http.base_url} can't be reached: {str(error) or type(error).__name__}"
                )
            else:
                wait_s = _retry_after_s(response)
                if wait_s is not None and time.monotonic() + wait_s < until:
                    await asyncio.sleep(wait_s)
                    continue
                if response.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                    return _checked(response)
                complaint = f"The server at {self._http.base_url} answers 503: it can't do its work now"
            if time.monotonic() > until:
                raise Failed(complaint)
            await asyncio.sleep(PAUSE_S)


def _retry_after_s(response: httpx.Response) -> int | None:
    """Return how long a client that was too fast is told to wait, None for any other answer."""
    told = response.headers.get("Retry-After", "")
    too_fast = response.status_code == httpx.codes.TOO_MANY_REQUESTS
    return int(told) if too_fast and told.isdecimal() else None


def _checked(response: httpx.Response) -> httpx.Response:
    if response.is_success:
        return response
    try:
        problem = response.json()
        raise Refusal(response.status_code, problem["code"], problem["detail"])
    except (ValueError, KeyError, TypeError):
        raise Failed(f"{response.url} answers {response.status_code}, and not as Evenfold does") from None
