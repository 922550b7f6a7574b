"""Which pages of other origins may read what is answered here: CORS, as the Fetch standard has it.

Any page may, unless the operator names those that may or says `none`: no answer goes by a cookie, but by the token that
the page shows, so a stranger's page reads nothing that the stranger could not read without it. For the same reason
credentials are never allowed. A preflight is not told whether there is such a route, nor what that takes: its page may
read that in the answer itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from litestar.types import HTTPScope, WebSocketScope

from service.api.answers import Answer, empty

ANY: Final = "*"

METHODS: Final = ("GET", "HEAD", "POST", "PATCH", "DELETE", "OPTIONS")

TAKEN: Final = (
    "Accept",
    "Accept-Language",
    "Authorization",
    "Cache-Control",
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "If-None-Match",
    "Last-Event-ID",
    "Prefer",
    "Traceparent",
    "Tracestate",
    "X-Request-Id",
)
"""What a page may send; some of it libraries add, and take no refusal for an answer."""

SHOWN: Final = (
    "Allow",
    "Date",
    "ETag",
    "Location",
    "Preference-Applied",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "Traceparent",
    "Tracestate",
    "WWW-Authenticate",
    "X-Request-Id",
)
"""What a page may read, beside what it always may. By the date it sets its clock, for a table's are absolute."""

MAX_AGE_S: Final = 7_200
"""For how long a preflight holds: no browser remembers one much longer."""

_ALLOWED: Final = b"access-control-allow-origin"
_EXPOSED: Final = (b"access-control-expose-headers", ", ".join(SHOWN).encode("ascii"))
_ASKED: Final = b"access-control-request-method"
_PREFLIGHT: Final = {
    "Access-Control-Allow-Methods": ", ".join(METHODS),
    "Access-Control-Allow-Headers": ", ".join(TAKEN),
    "Access-Control-Max-Age": str(MAX_AGE_S),
}

Headers = Sequence[tuple[bytes, bytes]]


class Origins:
    """The origins whose pages may read what is answered here."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        """Allow these, as browsers write them (`https://cards.example.org`), or any: `*`."""
        listed = frozenset(origin.encode("ascii") for origin in allowed)
        self._any = ANY.encode("ascii") in listed
        self._listed = listed
        self.vary = bool(listed) and not self._any
        """Whether every answer, asked for by a page or not, differs with the origin of who asks."""

    def headers(self, origin: bytes | None) -> Headers:
        """Return what an answer has for a page of this origin; None: whoever asks is no page of another one."""
        if self._any:
            return () if origin is None else ((_ALLOWED, b"*"), _EXPOSED)
        if not self.vary:
            return ()
        vary = (b"vary", b"Origin")
        return (vary,) if origin is None or origin not in self._listed else (vary, (_ALLOWED, origin), _EXPOSED)

    def preflight(self, scope: HTTPScope) -> Answer | None:
        """Return what answers an OPTIONS that is the preflight of a page that may; None for any other OPTIONS."""
        stated = dict(scope["headers"])
        origin = stated.get(b"origin")
        if origin is None or _ASKED not in stated or not (self._any or origin in self._listed):
            return None
        return empty(204, _PREFLIGHT)

    def admit(self, scope: WebSocketScope) -> bool:
        """Tell whether a WebSocket may be opened from where its handshake comes: browsers ask nobody else about that.

        It may from no page at all, from a page of this very host, and from an origin that is allowed.
        """
        stated: Mapping[bytes, bytes] = dict(scope["headers"])
        origin = stated.get(b"origin")
        if origin is None or self._any or origin in self._listed:
            return True
        return origin.partition(b"://")[2] == stated.get(b"host", b"").lower()


NOBODY: Final = Origins()
"""No origin at all."""


def origins_of(app: object) -> Origins:
    """Return the origins that an application was made for, NOBODY for one that says nothing of them."""
    state = getattr(app, "state", None)
    return NOBODY if state is None else state.get("origins", NOBODY)
