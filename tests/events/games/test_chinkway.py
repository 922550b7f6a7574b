"""Facts about Chinkway's events and options as they stand in the log."""

from typing import Any, get_args

import msgspec
import pytest

from events.base import Event
from events.cards import FRENCH, FrenchCard
from events.games.chinkway import (
    Captured,
    ChinkwayEvent,
    DealDiscard,
    DealerDrawn,
    DealScored,
    Dealt,
    Declared,
    Declined,
    Discarded,
    Opened,
    Options,
    Played,
    QuestKept,
    QuestReduced,
    QuestShuffled,
    QuestTurned,
    Shares,
    TrickTaken,
)

KINDS: tuple[type[Event], ...] = get_args(ChinkwayEvent)
DECODER: "msgspec.json.Decoder[Event]" = msgspec.json.Decoder(ChinkwayEvent)
HANDS: tuple[tuple[FrenchCard, ...], ...] = (FRENCH[:12], *(FRENCH[at : at + 10] for at in (12, 22, 32, 42)))

# Each shape as it is stored, for ever.
GOLDEN: list[tuple[Event, str]] = [
    (DealerDrawn(3), '{"type":"chinkway.dealer_drawn","dealer":3}'),
    (QuestReduced(("SJ", "DK")), '{"type":"chinkway.quest_reduced","cards":["SJ","DK"]}'),
    (QuestReduced(None), '{"type":"chinkway.quest_reduced","cards":null}'),
    (QuestShuffled(("S2", "CA")), '{"type":"chinkway.quest_shuffled","cards":["S2","CA"]}'),
    (
        Dealt(2, 1, ((1,), (2, 3), (4, 0)), (("S2",), None, None, None, None)),
        '{"type":"chinkway.dealt","deal":2,"dealer":1,"sides":[[1],[2,3],[4,0]],"hands":[["S2"],null,null,null,null]}',
    ),
    (Discarded(1, ("S2", "H3")), '{"type":"chinkway.discarded","seat":1,"cards":["S2","H3"]}'),
    (Declared(1, "NT"), '{"type":"chinkway.declared","seat":1,"trump":"NT"}'),
    (
        QuestKept(("C3", "HA", "CJ", "DQ", "D9")),
        '{"type":"chinkway.quest_kept","cards":["C3","HA","CJ","DQ","D9"]}',
    ),
    (
        QuestTurned(("C3", "HA", "CJ", "DQ", "D9"), Shares(0, 1, 1, 1, 2), 2),
        (
            '{"type":"chinkway.quest_turned","cards":["C3","HA","CJ","DQ","D9"],'
            '"wanted":{"spades":0,"hearts":1,"diamonds":1,"clubs":1,"court":2},"leader":2}'
        ),
    ),
    (Played(2, "ST", 3), '{"type":"chinkway.played","seat":2,"card":"ST","next":3}'),
    (Played(1, "SA", None), '{"type":"chinkway.played","seat":1,"card":"SA","next":null}'),
    (TrickTaken(1, ("SA",), ()), '{"type":"chinkway.trick_taken","seat":1,"choices":["SA"],"needed":[]}'),
    (
        Captured(1, "SA", "spades", (1, 2)),
        '{"type":"chinkway.captured","seat":1,"card":"SA","category":"spades","credited":[1,2]}',
    ),
    (Declined(1), '{"type":"chinkway.declined","seat":1}'),
    (
        DealScored(2, (0, 1, 1, 2, 2), (0, 1, 1, 3, 3), (5, 1, 1, 3, 3)),
        '{"type":"chinkway.deal_scored","deal":2,"parts":[0,1,1,2,2],"points":[0,1,1,3,3],"totals":[5,1,1,3,3]}',
    ),
    (
        Opened(("SJ", "DK"), (DealDiscard(1, ("S2", "H3")),)),
        '{"type":"chinkway.opened","removed":["SJ","DK"],"discards":[{"seat":1,"cards":["S2","H3"]}]}',
    ),
]


@pytest.mark.parametrize(("event", "stored"), GOLDEN, ids=[stored[9:50] for _, stored in GOLDEN])
def test_an_event_is_stored_and_read_as_ever(event: Event, stored: str) -> None:
    assert msgspec.json.encode(event).decode() == stored
    assert DECODER.decode(stored) == event


def test_every_kind_of_event_has_a_golden_shape() -> None:
    assert {type(event) for event, _ in GOLDEN} == set(KINDS)


def test_tags_are_the_games_name_and_what_happened() -> None:
    tags = [str(kind.__struct_config__.tag) for kind in KINDS]
    assert len(set(tags)) == len(tags)
    assert all(tag.startswith("chinkway.") for tag in tags)


def test_a_card_that_no_pack_has_is_not_read() -> None:
    with pytest.raises(msgspec.ValidationError):
        DECODER.decode('{"type":"chinkway.played","seat":2,"card":"TS","next":3}')


def test_options_have_the_values_and_defaults_of_the_rules() -> None:
    values = {name: field["enum"] for name, field in schema()["properties"].items() if "enum" in field}
    assert {name: sorted(map(str, named)) for name, named in values.items()} == {
        "partners": ["five", "fixed", "switch"],
        "deals": ["10", "11", "5"],
        "final": ["rotation"],
        "void": ["free", "must_trump"],
        "quest_removed": ["none", "two_any", "two_court"],
        "quest_pack": ["reshuffle", "use_up"],
        "aces": ["court", "plain"],
        "surplus": ["allow", "refuse"],
        "team_scoring": ["pooled", "sum"],
        "capture_timeout": ["decline", "first_needed"],
    }
    assert msgspec.to_builtins(Options()) == {
        "partners": "switch",
        "deals": 10,
        "final": "rotation",
        "void": "free",
        "quest_removed": "two_court",
        "quest_pack": "use_up",
        "aces": "plain",
        "surplus": "allow",
        "team_scoring": "pooled",
        "capture_timeout": "decline",
    }


def schema() -> dict[str, Any]:
    components: dict[str, Any] = msgspec.json.schema_components([Options])[1]
    return components["Options"]  # type: ignore[no-any-return] # a JSON Schema


def test_every_option_is_described() -> None:
    assert [name for name, field in schema()["properties"].items() if not field.get("description")] == []


@pytest.mark.parametrize("wrong", [{"deals": 9}, {"deals": "10"}, {"void": "FREE"}, {"jokers": 2}])
def test_another_option_or_value_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(wrong, Options)


def test_the_longest_hand_is_the_dealers_twelve() -> None:
    dealt = Dealt(1, 0, ((0,), (1, 2), (3, 4)), HANDS)
    assert DECODER.decode(msgspec.json.encode(dealt)) == dealt
    with pytest.raises(msgspec.ValidationError):
        DECODER.decode(msgspec.json.encode(Dealt(1, 0, ((0,), (1, 2), (3, 4)), (FRENCH[:13],))))
