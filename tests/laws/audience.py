"""Who may see what, stated apart from the code that hides it: a file per game, `audiences/<game>.json`, field by field.

An event's field is for `all`; for the `seat` that its event names; a list with one part for `each` seat; or for
`nobody`. A view's field is the same for `all` viewers, or differs by `viewer`. What is not listed fails a test. The
file lies in whichever folder of the tests is the game's; `table` is the name of what every game speaks.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

import msgspec
from msgspec import Struct

from events.base import Event
from events.table import TableEvent
from service.game import AnyGame

Audience = Literal["all", "seat", "each", "nobody", "viewer"]
Audiences = Mapping[str, Audience]

TESTS = Path(__file__).parents[1]


class Statement(Struct, frozen=True, forbid_unknown_fields=True):
    """What is stated of a game: the tags of its commands, and by an event's tag, or for the view, who sees each field.

    Options that `endless` names, each at one of its values, make a match go on for ever, or for longer than a test can
    wait; empty where every match ends. A seat may give a command that `unasked` names though it is not prompted.
    """

    events: Mapping[str, Audiences]
    commands: tuple[str, ...] = ()
    unasked: tuple[str, ...] = ()
    view: Audiences = {}
    endless: Mapping[str, tuple[bool | int | str, ...]] = {}


@cache
def statement(name: str) -> Statement:
    """Read what is stated of a game, or of every `table`."""
    return msgspec.json.decode(statement_path(name).read_bytes(), type=Statement)


def statement_path(name: str) -> Path:
    """Return the file of what is stated of a game; it lies in a folder of the folder of tests that is the game's."""
    (path,) = TESTS.glob(f"*/audiences/{name}.json")
    return path


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


def seen_by(event: Event, viewer: int | None) -> dict[str, Any]:
    """Return the event's fields as this viewer may see them, by what is stated alone."""
    tag = tag_of(type(event))
    audiences = statement(tag.partition(".")[0]).events[tag]
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(event))
    for name, audience in audiences.items():
        if audience == "nobody" or (audience == "seat" and fields["seat"] != viewer):
            fields[name] = None
        elif audience == "each":
            fields[name] = [part if seat == viewer else None for seat, part in enumerate(fields[name])]
    return fields


def seen_by_all(event: Event) -> dict[str, Any]:
    """Return the event's fields as all seats together may see them, by what is stated alone."""
    tag = tag_of(type(event))
    audiences = statement(tag.partition(".")[0]).events[tag]
    fields: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(event))
    return {name: None if audiences.get(name) == "nobody" else value for name, value in fields.items()}


def is_for_all(event: Event) -> bool:
    """Tell whether every viewer may see the whole event, by what is stated alone."""
    tag = tag_of(type(event))
    return {*statement(tag.partition(".")[0]).events[tag].values()} <= {"all"}


def is_unseen(event: Event, viewer: int | None) -> bool:
    """Tell whether this viewer may not see the whole event, by what is stated alone."""
    return not is_for_all(event) and seen_by(event, viewer) != msgspec.json.decode(msgspec.json.encode(event))
