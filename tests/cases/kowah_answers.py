"""How answers about Kowah are told: each agrees with every form in which a line may sensibly expect it.

An expected value that an answer can't read is a KeyError, TypeError or ValueError, which fails the line.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from projections.games.kowah import View
from service.game import REASONS
from service.games.kowah import GAME
from tests.cases.answers import Is
from tests.cases.kowah_notation import NAME, Card, Seating, card_of, cards_of

# Words by which a line says why a move is refused, and the reasons of the product that they may mean.
WHY = (
    (r"2-2-1|two.two.one|suits", "not_two_two_one"),
    (r"triplet", "no_triplets"),
    (r"pair", "no_pair no_triplets"),
    (r"lock|declared (hand|player)|new card|drawn card|stock only|only the drawn", "hand_declared"),
    (r"already.*declar|declar.*(twice|again)|second checki|taken back", "already_declared"),
    (r"after.*(discard|own|throw)|before.*(discard|throw)", "declare_after_discard draw_first not_your_turn"),
    (r"too late|next player", "not_your_turn declare_after_discard"),
    (r"second draw|already (drawn|taken)|drawn twice", "already_drawn"),
    (r"draw.*first|eight cards", "draw_first"),
    (r"no (latest )?discard|nothing to take|first turn", "no_discard"),
    (r"loop|in a row|from the stock", "stock_must_be_drawn hand_declared"),
    (r"not (held|in)|n't hold", "card_not_held"),
    (r"turn", "not_your_turn"),
)
CASH, TOTAL = "cash|money|stake|pot", "total|sum"
NOBODY = {"none", "nobody", "nothing", ""}
EVERYBODY = {"all", "everybody", "everyone", "public"}


def says(why: str, reason: str) -> bool:
    """Return whether words may mean a reason: where they are recognised, it is one that they may mean."""
    if why in {**REASONS, **GAME.reasons}:
        return why == reason
    meant = next((names.split() for words, names in WHY if re.search(words, why.lower())), None)
    return meant is None or reason in meant


class Cards(NamedTuple):
    """Cards in any order; none of them may be told by null, and only how many there are by a number."""

    cards: Sequence[Card]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict | bool):
            raise TypeError("cards are told by a list")
        if isinstance(value, int):
            return value == len(self.cards)
        if isinstance(value, str):
            value = [] if value.lower() in NOBODY else [value]
        return sorted(cards_of(value or ())) == sorted(self.cards)


class Pair(NamedTuple):
    """What is shown of a hand: the kind of a pair, told by its kind or by its cards; more where the hand is shown."""

    kind: Card | None
    hand: Sequence[Card] | None = None

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if value is None or value is False or value in ("none", "nothing", []):
            return self.kind is None
        told = cards_of([value] if isinstance(value, str) else value)
        if self.hand is not None and len(told) > 2:
            return sorted(told) == sorted(self.hand)
        # A pair is not all that is shown where the hand is.
        return self.kind is not None and set(told) == {self.kind} and (self.hand is None or isinstance(value, str))


class Declared(NamedTuple):
    """Who has declared with which pair; told by name, by names alone, or alone for the seat it is asked of."""

    seating: Seating
    kinds: Mapping[int, Card]
    subject: int

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, bool):
            return value == (self.subject in self.kinds)
        if value is None or (isinstance(value, str) and not re.fullmatch(NAME, value)):
            return (None if value in {None, *NOBODY} else card_of(value)) == self.kinds.get(self.subject)
        if isinstance(value, dict):
            told = {self.seating.seat(name): kind for name, kind in value.items()}
            right = all(
                kind == (seat in self.kinds) if isinstance(kind, bool) else kind == self.kinds.get(seat)
                for seat, kind in told.items()
            )
            return right and self.kinds.keys() <= told.keys()
        return sorted(self.seating.seats(value)) == sorted(self.kinds)


class Audience(NamedTuple):
    """Who sees something; where all who play do, spectators need not be named, nor anybody alone."""

    seating: Seating
    viewers: Sequence[int | None]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        everybody = [*range(self.seating.count), None]
        names = [value] if isinstance(value, str) else value
        if names in ([], None) or (isinstance(value, str) and value.lower() in NOBODY):
            return not self.viewers
        if any(name.lower() in EVERYBODY for name in names):
            return sorted(map(str, self.viewers)) == sorted(map(str, everybody))
        spectators = [name for name in names if name.lower().rstrip("s") == "spectator"]
        seats = {self.seating.seat(name) for name in names if name not in spectators}
        told: set[int | None] = {*seats, *([None] if spectators else [])}
        return told == {*self.viewers} or (len(seats) == self.seating.count and {*told, None} == {*self.viewers})


class Why(NamedTuple):
    """For which reasons something is refused, told by one of them or in words for one."""

    reasons: Sequence[str]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if value is None or value == "":
            return not self.reasons
        return any(says(value, reason) for reason in self.reasons)


class Multiplier(NamedTuple):
    """What the winner's result is multiplied by; 0 or null for a drawn deal, null while the deal is on."""

    multiplier: int | None

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        return Is(self.multiplier or None).agrees((value or None) if self.multiplier is not None else value)


class Hidden(NamedTuple):
    """How many cards of a hand are hidden, told by a number or by whether any are."""

    many: int

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if value is None or value == "hidden":
            return self.many > 0
        return Is(self.many > 0 if isinstance(value, bool) else self.many).agrees(value)


class Outcome(NamedTuple):
    """What a deal has come to: won, drawn, or not over; told by one of several words, or by who won."""

    seating: Seating
    over: bool
    winner: int | None

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        match value:
            case None | "undecided" | "continues" | "goes on" | "play continues" | "not over":
                return not self.over
            case "draw" | "drawn" | "tie" | "drawn deal" | "no winner":
                return self.over and self.winner is None
            case "win" | "won":
                return self.winner is not None
            case _:
                return self.seating.seat(re.sub(r" wins?$", "", value)) == self.winner


class Untold(NamedTuple):
    """That a view has no field for something, told by null; `field` matches the names it might have."""

    view: View
    field: str

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if value not in (None, "none", "nothing", False):
            raise ValueError(f"no view tells of {value!r}")
        return not any(re.search(self.field, name) for name in _names(msgspec.to_builtins(self.view)))


def _names(told: Any) -> Iterator[str]:  # noqa: ANN401 any part of a view
    if isinstance(told, dict):
        yield from told
        told = list(told.values())
    if isinstance(told, list | tuple):
        for part in told:
            yield from _names(part)


class Result(NamedTuple):
    """What is told of a deal that is over: any of `winner`, `multiplier`, `how`, `deal`, `result`."""

    seating: Seating
    winner: int | None
    multiplier: int
    how: str | None
    deal: int

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, str):
            return Outcome(self.seating, over=True, winner=self.winner).agrees(value)
        return bool(value) and all(self._agrees(key, told) for key, told in value.items())

    def _agrees(self, key: str, told: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        match key:
            case "winner":
                return (None if told is None else self.seating.seat(told)) == self.winner
            case "multiplier":
                return Multiplier(self.multiplier).agrees(told)
            case "how":
                return Is(self.how).agrees(told)
            case "deal":
                return Is(self.deal).agrees(told)
            case "result":
                return Outcome(self.seating, over=True, winner=self.winner).agrees(told)
            case _:
                raise KeyError(key)


class Results(NamedTuple):
    """What the deals of a series came to, in order."""

    results: Sequence[Result]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        return len(value) == len(self.results) and all(map(Result.agrees, self.results, value))


class Live(NamedTuple):
    """How many copies can still come: a number for each list of seen cards, each holding one for each kind.

    Told as a list, alone where there is one list, and by kinds where there may be several.
    """

    counts: Sequence[Mapping[Card, int]]

    def agrees(self, value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, list):
            return len(value) == len(self.counts) and all(map(self._agrees, self.counts, value))
        if len(self.counts) != 1:
            raise TypeError(f"{value!r} tells not of each list of seen cards")
        return self._agrees(self.counts[0], value)

    @staticmethod
    def _agrees(counts: Mapping[Card, int], value: Any) -> bool:  # noqa: ANN401 a line holds any JSON
        if isinstance(value, dict):
            return bool(value) and all(Is(counts[card_of(kind)]).agrees(told) for kind, told in value.items())
        if len(counts) != 1:
            raise TypeError(f"{value!r} tells not of each of {sorted(counts)}")
        return Is(next(iter(counts.values()))).agrees(value)
