"""How requests are read: strictly, once, and with a sentence for everything that is outside the contract."""

import re
from collections import Counter
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, TypeVar, cast
from urllib.parse import unquote_plus

import msgspec
from litestar import Litestar, Request
from litestar.datastructures import MultiDict
from litestar.datastructures.headers import Accept
from litestar.types import HTTPScope, Receive

from service.auth.scopes import ANY, Needed, suffices, told
from service.auth.tickets import Tickets
from service.auth.tokens import Bearer, Identity, Tokens
from service.errors import Forbidden, Malformed, NotFound, TooLarge, Unacceptable, Unauthenticated, Unsupported
from service.limits import Rates
from service.once import Once

T = TypeVar("T")

OfFramework = Request[Any, Any, Any]

MAX_BODY = 65_536
MAX_ACCEPT = 1_024
NO_ROUTE = "-"
TICKET = "ticket"
"""The parameter of the query in which a ticket comes."""
KNOWN = "known"
"""The member of a request's state that says whom it speaks for, where it came over a socket that a ticket opened."""

_BEARER = re.compile(r"[Bb]earer ([A-Za-z0-9_-]{1,128})")
# Of RFC 3986, in a query: pchar, "/", "?".
_QUERY = re.compile(rb"(?:[A-Za-z0-9\-._~!$&'()*+,;=:@/?]|%[0-9A-Fa-f]{2})*")
_MEDIA = re.compile(r"application/json(?:[ \t]*;[ \t]*charset=(?:utf-8|\"utf-8\"))?[ \t]*;?[ \t]*", re.IGNORECASE)
_INTEGER = re.compile(r"0|-?[1-9][0-9]*")
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_TAG = re.compile(r'"(0|[1-9][0-9]{0,15})"')
_AT = re.compile(r"(.*) - at `\$(.*)`$", re.DOTALL)
_FIELD = re.compile(r"(?:unknown|required) field `(.*)`", re.DOTALL)
_PATTERN = re.compile(r"matching regex .*", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")


_STATED = "stated"
_NONE: frozenset[bytes] = frozenset()

Stated = tuple[dict[bytes, bytes], frozenset[bytes]]
"""The headers of a request by name, and the names of those that came more than once."""


class AnyRequest:
    """A request, as routes read it: of what the framework would make of each, most need nothing."""

    __slots__ = ("receive", "scope")

    def __init__(self, scope: HTTPScope, receive: Receive) -> None:
        """Take what ASGI gives."""
        self.scope = scope
        self.receive = receive

    @property
    def app(self) -> Litestar:
        """The application, which has the parts of the process as its state."""
        return self.scope["litestar_app"]

    @property
    def method(self) -> str:
        """Its method; HEAD is GET here."""
        return self.scope["method"]

    @property
    def path_params(self) -> dict[str, str]:
        """The parts of its path, by the names that the route's template gives them."""
        return self.scope["path_params"]

    @property
    def query_params(self) -> MultiDict[str]:
        """The parameters of its query."""
        return self._of_framework.query_params

    @property
    def _of_framework(self) -> OfFramework:
        return Request(self.scope, self.receive)


def header(request: AnyRequest, name: str, most: int | None = None) -> str | None:
    """Return a header's value, None if it is absent; Malformed if it comes twice, is too long or not ASCII."""
    values, repeated = request.scope["state"][_STATED]
    wire = _on_the_wire(name)
    value: bytes | None = values.get(wire)
    if value is None:
        return None
    if wire in repeated:
        raise Malformed(f"The header {name} must come once.", name)
    if most is not None and len(value) > most:
        raise Malformed(f"The header {name} holds at most {most} characters.", name)
    try:
        return value.decode("ascii")
    except UnicodeDecodeError:
        raise Malformed(f"The header {name} must be ASCII.", name) from None


@cache
def _on_the_wire(name: str) -> bytes:
    return name.lower().encode("ascii")


def state_headers(scope: HTTPScope) -> dict[bytes, bytes]:
    """Look through the headers of a request, once for all that read them; return the last of each name."""
    headers = cast("list[tuple[bytes, bytes]]", scope["headers"])
    values = dict(headers)
    repeated = _NONE
    if len(values) < len(headers):
        repeated = frozenset(name for name, times in Counter(name for name, _ in headers).items() if times > 1)
    stated: Stated = (values, repeated)
    scope["state"][_STATED] = stated
    return values


def check_path(request: AnyRequest, template: str) -> None:
    """Raise NotFound unless the path is written as the route's template has it.

    The framework takes `/v1/me/`, `//v1/me` and `/v1/%6de` for `/v1/me`; an idempotency key belongs to one spelling.
    """
    written: bytes = request.scope["raw_path"]
    if b"%" in written or written.count(b"/") != template.count("/"):
        raise NotFound("There is nothing at this address.")


def check_headers(request: AnyRequest, most: Mapping[str, int | None]) -> None:
    """Raise Malformed unless each of these headers that is there comes once, is ASCII, and no longer than this."""
    values, _ = request.scope["state"][_STATED]
    for name, longest in most.items():
        if _on_the_wire(name) in values:
            header(request, name, longest)


def check_query(request: AnyRequest, names: frozenset[str]) -> None:
    """Raise Malformed unless the query is well-formed and holds no parameters but these."""
    written: bytes = request.scope["query_string"]
    if not written:
        return
    if _QUERY.fullmatch(written) is None:
        raise Malformed("The query is not written as URLs have it: a stray character, or a % without two digits.")
    for part in written.split(b"&"):
        try:
            name = unquote_plus(part.partition(b"=")[0].decode("ascii"), errors="strict")
            unquote_plus(part.decode("ascii"), errors="strict")
        except UnicodeDecodeError:
            raise Malformed("The query is not UTF-8.") from None
        if name not in names:
            raise Malformed(f"There is no parameter {name} here.", name)


def route_of(scope: HTTPScope) -> str:
    """Return the template of a request's route, `-` where it found none; paths may hold what no log may."""
    return scope.get("path_template", NO_ROUTE).replace(":str}", "}")


async def identity(request: AnyRequest, needed: Needed = ANY) -> Identity:
    """Return whom the bearer token speaks for.

    Raise Unauthenticated if nobody, TooMany if requests of the account come too fast, Forbidden if it lacks a scope.
    """
    who: Identity | None = request.scope["state"].get(KNOWN)
    if who is None:
        secret = _secret(request)
        tokens: Tokens = request.app.state.tokens
        who = tokens.trusted(secret) or await tokens.identify(secret)
    _admit(request, who, needed)
    return who


async def stream_identity(request: AnyRequest, needed: Needed = ANY) -> Identity:
    """Return whom the bearer token speaks for, or the ticket in the query, which is spent by that.

    For routes that are marked as `ticketed`. Raise as `identity` does, and Malformed where there are both.
    """
    ticket = query(request, TICKET, str, "")
    if not ticket:
        return await identity(request, needed)
    if header(request, "Authorization") is not None:
        raise Malformed("A stream is opened by a bearer token or by a ticket, not by both.", TICKET)
    tickets: Tickets = request.app.state.tickets
    who = await tickets.redeem(ticket, request.scope["raw_path"].decode("ascii"))
    _admit(request, who, needed)
    return who


async def bearer(request: AnyRequest, needed: Needed = ANY) -> Bearer:
    """Return whom the bearer token speaks for as the store has it now; raise as `identity` does.

    For what can't be taken back: tokens made and changed, a name, an account's end.
    """
    tokens: Tokens = request.app.state.tokens
    found = await tokens.confirmed(_secret(request))
    _admit(request, found.identity, needed)
    return found


def _secret(request: AnyRequest) -> str:
    value = header(request, "Authorization")
    if value is None:
        raise Unauthenticated("This needs a bearer token; POST /v1/players gives one.")
    match = _BEARER.fullmatch(value)
    if match is None:
        raise Unauthenticated("The Authorization header must be `Bearer` and a token.")
    return match[1]


def _admit(request: AnyRequest, who: Identity, needed: Needed) -> None:
    rates: Rates = request.app.state.rates
    rates.take(who.account)
    require(who, needed)


def require(who: Identity, needed: Needed) -> None:
    """Raise Forbidden unless the token has the scopes that are needed."""
    if not suffices(who.scopes, needed):
        raise Forbidden(f"The token's scopes don't allow this; it takes {told(needed)}.")


async def body(request: AnyRequest, decoder: "msgspec.json.Decoder[T]") -> T:
    """Return the JSON body, strictly decoded; an integral float counts as the integer it is, as JSON Schema has it."""
    if _MEDIA.fullmatch(header(request, "Content-Type") or "") is None:
        raise Unsupported("The body must be JSON in UTF-8, and Content-Type must say so: application/json.")
    encoding = header(request, "Content-Encoding")
    if encoding is not None and encoding.lower() not in {"", "identity"}:
        raise Unsupported("The body must not be compressed.")
    return parsed(await _bytes(request), decoder)


def parsed(raw: bytes | str, decoder: "msgspec.json.Decoder[T]", what: str = "body") -> T:
    """Return what a piece of JSON says, strictly decoded as `body` has it; Malformed says `what` it is no good as."""
    try:
        return _decoded(raw, decoder)
    except msgspec.ValidationError as error:
        raise _malformed(error) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Malformed(f"The {what} is not JSON: {error}.", "") from error
    except RecursionError:
        raise Malformed(f"The {what} is nested too deep.", "") from None


def _decoded(raw: bytes | str, decoder: "msgspec.json.Decoder[T]") -> T:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as strict:
        try:
            plain = _integral(msgspec.json.decode(raw))
            return cast("T", msgspec.convert(plain, decoder.type, strict=True))
        except msgspec.ValidationError:
            raise strict from None


async def no_body(request: AnyRequest) -> None:
    """Check that the request has no body, or an empty JSON object."""
    if (await _bytes(request)).strip() not in (b"", b"{}"):
        raise Malformed("This takes no body, or an empty JSON object.")


async def _bytes(request: AnyRequest) -> bytes:
    body = b""
    while True:
        message = await request.receive()
        if message["type"] != "http.request":
            raise Malformed("The body broke off.", "")
        body += message["body"]
        if len(body) > MAX_BODY:
            raise TooLarge(f"A body holds at most {MAX_BODY} bytes.")
        if not message["more_body"]:
            return body


def query(request: AnyRequest, name: str, kind: type[T], default: T) -> T:
    """Return a parameter of the query converted to a type, the default if it is absent."""
    values = request.query_params.getall(name, [])
    if not values:
        return default
    if len(values) > 1:
        raise Malformed(f"The parameter {name} must come once.", name)
    return converted(values[0], kind, name)


def converted(text: str, kind: type[T], name: str) -> T:
    """Return a piece of text as a value of this type; Malformed names the parameter."""
    try:
        value = msgspec.convert(text, kind, strict=False)
    except msgspec.ValidationError as error:
        told = _PATTERN.sub("that has only what is allowed here", str(error))
        raise Malformed(f"The parameter {name} is not what it must be: {told}.", name) from error
    if isinstance(value, bool):
        if text not in {"true", "false"}:
            raise Malformed(f"The parameter {name} must be true or false.", name)
    elif isinstance(value, int) and _INTEGER.fullmatch(text) is None:
        raise Malformed(f"The parameter {name} must be an integer in digits.", name)
    return value


def once(request: AnyRequest, account: str) -> Once | None:
    """Return the name of a POST with an Idempotency-Key, None for any other request."""
    if request.method != "POST":
        return None
    value = header(request, "Idempotency-Key")
    if value is None:
        return None
    if _KEY.fullmatch(value) is None:
        raise Malformed("An Idempotency-Key has 1 to 255 visible ASCII characters.", "Idempotency-Key")
    return Once(account, f"{request.method} {request.scope['raw_path'].decode('ascii')}", value)


def only_at(request: AnyRequest) -> int | None:
    """Return the version that If-Match insists on, None without one; it must be one strong tag."""
    value = header(request, "If-Match")
    if value is None:
        return None
    match = _TAG.fullmatch(value)
    if match is None:
        raise Malformed('If-Match must be one strong tag, the version in quotes: "41".', "If-Match")
    return int(match[1])


def already_has(request: AnyRequest, tag: str) -> bool:
    """Tell whether If-None-Match names this entity tag."""
    value = header(request, "If-None-Match")
    if value is None:
        return False
    tags = [part.strip().removeprefix("W/") for part in value.split(",")]
    return tag in tags or "*" in tags


def prefers_view(request: AnyRequest) -> bool:
    """Tell whether the client asks for the view in the answer: `Prefer: return=representation`."""
    value = header(request, "Prefer")
    return value is not None and any(part.strip().lower() == "return=representation" for part in value.split(","))


def accepts(request: AnyRequest, *kinds: str) -> str:
    """Return which of these media types the client likes best, the first where it does not care; else Unacceptable."""
    value = header(request, "Accept", MAX_ACCEPT)
    try:
        best = _best(value, kinds) if value else kinds[0]
    except (ValueError, OverflowError):
        raise Malformed("The header Accept has a quality that is no number from 0 to 1.", "Accept") from None
    if best is None:
        raise Unacceptable(f"This answers with {' or '.join(kinds)}.")
    return best


@lru_cache(maxsize=1_024)
def _best(accept: str, kinds: tuple[str, ...]) -> str | None:
    return Accept(accept).best_match(list(kinds))


def _integral(value: object) -> object:
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_integral(item) for item in value]
        case dict():
            return {name: _integral(item) for name, item in value.items()}
        case _:
            return value


def _malformed(error: msgspec.ValidationError) -> Malformed:
    """Tell a validation error with the place it happened at as a JSON pointer."""
    place = _AT.fullmatch(str(error))
    message, path = (place[1], place[2]) if place is not None else (str(error), "")
    pointer = "".join("/" + _escaped(step[1] or step[2]) for step in _STEP.finditer(path))
    if field := _FIELD.search(message):
        pointer += "/" + _escaped(field[1])
    return Malformed(f"{_PATTERN.sub('that has only the characters allowed here', message)}.", pointer)


def _escaped(name: str) -> str:
    """Write a member's name as a step of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
