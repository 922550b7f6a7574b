"""Who may see what, stated apart from the code that hides it: audience.json, field by field.

An event's field is for `all`; for the `seat` that its event names; a list with one part for `each` seat; or for
`nobody`. A view's field is the same for `all` viewers, or differs by `viewer`. What is not listed fails a test.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Struct

from events.base import Event
from events.table import TableEvent
from tests.laws.setups import AnyGame

Audience = Literal["all", "seat", "each", "nobody", "viewer"]
Stated = dict[str, dict[str, Audience]]

PATH = Path(__file__).with_name("audience.json")


def stated(path: Path = PATH) -> Stated:
    """Read the audiences: by an event's tag, or `view:<game>`, those of its fields."""
    audiences: Stated = json.loads(path.read_text(encoding="utf-8"))
    return audiences


def events_of(game: AnyGame | None) -> tuple[type[Event], ...]:
    """Return the game's own kinds of events; the neutral ones for None."""
    union: object = TableEvent if game is None else game.projection.events
    return get_args(union) or (union,)


def tag_of(event: type[Event]) -> str:
    """Return the tag that an event goes by."""
    return str(event.__struct_config__.tag)


def view_of(game: AnyGame) -> type[Struct]:
    """Return the type of the game's views."""
    view: type[Struct] = get_type_hints(game.projection.view)["return"]
    return view


def fields_of(game: AnyGame | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield what must be stated: the fields of each event and of the view, the neutral events' for None."""
    for event in events_of(game):
        yield tag_of(event), event.__struct_fields__
    if game is not None:
        yield f"view:{game.name}", view_of(game).__struct_fields__


def seen_by(event: Event, viewer: int | None, audiences: dict[str, Audience]) -> dict[str, Any]:
    """Return the event's fields as this viewer may see them, by what is stated alone."""
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(event))
    for name, audience in audiences.items():
        if audience == "nobody" or (audience == "seat" and fields["seat"] != viewer):
            fields[name] = None
        elif audience == "each":
            fields[name] = [part if seat == viewer else None for seat, part in enumerate(fields[name])]
    return fields
