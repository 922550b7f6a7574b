"""Problem details (RFC 9457): the one place that knows which HTTP status each obstacle is.

`type` and `code` are stable. A refusal carries its reason, the table's version and what would be legal now; a missed
version carries what was missed. No problem holds a card that was not the player's to see, a token, or a stored byte.
"""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any, Generic, TypeVar

from litestar import Response
from litestar.exceptions import HTTPException
from litestar.types import HTTPScope
from msgspec import UNSET, Meta, Struct, UnsetType

from events.base import Decision, Id, Version, whole
from service.api.answers import Answer, answer, encoded
from service.api.requests import OfFramework, route_of
from service.errors import (
    AlreadyCreated,
    ArchiveAway,
    Archived,
    Busy,
    Damaged,
    Forbidden,
    HeadersTooLarge,
    Illegible,
    KeyReused,
    Malformed,
    NoRoom,
    NoStream,
    NotFound,
    Obstacle,
    Overloaded,
    Stale,
    StoreDown,
    TimedOut,
    TooLarge,
    TooMany,
    TooManyStreams,
    TooManyTables,
    TooManyTokens,
    Unacceptable,
    Unauthenticated,
    Unconfirmed,
    Unreadable,
    UnreadableText,
    Unsupported,
    UpgradeRequired,
)
from service.game import LISTED, REASONS, NotHost, NotSeated, Refused
from service.logs import kind_and_place
from service.metrics import Counter
from service.tables import MISSED

CODE = TypeVar("CODE")
REASON = TypeVar("REASON")
COMMAND = TypeVar("COMMAND")
EVENT = TypeVar("EVENT")

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 1
MENDED_S = 60  # somebody must make room, or mend a log, first
MAX_TEXT = 1_000

_logger = logging.getLogger(__name__)
_problems = Counter("evenfold_problems_total", "Problems answered, by code.", "code")


class Problem(Struct, Generic[CODE], frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong, for a program (`code`) and for a person (`title`, `detail`).

    `type` leads to the code's place on the page of problems. `field` is a JSON pointer into the body, or the name of a
    parameter or header, `id` names what is there already, `version` is a table's: the one it is at, or, unconfirmed,
    the one that the decision would have.
    """

    type: Annotated[str, Meta(pattern=whole("/docs/problems#[a-z0-9_]{1,64}"), examples=["/docs/problems#malformed"])]
    title: Annotated[str, Meta(min_length=1, max_length=100)]
    status: Annotated[int, Meta(ge=400, le=599)]
    code: CODE
    detail: Annotated[str, Meta(min_length=1, max_length=MAX_TEXT)]
    field: Annotated[str, Meta(max_length=MAX_TEXT)] | UnsetType = UNSET
    id: Id | UnsetType = UNSET
    version: Version | UnsetType = UNSET


class TableProblem(Problem[CODE], Generic[CODE, REASON, COMMAND, EVENT], frozen=True, kw_only=True, omit_defaults=True):
    """What went wrong with a request to a table.

    `reason` says which rule refused it, at which `version`, `legal` what would be legal there for the player's seat.
    `missed` says what happened since the version that the request insisted on, `next` after which version to read on
    if that is not all of it.
    """

    reason: REASON | UnsetType = UNSET
    legal: Annotated[tuple[COMMAND, ...], Meta(max_length=LISTED)] | UnsetType = UNSET
    missed: Annotated[tuple[Decision[EVENT], ...], Meta(max_length=MISSED)] | UnsetType = UNSET
    next: Version | UnsetType = UNSET


STATUS: Mapping[type[Exception], tuple[int, str]] = {
    Malformed: (400, "malformed"),
    Unauthenticated: (401, "unauthenticated"),
    Forbidden: (403, "forbidden"),
    NotHost: (403, "not_host"),
    NotSeated: (403, "not_seated"),
    NotFound: (404, "not_found"),
    Unacceptable: (406, "not_acceptable"),
    TimedOut: (408, "timed_out"),
    Archived: (409, "archived"),
    Refused: (409, "refused"),
    Unreadable: (409, "name_unreadable"),
    UnreadableText: (409, "text_unreadable"),
    AlreadyCreated: (409, "already_created"),
    NoStream: (409, "no_stream"),
    TooManyTokens: (409, "too_many_tokens"),
    Stale: (412, "stale"),
    TooLarge: (413, "too_large"),
    Unsupported: (415, "unsupported_media_type"),
    KeyReused: (422, "key_reused"),
    UpgradeRequired: (426, "upgrade_required"),
    TooMany: (429, "too_many_requests"),
    TooManyStreams: (429, "too_many_streams"),
    TooManyTables: (429, "too_many_tables"),
    HeadersTooLarge: (431, "headers_too_large"),
    ArchiveAway: (503, "archive_away"),
    Busy: (503, "busy"),
    Damaged: (503, "log_damaged"),
    NoRoom: (503, "no_room"),
    Overloaded: (503, "overloaded"),
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

_BUG = (500, "internal")

# The names of RFC 9110; those of Python's HTTPStatus differ from one release to the next.
TITLES: Mapping[int, str] = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    405: "Method Not Allowed",
    406: "Not Acceptable",
    408: "Request Timeout",
    409: "Conflict",
    412: "Precondition Failed",
    413: "Content Too Large",
    415: "Unsupported Media Type",
    422: "Unprocessable Content",
    426: "Upgrade Required",
    429: "Too Many Requests",
    431: "Request Header Fields Too Large",
    500: "Internal Server Error",
    503: "Service Unavailable",
}


def codes() -> dict[str, int]:
    """Return every code that is no reason of a refusal, with its status."""
    stated = [STATUS[kind] for kind in STATUS if not issubclass(kind, Refused)]
    return {code: status for status, code in sorted([*stated, *_FRAMEWORK.items(), _BUG])}


def reasons(own: Mapping[str, str]) -> dict[str, int]:
    """Return every reason of a refusal at a table, each a code too, with its status; `own` are the game's."""
    seated = {code: status for status, code in (STATUS[NotHost], STATUS[NotSeated])}
    return {reason: seated.get(reason, STATUS[Refused][0]) for reason in (*REASONS, *own)}


def _of_refusal(refused: Refused) -> Response[bytes]:
    """Answer a command that a rule forbids."""
    status, _code = STATUS[type(refused)]
    return _answer(
        TableProblem(
            type=_type(refused.reason),
            title="A rule refuses this" if status == HTTPStatus.CONFLICT else TITLES[status],
            status=status,
            code=refused.reason,
            detail=refused.sentence,
            reason=refused.reason,
            version=UNSET if refused.version is None else refused.version,
            legal=UNSET if refused.legal is None else refused.legal,
        )
    )


def response_to(obstacle: Obstacle) -> Response[bytes]:
    """Answer everything else that a client may meet."""
    status, code = _stated(obstacle)
    field = obstacle.field if isinstance(obstacle, Malformed) else None
    problem: TableProblem[str, str, Any, Any] = TableProblem(
        type=_type(code),
        title=TITLES[status],
        status=status,
        code=code,
        # A sentence or a pointer may quote a name out of the body, and that may be as long as a body.
        detail=(obstacle.told if isinstance(obstacle, Illegible) else str(obstacle))[:MAX_TEXT],
        field=UNSET if field is None else field[:MAX_TEXT],
        id=obstacle.id if isinstance(obstacle, AlreadyCreated) else UNSET,
        version=obstacle.version if isinstance(obstacle, Stale | Unconfirmed) else UNSET,
        missed=obstacle.missed if isinstance(obstacle, Stale) else UNSET,
        next=UNSET if not isinstance(obstacle, Stale) or obstacle.next is None else obstacle.next,
    )
    headers = _headers(status)
    if isinstance(obstacle, NoRoom | Illegible):
        headers["Retry-After"] = str(MENDED_S)
    if isinstance(obstacle, TooMany):
        headers.update(_rate_limit(obstacle))
    return _answer(problem, headers)


def _of_framework(scope: HTTPScope, error: HTTPException) -> Response[bytes]:
    """Answer what the framework itself refuses: unknown paths, wrong methods, bodies it can't take."""
    code = _FRAMEWORK.get(error.status_code)
    if code is None:
        return _bug(scope, error)
    title = TITLES[error.status_code]
    problem = Problem(type=_type(code), title=title, status=error.status_code, code=code, detail=f"{title}.")
    return _answer(problem, {name: value for name, value in (error.headers or {}).items() if name.lower() == "allow"})


def _of(scope: HTTPScope, error: Exception) -> Response[bytes]:
    match error:
        case Refused():
            return _of_refusal(error)
        case Obstacle():
            return response_to(error)
        case HTTPException():
            return _of_framework(scope, error)
        case _:
            return _bug(scope, error)


def of_framework(request: OfFramework, error: Exception) -> Response[bytes]:
    """Answer whatever was raised under the framework's hands."""
    return _of(request.scope, error)


def met(scope: HTTPScope, error: Exception) -> Answer:
    """Answer what a route has raised, without the framework."""
    return _outside(_of(scope, error))


def refusal(obstacle: Obstacle) -> Answer:
    """Answer a request that does not reach the framework."""
    return _outside(response_to(obstacle))


def failure(scope: HTTPScope, error: Exception) -> Answer:
    """Answer a fault of the service that the framework did not meet."""
    return _outside(_bug(scope, error))


def _outside(response: Response[bytes]) -> Answer:
    """Return the same as an application, without the framework that would send it."""
    return answer(response.content, response.status_code or 500, response.headers, MEDIA_TYPE)


def _bug(scope: HTTPScope, error: Exception) -> Response[bytes]:
    """Answer a fault of the service: it is logged by its kind and place, for its message may hold a card or a token."""
    _logger.error("%s %s failed: %s", scope["method"], route_of(scope), kind_and_place(error))
    detail = "The service has failed at this; nothing of the request is known to have happened."
    status, code = _BUG
    return _answer(Problem(type=_type(code), title=TITLES[status], status=status, code=code, detail=detail))


def _stated(obstacle: Obstacle) -> tuple[int, str]:
    """Return the status and code of the nearest kind of obstacle that has them."""
    return next(STATUS[kind] for kind in type(obstacle).__mro__ if kind in STATUS)


def _type(code: str) -> str:
    return f"/docs/problems#{code}"


def _headers(status: int) -> dict[str, str]:
    match status:
        case HTTPStatus.UNAUTHORIZED:
            return {"WWW-Authenticate": 'Bearer realm="evenfold"'}
        case HTTPStatus.UPGRADE_REQUIRED:
            return {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13"}
        case HTTPStatus.SERVICE_UNAVAILABLE:
            return {"Retry-After": str(RETRY_AFTER_S)}
        case _:
            return {}


def _rate_limit(exceeded: TooMany) -> dict[str, str]:
    """Return the fields of draft-ietf-httpapi-ratelimit-headers-10: the policy, that nothing is left, until when."""
    window = "" if exceeded.window_s is None else f";w={exceeded.window_s}"
    left = "" if exceeded.window_s is None else f";t={exceeded.retry_s}"
    return {
        "RateLimit-Policy": f'"{exceeded.policy}";q={exceeded.quota}{window}',
        "RateLimit": f'"{exceeded.policy}";r=0{left}',
        "Retry-After": str(exceeded.retry_s),
    }


def _answer(problem: Problem[str], headers: Mapping[str, str] | None = None) -> Response[bytes]:
    _problems.add(problem.code)
    return Response(encoded(problem), status_code=problem.status, headers=headers, media_type=MEDIA_TYPE)
