"""The bytes of each shape of a game's events, as they are stored for ever: a file a game, an event a line."""

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from msgspec import inspect

from events.base import Event
from events.games.chinchon import ChinchonEvent
from events.games.kowah import KowahEvent

EVENTS = {"chinchon": ChinchonEvent, "kowah": KowahEvent}
SHAPES = [
    (game, line)
    for game in EVENTS
    for line in (Path(__file__).parent / "shapes" / f"{game}.ndjson").read_bytes().splitlines()
]


def read(game: str, stored: bytes) -> Event:
    """Read an event of a game, as a log is read."""
    event: Event = msgspec.json.decode(stored, type=EVENTS[game])
    return event


@pytest.mark.parametrize(("game", "stored"), SHAPES, ids=lambda part: part if isinstance(part, str) else part[9:45])
def test_an_event_is_stored_and_read_as_ever(game: str, stored: bytes) -> None:
    assert msgspec.json.encode(read(game, stored)) == stored


@pytest.mark.parametrize("game", EVENTS)
def test_every_kind_of_event_has_a_shape(game: str) -> None:
    assert {type(read(name, stored)) for name, stored in SHAPES if name == game} == set(get_args(EVENTS[game]))


@pytest.mark.parametrize("game", EVENTS)
def test_whatever_may_be_null_is_so_in_one_shape_and_not_in_another(game: str) -> None:
    events = [read(name, stored) for name, stored in SHAPES if name == game]
    for kind in get_args(EVENTS[game]):
        described = inspect.type_info(kind)
        assert isinstance(described, inspect.StructType)
        for field in described.fields:
            if isinstance(field.type, inspect.UnionType) and field.type.includes_none:
                values = {getattr(event, field.name) is None for event in events if type(event) is kind}
                assert values == {True, False}, f"{kind.__name__}.{field.name}"


@pytest.mark.parametrize(
    ("game", "wrong"),
    [
        ("chinchon", b'{"type":"chinchon.up_card_taken","seat":0,"card":"7O"}'),
        ("chinchon", b'{"type":"chinchon.up_card_taken","seat":0,"card":"O13"}'),
        ("chinchon", b'{"type":"chinchon.irregular_hand","seat":0,"size":9}'),
        ("kowah", b'{"type":"kowah.discard_taken","seat":0,"card":"C10"}'),
        ("kowah", b'{"type":"kowah.deal_scored","deal":1,"winner":1,"how":"luck","multiplier":2}'),
    ],
)
def test_what_no_table_has_is_not_read(game: str, wrong: bytes) -> None:
    with pytest.raises(msgspec.ValidationError):
        read(game, wrong)
