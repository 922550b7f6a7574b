"""Rules of Chinkway: discard, declare, ten tricks with a capture after each, a score by parts of the quest.

Facts are in events/games/chinkway.py, what they add up to in projections/games/chinkway.py. Sections cited here are
those of the rules page, chinkway.en.md. Left out: a last deal re-seated by standing, of which no source gives the
seating; and everything a table of people says aloud, for there is no chat.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, combinations
from operator import add
from typing import assert_never

from events.base import Event
from events.cards import FRENCH, FrenchCard
from events.games.chinkway import (
    Captured,
    Category,
    DealerDrawn,
    DealScored,
    Dealt,
    Declared,
    Declined,
    Discarded,
    Five,
    Opened,
    Options,
    Played,
    QuestKept,
    QuestReduced,
    QuestShuffled,
    QuestTurned,
    Shares,
    TrickTaken,
    Trump,
)
from events.table import Ended, Scored, Shuffled, TurnBegan
from projections.games.chinkway import (
    PROJECTION,
    SEATS,
    Capturing,
    DealOver,
    Declaring,
    Discarding,
    Playing,
    State,
)
from service.chance import Shuffles, number
from service.game import Ask, Command, Game, Refused, Seats
from service.games.chinkway import partners, quests
from service.games.chinkway.commands import Capture, ChinkwayCommand, Declare, Decline, Discard, Play
from service.rules import standing, tricks
from service.rules.packs import hands

REASONS = {
    "card_not_held": "The card is not in the player's hand.",
    "same_card_twice": "The two cards of a discard must differ.",
    "must_follow_suit": "A player who holds a card of the suit led must play one.",
    "must_trump": "At this table, a player who can't follow suit but holds a trump must play one.",
    "card_not_in_trick": "The card is not in the trick just taken.",
    "category_not_in_quest": "No quest card asks for a card of this category.",
    "part_already_met": "At this table, a card may be captured only if it meets a further part of the quest.",
}

_PRINTED = {card: place for place, card in enumerate(FRENCH)}
_TRICK = 5
_QUEST = 5
_TRUMPS: tuple[Trump, ...] = ("S", "H", "D", "C", "NT")


# Commands and events are immutable, so one of each serves every table.
_PLAY = {card: Play(card) for card in FRENCH}
_CAPTURE = {card: Capture(card) for card in FRENCH}
_DISCARD = {pair: Discard(pair) for pair in combinations(FRENCH, 2)}
_DECLARE = tuple(Declare(trump) for trump in _TRUMPS)
_DECLINE = Decline()
_TURN = tuple(TurnBegan((seat,)) for seat in range(SEATS))


def legal(state: State, seat: int) -> Iterator[Command]:
    """Return every command this seat may give now; pairs to discard once each, in printed order."""
    phase = state.phase
    if phase.seat != seat:
        return iter(())
    match phase:
        case Playing():
            return map(_PLAY.__getitem__, playable(_hand(state, seat), state.trick, state.trump, state.options.void))
        case Capturing():
            return chain(map(_CAPTURE.__getitem__, phase.choices), (_DECLINE,))
        case Discarding():
            return map(_DISCARD.__getitem__, combinations(_hand(state, seat), 2))
        case Declaring():
            return iter(_DECLARE)
        case unknown:
            assert_never(unknown)


def playable(
    hand: Sequence[FrenchCard], trick: Sequence[FrenchCard], trump: Trump | None, void: str
) -> Sequence[FrenchCard]:
    """Return the cards of a hand that may be played to a trick, at least one of a hand that has any (section 4)."""
    if not trick:
        return hand
    following = tricks.of_suit(hand, trick[0][0])
    if not following and void == "must_trump" and trump is not None:
        following = tricks.of_suit(hand, trump)
    return following or hand


def start(state: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the lot for the first dealer, the making of the quest pack, and the first deal (section 2)."""
    lot = chance.shuffle(tuple(range(SEATS)), number(0, 0))
    yield Shuffled(number(0, 0), lot)
    yield DealerDrawn(lot[0])
    removed: tuple[FrenchCard, ...] = ()
    if state.options.quest_removed != "none":
        eligible = quests.COURT_CARDS if state.options.quest_removed == "two_court" else FRENCH
        order = chance.shuffle(eligible, number(0, 1))
        removed = order[:2]
        yield Shuffled(number(0, 1), order)
        yield QuestReduced((order[0], order[1]))
    if state.options.quest_pack == "use_up":
        order = _shuffled_quest(removed, chance, number(0, 2))
        yield Shuffled(number(0, 2), order)
        yield QuestShuffled(order)
    yield from _deal(state.options, 1, lot[0], chance)


def _shuffled_quest(removed: Sequence[FrenchCard], chance: Shuffles, c: int) -> tuple[FrenchCard, ...]:
    return chance.shuffle([card for card in FRENCH if card not in removed], c)


def again(then: State, now: State, chance: Shuffles) -> Iterator[Event]:
    """Yield the deal that begins in `then` once more; the quest stays if it was turned, for all have seen it."""
    deal = then.deal + 1
    *dealt, prompt = _deal(then.options, deal, _next_dealer(then), chance)
    yield from dealt
    quest = _known_quest(now, deal)
    if quest is not None:
        yield QuestKept(quest)
    yield prompt


def _next_dealer(state: State) -> int:
    return (state.dealer + 1) % SEATS if state.deal else state.dealer


def _known_quest(state: State, deal: int) -> Five | None:
    """Return the quest of this deal or the one before it, None where nobody has seen it yet."""
    return state.quests[deal - 1] if deal < state.deal else state.quest or state.kept


def _quest_pack(state: State) -> list[FrenchCard]:
    if state.pack is None:
        raise ValueError(f"no quest can be turned in deal {state.deal}: its pack is hidden from this fold")
    return state.pack


def _deal(options: Options, deal: int, dealer: int, chance: Shuffles) -> Iterator[Event]:
    pack = chance.shuffle(FRENCH, number(deal))
    yield Shuffled(number(deal), pack)
    dealt: list[tuple[FrenchCard, ...]] = [()] * SEATS
    # Hands come off whole, the dealer's twelve last (section 10).
    for place, hand in enumerate(hands(pack, (10, 10, 10, 10, 12)), 1):
        dealt[(dealer + place) % SEATS] = tuple(sorted(hand, key=_PRINTED.__getitem__))
    yield Dealt(deal, dealer, partners.sides_of(options.partners, deal, dealer), tuple(dealt))
    yield _TURN[dealer]


def decide(state: State, ask: Ask) -> Iterator[Event]:
    """Yield what the command makes happen; raise Refused if a rule forbids it.

    Whose turn it is comes first, then the phase, then the card.
    """
    phase, command, seat = state.phase, ask.command, ask.by.seat
    if seat is None or phase.seat != seat:
        raise Refused("not_now" if isinstance(phase, DealOver) else "not_your_turn")
    # Nine of ten commands are plays; the match alone would cost as much as deciding one.
    if isinstance(command, Play) and isinstance(phase, Playing):
        return _play(state, ask, seat, command.card)
    match phase, command:
        case Capturing(), Capture():
            return _capture(state, ask, phase, command.card)
        case Capturing(), Decline():
            return _decline(state, ask, seat)
        case Discarding(), Discard():
            return _discard(state, seat, command.cards)
        case Declaring(), Declare():
            return _declare(state, ask, seat, command.trump)
        case _:
            raise Refused("not_now")


def _discard(state: State, seat: int, cards: tuple[FrenchCard, FrenchCard]) -> Iterator[Event]:
    held = _hand(state, seat)
    for card in cards:
        if card not in held:
            raise Refused("card_not_held")
    if cards[0] == cards[1]:
        raise Refused("same_card_twice")
    first, second = sorted(cards, key=_PRINTED.__getitem__)
    yield Discarded(seat, (first, second))
    yield _TURN[seat]


def _declare(state: State, ask: Ask, seat: int, trump: Trump) -> Iterator[Event]:
    pack: Sequence[FrenchCard] = state.kept or _quest_pack(state)
    yield Declared(seat, trump)
    # A pack that is used up but for less than a quest is shuffled whole, as in deal 11 (section 3).
    if state.kept is None and (state.options.quest_pack == "reshuffle" or len(pack) < _QUEST):
        c = number(state.deal, 1)
        order = _shuffled_quest(state.removed or (), ask.chance, c)
        yield Shuffled(c, order)
        yield QuestShuffled(order)
        pack = order
    a, b, c_, d, e = pack[:_QUEST]
    leader = (seat + 1) % SEATS
    yield QuestTurned((a, b, c_, d, e), Shares(**quests.count(pack[:_QUEST], state.options.aces)), leader)
    yield _TURN[leader]


def _play(state: State, ask: Ask, seat: int, card: FrenchCard) -> Iterator[Event]:
    hand, trick = _hand(state, seat), state.trick
    if card not in hand:
        raise Refused("card_not_held")
    if trick and card[0] != trick[0][0]:
        _may_break_suit(state, hand, card)
    if len(trick) < _TRICK - 1:
        following = (seat + 1) % SEATS
        return iter((Played(seat, card, following), _TURN[following]))
    return _complete_trick(state, ask, seat, card)


def _complete_trick(state: State, ask: Ask, seat: int, card: FrenchCard) -> Iterator[Event]:
    yield Played(seat, card, None)
    full = [*state.trick, card]
    taker = (state.leader + tricks.taker(full, state.trump or "NT")) % SEATS
    choices, needed = capturable(full, state.wanted, state.met[taker], state.options)
    yield TrickTaken(taker, choices, needed)
    if choices:
        yield _TURN[taker]
    else:
        yield from _next_trick(state, ask, taker, None)


def _may_break_suit(state: State, hand: Sequence[FrenchCard], card: FrenchCard) -> None:
    led = state.trick[0][0]
    if card not in playable(hand, state.trick, state.trump, state.options.void):
        raise Refused("must_follow_suit" if tricks.of_suit(hand, led) else "must_trump")


def capturable(
    trick: Sequence[FrenchCard],
    wanted: Mapping[Category, int],
    met: Mapping[Category, int],
    options: Options,
) -> tuple[tuple[FrenchCard, ...], tuple[FrenchCard, ...]]:
    """Return the cards of a trick that its taker may capture, and those that would meet a part (section 5).

    `met` is what counts for the taker so far: the side's parts, or the taker's own under `team_scoring` sum.
    """
    category = quests.CATEGORY[options.aces]
    choices = tuple([card for card in trick if wanted[category[card]]])
    needed = tuple([card for card in choices if met[category[card]] < wanted[category[card]]]) if choices else ()
    return (needed if options.surplus == "refuse" else choices), needed


def _capture(state: State, ask: Ask, phase: Capturing, card: FrenchCard) -> Iterator[Event]:
    category = quests.CATEGORY[state.options.aces][card]
    if card not in phase.choices:
        if card not in state.trick:
            raise Refused("card_not_in_trick")
        raise Refused("part_already_met" if state.wanted[category] else "category_not_in_quest")
    yield Captured(phase.seat, card, category, _scorers(state, phase.seat) if card in phase.needed else ())
    yield from _next_trick(state, ask, phase.seat, card)


def _scorers(state: State, seat: int) -> tuple[int, ...]:
    """Return the seats for which a capture of this seat counts."""
    if state.options.team_scoring == "sum":
        return (seat,)
    for side in state.sides:
        if seat in side:
            return side
    raise ValueError(f"seat {seat} is on none of the sides {state.sides}")


def _decline(state: State, ask: Ask, seat: int) -> Iterator[Event]:
    yield Declined(seat)
    yield from _next_trick(state, ask, seat, None)


def _next_trick(state: State, ask: Ask, leader: int, capture: FrenchCard | None) -> Iterator[Event]:
    """Go on after a trick, from which its taker captured a card or none: the next lead, the next deal or the end."""
    # The card that completes a trick is still held while it is decided, so the last trick leaves at most one.
    if sum(state.held) > 1:
        yield _TURN[leader]
        return
    captured = [tuple(haul) for haul in state.captured]
    if capture is not None:
        captured[leader] += (capture,)
    parts, points = score(captured, state.sides, state.wanted, state.options)
    totals = tuple(map(add, state.totals, points))
    yield DealScored(state.deal, parts, points, totals)
    yield Scored(state.deal, points, totals)
    if state.deal < state.options.deals:
        yield from _deal(state.options, state.deal + 1, _next_dealer(state), ask.chance)
    else:
        yield Ended("finished", standing.highest_wins(totals, ask.forfeits))


def score(
    captured: Sequence[Sequence[FrenchCard]],
    sides: Sequence[Sequence[int]],
    wanted: Mapping[Category, int],
    options: Options,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the parts met for each seat and the points they give it, from the cards each seat captured (section 6)."""
    parts, points = [0] * SEATS, [0] * SEATS
    for side in sides:
        gained = 0
        for counted in [side] if options.team_scoring == "pooled" else [(seat,) for seat in side]:
            haul = [card for seat in counted for card in captured[seat]]
            met = quests.parts(haul, wanted, options.aces)
            gained += quests.points(met)
            for seat in counted:
                parts[seat] = met
        for seat in side:
            points[seat] = gained
    return tuple(parts), tuple(points)


def idle(state: State, seat: int) -> Command:
    """Return the command that stands for this seat when its player is silent (section 7)."""
    match state.phase:
        case Discarding():
            first, second = sorted(_hand(state, seat), key=_lowest)[:2]
            return Discard((first, second))
        case Declaring():
            return Declare("NT")
        case Playing():
            choice = playable(_hand(state, seat), state.trick, state.trump, state.options.void)
            return Play(min(choice, key=_lowest)) if choice else _DECLINE
        case Capturing(_, _, needed):
            first_needed = state.options.capture_timeout == "first_needed" and needed
            return Capture(needed[0]) if first_needed else _DECLINE
        case DealOver():
            return _DECLINE
        case unknown:
            assert_never(unknown)


def _lowest(card: FrenchCard) -> tuple[int, int]:
    return tricks.RANK[card], "CDHS".index(card[0])


def _hand(state: State, seat: int) -> list[FrenchCard]:
    hand = state.hands[seat]
    if hand is None:
        raise ValueError(f"the hand of seat {seat} in deal {state.deal} is hidden from this fold")
    return hand


def check(options: Options) -> None:
    """Raise Refused unless a match of five deals and partners for five deals go together (section 8)."""
    if (options.deals == 5) != (options.partners == "five"):  # noqa: PLR2004 the option's own value
        raise Refused("options_conflict")


def places(state: State, forfeits: Sequence[int]) -> tuple[int | None, ...]:
    """Return one place per seat by the totals as they stand."""
    return standing.highest_wins(state.totals, forfeits)


def reveal(state: State) -> Iterator[Event]:
    """Yield what lay face down: the cards removed from the quest pack, and every deal's discards."""
    yield Opened(state.removed or (), tuple(state.discards))


GAME = Game(
    title="Chinkway",
    projection=PROJECTION,
    commands=ChinkwayCommand,
    seats=Seats(least=SEATS, most=SEATS, usual=SEATS),
    check=check,
    start=start,
    again=again,
    decide=decide,
    legal=legal,
    idle=idle,
    places=places,
    reveal=reveal,
    reasons=REASONS,
)
