"""Routes of tokens: make, list, rotate and revoke those of one's own account."""

import hashlib

import msgspec
from litestar.response.base import ASGIResponse
from msgspec import UNSET

from events.base import Id
from service.api.answers import IssuedToken, NewToken, OwnToken, OwnTokens, Rotation, answer, empty, encoded
from service.api.endpoint import Endpoint, Parameter
from service.api.parameters import IDEMPOTENCY_KEY
from service.api.requests import AnyRequest, bearer, body, identity, no_body, once, require
from service.auth.accounts import clean_name
from service.auth.scopes import ACCOUNT, SCOPES, Scope, may_give
from service.auth.tokens import Grant, Identity, Issued, Repeatable, Tokens
from service.clock import utc_ms
from service.errors import Forbidden

UNCACHED = {"Cache-Control": "no-store"}
TOKEN = Parameter("token", "path", Id, "The token's id.", required=True)

_new_token = msgspec.json.Decoder(NewToken)
_rotation = msgspec.json.Decoder(Rotation)


async def make(request: AnyRequest) -> ASGIResponse:
    """Make a token that may do no more, and lives no longer, than the one that asks for it."""
    who, ends_at = await bearer(request, ACCOUNT)
    wanted = await body(request, _new_token)
    _check_gift(who, wanted.scopes)
    label = None if wanted.label is UNSET else clean_name(wanted.label, "/label")
    ends = [ends_at] if ends_at is not None else []
    if wanted.expires_in_s is not UNSET:
        ends.append(utc_ms() + 1_000 * wanted.expires_in_s)
    scopes = tuple(scope for scope in SCOPES if scope in wanted.scopes)
    grant = Grant(scopes, min(ends, default=None), label)
    return _issued(await _tokens(request).issue(who.account, grant, _repeatable(request, who, wanted)))


async def own(request: AnyRequest) -> ASGIResponse:
    """List the account's tokens."""
    who = await identity(request, ACCOUNT)
    tokens = await _tokens(request).of(who.account)
    listed = (OwnToken(**msgspec.structs.asdict(token), current=token.id == who.token) for token in tokens)
    return answer(OwnTokens(tuple(listed)), headers=UNCACHED)


async def rotate(request: AnyRequest) -> ASGIResponse:
    """Give a token another secret; the one that asks may always be rotated."""
    who, ends_at = await bearer(request)
    token = _named(request, who)
    wanted = await body(request, _rotation)
    if token != who.token:
        other = await _tokens(request).find(who.account, token)
        _check_gift(who, other.scopes)
        if ends_at is not None and (other.expires_at is None or other.expires_at > ends_at):
            raise Forbidden("A token that ends can't give one that outlives it another secret.")
    repeatable = _repeatable(request, who, wanted)
    return _issued(await _tokens(request).rotate(who.account, token, 1_000 * wanted.grace_s, repeatable))


async def revoke(request: AnyRequest) -> ASGIResponse:
    """End a token; the one that asks may always be ended."""
    who, _ = await bearer(request)
    token = _named(request, who)
    await no_body(request)
    await _tokens(request).revoke(who.account, token)
    return empty(204)


def _check_gift(who: Identity, scopes: tuple[Scope, ...]) -> None:
    """Raise Forbidden if a token of these scopes could do more than its bearer."""
    if not may_give(who.scopes, scopes):
        raise Forbidden("A token gives no more than it may do itself; `arbiter` and `admin` the operator alone gives.")


def _named(request: AnyRequest, who: Identity) -> str:
    """Return the token that the path names; raise Forbidden unless it is the bearer's own, or may be changed by it."""
    token: str = request.path_params["token"]
    if token != who.token:
        require(who, ACCOUNT)
    return token


def _repeatable(request: AnyRequest, who: Identity, wanted: object) -> Repeatable | None:
    key = once(request, who.account)
    return None if key is None else Repeatable(key.hash, hashlib.sha256(encoded(wanted)).hexdigest())


def _issued(issued: Issued) -> ASGIResponse:
    return answer(IssuedToken(**msgspec.structs.asdict(issued.token), token=issued.secret), 201, UNCACHED)


def _tokens(request: AnyRequest) -> Tokens:
    tokens: Tokens = request.app.state.tokens
    return tokens


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="POST",
        path="/v1/tokens",
        name="makeToken",
        summary="Make a token for the account that may do no more than the one that asks.",
        about="""
        Its secret is shown this once. So a repeat with the same Idempotency-Key is answered 409 `already_created` with
        the token's `id`, by which it can be rotated or revoked.
        """,
        handler=make,
        body=NewToken,
        parameters=(IDEMPOTENCY_KEY,),
        answers={201: IssuedToken},
        errors=(400, 401, 403, 409, 413, 415, 422, 429, 503),
        scope=ACCOUNT,
        tag="tokens",
    ),
    Endpoint(
        method="GET",
        path="/v1/tokens",
        name="getTokens",
        summary="The account's tokens, without their secrets.",
        handler=own,
        answers={200: OwnTokens},
        errors=(400, 401, 403, 429, 503),
        scope=ACCOUNT,
        tag="tokens",
    ),
    Endpoint(
        method="POST",
        path="/v1/tokens/{token}/rotate",
        name="rotateToken",
        summary="Give a token another secret; any token may rotate itself.",
        about="""
        The secret is shown this once; a repeat with the same Idempotency-Key is answered 409 `already_created`: rotate
        the token again, with another token, or with the secret before as long as its grace lasts. So give no grace to a
        secret that others know.
        """,
        handler=rotate,
        body=Rotation,
        parameters=(TOKEN, IDEMPOTENCY_KEY),
        answers={201: IssuedToken},
        errors=(400, 401, 403, 404, 409, 413, 415, 422, 429, 503),
        scope_of={"another token than the one that asks": ACCOUNT},
        tag="tokens",
    ),
    Endpoint(
        method="DELETE",
        path="/v1/tokens/{token}",
        name="revokeToken",
        summary="End a token; any token may end itself.",
        handler=revoke,
        parameters=(TOKEN,),
        answers={204: None},
        errors=(400, 401, 403, 404, 413, 429, 503),
        scope_of={"another token than the one that asks": ACCOUNT},
        tag="tokens",
    ),
)
