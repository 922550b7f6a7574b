"""What the annotations of events say of their values: that a number is a seat, that a text is a card's name."""

import re
from functools import cache, cached_property
from types import UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from events.base import PlayerId, Seat
from events.table import CardName

_CARD = re.compile(r"[A-Z][0-9A-Z]{1,2}")


class Kind:
    """What an annotation says of a value: looked into once, for every event is written by it."""

    def __init__(self, annotation: object) -> None:
        """Look into an annotation, or one that is this or None."""
        union = get_origin(annotation) in {Union, UnionType}
        self._arms = get_args(annotation) if union else (annotation,)
        self._plain = tuple(get_args(arm)[0] if get_origin(arm) is Annotated else arm for arm in self._arms)
        self.is_a_seat = self._is(Seat)
        self.is_a_player = self._is(PlayerId)
        # `CardName`, or a choice among names that all look like a card's.
        self.is_a_card = self._is(CardName) or any(
            get_origin(arm) is Literal and all(_CARD.fullmatch(str(name)) for name in get_args(arm))
            for arm in self._plain
        )

    def items(self, count: int) -> "tuple[Kind, ...]":
        """Return what is said of each of so many items of a tuple."""
        items = self._items
        return items[:1] * count if self._is_of_any_length else items

    @cached_property
    def _items(self) -> "tuple[Kind, ...]":
        return tuple(Kind(item) for item in self._row if item is not ...)

    @cached_property
    def _is_of_any_length(self) -> bool:
        return ... in self._row

    @cached_property
    def _row(self) -> tuple[object, ...]:
        (row,) = (plain for plain in self._plain if get_origin(plain) is tuple)
        return get_args(row)

    def _is(self, annotated: object) -> bool:
        (meta,) = annotated.__metadata__  # type: ignore[attr-defined] # an Annotated has one
        return any(meta in getattr(arm, "__metadata__", ()) for arm in self._arms)


ANY = Kind(object)


@cache
def kinds_of(struct: type[msgspec.Struct]) -> dict[str, Kind]:
    """Return what the annotations of a struct say, field by field."""
    hints = get_type_hints(struct, include_extras=True)
    return {field: Kind(hints[field]) for field in struct.__struct_fields__}
