"""Routes for whoever runs the service: is the process alive, can the service do its work."""

from litestar.response.base import ASGIResponse

from service.api.answers import Health, answer
from service.api.endpoint import Endpoint
from service.api.requests import AnyRequest

_UNCACHED = {"Cache-Control": "no-store"}


async def alive(request: AnyRequest) -> ASGIResponse:  # noqa: ARG001 the framework passes it by this name
    """Say that this process answers."""
    return answer(Health("alive"), headers=_UNCACHED)


async def ready(request: AnyRequest) -> ASGIResponse:
    """Say whether the store answers; StoreDown if not."""
    await request.app.state.log.ping()
    return answer(Health("ready"), headers=_UNCACHED)


ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/healthz",
        name="getHealth",
        summary="Whether this process answers.",
        handler=alive,
        answers={200: Health},
        token=False,
    ),
    Endpoint(
        method="GET",
        path="/readyz",
        name="getReadiness",
        summary="Whether the store answers, so that commands can be taken.",
        handler=ready,
        answers={200: Health},
        errors=(503,),
        token=False,
    ),
)
