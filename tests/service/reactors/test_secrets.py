"""A bot chooses by what its seat may see: cards hidden from it, permuted, change nothing (law 3)."""

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from events.base import By, Entry, Event
from events.cards import FRENCH
from projections import fold
from projections.table import Table
from service import bots, games
from service.actions import legal_now
from service.chance import number
from service.game import AnyTable, Ask, Command, Refused
from service.reactors.bots import bot_to_act, choice
from service.referee import Create, Referee
from tests.stated import Stated

GAME = games.find().ruled("chinkway/1")
SEATS = 5
COURTS = [card for card in FRENCH if card[1] in "JQK"]
SEED = bytes(range(32))
HOST = By(role="host", player="h" * 26)
CREATE = msgspec.convert(
    {"type": "table.create", "game": "chinkway", "ruleset": "chinkway/1", "seats": SEATS, "start": "full"}
    | {"options": msgspec.to_builtins(GAME.projection.options()), "bots": ["anyone/1"] * SEATS},
    Create,
)

Order = Sequence[str]
Move = tuple[int, Command]
Choose = Callable[["Dealt", int], Command]


class Dealt:
    """A match of five bots in its first deal, whose cards lie as stated, after some moves."""

    def __init__(self, pack: Order, quest: Order, moves: Sequence[Move] = ()) -> None:
        orders = {number(0, 0): range(SEATS), number(0, 1): COURTS, number(0, 2): quest, number(1): pack}
        self.pack = pack
        self.quest = quest
        self.moves: list[Move] = []
        self.table: AnyTable = Table(id="zwyrd6z1rv0whe6m1110rdv1ew")
        self._referee = Referee(lambda _: Stated(orders))
        self._add(self._referee.create(GAME, self.table, Ask(HOST, CREATE, 0), SEED))
        for seat, move in moves:
            self.move(seat, move)

    @property
    def play(self) -> Any:  # noqa: ANN401 the state of a game, as the framework meets it
        """The state of the game."""
        return self.table.play

    def move(self, seat: int, command: Command) -> None:
        """Decide a command of a seat."""
        self.moves.append((seat, command))
        self._add(self._referee.decide(GAME, self.table, Ask(By(seat=seat), command, 0)))

    def permuted(self, seat: int, chance: random.Random) -> "Dealt | None":
        """Return the match with the cards hidden from a seat permuted; None if the others can't have played so."""
        places = _dealt_places(seat)
        known = {self.pack[place] for place in places} | set(self.play.played)
        hidden = [card for card in self.pack if card not in known]
        other = dict(zip(hidden, chance.sample(hidden, len(hidden)), strict=True))
        turned = 5 if self.play.quest else 0
        quest = [*self.quest[:turned], *chance.sample(self.quest[turned:], len(self.quest) - turned)]
        try:
            return Dealt([other.get(card, card) for card in self.pack], quest, _renamed(self.moves, other))
        except Refused:
            return None

    def _add(self, events: tuple[Event, ...]) -> None:
        # Heads are the same for every order, as they may differ in what viewers are told.
        version = self.table.version + 1
        entry: Entry[Any, Event] = Entry(1, "", version, 0, By(), None, None, None, "", events)
        fold.add(GAME.projection, self.table, entry, bytes([version]) * 32)


def _dealt_places(seat: int) -> range:
    """Return where in the pack a seat's cards lie: ten each from seat 1 on, then the twelve of seat 0, who deals."""
    return range(40, 52) if seat == 0 else range(10 * (seat - 1), 10 * seat)


def _renamed(moves: Sequence[Move], other: Mapping[str, str]) -> list[Move]:
    """Return the moves with the cards that were laid down unseen as they are called now."""
    renamed = []
    for seat, move in moves:
        body = msgspec.to_builtins(move)
        if "cards" in body:
            body["cards"] = [other.get(card, card) for card in body["cards"]]
        renamed.append((seat, msgspec.convert(body, type(move))))
    return renamed


def changed_choices(choose: Choose, chance: random.Random) -> tuple[int, int]:
    """Play the first two tricks of a deal; return how often a choice was made again, and how often it was another."""
    pack, left = list(FRENCH), [card for card in FRENCH if card not in COURTS[:2]]
    chance.shuffle(pack)
    chance.shuffle(left)
    match = Dealt(pack, left)
    again, changed = 0, 0
    while len(match.play.played) < 10:
        seat = bot_to_act(match.table)
        assert seat is not None
        chosen = choose(match, seat)
        for _ in range(12):
            other = match.permuted(seat, chance)
            if other is not None:
                assert GAME.projection.view(other.table, seat) == GAME.projection.view(match.table, seat)
                again += 1
                changed += choose(other, seat) != chosen
        match.move(seat, chosen)
    return again, changed


def test_a_choice_does_not_change_when_hidden_cards_are_permuted() -> None:
    known = bots.find()
    chance = random.Random(31)
    for _ in range(10):
        again, changed = changed_choices(lambda match, seat: choice(GAME, match.table, seat, known), chance)
        assert again > 40
        assert changed == 0


def test_a_bot_that_peeps_at_another_hand_is_found_out() -> None:
    def peep(match: Dealt, seat: int) -> Command:
        legal = legal_now(GAME, match.table, seat)
        return legal[FRENCH.index(match.pack[_dealt_places((seat + 1) % SEATS)[0]]) % len(legal)]

    _, changed = changed_choices(peep, random.Random(32))
    assert changed > 0
