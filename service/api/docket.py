"""The route of the docket: the disputes that arbiters have not ruled on, at all tables."""

from typing import Annotated, Final

from litestar.response.base import ASGIResponse
from msgspec import Meta, Struct

from events.base import whole
from projections.docket import OpenDispute
from service.api.answers import answer
from service.api.endpoint import Endpoint, Parameter
from service.api.requests import AnyRequest, identity, query
from service.auth.scopes import ARBITER
from service.docket import CURSOR, Docket

MAX_DISPUTES: Final = 100
HEADERS: Final = {"Cache-Control": "private, no-store", "Vary": "Authorization"}

Count = Annotated[int, Meta(ge=1, le=MAX_DISPUTES)]
Cursor = Annotated[str, Meta(pattern=whole(CURSOR), description="Where to read on; opaque.")]


class OpenDisputes(Struct, frozen=True):
    """A page of open disputes, the oldest first; `next` is what to ask `after` for the next page, null at the end."""

    disputes: Annotated[tuple[OpenDispute, ...], Meta(max_length=MAX_DISPUTES)]
    next: Cursor | None


async def disputes(request: AnyRequest) -> ASGIResponse:
    """Return a page of open disputes."""
    await identity(request, ARBITER)
    after = query(request, "after", Cursor, "") or None
    limit = query(request, "limit", Count, MAX_DISPUTES)
    docket: Docket = request.app.state.docket
    page = await docket.page(after, limit)
    return answer(OpenDisputes(page.disputes, page.next), headers=HEADERS)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/v1/disputes",
        name="getOpenDisputes",
        summary="The disputes of all tables that no arbiter has ruled on, the oldest first.",
        about="""
        A dispute is listed a moment after it was filed, and goes with its ruling. What was written about it, looks and
        rulings are at its table: `GET /v1/{game}/tables/{table}/disputes`. More at `/docs/disputes`.
        """,
        handler=disputes,
        parameters=(
            Parameter("after", "query", Cursor, "The `next` of the page before."),
            Parameter("limit", "query", Count, "At most so many disputes."),
        ),
        answers={200: OpenDisputes},
        errors=(400, 401, 403, 429, 503),
        scope=ARBITER,
        tag="tables",
    ),
)
