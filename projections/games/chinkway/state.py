"""A match of Chinkway: what its events add up to.

The state is folded in place. Folded from redacted decisions it holds None for every hand, discard and pack that the
viewer may not see, and everything a view reads is the same.
"""

from collections.abc import Iterator
from typing import assert_never

from msgspec import Struct

from events.base import Seat
from events.cards import FRENCH, FrenchCard
from events.games.chinkway import (
    Captured,
    Category,
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
    Opened,
    Options,
    Pair,
    Played,
    QuestKept,
    QuestReduced,
    QuestShuffled,
    QuestTurned,
    TrickTaken,
    Trump,
)

SEATS = 5


class Discarding(Struct, frozen=True, gc=False):
    """The dealer must lay two cards out of play."""

    seat: int


class Declaring(Struct, frozen=True, gc=False):
    """The dealer must name trumps."""

    seat: int


class Playing(Struct, frozen=True, gc=False):
    """This seat must play a card."""

    seat: int


class Capturing(Struct, frozen=True):
    """The taker of a trick must capture one of `choices` or decline; `needed` are those that would meet a part."""

    seat: int
    choices: tuple[FrenchCard, ...]
    needed: tuple[FrenchCard, ...]


class DealOver(Struct, frozen=True, gc=False):
    """No deal is in play, before the first and after the last: nobody must act."""

    seat: None = None


Phase = Playing | Capturing | Discarding | Declaring | DealOver

_PLAYING = tuple(Playing(seat) for seat in range(SEATS))


class Trick(Struct, frozen=True):
    """A trick: its cards in order of play, the first by `leader`, the others clockwise; `taker` is null until full."""

    leader: Seat
    cards: Choices
    taker: Seat | None


class State(Struct):
    """A match at one version; lists with one place per seat unless said otherwise.

    removed   the cards taken out of the quest pack, None where the viewer may not know
    pack      the quest pack, top first; None where the viewer may not know
    aside     quest cards of earlier deals that are out of play until the pack is shuffled whole
    quests    the five quest cards of each earlier deal
    hands     cards in printed order; None where the viewer may not know
    played    every card played in this deal, in order of play
    quest     the five cards turned, None until they are
    kept      those that will be turned, where the deal is played again and all know them; else None
    wanted    the quest's parts by category, empty until it is turned
    met       parts met by category: by the seat's side together or, under `team_scoring` sum, by its own captures
    discards  one a deal
    """

    options: Options
    phase: Phase = DealOver()
    deal: int = 0
    dealer: int = 0
    sides: tuple[tuple[int, ...], ...] = ()
    totals: tuple[int, ...] = (0,) * SEATS
    removed: tuple[FrenchCard, ...] | None = ()
    pack: list[FrenchCard] | None = None
    aside: list[FrenchCard] = []
    quest: Five | None = None
    kept: Five | None = None
    quests: list[Five] = []
    wanted: dict[Category, int] = {}
    trump: Trump | None = None
    hands: list[list[FrenchCard] | None] = []
    held: list[int] = []
    leader: int = 0
    trick: list[FrenchCard] = []
    last_trick: Trick | None = None
    played: list[FrenchCard] = []
    taken: list[int] = []
    captured: list[list[FrenchCard]] = []
    met: list[dict[Category, int]] = []
    discards: list[DealDiscard] = []
    opened: bool = False


def begin(options: Options, _seats: int, _taken: tuple[int, ...]) -> State:
    """Return the match before its first event: all five seats are taken, the quest pack lies in printed order."""
    return State(options, pack=list(FRENCH))


def evolve(state: State, event: ChinkwayEvent) -> State:
    """Add one event to the match, in place."""
    # The commonest events come first and are taken apart by name: patterns by position cost half as much again.
    match event:
        case Played():
            _play(state, event)
        case TrickTaken():
            _take_trick(state, event)
        case Captured():
            _capture(state, event)
        case Declined():
            _next_trick(state, event.seat)
        case Dealt():
            _deal(state, event)
        case Discarded(seat, cards):
            _discard(state, seat, cards)
        case Declared(_, trump):
            state.trump = trump
        case QuestTurned():
            _turn_quest(state, event)
        case QuestKept(cards):
            _keep_quest(state, cards)
        case DealScored(_, _, _, totals):
            state.totals = totals
            state.phase = DealOver()
        case DealerDrawn(dealer):
            state.dealer = dealer
        case QuestReduced(cards):
            _reduce_quest(state, cards)
        case QuestShuffled(order):
            state.pack = None if order is None else list(order)
            state.aside = []
        case Opened():
            _open(state, event)
        case _:
            assert_never(event)
    return state


def _play(state: State, event: Played) -> None:
    seat, card, following = event.seat, event.card, event.next
    hand = state.hands[seat]
    if hand is not None:
        hand.remove(card)
    state.held[seat] -= 1
    state.trick.append(card)
    state.played.append(card)
    if following is not None:
        state.phase = _PLAYING[following]


def _take_trick(state: State, event: TrickTaken) -> None:
    state.taken[event.seat] += 1
    if event.choices:
        state.phase = Capturing(event.seat, event.choices, event.needed)
    else:
        _next_trick(state, event.seat)


def _capture(state: State, event: Captured) -> None:
    state.captured[event.seat].append(event.card)
    for seat in event.credited:
        state.met[seat][event.category] += 1
    _next_trick(state, event.seat)


def _next_trick(state: State, taker: int) -> None:
    state.last_trick = Trick(state.leader, tuple(state.trick), taker)
    state.trick = []
    state.leader = taker
    state.phase = _PLAYING[taker]


def _deal(state: State, event: Dealt) -> None:
    state.deal = event.deal
    state.dealer = event.dealer
    state.sides = event.sides
    state.hands = [None if hand is None else list(hand) for hand in event.hands]
    state.held = [12 if seat == event.dealer else 10 for seat in range(SEATS)]
    state.trump = None
    if state.quest is not None:
        state.quests.append(state.quest)
        state.aside.extend(state.quest)
    state.quest = None
    state.kept = None
    state.wanted = {}
    state.trick = []
    state.last_trick = None
    state.played = []
    state.taken = [0] * SEATS
    state.captured = [[] for _ in range(SEATS)]
    state.met = [{"spades": 0, "hearts": 0, "diamonds": 0, "clubs": 0, "court": 0} for _ in range(SEATS)]
    state.phase = Discarding(event.dealer)


def _discard(state: State, seat: int, cards: Pair | None) -> None:
    hand = state.hands[seat]
    if hand is not None and cards is not None:
        for card in cards:
            hand.remove(card)
    state.held[seat] -= 2
    state.discards.append(DealDiscard(seat, cards))
    state.phase = Declaring(seat)


def _turn_quest(state: State, event: QuestTurned) -> None:
    if state.kept is None and state.pack is not None:
        del state.pack[: len(event.cards)]
    state.quest = event.cards
    state.kept = None
    wanted = event.wanted
    state.wanted = {
        "spades": wanted.spades,
        "hearts": wanted.hearts,
        "diamonds": wanted.diamonds,
        "clubs": wanted.clubs,
        "court": wanted.court,
    }
    state.leader = event.leader
    state.phase = _PLAYING[event.leader]


def _keep_quest(state: State, kept: Five) -> None:
    if state.pack is not None:
        state.pack = [card for card in state.pack if card not in kept]
        state.aside = [card for card in state.aside if card not in kept]
    state.kept = kept


def _reduce_quest(state: State, removed: Pair | None) -> None:
    state.removed = removed
    state.pack = None if removed is None else [card for card in FRENCH if card not in removed]


def _open(state: State, event: Opened) -> None:
    state.removed = event.removed
    state.discards = list(event.discards)
    state.opened = True


def rescored(state: State, scores: tuple[int | None, ...]) -> State:
    """Go on with these totals, in place."""
    state.totals = tuple([score or 0 for score in scores])
    return state


def cards(state: State) -> Iterator[str]:
    """Yield every card of an unredacted match, those of the quest pack as `q:<card>`: 104 from the first deal on."""
    for hand in state.hands:
        yield from hand or ()
    if len(state.discards) == state.deal > 0:
        yield from state.discards[-1].cards or ()
    captured = [card for haul in state.captured for card in haul]
    yield from captured
    yield from (card for card in state.played if card not in captured)
    for pile in (state.removed, state.pack, state.aside, state.quest, state.kept):
        yield from (f"q:{card}" for card in pile or ())
