"""What each viewer may see of a match of Chinkway, and of its events."""

from collections.abc import Iterator
from typing import Annotated, Literal, assert_never

from msgspec import Meta

from events.base import Seat
from events.cards import FrenchCard
from events.games.chinkway import (
    Captured,
    ChinkwayEvent,
    Choices,
    DealDiscard,
    DealerDrawn,
    DealScored,
    Dealt,
    Declared,
    Declined,
    Discarded,
    Five,
    Hand,
    OnePerDeal,
    Opened,
    Options,
    PerSeat,
    Played,
    QuestKept,
    QuestReduced,
    QuestShuffled,
    QuestTurned,
    Shares,
    Sides,
    TrickTaken,
    Trump,
)
from events.table import DealNumber
from projections import table as neutral
from projections.games.chinkway.state import (
    SEATS,
    Capturing,
    DealOver,
    Declaring,
    Discarding,
    Playing,
    State,
    Trick,
    begin,
)
from projections.table import Table

PhaseName = Literal["discard", "declare", "play", "capture", "over"]


class View(neutral.View[Options], frozen=True, kw_only=True):
    """A table of Chinkway as one viewer may see it; before play all that is its own is null, 0 or empty.

    Lists by seat have five places. `hand` is the viewer's own, null for a spectator; `held` counts everybody's cards.
    `wanted` says how many of the quest's parts are of each category, `met` how many of those are met for each seat: by
    its side together or, under `team_scoring` sum, by its own captures. `choices` are the cards that the taker of the
    trick may capture now, `needed` those of them that would meet a part. `quest_seen` are the quest cards of earlier
    deals, `quest_kept` those that are turned next, where a deal is played again and all know them. `seen` are the cards
    played in this deal in order of play, the dealer's own two discards after them. `discards` holds one entry a deal:
    its cards are null for all but their dealer, and `removed` is null for all, until play has ended.
    """

    phase: PhaseName | None
    deal: DealNumber
    deals: DealNumber
    dealer: Seat | None
    sides: Sides
    hand: Hand | None
    held: Annotated[tuple[Annotated[int, Meta(ge=0, le=12)], ...], PerSeat]
    trump: Trump | None
    quest: Five | None
    wanted: Shares | None
    met: Annotated[tuple[Shares, ...], PerSeat]
    captured: Annotated[tuple[Annotated[tuple[FrenchCard, ...], Meta(max_length=10)], ...], PerSeat]
    tricks: Annotated[tuple[Annotated[int, Meta(ge=0, le=10)], ...], PerSeat]
    trick: Trick | None
    last_trick: Trick | None
    choices: Choices
    needed: Choices
    quest_seen: Annotated[tuple[Five, ...], OnePerDeal]
    quest_kept: Five | None
    discards: Annotated[tuple[DealDiscard, ...], OnePerDeal]
    removed: Annotated[tuple[FrenchCard, ...], Meta(max_length=2)] | None


def view(table: Table[State, Options], seat: int | None) -> View:
    """Return a table as this seat may see it, None for a spectator."""
    options = table.options
    if options is None:
        raise ValueError(f"nothing is to be seen of a table at version {table.version}")
    state = table.play if table.play is not None else begin(options, SEATS, ())
    hand = state.hands[seat] if seat is not None and state.hands else None
    capturing = state.phase if isinstance(state.phase, Capturing) and table.status != "ended" else None
    return View(
        **neutral.public(table, seat),
        options=options,
        seen=_seen(state, seat),
        phase=_phase_name(table),
        deal=state.deal,
        deals=options.deals,
        dealer=state.dealer if state.deal else None,
        sides=state.sides,
        hand=None if hand is None else tuple(hand),
        held=tuple(state.held),
        trump=state.trump,
        quest=state.quest,
        wanted=Shares(**state.wanted) if state.wanted else None,
        met=tuple([Shares(**met) for met in state.met]),
        captured=tuple(map(tuple, state.captured)),
        tricks=tuple(state.taken),
        trick=_trick(state),
        last_trick=state.last_trick,
        choices=() if capturing is None else capturing.choices,
        needed=() if capturing is None else capturing.needed,
        quest_seen=tuple(state.quests),
        quest_kept=state.kept,
        discards=tuple(_discards(state, seat)),
        removed=state.removed if state.opened else None,
    )


def _phase_name(table: Table[State, Options]) -> PhaseName | None:
    if table.play is None:
        return None
    if table.status == "ended":
        return "over"
    match table.play.phase:
        case Playing():
            return "play"
        case Capturing():
            return "capture"
        case Discarding():
            return "discard"
        case Declaring():
            return "declare"
        case DealOver():
            return "over"
        case unknown:
            assert_never(unknown)


def _trick(state: State) -> Trick | None:
    match state.phase:
        case Playing():
            return Trick(state.leader, tuple(state.trick), None)
        case Capturing(taker):
            return Trick(state.leader, tuple(state.trick), taker)
        case _:
            return None


def _discards(state: State, seat: int | None) -> Iterator[DealDiscard]:
    for discard in state.discards:
        yield discard if state.opened or discard.seat == seat else DealDiscard(discard.seat, None)


def _seen(state: State, seat: int | None) -> tuple[FrenchCard, ...]:
    own = state.discards[-1].cards if seat == state.dealer and len(state.discards) == state.deal > 0 else None
    return (*state.played, *(own or ()))


def redact(event: ChinkwayEvent, seat: int | None) -> ChinkwayEvent:
    """Return an event as this seat may see it, None for a spectator; what is not listed here as public is hidden."""
    match event:
        case Played() | TrickTaken() | Captured() | Declined() | Declared() | QuestTurned() | QuestKept():
            return event
        case DealerDrawn() | DealScored() | Opened():
            return event
        case Dealt(deal, dealer, sides, hands):
            return Dealt(deal, dealer, sides, tuple([hand if own == seat else None for own, hand in enumerate(hands)]))
        case Discarded(dealer, _):
            return event if dealer == seat else Discarded(dealer, None)
        case QuestReduced():
            return QuestReduced(None)
        case QuestShuffled():
            return QuestShuffled(None)
        case _:
            assert_never(event)
