"""Through whose eyes a request would look at a table: the parameter `as`."""

from typing import Final, Literal

from service.api.endpoint import Parameter
from service.api.requests import AnyRequest, query, require
from service.auth.scopes import PERSON
from service.auth.tokens import Identity
from service.eyes import Wanted

OfOne = Literal["spectator", "0", "1", "2", "3", "4", "5", "6", "7"]
OfAny = Literal["all", "spectator", "0", "1", "2", "3", "4", "5", "6", "7"]

AS_ONE: Final = Parameter(
    "as",
    "query",
    OfOne,
    "Through whose eyes, where not your own: a `spectator`'s, or a seat's. Until play has ended another seat's are "
    "refused with 409 `not_ended`.",
)
AS: Final = Parameter(
    "as",
    "query",
    OfAny,
    AS_ONE.description.replace("or a seat's", "a seat's, or those of `all` seats together"),
)
SCOPE_OF_AS: Final = {"`as` a seat, or `all`": PERSON}
"""What a token must be able to do to look through the eyes of seats: one of scope `bot` alone has its own."""


def eyes(request: AnyRequest, who: Identity, parameter: Parameter) -> Wanted:
    """Return whose eyes are asked for; raise Malformed for what is nobody's, Forbidden as `SCOPE_OF_AS` says."""
    words: type[str] = parameter.kind  # type: ignore[assignment] # a choice among texts, which is one to msgspec
    return meant(query(request, parameter.name, words, ""), who)


def meant(word: str, who: Identity) -> Wanted:
    """Return whose eyes a word of `OfAny` means, "" one's own; raise Forbidden as `SCOPE_OF_AS` says."""
    match word:
        case "":
            return None
        case "spectator":
            return "spectator"
        case "all":
            require(who, PERSON)
            return "all"
        case seat:
            require(who, PERSON)
            return int(seat)
