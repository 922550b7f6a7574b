"""Laws of the log: what was decided can be decided and folded again. Each raises AssertionError where it can't."""

from collections import Counter

import msgspec
from msgspec import Raw

from events.base import Entry
from events.table import NUMBERS_PER_DEAL, DealReplayed, Ruled, Shuffled
from projections import fold
from service.game import AnyTable
from service.referee import Referee
from service.streams import genesis, head_after
from tests.laws.matches import Match, asked_by

_encode = msgspec.json.Encoder().encode
_raw = msgspec.json.Decoder(Entry[Raw, Raw])


def refolds(match: Match) -> None:
    """Hold: the stored entries add up to what was added up when they were decided, for every viewer and version."""
    live = match.empty()
    for events, (table, entry, stored) in zip(match.decided, match.versions(), strict=True):
        fold.add(match.game.projection, live, msgspec.structs.replace(entry, events=events), stored.h)
        for viewer in match.viewers:
            assert match.view(table, viewer) == match.view(live, viewer), f"{viewer} at {table.version}"
    assert repr(live) == repr(table)


def heads_chain(match: Match) -> None:
    """Hold: versions are dense, time never runs back, and every head chains its entry to the one before."""
    head, at = genesis(f"table:{match.table}"), 0
    for version, (stored, entry) in enumerate(zip(match.stored, match.entries(), strict=True), 1):
        assert stored.version == entry.version == version
        assert entry.stream == f"table:{match.table}"
        assert entry.at >= at
        assert stored.h == head_after(head, stored.e)
        head, at = stored.h, entry.at


def decides_again(match: Match) -> None:
    """Hold: every stored command, decided again on the state before it, makes the same events happen, byte for byte."""
    for table, entry, stored in match.steps():
        events = match.again(table, entry)
        as_stored = b"[" + b",".join(bytes(event) for event in _raw.decode(stored.e).events) + b"]"
        assert _encode(events) == as_stored, f"version {entry.version} is decided otherwise: {events}"
        assert _encode(match.command(entry)) == bytes(entry.command)


def cards_are_conserved(match: Match) -> None:
    """Hold: the multiset of cards is the same at every version from the first deal on."""
    first: Counter[str] = Counter()
    for table, _, _ in match.versions():
        if table.play is None:
            continue
        cards = Counter(match.game.projection.cards(table.play))
        first = first or cards
        assert first, f"no cards are in play at version {table.version}"
        assert cards == first, f"at version {table.version}: lost {first - cards}, came {cards - first}"


def deals_begin_again(match: Match) -> None:
    """Hold: packs are numbered one by one, and a deal that is played again begins in the state in which it began.

    Where scores were corrected meanwhile, the state may differ by them.
    """
    table, dealt, ahead = match.empty(), 0, 0
    began: dict[int, str] = {}
    for entry in match.entries():
        table.version, table.by = entry.version, entry.by.player or ""
        for event in entry.events:
            match event:
                case Shuffled(c) if c and c % NUMBERS_PER_DEAL == 0:
                    dealt += 1
                    assert c == NUMBERS_PER_DEAL * dealt, f"shuffle {c} of version {entry.version} is of deal {dealt}"
                    began[dealt - ahead] = repr(table.play)
                case Ruled(scores=tuple()):
                    began.clear()
                case _:
                    pass
            fold.evolve(match.game.projection, table, event)
            if isinstance(event, DealReplayed):
                assert event.number == dealt + 1
                play = repr(table.play)
                assert play == began.get(event.deal, play), f"deal {event.deal} began otherwise"
                ahead = event.number - event.deal


def nothing_is_changed(match: Match) -> None:
    """Hold: deciding, listing, viewing and redacting leave the state and the events as they are, and repeat alike."""
    for table, entry, stored in match.steps():
        if table.play is not None:
            before = repr(table)
            _twice(match, table)
            assert repr(table) == before, f"the state of version {table.version} was changed"
        events = repr(entry.events)
        for viewer in match.viewers:
            assert match.redacted(entry, stored.h, viewer) == match.redacted(entry, stored.h, viewer)
        assert repr(entry.events) == events


def _twice(match: Match, table: AnyTable) -> None:
    for viewer in match.viewers:
        assert match.view(table, viewer) == match.view(table, viewer)
    game = match.game
    assert game.places(table.play, table.resigned) == game.places(table.play, table.resigned)
    assert list(game.reveal(table.play)) == list(game.reveal(table.play))
    for seat in table.to_act:
        assert game.idle(table.play, seat) == game.idle(table.play, seat)
        legal = list(game.legal(table.play, seat))
        assert legal == list(game.legal(table.play, seat))
        for command in (legal[0], legal[-1]):
            ask = asked_by(table, seat, command)
            assert Referee().decide(game, table, ask) == Referee().decide(game, table, ask)
