"""The cards of a deal laid out so that all a case tells can be so: who holds, played and discarded what.

A card named is where the case has it. All others go wherever nothing forbids it: who breaks suit in an accepted move
holds none of the suit led, who is refused for it holds one, who doesn't hold a card doesn't get it.
"""

from collections.abc import Collection, Sequence
from typing import NamedTuple

from events.cards import FRENCH
from projections.games.chinkway import SEATS
from tests.cases.chinkway_given import NOT_HELD, TRICKS, Move, Situation
from tests.cases.chinkway_words import CARD, Card, card_of, cards_of, trump_of

Earlier = Sequence[tuple[int, Card | None]]


class Slot(NamedTuple):
    """Room for one card on a pile, for one of those allowed."""

    pile: list[Card]
    allowed: Collection[Card]


class Claims:
    """What is told of hands, by seat: cards `held` when the trick on the table began, suits and cards that are not.

    `needed` are suits of which a card is held besides.
    """

    def __init__(self, situation: Situation) -> None:
        self._situation = situation
        self.held: list[list[Card]] = [[*situation.hands.get(seat, [])] for seat in range(SEATS)]
        self.lacking: list[set[Card]] = [set() for _ in range(SEATS)]
        self.needed: list[str] = [""] * SEATS
        self._trump: str | None = situation.trump
        self._trick = list(situation.trick[:4])
        for seat, card in situation.trick:
            self.held[seat].append(card)
        for seat, card in situation.trick[4:]:
            self._play(seat, card)
        for move in situation.moves:
            self._move(situation.seating.seat(move.by), move)

    def _move(self, seat: int, move: Move) -> None:
        if move.do == "declare" and move.accepted is not False and isinstance(move.trump, str):
            self._trump = trump_of(move.trump)
        told = move.do in {"discard", "play"} and seat not in self._situation.hands
        known = [card for card in map(_named, move.cards) if card is not None] if told else []
        for card in known:
            if move.accepted is False and NOT_HELD.search(move.why or ""):
                self.lacking[seat].add(card)
            elif not any(card in hand for hand in self.held):
                self.held[seat].append(card)
        if move.do == "play" and (card_played := _named(move.cards[0])) is not None:
            in_turn = len(self._trick) in {0, SEATS} or seat == (self._trick[-1][0] + 1) % SEATS
            if in_turn if move.accepted is None else move.accepted:
                self._play(seat, card_played)
            elif in_turn and card_played in known and card_played not in self.lacking[seat]:
                self._owes(seat, card_played, move.why or "")

    def _play(self, seat: int, card: Card) -> None:
        if len(self._trick) == SEATS:
            self._trick = []
        self._trick.append((seat, card))
        led = self._trick[0][1][0]
        if card[0] == led or seat in self._situation.hands:
            return
        must_trump = self._situation.options.void == "must_trump" and card[0] != self._trump
        avoided = {led, self._trump if must_trump else led}
        self.lacking[seat] |= {other for other in FRENCH if other[0] in avoided}

    def _owes(self, seat: int, card: Card, why: str) -> None:
        led = self._trick[0][1][0] if len(self._trick) in range(1, SEATS) else card[0]
        trump = self._situation.options.void == "must_trump" and "trump" in why and self._trump in {*"SHDC"}
        if card[0] == led:
            return
        self.needed[seat] = str(self._trump) if trump else led
        if trump:
            self.lacking[seat] |= {other for other in FRENCH if other[0] == led}


def _named(word: str) -> Card | None:
    """Return the card of a word, None where a move names what is no card."""
    try:
        return card_of(word)
    except ValueError:
        return None


class Layout:
    """All 52 cards: what each seat was `dealt`, what it `played` to each earlier trick, the dealer's two `discards`."""

    def __init__(self, situation: Situation, earlier: Earlier) -> None:
        dealer, claims = situation.seating.dealer, Claims(situation)
        hands, told = claims.held, situation.told.get("discards")
        self.earlier = earlier
        self.discards = cards_of(told) if isinstance(told, list) and situation.phase != "discard" else []
        piles = [[[card] if seat == taker and card else [] for seat in range(SEATS)] for taker, card in earlier]
        slots: list[Slot] = []
        for seat, hand in enumerate(hands):
            size = TRICKS - len(earlier) + (2 if seat == dealer and situation.phase == "discard" else 0)
            slots += _room(hand, size, claims, seat)
        slots += [Slot(pile, FRENCH) for trick in piles for pile in trick if not pile]
        if situation.phase != "discard":
            slots += [Slot(self.discards, FRENCH)] * (2 - len(self.discards))
        gone = {*self.discards, *(card for trick in piles for pile in trick for card in pile)}
        spare = [card for card in FRENCH if card not in gone and not any(card in hand for hand in hands)]
        for slot, card in zip(slots, fitted(spare, slots), strict=True):
            slot.pile.append(card)
        self.played = [[pile[0] for pile in trick] for trick in piles]
        self.dealt = [[*hand, *(trick[seat] for trick in self.played)] for seat, hand in enumerate(hands)]
        self.dealt[dealer] += self.discards


def _room(hand: list[Card], size: int, claims: Claims, seat: int) -> list[Slot]:
    room = size - len(hand)
    assert room >= 0, f"seat {seat} holds {hand}, which are more than {size} cards"
    allowed = {*FRENCH} - claims.lacking[seat]
    needed = claims.needed[seat]
    owed = {card for card in allowed if card[0] == needed}
    owes = bool(room and needed and not any(card[0] == needed for card in hand))
    return [Slot(hand, owed)] * owes + [Slot(hand, allowed)] * (room - owes)


def fitted(spare: Sequence[Card], slots: Sequence[Slot]) -> list[Card]:
    """Return a card for each slot, each of them once; AssertionError if there is no way to do it."""
    slot_of: dict[Card, int] = {}

    def placed(slot: int, tried: set[Card]) -> bool:
        for card in spare:
            if card in tried or card not in slots[slot].allowed:
                continue
            tried.add(card)
            # Whatever holds the card may be moved to another.
            if card not in slot_of or placed(slot_of[card], tried):
                slot_of[card] = slot
                return True
        return False

    for slot in range(len(slots)):
        assert placed(slot, set()), "no deal fits what is told"
    card_in = {slot: card for card, slot in slot_of.items()}
    return [CARD[card_in[slot]] for slot in range(len(slots))]
