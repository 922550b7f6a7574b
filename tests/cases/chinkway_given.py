"""What a line about Chinkway gives, read into seats, cards and suits: one vocabulary for questions and moves.

Most things may be told in several ways: a trick as cards, as plays or by the suit led, a moment by its phase or by
the size of a hand. What a line leaves open follows from what it tells. A key outside the vocabulary is a ValueError.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from events.cards import FRENCH
from events.games.chinkway import Options
from projections.games.chinkway import SEATS
from service.games.chinkway import quests
from service.rules import tricks
from tests.cases.chinkway_words import CARD, Card, Seating, card_of, cards_of, quest_of, suit_of, trump_of, written

TRICKS = 10
OPTIONS = Options.__struct_fields__

# What a line may give, each with its other names.
_WORDS = {
    **dict.fromkeys(OPTIONS, ""),
    "dealer": "", "first_dealer": "", "deal": "round deal_number deal_no", "deals": "", "players": "seats",
    "deck": "deck_size game_deck pack", "decks": "packs", "sides": "partnerships teams pairs",
    "before": "totals totals_before scores scores_before totals_before_the_deal final final_totals",
    "deal_points": "points gained points_of_the_deal", "resigned": "forfeits forfeited",
    "hand": "cards_in_hand held", "hands": "", "hand_sizes": "hand_size", "dealer_hand_size": "",
    "discards": "discarded dealer_discards", "trump": "trumps trump_suit trump_declared declared",
    "quest_cards": "quest", "quest_turned": "", "plays": "plays_so_far trick trick_so_far played cards_played",
    "led_suit": "led suit_led led_card card_led", "leader": "to_lead trick_leader led_by",
    "to_play": "to_act player actor on_turn seat viewer by", "winner": "taker trick_winner taken_by",
    "captured": "captures captured_cards captured_so_far", "trick_number": "trick_no tricks_number",
    "tricks_played": "tricks_done", "tricks": "tricks_won tricks_taken", "phase": "moment",
    "quest_pack_left": "quest_left left_in_quest_pack left left_in_pack quest_cards_left",
    "removed": "removed_cards quest_cards_removed", "turned": "quest_seen turned_before quest_cards_turned",
    "parts": "parts_met completed met quest_parts parts_completed", "note": "",
}  # fmt: skip
_KNOWN = {alias: name for name, aliases in _WORDS.items() for alias in (name, *aliases.split())}
_OWNED = re.compile(r"(?P<owner>\w+?)_(?P<what>has|have|had|captured|hand|hand_size)|captured_by_(?P<by>\w+)")

_DO = {
    alias: name
    for name, aliases in {
        "discard": "discard_two",
        "declare": "declare_trump declare_trumps name_trump name_trumps call_trump",
        "play": "lead follow play_card",
        "capture": "capture_card",
        "decline": "decline_capture pass",
        "look": "look_at_quest see_quest",
    }.items()
    for alias in (name, *aliases.split())
}

# The moment of a phase told in words, the first that fits.
_PHASES = (
    ("play", r"after(?:(?!before).)*(trump|declar|quest|call)"),
    ("declare", r"after.*discard|before.*(trump|declar|call|quest)"),
    ("play", r"play|trick|lead|captur|turned"),
    ("declare", r"declar|trump|call"),
    ("discard", r"discard|deal|start"),
)

# Why a card is refused: it is not in the hand of whoever tries it.
NOT_HELD = re.compile(
    r"not (held|in|holding|one of)|n't (hold|held|in)|not hold|own hand|never held|not (his|her|their)"
)


class Move(NamedTuple):
    """A move of a line; `accepted` and `why` say how it is to be answered, None where that is left open."""

    by: str
    do: str
    cards: tuple[str, ...] = ()
    trump: Any = None
    accepted: bool | None = None
    why: str | None = None


def move_of(raw: Mapping[str, Any]) -> Move:
    """Return a move as it is told; ValueError for what nobody knows."""
    told = dict(raw)
    by = told.pop("by", told.pop("seat", told.pop("player", None)))
    do = str(told.pop("do", told.pop("move", None))).replace(" ", "_")
    cards = told.pop("cards", told.pop("card", ()))
    trump = told.pop("trump", told.pop("suit", None))
    accepted, why, _ = told.pop("accepted", None), told.pop("why", None), told.pop("note", None)
    if told or do not in _DO or by is None:
        raise ValueError(f"no test understands the move {raw}")
    return Move(by, _DO[do], (cards,) if isinstance(cards, str) else tuple(cards), trump, accepted, why)


def options_of(options: Mapping[str, Any], given: Mapping[str, Any]) -> Options:
    """Return the options of a line, which may stand among what it gives; all others at their defaults."""
    told: dict[str, Any] = {name: given[name] for name in OPTIONS if isinstance(given.get(name), str)}
    if given.get("deals") in {5, 11}:
        told["deals"] = given["deals"]
    told |= options
    # The two go together.
    if told.get("partners") == "five" or told.get("deals") == 5:
        told = {"partners": "five", "deals": 5} | told
    return msgspec.convert(told, Options)


def _renamed(given: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for key, value in given.items():
        if key in OPTIONS and isinstance(value, str):
            continue
        if (owned := _OWNED.fullmatch(key)) is not None and owned["what"] == "hand_size" and key not in _KNOWN:
            told.setdefault("hand_sizes", {})[owned["owner"]] = value
            continue
        # The number of a trick, not its cards.
        number = key == "trick" and isinstance(value, int)
        name = "trick_number" if number else key if _OWNED.fullmatch(key) and key not in _KNOWN else _KNOWN.get(key)
        if name is None:
            raise ValueError(f"no test understands the given {key!r}")
        if told.get(name) is None:
            told[name] = value
    return told


class Situation:
    """What is so when a case begins.

    seating   who is who
    trump     None where nothing is told
    trick     who has played what to the trick on the table
    leader    who led that trick or leads the next
    actor     whose turn it is to play
    winner    who has taken the trick on the table, None where that is open
    captures  who captured what in earlier tricks
    hands     what seats hold now, of those whose hand is told
    """

    def __init__(self, given: Mapping[str, Any], options: Options, moves: Sequence[Move] = ()) -> None:
        self.told = _renamed(given)
        self.options = options
        self.moves = moves
        self.seating = Seating(self.told, options)
        trump = self.told.get("trump")
        self.trump = trump_of(trump) if isinstance(trump, str) and trump else None
        self.trick = self._trick()
        self.quest = self._quest()
        self.winner = self._winner()
        self.captures = list(self._captures())
        self.leader = self._leader()
        self.actor = self._actor()
        self.phase = self._phase()
        self.hands = dict(self._hands())

    def seat(self, key: str) -> int | None:
        """Return the seat that a key names, None where it names none."""
        name = self.told.get(key)
        return None if name is None else self.seating.seat(name)

    def per_seat(self, key: str) -> list[int]:
        """Return five numbers, seat by seat, told by name or as a list from seat 0 on; 0 where none is told."""
        told = self.told.get(key) or {}
        named = {self.seating.seat(n): v for n, v in told.items()} if isinstance(told, dict) else dict(enumerate(told))
        return [named.get(seat, 0) for seat in range(SEATS)]

    def _trick(self) -> list[tuple[int, Card]]:
        told, led = self.told.get("plays"), self.told.get("led_suit")
        if not told:
            return self._led(suit_of(led)) if led else []
        plays = list(told.items() if isinstance(told, dict) else told)
        if isinstance(plays[0], str):
            first = self._first_of(cards_of(plays))
            plays = [((first + place) % SEATS, card) for place, card in enumerate(plays)]
        pairs = [(play["by"], play["card"]) if isinstance(play, dict) else play for play in plays]
        trick = [(self.seating.seat(name), card_of(card)) for name, card in pairs]
        if led and suit_of(led) != trick[0][1][0]:
            raise ValueError(f"{led} was not led in {told}")
        if self.seat("leader") not in {None, trick[0][0]}:
            raise ValueError(f"{self.told['leader']} did not lead {told}")
        return trick

    def _quest(self) -> list[Card]:
        """Return the quest told or, where moves need one, one that asks for what they capture and little else."""
        told = self.told.get("quest_cards")
        if told or not self.moves:
            return quest_of(told or (), self.options.aces)
        category = quests.CATEGORY[self.options.aces]
        moved = [(move.do, CARD.get(word[1:] + word[:1])) for move in self.moves for word in move.cards]
        captured = {category[card] for do, card in moved if do == "capture" and card is not None}
        played = {category[card] for do, card in moved if do == "play" and card is not None}
        played |= {category[card] for _, card in self.trick}
        asking = [card for card in FRENCH if category[card] in captured]
        return (asking or [card for card in FRENCH if category[card] not in played] or list(FRENCH))[:5]

    def _first_of(self, cards: Sequence[Card]) -> int:
        """Return who led a trick of which the cards alone are told."""
        leader, winner, actor = self.seat("leader"), self.seat("winner"), self.seat("to_play")
        if leader is not None:
            return leader
        if winner is not None:
            return (winner - tricks.taker(cards, self.trump or "NT")) % SEATS
        return self.seating.seat("P2") if actor is None or len(cards) == SEATS else (actor - len(cards)) % SEATS

    def _led(self, suit: str) -> list[tuple[int, Card]]:
        """Return a trick of which the suit led is told: low cards of it, from its leader on up to whoever plays now."""
        first = next((move.by for move in self.moves if move.do == "play"), None)
        actor = self.seat("to_play")
        if actor is None:
            actor = self.seating.seat(first or "P3")
        leader = self.seat("leader")
        count = 1 if leader is None else (actor - leader) % SEATS
        named = repr([self.told, self.moves])
        low = [card for card in FRENCH if card[0] == suit and written(card) not in named]
        return [((actor - count + place) % SEATS, card) for place, card in enumerate(low[:count])]

    def _winner(self) -> int | None:
        winner = self.seat("winner")
        if winner is not None or len(self.trick) < SEATS:
            return winner
        return self.trick[tricks.taker([card for _, card in self.trick], self.trump or "NT")][0]

    def _captures(self) -> Iterator[tuple[int, Card]]:
        captured = self.told.get("captured") or {}
        if not isinstance(captured, dict) and all(isinstance(entry, str) for entry in captured):
            captured = {"dealer" if self.winner is None else self.winner: captured}
        for name, cards in captured.items() if isinstance(captured, dict) else captured:
            seat = self.seating.side(name)[0]
            for card in quest_of([cards] if isinstance(cards, str) else cards, self.options.aces):
                yield seat, card
        for key, cards in self.told.items():
            owned = _OWNED.fullmatch(key) if key not in _KNOWN else None
            if owned is not None and not (owned["what"] or "").startswith("hand"):
                for card in quest_of(cards, self.options.aces):
                    yield self._owner(owned["by"] or owned["owner"]), card

    def _owner(self, name: str) -> int:
        """Return a seat meant by the name of an owner: what a side has, its partner captured if there is one."""
        winner = self.seating.seat("P2") if self.winner is None else self.winner
        match name:
            case "side" | "own_side" | "partner":
                return next((seat for seat in self.seating.side_of(winner) if seat != winner), winner)
            case "winner" | "own" | "self" | "taker":
                return winner
            case "other_sides" | "other_side" | "others" | "opponents":
                return next(seat for seat in range(SEATS) if seat not in self.seating.side_of(winner))
            case _:
                return self.seating.side(name)[0]

    def _leader(self) -> int:
        if self.trick:
            return self.trick[0][0]
        first = next((move for move in self.moves if move.do == "play" and move.accepted), None)
        # Whoever leads a later trick took the one before, so its leader may be anybody.
        for seat in (self.seat("leader"), self.seat("to_play")):
            if seat is not None:
                return seat
        later = (
            self.captures or self.told.get("trick_number", 1) > 1 or len(self.told.get("hand") or ()) in range(1, 10)
        )
        return self.seating.seat(first.by if later and first is not None else "P2")

    def _actor(self) -> int:
        actor = self.seat("to_play")
        if actor is not None:
            return actor
        return (self.leader + len(self.trick)) % SEATS

    def _phase(self) -> str:
        """Return what comes first: "discard", "declare" or "play", in which tricks and captures alternate."""
        told = self.told
        if "phase" in told:
            fitting = [phase for phase, words in _PHASES if re.search(words, str(told["phase"]).lower())]
            if not fitting:
                raise ValueError(f"no test understands the phase {told['phase']!r}")
            return fitting[0]
        play = ("plays", "led_suit", "winner", "trick_number", "leader", "tricks_played")
        if self.trump is not None or told.get("trump") is True or told.get("quest_turned"):
            return "play"
        if self.trick or self.captures or any(told.get(key) is not None for key in play):
            return "play"
        first = self.moves[0] if self.moves else None
        if first is not None and first.do == "discard":
            return "discard"
        size = self._dealer_size()
        if size is not None or told.get("discards"):
            return "discard" if size == TRICKS + 2 else "declare"
        if first is not None and first.do in {"declare", "look"}:
            return "declare" if first.accepted and first.do == "declare" else "discard"
        before = "trump" in told or "quest_turned" in told or "discards" in told
        return "discard" if before and not told.get("hand") else "play"

    def _dealer_size(self) -> int | None:
        """Return how many cards the dealer holds, where that tells the moment: 12 or, before trumps are named, 10."""
        sizes = self.told.get("hand_sizes")
        if isinstance(sizes, list):
            sizes = sizes[0]
        if isinstance(sizes, dict):
            sizes = {self.seating.seat(name): size for name, size in sizes.items()}.get(self.seating.dealer)
        size: int | None = self.told.get("dealer_hand_size", sizes)
        own = self.told.get("dealer_hand") or self.told.get("hand") or ()
        return size if size is not None else len(own) if len(own) >= TRICKS else None

    def _hands(self) -> Iterator[tuple[int, list[Card]]]:
        if "hand" in self.told:
            own = self.seating.dealer if self.phase != "play" else self.actor
            yield own, cards_of(self.told["hand"])
        for name, cards in (self.told.get("hands") or {}).items():
            yield self.seating.seat(name), cards_of(cards)
        for key, cards in self.told.items():
            owned = _OWNED.fullmatch(key) if key not in _KNOWN else None
            if owned is not None and owned["what"] == "hand":
                yield self._owner(owned["owner"]), cards_of(cards)

    def tricks_played(self) -> int | None:
        """Return how many tricks lie behind, None where nothing tells it."""
        for seat, hand in self.hands.items():
            return TRICKS - len(hand) - any(seat == player for player, _ in self.trick)
        if "trick_number" in self.told:
            return int(self.told["trick_number"]) - 1
        sizes = self.told.get("hand_sizes")
        if isinstance(sizes, dict | list) and self.phase == "play":
            full = len(self.trick) == SEATS
            return TRICKS - full - int(max(sizes.values() if isinstance(sizes, dict) else sizes))
        if isinstance(self.told.get("tricks"), dict):
            return sum(map(int, self.told["tricks"].values()))
        played = self.told.get("tricks_played")
        return None if played is None else int(played)
