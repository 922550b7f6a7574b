"""Routes for whoever runs the service: is the process alive, can the service do its work, what has it done."""

from typing import Annotated

from litestar.response.base import ASGIResponse
from msgspec import Meta

from service import metrics
from service.api.answers import Health, Readiness, answer, told
from service.api.endpoint import Endpoint
from service.api.requests import AnyRequest
from service.errors import StoreDown
from service.watch import Watch

_UNCACHED = {"Cache-Control": "no-store"}

Numbers = Annotated[str, Meta(max_length=4_000_000, description="Metrics, in Prometheus's text.")]


async def alive(request: AnyRequest) -> ASGIResponse:  # noqa: ARG001 the framework passes it by this name
    """Say that this process answers."""
    return answer(Health("alive"), headers=_UNCACHED)


async def ready(request: AnyRequest) -> ASGIResponse:
    """Say whether the store takes commands, and new tables, as it was found a moment ago; StoreDown if not."""
    watch: Watch = request.app.state.watch
    match watch.status:
        case "down":
            raise StoreDown(watch.found.down)
        case status:
            return answer(Readiness(status), headers=_UNCACHED)


async def numbers(request: AnyRequest) -> ASGIResponse:
    """Return the metrics of all processes of the server."""
    text = await metrics.exposition(request.app.state.sheets)
    return told(text.decode(), _UNCACHED, metrics.MEDIA_TYPE)


METRICS = Endpoint(
    method="GET",
    path="/metrics",
    name="getMetrics",
    summary="What the service has done, as Prometheus reads it; 404 where that has a port of its own.",
    handler=numbers,
    answers={200: None},
    media={"text/plain": Numbers},
    errors=(400, 404),
    token=False,
)

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/healthz",
        name="getHealth",
        summary="Whether this process answers.",
        handler=alive,
        answers={200: Health},
        errors=(400,),
        token=False,
    ),
    Endpoint(
        method="GET",
        path="/readyz",
        name="getReadiness",
        summary="Whether commands are taken; 503 while the store does not answer or can't be written.",
        handler=ready,
        answers={200: Readiness},
        errors=(400, 503),
        token=False,
    ),
    METRICS,
)
