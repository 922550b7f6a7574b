"""The one fold: neutral events and a game's own add up to one table, stored or redacted alike."""

from msgspec import Raw, to_builtins
from msgspec.json import encode

from events.base import By, Decision, Entry, Event
from events.table import Created, SeatTaken, Seeded, Shuffled, Started, TurnBegan
from projections import fold
from projections.table import Table
from service.game import AnyTable
from tests.toy.events.toy import Dealt, Hand, Options, Pledged
from tests.toy.projections.toy import PROJECTION, Pledging, State

OPTIONS = Options(deals=3, row=2)
BEFORE: tuple[Event, ...] = (
    Created("toy", "toy/1", 3, to_builtins(OPTIONS), "host", "hal", "c0" * 32),
    Seeded("5e" * 32),
    SeatTaken(0, "ada", "", None),
    SeatTaken(2, "bob", "", None),
)
HANDS: tuple[Hand | None, ...] = (
    ("R1", "R2", "R3", "R4", "R5", "R6", "R7"),
    None,
    ("G1", "G2", "G3", "G4", "G5", "G6", "G7"),
)
PLAY: tuple[Event, ...] = (Started((0, 2)), Shuffled(65_536, ("R1",)), Dealt(1, 0, HANDS, ("B1",)), TurnBegan((0, 2)))


def folded(*decisions: tuple[Event, ...]) -> AnyTable:
    table: AnyTable = Table(id="a")
    for version, events in enumerate(decisions, 1):
        fold.add(PROJECTION, table, Decision(version, 1_000 + version, By(), "", events), bytes([version]))
    return table


def match(*decisions: tuple[Event, ...]) -> State:
    play = folded(*decisions).play
    assert isinstance(play, State)
    return play


def test_a_table_has_the_version_the_moment_and_the_head_of_the_last_decision() -> None:
    table = folded(BEFORE, PLAY)
    assert (table.version, table.at, table.head, table.turn) == (2, 1_002, b"\x02", 2)


def test_the_options_of_a_new_table_are_read_as_its_games_own() -> None:
    table = folded(BEFORE)
    assert table.options == OPTIONS
    assert table.play is None


def test_play_begins_with_the_options_and_the_seats_taken() -> None:
    begun = match(BEFORE, PLAY[:1])
    assert (begun.options, begun.taken, begun.totals) == (OPTIONS, (0, 2), (0, None, 0))


def test_a_games_own_events_are_its_own_to_add() -> None:
    told = match(BEFORE, PLAY, (Pledged(2, "G4"),))
    assert (told.phase, told.pledges, told.held) == (Pledging(), [None, None, "G4"], [7, 0, 6])


def test_a_stored_entry_is_read_with_its_command_left_as_stored() -> None:
    entry = Entry(1, "table:a", 1, 2, By(seat=2), {"type": "toy.pledge"}, None, None, "salt", (Pledged(2, "G4"),))
    read = PROJECTION.decode(encode(entry))
    assert read.events == entry.events
    assert bytes(read.command) == b'{"type":"toy.pledge"}'


def test_an_entry_is_redacted_by_the_game_where_the_event_is_its_own() -> None:
    entry: Entry[Raw, Event] = Entry(
        1, "table:a", 2, 1_002, By(role="host", player="hal"), Raw(b"{}"), None, "k", "salt", PLAY
    )
    started, shuffled, dealt, turn = fold.decision(PROJECTION, entry, b"\xab", 2).events
    assert (started, shuffled, turn) == (PLAY[0], Shuffled(65_536, None), PLAY[3])
    assert dealt == Dealt(1, 0, (None, None, HANDS[2]), None)
    for_all = fold.decision(PROJECTION, entry, b"\xab", None)
    assert for_all.events[2] == Dealt(1, 0, (None, None, None), None)
    assert encode(for_all).startswith(
        b'{"version":2,"at":1002,"by":{"role":"host","player":"hal"},"head":"ab","events":[{"type":"table.started"'
    )


def test_a_view_is_the_same_from_redacted_decisions() -> None:
    entries = [
        Entry(1, "table:a", version, 1_000 + version, By(), Raw(b"{}"), None, None, "", events)
        for version, events in enumerate((BEFORE, PLAY), 1)
    ]
    for seat in (0, 2, None):
        received: AnyTable = Table(id="a")
        for entry in entries:
            decision = fold.decision(PROJECTION, entry, bytes([entry.version]), seat)
            fold.add(PROJECTION, received, decision, bytes.fromhex(decision.head))
        assert received.seed is None
        assert PROJECTION.view(received, seat) == PROJECTION.view(folded(BEFORE, PLAY), seat)
