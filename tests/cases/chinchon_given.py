"""What a line about Chinchón gives, read into seats, cards and numbers: one vocabulary for questions and moves.

What a line leaves open follows from what it tells. A key outside the vocabulary is a ValueError.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, get_args, get_type_hints

import msgspec

from events.games.chinchon import Options
from tests.cases.chinchon_notation import NAME, Card, Seating, cards_of, tables_of
from tests.cases.chinchon_reckoning import pack_of
from tests.cases.lines import Line, names_in

OPTIONS = Options.__struct_fields__
HINTS = get_type_hints(Options)

# What a line may give, each with its other names.
_WORDS = {
    "deck": "deck_size", "decks": "number_of_packs", "packs": "", "players": "number_of_players",
    "cards": "", "seats_counter_clockwise": "seats seating", "forehand": "", "dealer": "", "deal": "",
    "closer": "closed_by closer_of_deal closer_of_the_deal", "turn_order": "order",
    "turn_order_after_closer": "", "to_move": "to_act to_play on_turn player actor by chooser",
    "hand": "hand_before_draw cards_in_hand", "hand_after_draw": "hand_of_eight", "hand_size": "size",
    "hands": "hands_after_closing hands_at_the_end", "has": "", "table": "tables laid_out combinations",
    "before": "score_before totals_before scores_before totals", "after": "scores score_after totals_after total final",
    "points": "deal_points", "pot": "", "answers": "reentries_answered", "reentries_so_far": "",
    "out_before": "out already_out out_before_deal", "out_after": "out_after_deal", "deals": "",
    "stock": "stock_left stock_size", "discards": "discards_bottom_to_top discard_pile pile",
    "up_card": "up top_discard last_discard", "drawn_this_turn": "draws_this_turn drawn",
    "discarded_this_turn": "discards_this_turn thrown_this_turn",
    "own_turn": "turn own_turn_number own_turn_of_deal", "turn_of_deal": "turn_number", "round": "",
    "first_turn": "own_first_turn first_turn_of_deal first_round", "turns_taken": "own_turns_taken own_turns_before",
    "turns_from_discards": "turns_in_a_row_from_discards discard_turns_in_a_row turns_begun_from_discards",
    "recycled": "recycled_so_far recycles_so_far times_recycled", "irregular": "irregular_hand",
    "face_down": "closing_card", "note": "",
}  # fmt: skip
_KNOWN = {alias: name for name, aliases in _WORDS.items() for alias in (name, *aliases.split())}
_PER_SEAT = {
    "has": "has holds left loose",
    "hands": "hand",
    "tables": "table",
    "before": "before score_before total_before",
    "after": "score total after",
    "points": "points",
    "reentries_so_far": "reentries_so_far reentries",
    "irregular": "irregular size",
}
_OWN = {alias: name for name, aliases in _PER_SEAT.items() for alias in aliases.split()}
_OWNED = re.compile(rf"(?P<owner>{NAME}|closer|dealer|forehand)_(?P<what>\w+)")

_DO = {
    alias: name
    for name, aliases in {
        "draw_stock": "draw draw_from_stock",
        "draw_discard": "take_discard draw_up_card take_up_card",
        "discard": "throw",
        "close": "",
        "expose": "lay_out",
        "lay_off": "layoff",
        "auto": "",
        "pass": "",
        "end_turn": "",
        "reenter": "re_enter",
        "stay_out": "decline",
    }.items()
    for alias in (name, *aliases.split())
}


class Move(NamedTuple):
    """A move of a line, `by` None where it is whoever's turn it is; `cards` are those it names, as written."""

    do: str
    by: str | None = None
    cards: tuple[str, ...] = ()
    on: Any = None
    number: int | None = None
    combinations: Any = None
    accepted: bool | None = None
    why: str | None = None


def move_of(raw: Mapping[str, Any]) -> Move:
    """Return a move as it is told; ValueError for what nobody knows."""
    told = dict(raw)
    do = str(told.pop("do", None)).replace(" ", "_")
    cards = told.pop("cards", told.pop("card", told.pop("face_down", ())))
    by = told.pop("by", told.pop("player", None))
    on, number = told.pop("on", None), told.pop("number", None)
    combinations = told.pop("combinations", None)
    accepted, why, _ = told.pop("accepted", None), told.pop("why", None), told.pop("note", None)
    if told or do not in _DO:
        raise ValueError(f"no test understands the move {raw}")
    return Move(
        _DO[do], by, (cards,) if isinstance(cards, str) else tuple(cards), on, number, combinations, accepted, why
    )


def variants(line: Line) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield a line's options and what is expected under them, once for each option value or pack it names."""
    expected = line.expected if isinstance(line.expected, dict) else {}
    if expected and expected.keys() <= {"40", "48"}:
        for pack, told in expected.items():
            yield line.options | {"pack": int(pack)}, told
        return
    owners = [name for name, hint in HINTS.items() if expected and expected.keys() <= {str(v) for v in _values(hint)}]
    yield from line.variants(dict.fromkeys(expected, owners[0]) if len(owners) == 1 else {})


def _values(hint: Any) -> Iterator[Any]:  # noqa: ANN401 a type hint
    for part in get_args(hint):
        yield from _values(part) if get_args(part) else (part,)


def options_of(options: Mapping[str, Any], given: Mapping[str, Any]) -> Options:
    """Return the options of a line, which may stand among what it gives; all others at their defaults."""
    told: dict[str, Any] = {name: value for name, value in given.items() if _is_option(name, value)}
    if isinstance(given.get("deck"), int):
        told["pack"] = given["deck"]
    return msgspec.convert({**told, **options}, Options)


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
        if _is_option(key, value):
            continue
        owned = _OWNED.fullmatch(key)
        if key == "reentries":
            told["answers"] = value
        elif owned is not None and key not in _KNOWN and owned["what"] in _OWN:
            told.setdefault(f"own_{_OWN[owned['what']]}", {})[owned["owner"]] = value
        elif key in _KNOWN:
            told[_KNOWN[key]] = value
        else:
            raise ValueError(f"no test understands the given {key!r}")
    return told


class Situation:
    """What is so when a case begins.

    decks     how many packs are shuffled together
    seating   who is who
    hands     what seats hold, of those whose whole hand is told (`told_hands`) or made up
    has       what seats hold, of those of whose hand a part is told
    tables    what seats lay or have laid out, where that is told
    """

    def __init__(self, given: Mapping[str, Any], options: Options, moves: Sequence[Move] = ()) -> None:
        self.told = told = _renamed(given)
        self.options = options
        self.moves = moves
        mentioned = [
            *names_in(given, NAME),
            *(move.by for move in moves if move.by),
            *names_in([move.on for move in moves], NAME),
        ]
        self.decks = self._decks()
        first = next(iter(told.get("turn_order_after_closer") or ()), None)
        self.seating = Seating(told, mentioned, self.decks)
        if self.seating.closer is None and first is not None:
            self.seating.closer = (self.seating.seat(first) - 1) % self.seating.count
        if self.seating.closer is None and {"table", "own_tables"} & told.keys():
            self.seating.closer = self.seating.order[0]
        self.hands = dict(self._hands())
        self.told_hands = frozenset(self.hands)
        self.has = {seat: cards_of(cards) for seat, cards in self.own("has").items()}
        self.tables = {seat: tables_of(table) for seat, table in self.own("tables").items()}
        if told.get("table"):
            self.tables[self.closer] = tables_of(told["table"])

    @cached_property
    def pack(self) -> list[Card]:
        """Every card in play."""
        return pack_of(self.options, self.decks)

    @property
    def closer(self) -> int:
        """The seat that closes, the forehand where nothing is told."""
        return self.seating.order[0] if self.seating.closer is None else self.seating.closer

    @cached_property
    def actor(self) -> int:
        """The seat whose turn it is; where nothing is told, of whoever moves first, else the closer's."""
        if (name := self.told.get("to_move")) is not None:
            return self.seating.seat(name)
        first = next((move.by for move in self.moves if move.by), None)
        return self.closer if first is None else self.seating.seat(first)

    def own(self, key: str) -> dict[int, Any]:
        """Return what is told of single seats under a key like "P2_has"."""
        return {self.seating.seat(name): value for name, value in self.told.get(f"own_{key}", {}).items()}

    def per_seat(self, key: str) -> dict[int, int]:
        """Return a number of each seat that one is told of: by name, as a list, or alone for whoever acts."""
        told = self.told.get(key)
        match told:
            case dict():
                numbers = {self.seating.seat(name): value for name, value in told.items()}
            case list():
                numbers = dict(enumerate(told))
            case None:
                numbers = {}
            case _:
                numbers = {self.actor: told}
        return numbers | self.own(key)

    def number(self, key: str, default: int) -> int:
        told = self.told.get(key, default)
        if not isinstance(told, int):
            raise TypeError(f"{key} {told!r} is no number")
        return int(told)

    def _decks(self) -> int:
        told, players = self.told.get("decks"), self.told.get("players")
        if isinstance(told, int):
            return told
        if isinstance(players, int):
            return 1 if players <= 4 else 2
        names = [*names_in(self.told, NAME), *(move.by or "" for move in self.moves)]
        many = any(name in {*"EFGH", "P5", "P6", "P7", "P8"} for name in names)
        cards = [card for key in ("cards", "hand", "hand_after_draw") for card in self.told.get(key) or ()]
        return 2 if many or len({*cards}) < len(cards) else 1

    def _hands(self) -> Iterator[tuple[int, list[Card]]]:
        for key in ("hand", "hand_after_draw"):
            if self.told.get(key):
                yield self.actor, cards_of(self.told[key])
        for name, cards in (self.told.get("hands") or {}).items():
            yield self.seating.seat(name), cards_of(cards)
        for seat, cards in self.own("hands").items():
            yield seat, cards_of(cards)
