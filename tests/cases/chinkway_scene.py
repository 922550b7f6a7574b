"""Scenes of Chinkway: what a case gives, told as events, so that moves can be decided on a state folded from them.

Seats P1 … P5 count from the dealer, A … E are seats 0 … 4; cards are written rank first. What a case leaves open (other
hands, earlier tricks) is filled with cards it does not name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar, get_args

import msgspec

from events.base import By, Event
from events.cards import FRENCH, FrenchCard
from events.games.chinkway import (
    Captured,
    Category,
    DealerDrawn,
    DealScored,
    Dealt,
    Declared,
    Discarded,
    Options,
    Played,
    QuestReduced,
    QuestShuffled,
    QuestTurned,
    Shares,
    TrickTaken,
    Trump,
)
from events.table import TableEvent
from projections.games.chinkway import SEATS, begin, evolve
from service.chance import Chance
from service.game import Ask, Refused
from service.games.chinkway import GAME, partners, quests
from service.rules import tricks
from tests.cases.lines import Told

CHANCE = Chance(bytes(32), "table:cases", ("",) * SEATS)
NEUTRAL = get_args(TableEvent)
TRICKS = 10
EVENT = TypeVar("EVENT", bound=Event)

Card = FrenchCard
CARD: dict[str, Card] = {card: card for card in FRENCH}
Hands = list[list[Card]]


def card_of(written: str) -> Card:
    """Return the API's name of a card written rank first."""
    return CARD[written[1:] + written[0]]


def cards_of(written: Sequence[str]) -> list[Card]:
    return [card_of(card) for card in written]


def written(card: str) -> str:
    return card[1:] + card[0]


def lettered(counts: Mapping[Category, int]) -> dict[str, int]:
    """Return counts by category as cases write them: a suit by its letter."""
    letters = {"spades": "S", "hearts": "H", "diamonds": "D", "clubs": "C", "court": "court"}
    return {letters[category]: count for category, count in counts.items()}


class Seating:
    """Who is who: the deal, its dealer, and the names of seats."""

    def __init__(self, given: Told, options: Options) -> None:
        first = "ABCDE".index(given.get("first_dealer", "A"))
        self.deal: int = given.get("deal", 1)
        self.dealer = partners.dealer_of(first, self.deal)
        assert self.seat(given.get("dealer", "P1")) == self.dealer
        self.sides = partners.sides_of(options.partners, self.deal, self.dealer)
        for side in given.get("sides", ()):
            assert tuple(map(self.seat, seats_named(side))) in self.sides, f"{side} is not a side of {self.sides}"

    def seat(self, name: str) -> int:
        return "ABCDE".index(name) if name in "ABCDE" else (self.dealer + int(name.removeprefix("P")) - 1) % SEATS

    def side_of(self, seat: int) -> tuple[int, ...]:
        return next(side for side in self.sides if seat in side)


def seats_named(side: str | Sequence[str]) -> list[str]:
    """Return the names in a side, written as a list, as "P2P3" or as "BC"."""
    if not isinstance(side, str):
        return list(side)
    return [f"P{name}" for name in side.split("P")[1:]] if "P" in side else list(side)


class Scene:
    """A match at the moment of which a case speaks; `events` are all that decisions have brought since it opened."""

    def __init__(self, given: Told, options: Options, moves: Sequence[dict[str, Any]]) -> None:
        self.options = options
        self.seating = Seating(given, options)
        self.state = begin(options, SEATS, tuple(range(SEATS)))
        self.events: list[Event] = []
        self._quest = cards_of(given.get("quest_cards", ()))
        self._trump: Trump = given.get("trump") or "NT"
        self._open(given)
        if _is_before_play(given, moves):
            self._before_play(given, moves)
        else:
            self._play(given, moves, _trick_of(given, self.seating, self._trump, moves))

    def add(self, *events: Event) -> None:
        """Fold events, as facts."""
        for event in events:
            self.events.append(event)
            if not isinstance(event, NEUTRAL):
                evolve(self.state, event)  # type: ignore[arg-type] # it is none of the neutral events

    def decide(self, seat: int, body: dict[str, Any]) -> str | None:
        """Ask for a command and fold what it brings; return the reason of a refusal, which changes nothing."""
        before = msgspec.json.encode(self.state)
        try:
            command = msgspec.convert(body, GAME.commands)
            decided = tuple(GAME.decide(self.state, Ask(By(seat=seat), command, 0, CHANCE)))
        except msgspec.ValidationError:
            return "malformed"
        except Refused as refused:
            assert msgspec.json.encode(self.state) == before
            return refused.reason
        self.add(*decided)
        return None

    def _open(self, given: Told) -> None:
        removed = () if self.options.quest_removed == "none" else _spare_courts(self._quest)
        pack = [*self._quest, *(card for card in FRENCH if card not in {*self._quest, *removed})]
        self.add(DealerDrawn("ABCDE".index(given.get("first_dealer", "A"))))
        if len(removed) == 2:
            self.add(QuestReduced((removed[0], removed[1])))
        self.add(QuestShuffled(tuple(pack)))
        if "before" in given:
            totals = {self.seating.seat(name): total for name, total in given["before"].items()}
            nothing = (0,) * SEATS
            self.add(DealScored(self.seating.deal - 1, nothing, nothing, tuple(totals[seat] for seat in range(SEATS))))

    def _deal(self, hands: Hands) -> None:
        ordered = tuple(tuple(sorted(hand, key=FRENCH.index)) for hand in hands)
        self.add(Dealt(self.seating.deal, self.seating.dealer, self.seating.sides, ordered))

    def _before_play(self, given: Told, moves: Sequence[dict[str, Any]]) -> None:
        dealer = self.seating.dealer
        own = cards_of(given.get("hand", ()))
        size = given.get("dealer_hand_size", len(own) or 12)
        hands: Hands = [[] for _ in range(SEATS)]
        hands[dealer] = own
        for move in moves:
            if move["do"] == "play" and (card := card_of(move["card"])) not in own:
                hands[self.seating.seat(move["by"])].append(card)
        spare = _unused(*hands)
        # The dealer may have discarded already: then two spare cards were held as well.
        sizes = [12 if seat == dealer else 10 for seat in range(SEATS)]
        for seat in sorted(range(SEATS), key=lambda seat: seat != dealer):
            hands[seat] += [next(spare) for _ in range(sizes[seat] - len(hands[seat]))]
        self._deal(hands)
        if size == 10:
            thrown = hands[dealer][10:]
            self.add(Discarded(dealer, (thrown[0], thrown[1])))

    def _play(self, given: Told, moves: Sequence[dict[str, Any]], trick: list[tuple[int, Card]]) -> None:
        seating = self.seating
        leader = trick[0][0] if trick else seating.seat(given.get("to_lead", given.get("leader", "P2")))
        earlier = _earlier(given, seating, leader)
        hands = _hands(given, moves, seating, trick)
        layout = Layout(
            hands, earlier, _avoided(moves, seating, trick, self.options, self._trump, given), seating.dealer
        )
        quest = self._quest or list(self.state.pack or ())[:5]
        a, b, c, d, e = quest
        self._deal(layout.dealt)
        self.add(
            Discarded(seating.dealer, layout.discards),
            Declared(seating.dealer, self._trump),
            QuestTurned(
                (a, b, c, d, e),
                Shares(**quests.count(quest, self.options.aces)),
                seating.seat("P2") if earlier else leader,
            ),
        )
        for (taker, captured), played in zip(earlier, layout.earlier, strict=True):
            self._earlier_trick(taker, captured, played)
        for seat, card in trick[:4]:
            self.add(Played(seat, card, (seat + 1) % SEATS))
        # The product itself decides the card that completes the trick, and so who takes it and what may be captured.
        for seat, card in trick[4:]:
            assert self.decide(seat, {"type": "chinkway.play", "card": card}) is None
            taken = self.last(TrickTaken)
            assert "winner" not in given or taken.seat == seating.seat(given["winner"])

    def _earlier_trick(self, taker: int, captured: Card | None, played: Sequence[Card]) -> None:
        leader = self.state.leader
        for place in range(SEATS):
            seat = (leader + place) % SEATS
            self.add(Played(seat, played[seat], (seat + 1) % SEATS if place < SEATS - 1 else None))
        if captured is None:
            self.add(TrickTaken(taker, (), ()))
            return
        category = quests.CATEGORY[self.options.aces][captured]
        scorers = (taker,) if self.options.team_scoring == "sum" else self.seating.side_of(taker)
        lacking = self.state.met[taker][category] < self.state.wanted[category]
        self.add(
            TrickTaken(taker, (captured,), (captured,) if lacking else ()),
            Captured(taker, captured, category, scorers if lacking else ()),
        )

    def last(self, kind: type[EVENT]) -> EVENT:
        """Return the last event of a kind; StopIteration if there was none."""
        return next(event for event in reversed(self.events) if isinstance(event, kind))


class Layout:
    """All 52 cards laid out: what each seat was dealt, what it played to earlier tricks, what the dealer discarded.

    `hands` are the cards each seat surely holds now, `avoided` the suits that it surely doesn't.
    """

    def __init__(
        self,
        hands: Hands,
        earlier: Sequence[tuple[int, Card | None]],
        avoided: Mapping[int, set[str]],
        dealer: int,
    ) -> None:
        captured = [card for _, card in earlier if card is not None]
        spare = [card for card in FRENCH if card not in captured and not any(card in hand for hand in hands)]
        now = TRICKS - len(earlier)
        wanted = {suit for suits in avoided.values() for suit in suits}
        for seat in sorted(range(SEATS), key=lambda seat: -len(avoided.get(seat, ()))):
            # The more seats avoid a suit, the sooner the others must take its cards.
            allowed = [card for card in spare if card[0] not in avoided.get(seat, set())]
            allowed.sort(key=lambda card: card[0] not in wanted)
            taken = allowed[: now - len(hands[seat])]
            spare = [card for card in spare if card not in taken]
            hands[seat] = [*hands[seat], *taken]
            assert len(hands[seat]) == now, f"seat {seat} holds {hands[seat]} with {now} tricks to come"
        pool = iter(spare)
        self.earlier = [
            [card if card is not None and seat == taker else next(pool) for seat in range(SEATS)]
            for taker, card in earlier
        ]
        self.discards = (next(pool), next(pool))
        self.dealt = [[*hands[seat], *(played[seat] for played in self.earlier)] for seat in range(SEATS)]
        self.dealt[dealer] += self.discards


def _is_before_play(given: Told, moves: Sequence[dict[str, Any]]) -> bool:
    return "dealer_hand_size" in given or (bool(moves) and moves[0]["do"] in {"discard_two", "declare_trump"})


def _trick_of(given: Told, seating: Seating, trump: str, moves: Sequence[dict[str, Any]]) -> list[tuple[int, Card]]:
    """Return who has played what to the trick on the table."""
    plays = given.get("plays", given.get("plays_so_far"))
    led = given.get("led_suit")
    if plays is not None:
        told = [(seating.seat(name), card_of(card)) for name, card in plays]
        assert led in {None, told[0][1][0]}
        assert "leader" not in given or seating.seat(given["leader"]) == told[0][0]
        return told
    if led is not None:
        unnamed = next(card for card in FRENCH if card[0] == led and written(card) not in given.get("hand", ()))
        actor = _actor(given, moves, seating)
        assert actor is not None, "nobody plays to the trick given"
        return [((actor - 1) % SEATS, unnamed)]
    cards = cards_of(given.get("trick", ()))
    if not cards:
        return []
    if "leader" in given:
        leader = seating.seat(given["leader"])
    else:
        leader = (seating.seat(given["winner"]) - tricks.taker(cards, trump)) % SEATS
    return [((leader + place) % SEATS, card) for place, card in enumerate(cards)]


def _earlier(given: Told, seating: Seating, leader: int) -> list[tuple[int, Card | None]]:
    """Return the earlier tricks of the deal: who took each, and what that seat captured of it."""
    earlier: list[tuple[int, Card | None]] = [*captures(given, seating)]
    # Whoever leads now took the last trick.
    earlier.sort(key=lambda taken: taken[0] == leader)
    count = len(earlier) + bool(earlier and earlier[-1][0] != leader)
    if "trick_number" in given:
        count = given["trick_number"] - 1
    elif "hand" in given:
        count = TRICKS - len(given["hand"])
    assert count >= len(earlier), f"{len(earlier)} captures in {count} tricks"
    earlier += [(leader, None)] * (count - len(earlier))
    assert not earlier or earlier[-1][0] == leader
    return earlier


def captures(given: Told, seating: Seating) -> list[tuple[int, Card]]:
    """Return all that was captured before, and by whom."""
    told = [(seating.seat(name), card_of(card)) for name, cards in given.get("captured", {}).items() for card in cards]
    for key in given.named():
        if (owner := re.fullmatch(r"(\w+)_ha(?:s|ve)", key)) is not None:
            seat = _owner(owner[1], seating.seat(given["winner"]), seating)
            told += [(seat, card) for card in cards_of(given[key])]
    return told


def _owner(name: str, winner: int, seating: Seating) -> int:
    """Return a seat that is meant by the name of an owner: what a side has, its partner captured if there is one."""
    match name:
        case "side" | "partner":
            return next((seat for seat in seating.side_of(winner) if seat != winner), winner)
        case "winner" | "own" | "self":
            return winner
        case "other_sides" | "other_side" | "others" | "opponents":
            return next(seat for seat in range(SEATS) if seat not in seating.side_of(winner))
        case seat:
            return seating.seat(seat)


def _actor(given: Told, moves: Sequence[dict[str, Any]], seating: Seating) -> int | None:
    """Return who must play, by name or because they play first."""
    first = next((move["by"] for move in moves if move["do"] == "play"), None)
    name = given.get("to_play", given.get("to_act", first))
    return None if name is None else seating.seat(name)


def _hands(given: Told, moves: Sequence[dict[str, Any]], seating: Seating, trick: Sequence[tuple[int, Card]]) -> Hands:
    """Return what each seat surely holds when the trick on the table begins."""
    hands: Hands = [[] for _ in range(SEATS)]
    owner = _actor(given, moves, seating)
    if "hand" in given:
        assert owner is not None, "nobody plays from the hand given"
        hands[owner] = cards_of(given["hand"])
    for seat, card in trick:
        hands[seat].append(card)
    for move in moves:
        seat = seating.seat(move["by"])
        if move["do"] != "play" or (seat == owner and "hand" in given):
            continue
        if not any(card_of(move["card"]) in hand for hand in hands):
            hands[seat].append(card_of(move["card"]))
    return hands


def _avoided(
    moves: Sequence[dict[str, Any]],
    seating: Seating,
    trick: Sequence[tuple[int, Card]],
    options: Options,
    trump: str,
    given: Told,
) -> dict[int, set[str]]:
    """Return the suits that those who don't follow suit in a decided play surely lack."""
    coming = [(seating.seat(move["by"]), card_of(move["card"])) for move in moves if move["do"] == "play"]
    if not trick and not coming:
        return {}
    led = (trick[0] if trick else coming[0])[1][0]
    avoided = {}
    for seat, card in [*trick[4:], *coming]:
        if card[0] != led and not ("hand" in given and seat == _actor(given, moves, seating)):
            avoided[seat] = {led, trump} if options.void == "must_trump" and card[0] != trump else {led}
    return avoided


def _spare_courts(quest: Sequence[Card]) -> list[Card]:
    return [card for card in quests.COURT_CARDS if card not in quest][:2]


def _unused(*used: Sequence[Card]) -> Iterator[Card]:
    return (card for card in FRENCH if not any(card in cards for cards in used))
