"""Facts about what each viewer of a table of Chinkway may see."""

from typing import Any, get_args

import pytest

from events.base import Event
from events.cards import FRENCH
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
from projections import fold
from projections.games.chinkway import PROJECTION, SEATS, State, Trick, View, redact
from projections.table import Table
from service.game import AnyTable

SIDES = ((0,), (1, 2), (3, 4))
HANDS = (FRENCH[:12], FRENCH[12:22], FRENCH[22:32], FRENCH[32:42], FRENCH[42:])
QUEST = QuestTurned(("C3", "HA", "CJ", "DQ", "D9"), Shares(0, 1, 1, 1, 2), 1)
BEFORE_PLAY = (DealerDrawn(0), QuestReduced(("SJ", "SQ")), QuestShuffled(FRENCH[:10] + FRENCH[12:]))
DEALT = (*BEFORE_PLAY, Dealt(1, 0, SIDES, HANDS))
TURNED = (*DEALT, Discarded(0, ("S2", "S3")), Declared(0, "H"), QUEST)
TRICK = (
    Played(1, "SA", 2),
    Played(2, "HA", 3),
    Played(3, "D8", 4),
    Played(4, "C5", 0),
    Played(0, "S4", None),
)
TAKEN = (*TURNED, *TRICK, TrickTaken(2, ("HA", "D8", "C5"), ("HA", "D8", "C5")))
VIEWERS = (None, *range(SEATS))


def table(*events: Event, status: Any = "playing") -> AnyTable:  # noqa: ANN401 one of the statuses
    """Return a table at which these events of the game have happened."""
    told: AnyTable = Table(id="t", options=Options(), players=[None] * SEATS, status=status)
    told.play = PROJECTION.begin(Options(), SEATS, tuple(range(SEATS)))
    for event in events:
        fold.evolve(PROJECTION, told, event)
    return told


def view(viewer: int | None, *events: Event) -> View:
    seen = PROJECTION.view(table(*events), viewer)
    assert isinstance(seen, View)
    return seen


def test_before_play_nothing_of_the_games_own_is_there() -> None:
    empty = PROJECTION.view(Table(id="t", options=Options(), players=[None] * SEATS), None)
    assert isinstance(empty, View)
    own = {name: getattr(empty, name) for name in View.__struct_fields__ if name not in _NEUTRAL}
    assert own.pop("deals") == 10
    assert {name for name, value in own.items() if value} == set()
    assert empty.phase is None


_NEUTRAL = set(View.__mro__[1].__struct_fields__)  # type: ignore[attr-defined] # the neutral view is a struct


def test_a_table_without_options_has_no_view() -> None:
    with pytest.raises(ValueError, match="version 0"):
        PROJECTION.view(Table(id="t"), None)


def test_each_player_sees_their_own_hand_and_how_many_cards_the_others_hold() -> None:
    for viewer in range(SEATS):
        seen = view(viewer, *DEALT)
        assert seen.hand == HANDS[viewer]
        assert seen.held == (12, 10, 10, 10, 10)
    assert view(None, *DEALT).hand is None


def test_only_the_dealer_sees_the_discards_until_they_are_opened() -> None:
    for viewer in VIEWERS:
        discard = DealDiscard(0, ("S2", "S3") if viewer == 0 else None)
        assert view(viewer, *TURNED).discards == (discard,)
    opened = Opened(("SJ", "SQ"), (DealDiscard(0, ("S2", "S3")),))
    for viewer in VIEWERS:
        assert view(viewer, *TURNED, opened).discards == (DealDiscard(0, ("S2", "S3")),)


def test_nobody_sees_the_removed_cards_until_they_are_opened() -> None:
    for viewer in VIEWERS:
        assert view(viewer, *TURNED).removed is None
        assert view(viewer, *TURNED, Opened(("SJ", "SQ"), ())).removed == ("SJ", "SQ")


def test_phases_have_names() -> None:
    told = [DEALT, TURNED[:5], TURNED, TAKEN, (*TAKEN, Declined(2))]
    assert [view(None, *events).phase for events in told] == ["discard", "declare", "play", "capture", "play"]
    over = DealScored(1, (0,) * 5, (0,) * 5, (0,) * 5)
    assert view(None, *TAKEN, Declined(2), over).phase == "over"
    ended = PROJECTION.view(table(*TAKEN, status="ended"), 2)
    assert isinstance(ended, View)
    assert (ended.phase, ended.choices, ended.needed) == ("over", (), ())


def test_the_trick_on_the_table_names_its_leader_and_once_full_its_taker() -> None:
    assert view(None, *DEALT).trick is None
    assert view(None, *TURNED).trick == Trick(1, (), None)
    assert view(None, *TURNED, *TRICK[:2]).trick == Trick(1, ("SA", "HA"), None)
    full = Trick(1, ("SA", "HA", "D8", "C5", "S4"), 2)
    assert (view(None, *TAKEN).trick, view(None, *TAKEN).last_trick) == (full, None)
    after = view(None, *TAKEN, Declined(2))
    assert (after.trick, after.last_trick) == (Trick(2, (), None), full)
    assert after.tricks == (0, 0, 1, 0, 0)


def test_a_capture_shows_on_its_seat_and_meets_parts_for_those_credited() -> None:
    assert view(3, *TAKEN).choices == ("HA", "D8", "C5")
    seen = view(3, *TAKEN, Captured(2, "HA", "hearts", (1, 2)))
    assert seen.captured == ((), (), ("HA",), (), ())
    assert [met.hearts for met in seen.met] == [0, 1, 1, 0, 0]
    assert (seen.choices, seen.needed) == ((), ())
    assert seen.wanted == Shares(0, 1, 1, 1, 2)


def test_cards_seen_are_those_played_and_the_dealers_own_discards() -> None:
    played = ("SA", "HA", "D8", "C5", "S4")
    assert view(0, *TAKEN).seen == (*played, "S2", "S3")
    for viewer in (None, 1, 2, 3, 4):
        assert view(viewer, *TAKEN).seen == played


def test_another_deal_clears_the_table_and_remembers_the_quest() -> None:
    nothing = DealScored(1, (0,) * 5, (0,) * 5, (0,) * 5)
    hands = (FRENCH[42:], FRENCH[:12], FRENCH[12:22], FRENCH[22:32], FRENCH[32:42])
    seen = view(0, *TAKEN, Captured(2, "HA", "hearts", (1, 2)), nothing, Dealt(2, 1, ((1,), (2, 3), (4, 0)), hands))
    assert (seen.deal, seen.dealer, seen.phase) == (2, 1, "discard")
    assert (seen.trump, seen.quest, seen.wanted, seen.trick, seen.last_trick) == (None, None, None, None, None)
    assert (seen.seen, seen.captured, seen.tricks) == ((), ((),) * 5, (0,) * 5)
    assert seen.quest_seen == (QUEST.cards,)
    assert seen.discards == (DealDiscard(0, ("S2", "S3")),)


HIDDEN: list[tuple[Event, dict[int | None, Event]]] = [
    (
        Dealt(1, 0, SIDES, HANDS),
        {
            viewer: Dealt(1, 0, SIDES, tuple(hand if seat == viewer else None for seat, hand in enumerate(HANDS)))
            for viewer in VIEWERS
        },
    ),
    (
        Discarded(0, ("S2", "S3")),
        {viewer: Discarded(0, ("S2", "S3") if viewer == 0 else None) for viewer in VIEWERS},
    ),
    (QuestReduced(("SJ", "SQ")), {viewer: QuestReduced(None) for viewer in VIEWERS}),
    (QuestShuffled(FRENCH), {viewer: QuestShuffled(None) for viewer in VIEWERS}),
]
PUBLIC: list[Event] = [
    DealerDrawn(0),
    Declared(0, "H"),
    QUEST,
    QuestKept(QUEST.cards),
    Played(1, "SA", 2),
    TrickTaken(2, ("HA",), ()),
    Captured(2, "HA", "hearts", (1, 2)),
    Declined(2),
    DealScored(1, (0,) * 5, (0,) * 5, (0,) * 5),
    Opened(("SJ", "SQ"), (DealDiscard(0, ("S2", "S3")),)),
]


@pytest.mark.parametrize(("event", "redacted"), HIDDEN, ids=[type(event).__name__ for event, _ in HIDDEN])
def test_what_lies_face_down_is_null_for_whoever_may_not_see_it(
    event: ChinkwayEvent, redacted: dict[int | None, Event]
) -> None:
    assert {viewer: redact(event, viewer) for viewer in VIEWERS} == redacted


@pytest.mark.parametrize("event", PUBLIC, ids=[type(event).__name__ for event in PUBLIC])
def test_what_lies_face_up_is_everybodys(event: ChinkwayEvent) -> None:
    assert all(redact(event, viewer) == event for viewer in VIEWERS)


def test_every_event_says_who_may_see_it() -> None:
    told = {type(event) for event, _ in HIDDEN} | {type(event) for event in PUBLIC}
    assert told == set(get_args(ChinkwayEvent))


def test_a_fold_of_redacted_events_knows_no_card_that_is_hidden() -> None:
    for viewer in VIEWERS:
        known = table(*(redact(event, viewer) for event in TURNED)).play
        assert isinstance(known, State)
        assert [seat for seat, hand in enumerate(known.hands) if hand is not None] == [viewer][: viewer is not None]
        assert (known.pack, known.removed) == (None, None)
        assert (known.discards[0].cards is None) == (viewer != 0)
