"""How `steady` plays Chinkway: it weighs what each card may win for its side, and give to others.

A card is worth what the trick would bring its taker's side with it, times how likely it is that the trick stays with
that taker, less what the card may still win later. Cards not seen may lie in any hand that still follows.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from events.cards import FRENCH, FrenchCard
from events.games.chinkway import Category
from projections.games.chinkway import View
from service.chance import Draws
from service.game import AnyView, Command
from service.games.chinkway import quests
from service.games.chinkway.commands import Capture, Declare, Discard, Play
from service.rules import tricks

SEATS = 5

# What a part that others meet costs, in points of one's own; what a lead is worth; what the strength of a card is.
_OTHERS = 0.35
_LEAD = 0.1
_STRENGTH = 1.2

# How often a card of the led suit or a court that the quest asks for comes to a trick that one leads.
_COMES = 0.5


class _Table(NamedTuple):
    """What a move is weighed by: the view, the cards that may lie with others, and by seat the points of a next part.

    `lacks` are for each seat the categories of which its side needs more; `gains` what a further part would bring it.
    """

    view: View
    unseen: Sequence[FrenchCard]
    category: Mapping[FrenchCard, Category]
    lacks: Sequence[frozenset[Category]]
    gains: Sequence[int]
    side: Sequence[int]


def choose(view: AnyView, legal: Sequence[Command], _draws: Draws) -> Command:
    """Pick what is worth most, the first listed of what is worth the same."""
    if not isinstance(view, View) or view.hand is None:
        raise TypeError(f"no view of a seat at Chinkway: {view}")
    if isinstance(legal[0], Discard):
        return max(legal, key=partial(_worth_of_discard, view.hand))
    if isinstance(legal[0], Declare):
        return max(legal, key=partial(_worth_of_trump, view.hand))
    table = _table(view)
    return max(legal, key=partial(_worth, table))


def _worth(table: _Table, command: Command) -> float:
    match command:
        case Play(card):
            return _worth_of_play(table, card)
        case Capture(card):
            return _worth_of_capture(table, card)
        case _:
            return 0


def _table(view: View) -> _Table:
    own = set(view.hand or ())
    gone = own.union(view.seen)
    wanted = {category: getattr(view.wanted, category, 0) for category in quests.CATEGORIES}
    lacks, gains = [], []
    for met in view.met:
        have = {category: getattr(met, category) for category in quests.CATEGORIES}
        lacks.append(frozenset(each for each in quests.CATEGORIES if have[each] < wanted[each]))
        done = sum(have.values())
        gains.append(quests.points(done + 1) - quests.points(done))
    side = [next(number for number, seats in enumerate(view.sides) if seat in seats) for seat in range(SEATS)]
    unseen = [card for card in FRENCH if card not in gone]
    return _Table(view, unseen, quests.CATEGORY[view.options.aces], lacks, gains, side)


def _worth_of_capture(table: _Table, card: FrenchCard) -> float:
    """Return what is scarce before what will come again, and nothing for what meets no part."""
    view, category = table.view, table.category[card]
    if card not in view.needed:
        return 0
    need: int = getattr(view.wanted, category) - getattr(view.met[view.you or 0], category)
    left = sum(table.category[other] == category for other in (*table.unseen, *(view.hand or ())))
    return 1 + need / (1 + left)


def _worth_of_play(table: _Table, card: FrenchCard) -> float:
    view, me = table.view, table.view.you or 0
    trick = view.trick
    before = trick.cards if trick is not None else ()
    leader = trick.leader if trick is not None and before else me
    cards = (*before, card)
    trump = view.trump or "NT"
    best = tricks.taker(cards, trump)
    taker = (leader + best) % SEATS
    later = [(leader + place) % SEATS for place in range(len(cards), SEATS)]
    beaten = _beaten(table, cards, best, [seat for seat in later if table.side[seat] != table.side[taker]])
    ours = table.side[taker] == table.side[me]
    gain = _gain(table, cards, taker, later)
    worth = (1 - beaten) * (gain if ours else -_OTHERS * gain)
    rivals = [seat for seat in later if table.side[seat] != table.side[me]]
    if beaten and rivals:
        worth -= beaten * _OTHERS * sum(_gain(table, cards, seat, later) for seat in rivals) / len(rivals)
    partners = [seat for seat in later if table.side[seat] == table.side[me]]
    if partners and not ours:
        worth += 0.3 * _gain(table, cards, partners[0], later)
    if taker == me:
        worth += _LEAD * (1 - beaten)
    return worth - _cost(table, card)


def _gain(table: _Table, cards: Iterable[FrenchCard], taker: int, later: Sequence[int]) -> float:
    """Return the points that a trick brings who takes it."""
    lacks = table.lacks[taker]
    if not lacks:
        return 0
    if any(table.category[card] in lacks for card in cards):
        return table.gains[taker]
    led = next(iter(cards))[0]
    comes = sum(table.category[card] in lacks and card[0] == led for card in table.unseen)
    follow = sum(card[0] == led for card in table.unseen)
    likely = comes / follow if follow else 0.2
    return table.gains[taker] * (1 - (1 - _COMES * likely) ** len(later))


def _beaten(table: _Table, cards: Sequence[FrenchCard], best: int, rivals: Sequence[int]) -> float:
    """Return how likely it is that one of the rivals who still follow beats the best card of a trick."""
    if not rivals or not table.unseen:
        return 0
    trump, led = table.view.trump or "NT", cards[0][0]
    winner = cards[best]
    higher = [card for card in table.unseen if card[0] == winner[0] and tricks.RANK[card] > tricks.RANK[winner]]
    follow = sum(card[0] == led for card in table.unseen)
    trumps = sum(card[0] == trump for card in table.unseen) if winner[0] != trump else 0
    held = 1.0
    for seat in rivals:
        hand, unseen = table.view.held[seat], len(table.unseen)
        void = _none(follow, hand, unseen)
        over = 1 - _none(len(higher), hand, unseen)
        if winner[0] == led:
            beats = over + void * (1 - _none(trumps, hand, unseen)) if led != trump else over
        else:
            beats = void * over
        held *= 1 - min(beats, 1)
    return 1 - held


def _none(some: int, hand: int, unseen: int) -> float:
    """Return how likely it is that none of some cards lies in a hand of the unseen ones."""
    return max(0.0, 1 - some / unseen) ** hand


def _cost(table: _Table, card: FrenchCard) -> float:
    """Return what a card may still win that is kept: more the higher it is, and for trumps."""
    trump = card[0] == table.view.trump
    left = max(table.view.held[table.view.you or 0] - 1, 0) / 10
    return _STRENGTH * left * (tricks.RANK[card] / 12 + trump)


def _worth_of_discard(hand: Sequence[FrenchCard], command: Command) -> float:
    """Return the worth of the ten cards that stay: of their best trumps, high cards and short suits."""
    thrown = command.cards if isinstance(command, Discard) else ()
    rest = [card for card in hand if card not in thrown]
    lengths = Counter(card[0] for card in rest)
    strongest = max(_strength(rest, suit) for suit in "SHDC")
    high = sum(max(0, tricks.RANK[card] - 6) for card in rest)
    low = sum(tricks.RANK[card] for card in rest)
    return 2 * strongest + high + 0.1 * low + sum(2 for suit in "SHDC" if not lengths[suit])


def _strength(hand: Sequence[FrenchCard], suit: str) -> float:
    own = tricks.of_suit(hand, suit)
    return 1.5 * len(own) + sum(max(0, tricks.RANK[card] - 7) for card in own) / 2.5


def _worth_of_trump(hand: Sequence[FrenchCard], command: Command) -> float:
    """Return how strong a suit is; whoever names trumps has the most of them, so none are worth nothing."""
    return _strength(hand, command.trump) if isinstance(command, Declare) and command.trump != "NT" else 0
