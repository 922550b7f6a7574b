"""How `steady` plays Chinchón: it takes what combines, throws what combines least, and closes when it may.

A hand is worth the points it would be charged, less what its loose cards may still combine to: of each card, the live
ones that would make a set or a run of it and another one.
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import Final

from events.cards import SPANISH, SPANISH_40, SpanishCard
from projections.games.chinchon import HAND, View
from service.chance import Draws
from service.game import AnyView, Command
from service.games.chinchon.commands import (
    Auto,
    Close,
    Discard,
    DrawDiscard,
    DrawStock,
    EndTurn,
    Expose,
    Reenter,
    StayOut,
)
from service.games.chinchon.hands import SMALL_PACK, melds_at, packs_for
from service.rules.melds import LEAST, Melds

SUITS: Final = "OCEB"
CHINCHON: Final = 10

# What a live card is worth that would combine with two loose cards of the hand, in points.
_WAY: Final = 3

# Who is out comes back so often at most: always would never let a match end.
_COME_BACKS: Final = 3

# After so many new stocks nobody finds what they wait for, as others hold it: one discard of so many is any loose card.
_PATIENCE: Final = 2
_CHANGES: Final = 4


def choose(view: AnyView, legal: Sequence[Command], draws: Draws) -> Command:
    """Pick what is worth most, the first listed of what is worth the same."""
    if not isinstance(view, View):
        raise TypeError(f"no view of Chinchón: {view}")
    if view.phase == "reentry":
        return max(legal, key=partial(_worth_of_answer, view))
    return _Hand(view).choice(legal, draws)


def _worth_of_answer(view: View, command: Command) -> bool:
    """Tell whether an answer is the one to give: to come back, at whatever total, but not for ever."""
    return isinstance(command, Reenter if view.reentries[view.you or 0] < _COME_BACKS else StayOut)


class _Hand:
    """A hand as its player sees it, to be asked for the best of the legal commands."""

    def __init__(self, view: View) -> None:
        self.view = view
        self.cards = view.hand or ()
        players = sum(seat.player is not None for seat in view.seats)
        self.packs = packs_for(players)
        self.melds: Melds[SpanishCard] = melds_at(view.options, players)

    def choice(self, legal: Sequence[Command], draws: Draws) -> Command:
        """Return the best command of what comes first in a turn: draw, close, discard, end it; or lay out, lay off."""
        of_kind: dict[type[Command], list[Command]] = {}
        for command in legal:
            of_kind.setdefault(type(command), []).append(command)
        # At a table of mistakes a second draw could follow, or a second discard; either spoils the hand.
        if DrawStock in of_kind and not self.view.drew:
            takes = DrawDiscard in of_kind and self._takes()
            return of_kind[DrawDiscard if takes else DrawStock][0]
        if Close in of_kind and not self._waits():
            return min(of_kind[Close], key=self._charge)
        if Discard in of_kind and (EndTurn not in of_kind or len(self.cards) > HAND):
            return self._discard(of_kind[Discard], draws)
        for kind in (EndTurn, Auto):
            if kind in of_kind:
                return of_kind[kind][0]
        return min(legal, key=self._charge)

    def _takes(self) -> bool:
        """Tell whether to take the discard: where it combines, and lightens the hand."""
        view = self.view
        if view.up_card is None:
            return False
        cards = (*self.cards, view.up_card)
        before, after = self.melds.best(self.cards), min(self.melds.points_without(cards))
        combines = len(self.melds.best(cards).loose) <= len(before.loose)
        return combines and after < before.points

    def _charge(self, command: Command) -> int:
        """Return the points that a player is charged who lays a hand out so."""
        match command:
            case Close(face_down, combinations):
                down: tuple[SpanishCard, ...] = (face_down,)
            case Expose(combinations):
                down = ()
            case _:
                return 0
        laid = combinations or ()
        options, melds = self.view.options, self.melds
        if len(laid) == 1 and len(laid[0]) == HAND and (options.chinchon == "one_combination" or melds.is_run(laid[0])):
            return -CHINCHON
        if sum(map(len, laid)) == HAND == len(self.cards) - len(down):
            return -options.linked_bonus
        return melds.points(self.cards) - melds.points(down) - sum(map(melds.points, laid))

    def _waits(self) -> bool:
        """Tell whether to wait for Chinchón: where it wins the match, while what it lacks can be in the first stock."""
        if self.view.options.chinchon_wins == "off" or self.view.recycled:
            return False
        ranks, own = _ranks(self.view.options.pack), set(self.cards)
        for suit in SUITS:
            for start in range(len(ranks) - HAND + 1):
                lacking = [suit + rank for rank in ranks[start : start + HAND] if suit + rank not in own]
                if not lacking:
                    return False
                if len(lacking) == 1 and self._live(lacking[0]):
                    return True
        return False

    def _discard(self, commands: Sequence[Command], draws: Draws) -> Command:
        """Throw what leaves the fewest points and loses the fewest ways to combine."""
        loose = self.melds.best(self.cards).loose
        if self.view.recycled > _PATIENCE and loose and draws.draw(_CHANGES) == 0:
            card = loose[draws.draw(len(loose))]
        else:
            left = dict(zip(self.cards, self.melds.points_without(self.cards), strict=True))
            card = min(left, key=lambda each: left[each] + _WAY * self._ways(each, loose))
        return next(command for command in commands if isinstance(command, Discard) and command.card == card)

    def _ways(self, card: SpanishCard, loose: Sequence[SpanishCard]) -> int:
        """Return how many live cards a card would combine with and a loose one of the hand, each time it would."""
        ranks = _ranks(self.view.options.pack)
        place = ranks.index(card[1:])
        others = list(loose)
        if card in others:
            others.remove(card)
        ways = 0
        for other in others:
            if other[1:] == card[1:]:
                thirds = (suit + card[1:] for suit in SUITS if self._fits_set(suit, card, other))
                ways += sum(map(self._live, thirds))
            elif other[0] == card[0]:
                low, high = sorted((place, ranks.index(other[1:])))
                if high - low <= 2:  # noqa: PLR2004 neighbours, or a gap of one between them
                    fillers = (low - 1, high + 1) if high - low == 1 else (low + 1,)
                    ways += sum(self._live(card[0] + ranks[at]) for at in fillers if 0 <= at < len(ranks))
        return ways

    def _fits_set(self, suit: str, card: SpanishCard, other: SpanishCard) -> bool:
        return self.view.options.sets == "any" or len({suit, card[0], other[0]}) == LEAST

    def _live(self, card: str) -> int:
        """Return how many copies of a card may still come: neither held, nor thrown."""
        view = self.view
        gone = self.cards.count(card) + view.discards.count(card)
        # What was seen and has left the pile is held by somebody; a new stock is made of what was seen.
        if not view.recycled:
            gone = max(gone, view.seen.count(card))
        return max(self.packs - gone, 0)


@cache
def _ranks(pack: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys(card[1:] for card in (SPANISH_40 if pack == SMALL_PACK else SPANISH)))
