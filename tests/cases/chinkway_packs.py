"""The quest pack of Chinkway's worked cases: what may have left it, and how it lies before a quest is turned."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, TypeVar

import msgspec

from events.cards import FRENCH
from events.games.chinkway import Options
from projections.games.chinkway import SEATS, begin
from service.chance import Shuffles, number
from service.games.chinkway import GAME
from tests.cases.chinkway_words import CARD, Card, cards_of

T = TypeVar("T")


class Noted(Shuffles):
    """Shuffles that leave every pack in printed order and keep what was in it, by number."""

    def __init__(self) -> None:
        self.packs: dict[int, Sequence[object]] = {}

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        self.packs[c] = tuple(pack)
        return tuple(pack)


def removals(told: Any, options: Options) -> Iterator[tuple[Card, ...]]:  # noqa: ANN401 a line holds any JSON
    """Yield every way in which cards may have left the quest pack: those named, or any that the product may draw."""
    named = [told] if isinstance(told, str) else told
    if isinstance(named, list) and all(re.fullmatch(r"(10|\w)\w", word) for word in named):
        yield tuple(cards_of(named))
        return
    if isinstance(named, list):
        words = " ".join(named).lower()
        court = re.search(r"j/q/k|j, ?q|court|picture|face", words)
        removed = "two_court" if court else "none" if re.search(r"^no|nothing", words) else "two_any"
        options = msgspec.structs.replace(options, quest_removed=removed)
    noted = Noted()
    tuple(GAME.start(begin(options, SEATS, ()), noted))
    eligible = [CARD[str(card)] for card in noted.packs.get(number(0, 1), ())]
    yield from combinations(eligible, 2) if eligible else [()]


def ready(told: Mapping[str, Any], options: Options) -> dict[str, Any]:
    """Return the moment before trumps are named, the quest pack as given or as earlier deals have left it."""
    size = len(FRENCH) - (0 if options.quest_removed == "none" else 2)
    deal, left = told.get("deal"), told.get("quest_pack_left")
    if options.quest_pack == "use_up" and deal is None and left is not None:
        deal = (size - left) // 5 + 1
    if left is None:
        used = 5 * ((deal or 1) - 1) if options.quest_pack == "use_up" else 0
        left = size - used if used <= size else size
    return {**told, "deal": deal or 1, "quest_pack_left": left, "phase": "declare"}
