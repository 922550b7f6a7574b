"""How the cards of a case lie: each seat's hand, the stock, and the turns that lead to its moment.

What the case leaves open is filled with cards it does not name and for which nobody waits. In each turn that leads to
the moment a card is drawn and thrown, or the latest discard is taken and thrown back; so hands stay as they were dealt.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.cases import kowah_reckoning as reckoning
from tests.cases.kowah_given import EIGHT, OWN_PAIR, Move, Situation
from tests.cases.kowah_notation import Card, card_of, cards_of


class Played(NamedTuple):
    """A turn: the card drawn and thrown, None where the latest discard is taken and thrown back; the pair declared."""

    seat: int
    card: Card | None
    declares: Card | None


class Layout:
    """The deal as it is dealt, and the turns up to the moment of the case.

    order  the seats from who plays first
    hands  each seat's eight
    stock  top first
    turns  what is played before the case begins, but for the actor's own draw where it has drawn
    drawn  the card the actor then draws from the stock; None where it must draw, has thrown, or takes the discard
    """

    def __init__(self, situation: Situation) -> None:
        self.situation = situation
        self.count = situation.seating.count
        self.pool = Counter(reckoning.PACK)
        self.waited = {*situation.declared.values()}
        if situation.options.either_pair == "on":
            told = [situation.hands[seat] for seat in situation.declared if seat in situation.hands]
            self.waited |= {kind for hand in told for kind in reckoning.waits(hand)}
        for cards in [*situation.hands.values(), *situation.has.values()]:
            self._take(cards)
        stock = situation.told.get("stock")
        words = stock if isinstance(stock, list) else self._draws()
        tops = [None if word is None else self._taken(card_of(word)) for word in words]
        self.drawn = None
        if situation.moment == "drawn" and not situation.taken:
            self.drawn = None if situation.drawn is None else self._taken(situation.drawn)
        pile = self._told_pile()
        self._take(pile)
        self.hands = dict(self._filled())
        if self.drawn is None and situation.moment == "drawn" and not situation.taken:
            self.drawn = self._any()
        self._plan(pile, [self._any() if card is None else card for card in tops])

    def _take(self, cards: Sequence[Card]) -> None:
        for card in cards:
            self.pool[card] -= 1
            if self.pool[card] < 0:
                raise ValueError(f"the case names more than four {card}")

    def _taken(self, card: Card) -> Card:
        self._take([card])
        return card

    def _any(self) -> Card:
        """Return a card that is left, rather one for which nobody waits."""
        left = [card for card in reckoning.KINDS if self.pool[card]]
        if not left:
            raise ValueError("the case asks for more cards than there are")
        return self._taken(max(left, key=lambda card: (card not in self.waited, self.pool[card])))

    def _draws(self) -> list[str | None]:
        """Return the cards that moves draw from the stock, None for any, but for draws that are to be refused."""
        return [move.card for move in self.situation.moves if move.do == "draw_stock" and move.accepted is not False]

    def _told_pile(self) -> list[Card]:
        """Return the cards that are thrown before the case begins, as far as they are told, bottom first."""
        told = self.situation.told
        if told.get("discards") is not None:
            return cards_of(told["discards"])
        latest = told.get("latest_discard") or told.get("discarded")
        if latest is None and self.situation.taken:
            latest = self.situation.drawn
        pile = list(self.situation.flat_seen)
        return pile if latest is None or pile[-1:] == [latest] else [*pile, card_of(latest)]

    def _filled(self) -> Iterator[tuple[int, list[Card]]]:
        """Yield every hand: as told, ready where its player has declared or is to declare, else of eight kinds."""
        situation = self.situation
        yield from situation.hands.items()
        untold = [seat for seat in range(self.count) if seat not in situation.hands]
        for seat in sorted(untold, key=lambda seat: seat not in situation.declared):
            kept, thrown = self._gone_through(seat)
            kind = situation.declared.get(seat, self._to_declare(seat))
            if kind is None:
                has = situation.has.get(seat, [])
                yield seat, self._dull([*has, *self._beyond(thrown, has)])
            else:
                yield seat, self._ready(seat, None if kind == OWN_PAIR else card_of(kind), kept, thrown)

    def _to_declare(self, seat: int) -> str | None:
        return next((move.kind for move in self._moves_of(seat) if move.kind), None)

    def _moves_of(self, seat: int) -> list[Move]:
        seating, actor = self.situation.seating, self.situation.actor
        moves = [move for move in self.situation.moves if move.accepted is not False or move.kind]
        return [move for move in moves if (actor if move.by is None else seating.seat(move.by)) == seat]

    def _gone_through(self, seat: int) -> tuple[list[Card], list[Card]]:
        """Return what a seat draws and keeps, and what it throws of its hand, up to its declaration in a move."""
        if seat in self.situation.declared:
            return [], []
        gained, thrown = Counter[Card](), Counter[Card]()
        if seat == self.situation.actor and self.situation.drawn is not None:
            gained[self.situation.drawn] += 1
        for move in self._moves_of(seat):
            if move.card is not None:
                (thrown if move.do == "discard" else gained)[card_of(move.card)] += 1
            if move.kind:
                break
        return list((gained - thrown).elements()), list((thrown - gained).elements())

    def _beyond(self, cards: Sequence[Card], has: Sequence[Card]) -> list[Card]:
        rest = list((Counter(cards) - Counter(has)).elements())
        self._take(rest)
        return rest

    def _dull(self, hand: list[Card]) -> list[Card]:
        """Fill a hand with kinds of which it has none, so that it is not ready and does not soon become so."""
        kinds = [card for card in reckoning.KINDS if self.pool[card] and card not in hand]
        kinds.sort(key=lambda card: (card in self.waited, -self.pool[card]))
        fill = kinds[: EIGHT - len(hand)]
        self._take(fill)
        return [*hand, *fill]

    def _ready(self, seat: int, kind: Card | None, kept: list[Card], thrown: list[Card]) -> list[Card]:
        """Return the hand with which a seat becomes ready by its moves, or is."""
        situation = self.situation
        # Who has drawn a card that the case does not name holds one of the eight by that.
        draws = situation.moment == "drawn" and seat == situation.actor and seat not in situation.declared
        unnamed = draws and situation.drawn is None and self.drawn is None
        for pair in [kind] if kind is not None else [card for card in reckoning.KINDS if card not in self.waited]:
            for hand in reckoning.ready_hands(pair):
                dealt = Counter(hand)
                if Counter(kept) - dealt or any(card in self.waited for card in hand if card != kind):
                    continue
                dealt = dealt - Counter(kept) + Counter(thrown)
                if any(self.pool[card] < count for card, count in dealt.items()):
                    continue
                cards = list(dealt.elements())
                if unnamed:
                    self.drawn = next(card for card in reversed(cards) if card not in {*thrown, pair})
                self._take(cards)
                if unnamed and self.drawn is not None:
                    cards.remove(self.drawn)
                if len(cards) != EIGHT:
                    raise ValueError(f"seat {seat} can't be dealt {cards} to throw {thrown}")
                return cards
        raise ValueError(f"no hand is ready with {kind or 'any pair'} where {kept} are kept")

    def _plan(self, pile: list[Card], tops: list[Card]) -> None:
        """Think of turns that lead to the moment, and lay the stock so that they come about."""
        dealt = len(reckoning.PACK) - EIGHT * self.count
        draws, early, late = self._turns(pile, dealt)
        fill = [self._any() for _ in range(draws - len(pile))]
        if len(pile) > draws:
            raise ValueError(f"{draws} turns throw not all of {pile}")
        # Cards for which somebody waits are thrown before anybody declares.
        waited = [card for card in fill if card in self.waited]
        fill = [card for card in fill if card not in self.waited]
        seen = len(self.situation.flat_seen)
        thrown = [*waited, *pile[:seen], *fill, *pile[seen:]]
        cards: list[Card | None] = [*thrown[:1], *[None] * early, *thrown[1:], *[None] * late]
        seats = [self.order[turn % self.count] for turn in range(len(cards))]
        last = {seat: turn for turn, seat in enumerate(seats)}
        declared = self.situation.declared
        if declared.keys() - {*seats}:
            raise ValueError(f"not all of {sorted(declared)} have had a turn to declare in")
        self.turns = [
            Played(seat, card, declared.get(seat) if last[seat] == turn else None)
            for turn, (seat, card) in enumerate(zip(seats, cards, strict=True))
        ]
        own = [] if self.drawn is None else [self.drawn]
        self.stock = [*thrown, *own, *tops, *self.pool.elements()]
        if len(self.stock) != dealt:
            raise ValueError(f"{len(self.stock)} cards in a stock of {dealt}")

    def _turns(self, pile: Sequence[Card], dealt: int) -> tuple[int, int, int]:
        """Set who plays first; return how many turns draw, and how many after the first draw and at the end take."""
        situation = self.situation
        takes, first = situation.number("turns_from_discards", 0), situation.seating.first
        draws = self._draws_told(pile, dealt, takes)
        past = situation.moment == "thrown"
        if draws is None:
            draws = self._fewest(pile, takes)
            self.order = situation.seating.turns_from(first or 0)
            draws += (self.order.index(situation.actor) + past - draws - takes) % self.count
            return draws, 0, takes
        if first is None:
            first = (situation.actor + past - draws - takes) % self.count
        self.order = situation.seating.turns_from(first)
        early = (self.order.index(situation.actor) + past - draws - takes) % self.count
        return draws, early, takes

    def _draws_told(self, pile: Sequence[Card], dealt: int, takes: int) -> int | None:
        """Return how many turns before the moment began from the stock, None where a line leaves that open."""
        told = self.situation.told
        stock = told.get("stock")
        if stock is not None:
            return dealt - (self.drawn is not None) - (len(stock) if isinstance(stock, list) else int(stock))
        if told.get("discards") is not None:
            return len(pile)
        if "turn" in told:
            return self.situation.number("turn", 0) - takes
        fresh = "dealt" in told and not self.waited and not pile
        none = "latest_discard" in told and not told["latest_discard"]
        return 0 if (fresh or none or told.get("first_turn")) and self.situation.moment != "thrown" else None

    def _fewest(self, pile: Sequence[Card], takes: int) -> int:
        situation = self.situation
        takes_first = bool(situation.moves) and situation.moves[0].do == "take_discard"
        least = max(len(pile), int(bool(takes) or takes_first or situation.moment == "thrown"))
        later = situation.told.get("first_turn") is False
        # What has gone by was thrown before the round in which players declare.
        return max(least, len(pile) + self.count) if situation.declared or later else least
