"""Problem details (RFC 9457): the one place that knows which HTTP status each obstacle is.

`type` and `code` are stable. A refusal carries its reason, the table's version and what would be legal now; a missed
version carries what was missed. No problem holds a card that was not the player's to see, a token, or a stored byte.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

from litestar import Request, Response
from litestar.exceptions import HTTPException
from msgspec import UNSET, Meta, Struct, UnsetType

from events.base import Decision, Event, Version
from service.api.answers import encoded
from service.errors import (
    Busy,
    Forbidden,
    KeyReused,
    Malformed,
    NotFound,
    Obstacle,
    Stale,
    StoreDown,
    TooLarge,
    Unacceptable,
    Unauthenticated,
    Unconfirmed,
    Unsupported,
)
from service.game import Command, NotHost, NotSeated, Refused

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 1

_logger = logging.getLogger(__name__)


class Problem(Struct, frozen=True, omit_defaults=True):
    """What went wrong, for a program (`code`, `reason`) and for a person (`title`, `detail`).

    `field` is a JSON pointer into the body, or the name of a parameter or header. `reason` says which rule refused the
    command, `legal` what would be legal now; `missed` what happened since the version the request insisted on, `next`
    where to read on if that is not all.
    """

    type: str
    title: str
    status: Annotated[int, Meta(ge=400, le=599)]
    code: str
    detail: str
    field: str | None = None
    reason: str | None = None
    version: Version | None = None
    legal: tuple[Command, ...] | UnsetType = UNSET
    missed: tuple[Decision[Event], ...] | UnsetType = UNSET
    next: Version | None = None


STATUS: Mapping[type[Exception], tuple[int, str]] = {
    Malformed: (400, "malformed"),
    Unauthenticated: (401, "unauthenticated"),
    Forbidden: (403, "forbidden"),
    NotHost: (403, "not_host"),
    NotSeated: (403, "not_seated"),
    NotFound: (404, "not_found"),
    Unacceptable: (406, "not_acceptable"),
    Refused: (409, "refused"),
    Stale: (412, "stale"),
    TooLarge: (413, "too_large"),
    Unsupported: (415, "unsupported_media_type"),
    KeyReused: (422, "key_reused"),
    Busy: (503, "busy"),
    StoreDown: (503, "store_down"),
    Unconfirmed: (503, "unconfirmed"),
}

# What the framework itself finds wrong with a request.
_FRAMEWORK: Mapping[int, str] = {
    400: "malformed",
    404: "not_found",
    405: "method_not_allowed",
    413: "too_large",
}


def of_refusal(_: Request[Any, Any, Any], refused: Refused) -> Response[bytes]:
    """Answer a command that a rule forbids."""
    status, _code = STATUS[type(refused)]
    return _answer(
        Problem(
            type=_type(refused.reason),
            title="A rule refuses this" if status == HTTPStatus.CONFLICT else HTTPStatus(status).phrase,
            status=status,
            code=refused.reason,
            detail=refused.sentence,
            reason=refused.reason,
            version=refused.version,
            legal=UNSET if refused.legal is None else refused.legal,
        )
    )


def of_obstacle(_: Request[Any, Any, Any], obstacle: Obstacle) -> Response[bytes]:
    """Answer everything else that a client may meet."""
    status, code = STATUS[type(obstacle)]
    problem = Problem(
        type=_type(code),
        title=HTTPStatus(status).phrase,
        status=status,
        code=code,
        detail=str(obstacle),
        field=obstacle.field if isinstance(obstacle, Malformed) else None,
        version=obstacle.version if isinstance(obstacle, Stale | Unconfirmed) else None,
        missed=obstacle.missed if isinstance(obstacle, Stale) else UNSET,
        next=obstacle.next if isinstance(obstacle, Stale) else None,
    )
    return _answer(problem, _headers(status))


def of_framework(request: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    """Answer what the framework itself refuses: unknown paths, wrong methods, bodies it can't take."""
    code = _FRAMEWORK.get(error.status_code)
    if code is None:
        return of_bug(request, error)
    phrase = HTTPStatus(error.status_code).phrase
    problem = Problem(type=_type(code), title=phrase, status=error.status_code, code=code, detail=f"{phrase}.")
    return _answer(problem, {name: value for name, value in (error.headers or {}).items() if name.lower() == "allow"})


def of_bug(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    """Answer a fault of the service: it is logged whole, and told to nobody."""
    _logger.error("%s %s failed", request.method, request.scope["path"], exc_info=error)
    detail = "The service has failed at this; nothing of the request is known to have happened."
    return _answer(
        Problem(type=_type("internal"), title="Internal Server Error", status=500, code="internal", detail=detail)
    )


def _type(code: str) -> str:
    return f"/docs/problems#{code}"


def _headers(status: int) -> dict[str, str]:
    match status:
        case HTTPStatus.UNAUTHORIZED:
            return {"WWW-Authenticate": 'Bearer realm="evenfold"'}
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return {"Retry-After": str(RETRY_AFTER_S)}
        case _:
            return {}


def _answer(problem: Problem, headers: Mapping[str, str] | None = None) -> Response[bytes]:
    return Response(encoded(problem), status_code=problem.status, headers=headers, media_type=MEDIA_TYPE)
