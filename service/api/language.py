"""The language of an answer that is text for people: of those that there are, the one that its reader likes best."""

from collections.abc import Collection
from typing import Annotated

from msgspec import Meta

from service.api.endpoint import Parameter
from service.api.requests import AnyRequest, header

ENGLISH = "en"

Languages = Annotated[str, Meta(max_length=1_024, examples=["es, en;q=0.5"])]
LANGUAGE = Parameter("Accept-Language", "header", Languages, "The languages that the reader likes.")


def liked(request: AnyRequest, known: Collection[str]) -> str:
    """Return the known language that a request's Accept-Language likes best, English where it likes none of them."""
    weighed: list[tuple[float, int, str]] = []
    for part in (header(request, LANGUAGE.name) or "").split(","):
        tag, _, quality = part.strip().partition(";q=")
        try:
            weight = float(quality or 1)
        except ValueError:
            continue
        weighed.append((-weight, len(weighed), tag.partition("-")[0].lower()))
    return next((tag for weight, _, tag in sorted(weighed) if weight < 0 and tag in known), ENGLISH)
