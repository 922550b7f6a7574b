"""The head of a request as it comes in, and what keeps it from being answered; and the bounds of all that comes in."""

from typing import NamedTuple, cast
from urllib.parse import unquote

from httptools import parse_url
from httptools.parser.errors import HttpParserInvalidURLError
from litestar.types import HTTPScope

from service.api.requests import MAX_BODY
from service.errors import HeadersTooLarge, Malformed, Obstacle, TooLarge


class Bounds(NamedTuple):
    """What a connection may take: bytes of a head, of its target, of a body; seconds for each phase; their number.

    `head_s` is the time from a head's first byte to its last, and from the connection to the first byte. `body_s` is
    that of a body. `idle_s` is how long a connection may lie still between requests: longer than the two minutes that
    proxies keep theirs, for who closes first cuts off the other's next request, and long enough to think about a move.
    `stall_s` is how long a client may take nothing of an answer, `linger_s` how long its rest is awaited after a
    refusal. `connections` is for each worker. A message on a WebSocket holds what a request's head and body may; after
    `ping_s` without another word the client is asked whether it is there, and has `pong_s` to say so.
    """

    head: int = 16_384
    target: int = 8_192
    body: int = MAX_BODY
    head_s: float = 10.0
    body_s: float = 20.0
    idle_s: float = 150.0
    stall_s: float = 30.0
    linger_s: float = 3.0
    connections: int = 4_096
    message: int = 16_384 + MAX_BODY
    ping_s: float = 15.0
    pong_s: float = 20.0

    @property
    def framed(self) -> int:
        """The bytes that a body may take with its chunks' heads, and trailers."""
        return self.head + 8 * self.body

    @property
    def look_s(self) -> float:
        """How often to look whether a time is over."""
        return min(self.head_s, self.body_s, self.idle_s, self.stall_s, self.linger_s) / 2


class Head:
    """A head, as far as it has come in."""

    __slots__ = ("headers", "stated", "url")

    def __init__(self) -> None:
        self.url = b""
        self.headers: list[tuple[bytes, bytes]] = []
        self.stated: dict[bytes, bytes] = {}
        """The headers by name, once they are complete."""

    def is_longer(self, most: int) -> bool:
        """Tell whether names and values together hold more bytes than these."""
        return sum(len(name) + len(value) for name, value in self.headers) > most

    def objection(self, scope: HTTPScope, bounds: Bounds) -> Obstacle | None:
        """Return what keeps this whole head from being answered, None where nothing does; its length aside."""
        stated = self.stated = dict(self.headers)
        if len(self.url) > bounds.target:
            return headers_too_large(bounds)
        if scope["http_version"] not in {"1.1", "1.0"} or not scope["path"]:
            return Malformed("This is not a request of HTTP/1.1 for a path.")
        if self._hosts() != 1 and (scope["http_version"] == "1.1" or b"host" in stated):
            return Malformed("The header Host must come once.", "Host")
        if stated.get(b"transfer-encoding", b"chunked").lower() != b"chunked":
            return Malformed("A body comes whole or chunked, in no other Transfer-Encoding.", "Transfer-Encoding")
        if int(stated.get(b"content-length", 0)) > bounds.body:
            return too_large(bounds)
        return None

    def scope(self, method: str, version: str, **connection: object) -> HTTPScope:
        """Return the scope of the request, with what is known of its connection."""
        path, query = _target(self.url)
        members = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": version,
            "root_path": "",
            "method": method,
            "path": unquote(path.decode("ascii")) if b"%" in path else path.decode("ascii"),
            "raw_path": path,
            "query_string": query,
            "headers": self.headers,
            **connection,
        }
        return cast("HTTPScope", members)

    def without_upgrade(self, method: bytes) -> bytes:
        """Return the bytes of this head without its wish for another protocol."""
        kept = b"".join(b"%b: %b\r\n" % header for header in self.headers if header[0] != b"upgrade")
        return b"%b %b HTTP/1.1\r\n%b\r\n" % (method, self.url, kept)

    def _hosts(self) -> int:
        if len(self.stated) == len(self.headers):
            return b"host" in self.stated
        return sum(name == b"host" for name, _ in self.headers)


def too_large(bounds: Bounds) -> TooLarge:
    """Return the obstacle of a body without measure."""
    return TooLarge(f"A body holds at most {bounds.body} bytes.")


def headers_too_large(bounds: Bounds) -> HeadersTooLarge:
    """Return the obstacle of a head without measure."""
    return HeadersTooLarge(f"The headers hold at most {bounds.head} bytes, path and query at most {bounds.target}.")


def _target(url: bytes) -> tuple[bytes, bytes]:
    """Return the path and the query of a request's target; no path where it is none of ours."""
    if not url.startswith(b"/"):
        try:
            parsed = parse_url(url)
        except HttpParserInvalidURLError:
            return b"", b""
        return (parsed.path or b"/", parsed.query or b"") if parsed.schema else (b"", b"")
    path, _, query = url.partition(b"?")
    return (b"", b"") if b"#" in url else (path, query)
