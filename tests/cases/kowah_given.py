"""What a line about Kowah gives, read into seats, cards and numbers: one vocabulary for questions and moves.

What a line leaves open follows from what it tells. A key outside the vocabulary is a ValueError.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Literal, NamedTuple, get_args, get_type_hints

import msgspec

from events.games.kowah import Options
from tests.cases.kowah_notation import NAME, Card, Seating, card_of, cards_of
from tests.cases.lines import Line, names_in

OPTIONS = Options.__struct_fields__
HINTS = get_type_hints(Options)
EIGHT = 8
OWN_PAIR = "own pair"

# What a line may give, each with its other names.
_WORDS = {
    "players": "number_of_players seats", "order": "turn_order", "first": "first_player starter",
    "to_move": "to_act to_play on_turn in_turn drawer", "actor": "by player",
    "hand": "cards eight hand_after_discard hand_before_draw", "hand_after_draw": "hand_of_nine nine",
    "dealt": "dealt_hand hand_dealt", "hands": "", "hand_size": "size", "declared": "declarations",
    "wait": "waits waits_on waiting pair shown kind", "drawn": "drawn_card just_drawn card_drawn",
    "taken": "taken_card just_taken card_taken", "discarded": "thrown just_discarded just_thrown",
    "stock": "stock_left stock_size cards_in_stock", "latest_discard": "last_discard top_discard",
    "thrown_by": "discarded_by thrower", "discards": "discard_pile pile discards_bottom_to_top",
    "seen": "seen_cards cards_seen", "after_discard": "after_own_discard has_discarded",
    "turn": "turns turns_taken turns_before", "first_turn": "first_turn_of_deal",
    "turns_from_discards": "turns_in_a_row_from_discards discard_turns_in_a_row turns_begun_from_discards",
    "deal": "deal_number", "suits": "", "ranks": "", "copies": "", "honours": "honors", "strict": "",
    "winner": "", "multiplier": "", "how": "", "results": "deals", "note": "",
}  # fmt: skip
_KNOWN = {alias: name for name, aliases in _WORDS.items() for alias in (name, *aliases.split())}
_PER_SEAT = {
    "hands": "hand cards dealt eight holds",
    "declared": "declared wait waits pair shown",
    "drawn": "drawn",
    "has": "has",
}
_OWN = {alias: name for name, aliases in _PER_SEAT.items() for alias in aliases.split()}
_OWNED = re.compile(rf"(?P<owner>{NAME})_(?P<what>\w+)")

_DO = {
    alias: name
    for name, aliases in {
        "draw_stock": "draw draw_from_stock",
        "take_discard": "take draw_discard",
        "discard": "throw",
        "checki": "declare",
    }.items()
    for alias in (name, *aliases.split())
}

Moment = Literal["draw", "drawn", "thrown"]


class Move(NamedTuple):
    """A move of a line, `by` None where it is whoever may make it.

    `card` is the one drawn, taken or thrown, `kind` the pair declared with, both as written; `OWN_PAIR` stands for
    whichever the hand is ready with.
    """

    do: str
    by: str | None = None
    card: str | None = None
    kind: str | None = None
    accepted: bool | None = None
    why: str | None = None


def move_of(raw: Mapping[str, Any]) -> Move:
    """Return a move as it is told; ValueError for what nobody knows."""
    told = dict(raw)
    do = _DO.get(str(told.pop("do", None)).replace(" ", "_"), "")
    by, card = told.pop("by", told.pop("player", None)), told.pop("card", None)
    kinds = [told.pop(key, None) for key in ("checki", "wait", "kind", "pair", "waits")]
    kind = next((kind for kind in kinds if kind not in {None, False}), None)
    if kind is True or (kind is None and do == "checki"):
        kind = OWN_PAIR
    accepted, why, _ = told.pop("accepted", None), told.pop("why", told.pop("reason", None)), told.pop("note", None)
    if told or not do or (do == "checki" and card) or (kind and do not in {"discard", "checki"}):
        raise ValueError(f"no test understands the move {raw}")
    return Move(do, by, card, kind, accepted, why)


def variants(line: Line) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield a line's options and what is expected under them, once for each option value it names."""
    expected = line.expected if isinstance(line.expected, dict) else {}
    owners = [name for name, hint in HINTS.items() if expected and expected.keys() <= {str(v) for v in _values(hint)}]
    # "pair" and "hand" are told of what is shown, too.
    named = len(owners) == 1 and all(isinstance(told, dict) for told in expected.values())
    yield from line.variants(dict.fromkeys(expected, owners[0]) if named else {})


def _values(hint: Any) -> Iterator[Any]:  # noqa: ANN401 a type hint
    for part in get_args(hint):
        yield from _values(part) if get_args(part) else (part,)


def options_of(options: Mapping[str, Any], given: Mapping[str, Any]) -> Options:
    """Return the options of a line, which may stand among what it gives; all others at their defaults."""
    told = {name: value for name, value in given.items() if _is_option(name, value)}
    # How many play is no option of the product.
    stated = {name: value for name, value in options.items() if _KNOWN.get(name) != "players"}
    return msgspec.convert({**told, **stated}, Options)


def _is_option(name: str, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
    if name not in OPTIONS:
        return False
    try:
        msgspec.convert(value, HINTS[name])
    except msgspec.ValidationError:
        return False
    return True


def _renamed(given: Mapping[str, Any]) -> dict[str, Any]:
    told: dict[str, Any] = {}
    for key, value in given.items():
        owned = _OWNED.fullmatch(key)
        if _is_option(key, value):
            continue
        if owned is not None and owned["what"] in _OWN:
            told.setdefault(f"own_{_OWN[owned['what']]}", {})[owned["owner"]] = value
        elif key in _KNOWN:
            told[_KNOWN[key]] = value
        else:
            raise ValueError(f"no test understands the given {key!r}")
    return told


def _kind(told: Any) -> Any:  # noqa: ANN401 a line holds any JSON
    """Return the kind of a pair, which may be told by its cards."""
    return told[0] if isinstance(told, list) and len({*told}) == 1 else told


class Situation:
    """What is so when a case begins.

    seating   how many play
    actor     the seat of which the case speaks: it must draw, has drawn, or has thrown the latest discard
    moment    which of these
    hands     the eight cards of each seat of which they are told
    has       some of the cards of other seats
    declared  who has declared, with which pair
    drawn     the ninth card of the actor, None where it is left open or there is none
    taken     whether the actor took that card from the discards
    """

    def __init__(self, line: Line, options: Mapping[str, Any], moves: Sequence[Move] = ()) -> None:
        given = {name: value for name, value in line.options.items() if _KNOWN.get(name) == "players"} | line.given
        self.told = told = _renamed(given)
        self.options = options_of(options, line.given)
        self.moves = moves
        mentioned = [*names_in(given, NAME), *(move.by for move in moves if move.by)]
        self.seating = Seating(told, mentioned)
        self.declared = self._declared()
        self.actor, self.moment = self._moment()
        self.taken = told.get("taken") is not None
        self.drawn = self._drawn()
        self.hands = dict(self._hands())
        self.has = {seat: cards_of(cards) for seat, cards in self.own("has").items() if seat not in self.hands}
        for seat, hand in self.hands.items():
            if len(hand) != EIGHT:
                raise ValueError(f"seat {seat} holds {len(hand)} cards besides one drawn: {hand}")

    def own(self, key: str) -> dict[int, Any]:
        """Return what is told of single seats under a key like "P2_hand"."""
        return {self.seating.seat(name): value for name, value in self.told.get(f"own_{key}", {}).items()}

    def number(self, key: str, default: int) -> int:
        told = self.told.get(key, default)
        if not isinstance(told, int):
            raise TypeError(f"{key} {told!r} is no number")
        return int(told)

    @property
    def deal(self) -> int:
        """The number of the deal of the case: after those of which results are told, if any."""
        results = self.told.get("results")
        return self.number("deal", 1 + (len(results) if isinstance(results, list) else 0))

    @cached_property
    def flat_seen(self) -> list[Card]:
        """The cards that have gone by, where one list of them is told."""
        seen = self.told.get("seen") or []
        return [] if any(isinstance(cards, list) for cards in seen) else cards_of(seen)

    def _declared(self) -> dict[int, Card]:
        told = self.told.get("declared")
        own = {seat: _kind(kind) for seat, kind in self.own("declared").items() if kind}
        if isinstance(told, dict):
            own |= {self.seating.seat(name): _kind(kind) for name, kind in told.items() if kind}
        elif isinstance(told, str) and not re.fullmatch(NAME, told):
            own[self._subject()] = told
        elif told not in (None, False, []):
            raise ValueError(f"declared {told!r} tells no pairs")
        return {seat: card_of(kind) for seat, kind in own.items()}

    def _subject(self) -> int:
        """Return the seat that a hand or a pair without a name is told of."""
        for key in ("actor", "to_move"):
            if self.told.get(key) is not None:
                return self.seating.seat(self.told[key])
        named = next((move.by for move in self.moves if move.by), None)
        if named is None and isinstance(self.told.get("declared"), dict) and len(self.told["declared"]) == 1:
            (named,) = self.told["declared"]
        return 0 if named is None else self.seating.seat(named)

    def _moment(self) -> tuple[int, Moment]:
        told, seating = self.told, self.seating
        subject, to_move = self._subject(), told.get("to_move")
        first = self.moves[0] if self.moves else None
        if told.get("after_discard") or told.get("discarded") is not None or self._declares_after_discard():
            # Whose turn is next may be told, too.
            before = (seating.seat(to_move) - 1) % seating.count if to_move is not None else subject
            mover = subject if first is None or first.by is None else seating.seat(first.by)
            return (mover if mover == before else subject), "thrown"
        if to_move is None and told.get("thrown_by") is not None and "actor" not in told:
            subject = (seating.seat(told["thrown_by"]) + 1) % seating.count
        return subject, "drawn" if self._has_drawn(subject) else "draw"

    def _declares_after_discard(self) -> bool:
        """Return whether a line only tells eight cards and that their player is to declare."""
        if {"after_discard", "to_move", "dealt", "turn", "first_turn", "declared", "hand_size"} & self.told.keys():
            return False
        move = self.moves[0] if self.moves else None
        return len(self.told.get("hand") or ()) == EIGHT and move is not None and move.do == "checki"

    def _has_drawn(self, seat: int) -> bool:
        told = self.told
        if any(told.get(key) is not None for key in ("drawn", "taken", "hand_after_draw")) or self.own("drawn"):
            return True
        size = told.get("hand_size", len(told.get("hand") or self._told_hand(seat)))
        if size == EIGHT + 1:
            return True
        mine = [move for move in self.moves if move.by is None or self.seating.seat(move.by) == seat]
        if not mine or mine[0].do != "discard" or "hand_size" in told:
            return False
        # Whoever is to throw has drawn, but where a line would see that refused of a hand of eight.
        first = [move.accepted for move in mine[: next((n for n, m in enumerate(mine) if m.do != "discard"), None)]]
        return not (size == EIGHT and all(accepted is False for accepted in first))

    def _told_hand(self, seat: int) -> Sequence[str]:
        hands = {self.seating.seat(name): cards for name, cards in (self.told.get("hands") or {}).items()}
        hand: Sequence[str] = self.own("hands").get(seat, hands.get(seat, ()))
        return hand

    def _drawn(self) -> Card | None:
        if self.moment != "drawn":
            return None
        own = self.own("drawn").get(self.actor)
        for told in (own, self.told.get("drawn"), self.told.get("taken")):
            if isinstance(told, str):
                return card_of(told)
        hand = self.told.get("hand_after_draw") or self.told.get("hand") or self._told_hand(self.actor)
        if len(hand) == EIGHT:
            # Who throws at once a card that is not of the eight has drawn it.
            mine = [move for move in self.moves if move.by is None or self.seating.seat(move.by) == self.actor]
            thrown = [move.card for move in mine if move.do == "discard" and move.accepted is not False]
            return card_of(thrown[0]) if thrown and thrown[0] and thrown[0] not in hand else None
        if len(hand) != EIGHT + 1:
            return None
        waited = set(self.declared.values())
        return next((card for card in reversed(cards_of(hand)) if card not in waited), card_of(hand[-1]))

    def _hands(self) -> Iterator[tuple[int, list[Card]]]:
        told = {self.seating.seat(name): cards for name, cards in (self.told.get("hands") or {}).items()}
        for key in ("hand", "hand_after_draw", "dealt"):
            if self.told.get(key):
                told[self.actor if key != "dealt" else self._subject()] = self.told[key]
        for seat, words in (told | self.own("hands")).items():
            hand = cards_of(words)
            if seat == self.actor and self.moment == "drawn" and len(hand) > EIGHT and self.drawn is not None:
                hand.remove(self.drawn)
            yield seat, hand
