"""Every event has its words, in every game, for everybody who may see it."""

import re
from collections.abc import Iterator
from typing import get_args

import msgspec
import pytest
from fluent.runtime import FluentResource
from fluent.syntax import ast
from msgspec import inspect

from events.base import Event
from events.cards import FRENCH
from events.games import kowah
from events.games.kowah import FinalHands
from events.table import Created, Opened, Order, SeatTaken, Shuffled, TableEvent
from projections import fold
from service.game import AnyGame
from service.words import Names, Words, game_catalogue, neutral_catalogue
from tests.laws.matches import Match, played
from tests.laws.setups import GAMES, Setup, setups

OWN = {"neutral": {"by", "seat"}, "game": {"card"}}
"""What catalogues say besides the words of events."""

CHINKWAY = next(game for game in GAMES if game.name == "chinkway")

NAMES = Names([f"Seat{seat}" for seat in range(8)], {})


def told_of(union: object) -> tuple[type[Event], ...]:
    """Return the kinds of events of a union."""
    return get_args(union)


def tags(union: object) -> set[str]:
    return {tag_of(event) for event in told_of(union)}


def tag_of(event: type[Event]) -> str:
    return str(event.__struct_config__.tag).replace(".", "-")


def messages(catalogue: str) -> dict[str, ast.Message]:
    return {entry.id.name: entry for entry in FluentResource(catalogue).body if isinstance(entry, ast.Message)}


def test_every_neutral_event_has_words_and_no_words_are_of_nothing() -> None:
    assert messages(neutral_catalogue("en")).keys() == tags(TableEvent) | OWN["neutral"]


@pytest.mark.parametrize("game", list(GAMES), ids=lambda game: game.name)
def test_every_event_of_a_game_has_words_and_no_words_are_of_nothing(game: AnyGame) -> None:
    assert messages(game_catalogue(game, "en")).keys() | OWN["game"] == tags(game.projection.events) | OWN["game"]


@pytest.mark.parametrize("game", list(GAMES), ids=lambda game: game.name)
def test_every_way_to_write_a_field_is_of_a_field_of_its_event(game: AnyGame) -> None:
    for catalogue, union in (
        (neutral_catalogue("en"), TableEvent),
        (game_catalogue(game, "en"), game.projection.events),
    ):
        written = messages(catalogue)
        for event in get_args(union):
            attributes = {attribute.id.name for attribute in written[tag_of(event)].attributes}
            assert attributes <= set(fields_of(event)), event


def fields_of(event: type[Event]) -> Iterator[str]:
    """Yield the names of an event's fields, and of those of its entries behind the list that holds them."""
    for field in entry_fields(inspect.type_info(event)):
        yield field.name
        yield from (f"{field.name}_{inner.name}" for inner in entry_fields(field.type))


def entry_fields(kind: inspect.Type) -> Iterator[inspect.Field]:
    """Yield the fields of a struct, or of those in a list."""
    match kind:
        case inspect.StructType(fields=fields):
            yield from fields
        case inspect.VarTupleType(item_type=item):
            yield from entry_fields(item)
        case inspect.Metadata(type=plain):
            yield from entry_fields(plain)
        case _:
            pass


def told(match: Match) -> Iterator[tuple[Event, str]]:
    """Yield every event of a match, as everybody may see it, with each line of its words."""
    words = Words(match.game)
    for entry in match.entries():
        assert words.who(entry.by, NAMES)
        for event in entry.events:
            for shown in (event, *(fold.redact(match.game.projection, event, viewer) for viewer in match.viewers)):
                for line in words.tell(shown, NAMES):
                    yield shown, line


@pytest.mark.parametrize("setup", setups()[::3], ids=str)
def test_the_words_of_a_match_are_whole_sentences(setup: Setup) -> None:
    for event, text in told(played(setup)):
        assert re.match(r"\S.*[.]$", text), (event, text)
        assert not re.search(r"None|  |[{}]|\s[.,;]", text), (event, text)
        # An option's value may be "none", and so may be all that a list holds.
        assert isinstance(event, Created) or holds_nothing(event) or "none" not in text, (event, text)


def holds_nothing(event: Event) -> bool:
    lists = [value for value in msgspec.structs.asdict(event).values() if isinstance(value, tuple)]
    return any(all(entry is None for entry in entries) for entries in lists)


def test_a_shuffle_of_seats_is_told_by_names_and_one_of_cards_by_cards() -> None:
    words = Words(CHINKWAY)
    assert words.tell(Shuffled(0, (2, 0, 1)), NAMES) == ["Shuffle 0 gives Seat2, Seat0, and Seat1."]
    assert words.tell(Shuffled(65_536, ("HT", "SQ")), NAMES) == ["Shuffle 65536 gives ♥10 ♠Q."]
    assert words.tell(Shuffled(65_536, None), NAMES) == ["Shuffle 65536 is made; its order is sealed."]


def test_who_sits_down_is_told_by_name_with_the_nonce() -> None:
    words = Words(CHINKWAY)
    names = Names(["Ada"], {"a": "Ada"})
    assert words.tell(SeatTaken(0, "a", "x-1", None), names) == ["Ada takes seat 0, with the nonce x-1."]


def test_spanish_cards_go_by_number_and_suit() -> None:
    words = Words(next(game for game in GAMES if game.name == "chinchon"))
    assert words.tell(Shuffled(65_536, ("O12", "E7")), NAMES) == ["Shuffle 65536 gives 12-oros 7-espadas."]


def test_hands_that_deals_left_are_told_a_line_a_deal() -> None:
    words = Words(next(game for game in GAMES if game.name == "kowah"))
    hands = (FinalHands(1, (("C2", "OT"), None, ("M9",))), FinalHands(2, (("S1",), None, ("RF", "RF"))))
    assert words.tell(kowah.Opened(hands), NAMES)[1:] == [
        "Deal 1: Seat0 held 2-coins Old-Thousand; Seat2 held 9-myriads.",
        "Deal 2: Seat0 held 1-strings; Seat2 held Red-Flower Red-Flower.",
    ]


def test_what_a_long_match_opens_is_told_a_line_a_shuffle() -> None:
    words = Words(CHINKWAY)
    orders = tuple(Order(c, FRENCH) for c in range(200))
    first, *lines = words.tell(Opened("00" * 32, orders), NAMES)
    assert first == f"All is opened. The seed was {'00' * 32}."
    assert len(lines) == 200
    assert lines[199].startswith("Shuffle 199 gave ♠2 ♠3 ")


def test_a_language_without_a_catalogue_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        Words(CHINKWAY, "tlh")
