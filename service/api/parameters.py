"""The headers of a request that several areas of routes take: once, at a version, unless it is known, and how."""

from typing import Annotated

from msgspec import Meta

from events.base import whole
from service.api.endpoint import Parameter

Tag = Annotated[str, Meta(pattern=whole('"(0|[1-9][0-9]{0,15})"'), examples=['"41"'])]
Tags = Annotated[str, Meta(max_length=4_096, examples=['"41"'])]
Preference = Annotated[str, Meta(max_length=1_024, examples=["return=representation"])]

IDEMPOTENCY_KEY = Parameter(
    "Idempotency-Key",
    "header",
    Annotated[str, Meta(min_length=1, max_length=255, pattern=whole("[!-~]+"))],
    "Names this request: sent again with the same body it has the same answer and happens once.",
)
IF_MATCH = Parameter(
    "If-Match", "header", Tag, 'Only at this version of the table: `"41"`; else 412 with what was missed.'
)
IF_NONE_MATCH = Parameter("If-None-Match", "header", Tags, "The entity tags you have; 304 if one of them is current.")
PREFER = Parameter("Prefer", "header", Preference, "`return=representation` adds the view to the answer.")
