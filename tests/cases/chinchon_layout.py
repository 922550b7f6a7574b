"""How the cards of a case lie: each seat's hand, the pile, the stock, and the turns that led there.

What the case leaves open is filled with cards it does not name.
"""

from collections.abc import Sequence
from itertools import cycle
from typing import Any, NamedTuple

from tests.cases.chinchon_fillers import SEVEN, Fillers
from tests.cases.chinchon_given import Move, Situation
from tests.cases.chinchon_notation import Card, card_of, cards_of

Step = tuple[str, Card]


class Played(NamedTuple):
    """What a seat does in a turn, each step with the card drawn, taken or thrown; the turn may not be `done`."""

    seat: int
    steps: tuple[Step, ...]
    done: bool = True


class Layout:
    """The deal as it is dealt, and the turns up to the moment of the case.

    hands   each seat's hand before any turn
    up      the card turned up
    stock   top first
    turns   what is played before the case begins, the actor's own draws included
    orders  how the discards lie, top first, each time they are made a new stock before the case begins
    tables  the combinations of seats that the case has laid out; of a closer without any, some to close with
    """

    def __init__(self, situation: Situation, *, closes: bool = False) -> None:
        self.situation = situation
        self.order = situation.seating.order
        self.actor = situation.closer if closes else situation.actor
        self.tables = {seat: [tuple(cards) for cards in table] for seat, table in situation.tables.items()}
        self._discards = _told_pile(situation.told.get("discards"))
        self._stock = _told_pile(situation.told.get("stock"))
        up = situation.told.get("up_card")
        self._up = card_of(up) if isinstance(up, str) and up else None
        self._tops, self._wanted = self._of_moves(situation.moves)
        held = self._told_hands()
        listed = [pile for pile in (self._discards, self._stock) if isinstance(pile, list)]
        named = [card for cards in [*held.values(), *listed, self._tops] for card in cards]
        if self._up is not None and (not isinstance(self._discards, list) or self._up not in self._discards):
            named.append(self._up)
        self.fillers = Fillers(situation.pack, named, situation.options)
        for table in situation.tables.values():
            self.fillers.shun(table)
        self.irregular = self._irregular()
        self.hands = self._filled(held, closes=closes)
        self._lead_up(closes=closes)

    def _of_moves(self, moves: Sequence[Move]) -> tuple[list[Card], list[Card]]:
        """Return the cards that moves draw from the stock, and those that the actor throws or lays down."""
        tops: list[Card] = []
        wanted: list[Card] = []
        taken: list[Card] = []
        seating = self.situation.seating
        for move in moves:
            if move.do == "draw_stock":
                tops += cards_of(move.cards)
            elif move.do == "draw_discard":
                taken += cards_of(move.cards)
            elif move.do in {"discard", "close"} and (move.by is None or seating.seat(move.by) == self.actor):
                wanted += [card for card in cards_of(move.cards) if card not in [*tops, *taken, *wanted]]
        if taken and self._up is None and not isinstance(self._discards, list):
            self._up = taken[0]
        if self._up in wanted:
            wanted.remove(self._up)
        return tops, wanted

    def _told_hands(self) -> dict[int, list[Card]]:
        """Return what is told of hands, whole or in part: what lies on a table at the end is dealt to its seat."""
        situation = self.situation
        held = {seat: list(cards) for seat, cards in situation.has.items()}
        for seat, table in situation.tables.items():
            held[seat] = [*(card for combination in table for card in combination), *held.get(seat, [])]
        if self.actor not in situation.hands and self._wanted:
            mine = held.setdefault(self.actor, [])
            mine += [card for card in self._wanted if card not in mine]
        return held | {seat: list(hand) for seat, hand in situation.hands.items()}

    def _irregular(self) -> dict[int, int]:
        """Return the seats with irregular hands and how many cards they hold."""
        told: Any = self.situation.told.get("irregular") or {}
        if told is True or isinstance(told, int):
            told = {self.actor: told}
        if not isinstance(told, dict):
            told = dict.fromkeys(told if isinstance(told, list) else [told], True)
        sizes = {self.situation.seating.seat(name): size for name, size in told.items() if size}
        sizes |= {seat: size for seat, size in self.situation.own("irregular").items() if size}
        return {seat: self._size_of(seat, size) for seat, size in sizes.items()}

    def _size_of(self, seat: int, told: Any) -> int:  # noqa: ANN401 a line holds any JSON
        if told is not True:
            return int(told)
        hand = self.situation.hands.get(seat, [])
        return len(hand) if len(hand) in {6, 8} else int(self.situation.told.get("hand_size", 8))

    def _filled(self, held: dict[int, list[Card]], *, closes: bool) -> dict[int, list[Card]]:
        """Complete every hand; the actor's own to one to close with where the case may have it close."""
        hands: dict[int, list[Card]] = {}
        may_close = closes or self.situation.options.mistakes == "table" or self._closes_untold()
        for seat in sorted(self.order, key=lambda seat: seat != self.actor):
            hand, size = held.get(seat, []), self.irregular.get(seat, SEVEN)
            if seat in self.situation.hands or len(hand) >= size:
                hands[seat] = list(hand)
            elif seat == self.actor and may_close and size == SEVEN:
                thrown = self._wanted if not closes else []
                table, has = self.situation.tables.get(seat, []), self.situation.has.get(seat, [])
                hands[seat], self.tables[seat] = self.fillers.closing(table, has)
                hands[seat] += thrown
            else:
                hands[seat] = self.fillers.loose(hand, size, whatever=not closes)
        return hands

    def _closes_untold(self) -> bool:
        return self.actor not in self.situation.hands and any(move.do == "close" for move in self.situation.moves)

    def _lead_up(self, *, closes: bool) -> None:
        """Think of turns that lead to the moment, and of the deal before them."""
        told, seats = self.situation.told, len(self.order)
        drawn, thrown, self.hands[self.actor] = self._own_turn(closes=closes)
        pile = self._pile()
        recycled = self.situation.number("recycled", 0)
        keeps = self.situation.options.recycle == "keep_top"
        # The pile after each new stock is drawn and thrown out; where the top card is kept, it comes to lie lowest.
        piles = [[*pile[back:], *pile[:back]] if keeps else pile for back in range(recycled, -1, -1)]
        self.orders = [after[keeps:] for after in piles[1:]]
        pile = piles[0]
        behind = len(pile) - 1 + sum(map(len, self.orders))
        takes = self.situation.number("turns_from_discards", 0)
        # The actor's turn comes when so many turns lie behind, some rounds more or less.
        place = self.order.index(self.actor)
        least = (self._round() - 1) * seats + place
        more = max(0, least - behind - takes)
        more += (place - behind - takes - more) % seats
        if not isinstance(self._discards, list | int) and not takes and not recycled and more:
            extra = [self.fillers.any() for _ in range(more)]
            # Such a pile has not been made a new stock: what is told of it is told of one that has.
            pile, more = [*pile[:-1], *extra, pile[-1]], 0
        erring = dict(self.irregular)
        draws = [*pile[1:], *(card for order in self.orders for card in order)]
        at = cycle(self.order)
        turns = [self._taking(next(at), pile[0]) for _ in range(more)]
        turns += [self._drawing(next(at), card, erring) for card in draws]
        turns += [self._taking(next(at), piles[-1][-1] if recycled else pile[-1]) for _ in range(takes)]
        if not closes and told.get("stock") is None and recycled:
            self._stock = 0
        self.up, self.once = pile[0], pile[1:]
        if erring:
            # Everybody plays once more first, and who errs does.
            turns += [
                self._drawing(seat, self.fillers.any(), erring) for seat in (*self.order[place:], *self.order[:place])
            ]
        own: list[Step] = [("draw_stock", card) for card in drawn] + [("discard", card) for card in thrown]
        self.turns = [*turns, *([Played(self.actor, tuple(own), done=False)] if own else [])]
        self.stock = self._stock_of_the_deal()

    def _round(self) -> int:
        """Return which of its own turns the actor is at, counted from 1."""
        told, seats, place = self.situation.told, len(self.order), self.order.index(self.actor)
        if "first_turn" in told:
            return 1 if told["first_turn"] else 2
        if "turns_taken" in told:
            return self.situation.number("turns_taken", 0) + 1
        turn = told.get("turn_of_deal")
        if isinstance(turn, int):
            return (turn - 1) // seats + 1 if (turn - 1) % seats == place else turn
        return self.situation.number("own_turn", self.situation.number("round", 1))

    def _own_turn(self, *, closes: bool) -> tuple[list[Card], list[Card], list[Card]]:
        """Return what the actor has drawn and thrown in this turn, and the hand it was dealt."""
        hand, told = self.hands[self.actor], self.situation.told
        usual = self.irregular.get(self.actor, SEVEN)
        size = told.get("hand_size")
        full = len(hand) if self.actor in self.situation.hands else size if isinstance(size, int) else SEVEN
        thrown = [self.fillers.any() for _ in range(self.situation.number("discarded_this_turn", 0))]
        draws = self.situation.number("drawn_this_turn", max(0, full - usual + len(thrown)))
        if closes:
            face_down = told.get("face_down")
            drawn = [self.fillers.take(card_of(face_down)) if face_down else self.fillers.any()]
            return drawn, [], hand
        kept = max(0, min(len(hand) - usual + len(thrown), draws))
        drawn = hand[len(hand) - kept :] + [self.fillers.any() for _ in range(draws - kept)]
        return drawn, thrown, [*hand[: len(hand) - kept], *thrown]

    def _pile(self) -> list[Card]:
        """Return the discards, bottom first."""
        pile = self._discards
        if isinstance(pile, list):
            if not pile:
                raise ValueError("a turn never begins without a discard")
            return list(pile)
        up = [] if self._up is None else [self._up]
        return [*(self.fillers.any() for _ in range(max(1, pile or 1) - len(up))), *up]

    def _taking(self, seat: int, card: Card) -> Played:
        """Take the up-card and throw it back."""
        return Played(seat, (("draw_discard", card), ("discard", card)))

    def _drawing(self, seat: int, card: Card, erring: dict[int, int]) -> Played:
        """Draw from the stock and throw what was drawn; who errs first draws or throws once more."""
        match erring.pop(seat, None):
            case None:
                return Played(seat, (("draw_stock", card), ("discard", card)))
            case 8:
                extra = self.hands[seat].pop()
                return Played(seat, (("draw_stock", card), ("draw_stock", extra), ("discard", card)))
            case 6:
                extra = self.fillers.any()
                self.hands[seat].append(extra)
                return Played(seat, (("draw_stock", card), ("discard", card), ("discard", extra)))
            case size:
                raise ValueError(f"a hand of {size} is not irregular")

    def _stock_of_the_deal(self) -> list[Card]:
        """Return the stock as it was dealt, top first: what turns draw from it, what moves draw, what then is left."""
        drawn = [card for turn in self.turns for do, card in turn.steps if do == "draw_stock"]
        again = sum(map(len, self.orders))
        stock = [*drawn[: len(self.once)], *drawn[len(self.once) + again :], *self._tops]
        match self._stock:
            case list():
                return stock + self._stock
            case int():
                return stock + [self.fillers.any() for _ in range(self._stock - len(self._tops))]
            case None:
                return stock + [self.fillers.any() for _ in range(len(self.fillers.cards))]


def _told_pile(told: Any) -> list[Card] | int | None:  # noqa: ANN401 a line holds any JSON
    match told:
        case None | "":
            return None
        case "empty":
            return 0
        case int():
            return int(told)
        case list():
            return cards_of(told)
        case _:
            raise ValueError(f"{told!r} is no pile")
