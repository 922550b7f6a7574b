"""How what goes on is asked for: `Accept` and `follow` together say whether it is a page, lines, or a stream."""

from typing import Final, TypeVar

from service.api.answers import JSON
from service.api.endpoint import Parameter
from service.api.eventstream import EVENT_STREAM, NDJSON
from service.api.requests import AnyRequest, accepts, query
from service.errors import Malformed

T = TypeVar("T")

FOLLOW: Final = Parameter("follow", "query", bool, "Whether lines go on to come as things happen; a page of JSON ends.")


class Form:
    """What is asked for: its media type, and whether it goes on, as `text/event-stream` always does."""

    def __init__(self, request: AnyRequest) -> None:
        """Read it; raise Malformed for a page of JSON that is to go on, Unacceptable for none of the three."""
        follow = query(request, FOLLOW.name, bool, default=False)
        # Who takes anything gets what can be followed, if that is asked for.
        self.media = accepts(request, *((NDJSON, EVENT_STREAM, JSON) if follow else (JSON, NDJSON, EVENT_STREAM)))
        self.goes_on = follow or self.media == EVENT_STREAM
        if follow and self.media == JSON:
            raise Malformed("A page of JSON ends; lines and events can be followed.", FOLLOW.name)

    def only_of_a_page(self, request: AnyRequest, name: str) -> None:
        """Raise Malformed for a parameter that only a page of JSON has, where none is asked for."""
        only_of_a_page(request, name, self.media)

    def only_where_it_goes_on(self, request: AnyRequest, name: str) -> None:
        """Raise Malformed for a parameter that only what goes on has, where that is not asked for."""
        if not self.goes_on and _is_given(request, name):
            raise Malformed(f"Only what goes on to come goes by `{name}`; ask for `follow` or for events.", name)


def only_of_a_page(request: AnyRequest, name: str, media: str) -> None:
    """Raise Malformed for a parameter that only a page of JSON has, where the answer is of another media type."""
    if media != JSON and _is_given(request, name):
        raise Malformed(f"Only a page of JSON goes by `{name}`; this is {media}.", name)


def _is_given(request: AnyRequest, name: str) -> bool:
    return bool(request.query_params.getall(name, []))
