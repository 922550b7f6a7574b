"""Facts about whole matches of Kowah, played at random under every option and by every number of players."""

from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random
from typing import TypeVar

import msgspec
import pytest

from events.cards import MONEY, MoneyCard
from events.games.kowah import (
    DealScored,
    Declared,
    Discarded,
    DiscardTaken,
    Opened,
    Options,
    StockDrawn,
    StockEnded,
    StockTurned,
    Won,
)
from events.table import Ended, Scored, TurnBegan
from projections import fold
from projections.games.kowah import HAND, Drawing, State
from projections.table import Table
from service.chance import Shuffles, number
from service.game import Command, Refused
from service.games.kowah import GAME, Checki, Discard, DrawStock, TakeDiscard, ready
from service.referee import Resign
from tests.service.games.kowah.match import Match

T = TypeVar("T")

# Each option at each of its values, and all that are not usual together.
EVERY_OPTION = [
    Options(),
    Options(show="hand"),
    Options(either_pair="on"),
    Options(last_discard="on"),
    Options(series=3),
    Options(show="hand", either_pair="on", last_discard="on", series=2),
]
MATCHES = [
    pytest.param(options, seats, 10 * which + seats, id=f"{which}-{seats}")
    for which, options in enumerate(EVERY_OPTION)
    for seats in range(2, 7)
]


class Kind(Shuffles):
    """A chance that deals hands which are ready, to most players: by luck alone one in 3 197 is."""

    def __init__(self, seed: int, seats: int) -> None:
        self.random = Random(seed)
        self.seats = seats

    def shuffle(self, pack: Sequence[T], c: int) -> tuple[T, ...]:
        """Lay seats as they come, and a pack with some ready hands on it."""
        left = list(pack)
        self.random.shuffle(left)
        if c < number(1):
            return tuple(left)
        top: list[T] = []
        for _ in range(self.seats):
            wanted = self._ready() if self.random.random() < 3 / 4 else ()
            hand: list[T] = []
            for card in wanted:
                place = next((place for place, other in enumerate(left) if other == card), None)
                if place is not None:
                    hand.append(left.pop(place))
            while len(hand) < HAND:
                hand.append(left.pop())
            top += hand
        return (*top, *left)

    def _ready(self) -> tuple[MoneyCard, ...]:
        """Return a hand that is ready: two triplets of ranks apart, and a pair that leaves five, one to either side."""
        one, other = self.random.sample(range(1, 10), 2)
        pair = self.random.choice([card for card in MONEY if card[1:] not in (str(one), str(other))])
        if self.random.random() < 1 / 3:
            # Two pairs beside one card of a rank: either may be named.
            first, second, third = self.random.sample([card for card in MONEY if card[1:] == str(one)], 3)
            return (first, first, second, second, third, *self._of(other))
        return (pair, pair, *self._of(one), *self._of(other))

    def _of(self, rank: int) -> tuple[MoneyCard, ...]:
        return tuple(card for card in MONEY if card[1:] == str(rank))


def at_random(options: Options, seats: int, seed: int) -> Iterator[tuple[Match, list[object]]]:
    """Play a random match, one seat untaken of four and more; yield it after each decision, with what happened."""
    random = Random(seed)
    taken = tuple(random.sample(range(seats), seats - 1)) if seats > 3 else tuple(range(seats))
    match = Match(options, seats, sorted(taken), chance=Kind(seed, len(taken))).started()
    yield match, list(match.entries[-1].events)
    while match.table.status == "playing":
        by, command = chosen(match, random)
        yield match, list(match.do(command, by))


def chosen(match: Match, random: Random) -> tuple[int, Command]:
    """Choose for the seat that must act or, if one may act unasked, for that one half the time."""
    unasked = [seat for seat in match.taken if seat not in match.table.to_act and match.listed(seat)]
    if unasked and random.random() < 1 / 2:
        return unasked[0], random.choice(match.listed(unasked[0]))
    seat, legal = match.to_act, match.legal()
    if isinstance(match.state.phase, Drawing):
        return seat, random.choice(legal)
    # A hand that is kept together is ready now and then.
    declaring = [command for command in legal if isinstance(command, Discard) and command.checki is not None]
    silent = GAME.idle(match.state, seat)
    return seat, random.choice([silent, silent, *random.sample(legal, 1), *declaring[:1]])


@pytest.mark.parametrize(("options", "seats", "seed"), MATCHES)
def test_a_match_comes_to_its_end_with_every_card_in_place_and_views_alike(
    options: Options, seats: int, seed: int
) -> None:
    """Cards and views are held after every decision by the match itself."""
    played = at_random(options, seats, seed)
    last, _ = next(played)
    for match, events in played:
        prompts = [event for event in events if isinstance(event, TurnBegan | Ended)]
        if prompts:
            assert len(prompts) == 1
        else:
            assert [type(event) for event in events] == [Declared]
        assert len(match.table.to_act) == (match.table.status == "playing")
    assert [event.deal for event in last.events(DealScored)] == list(range(1, last.state.deals + 1))
    (ended,) = last.events(Ended)
    assert ended.places == GAME.places(last.state, ())
    again: Table[State, Options] = Table(id="t")
    for entry in last.entries:
        stored = GAME.projection.decode(msgspec.json.encode(entry))
        assert stored.events == entry.events
        fold.add(GAME.projection, again, stored, b"")
    assert again == last.table


@pytest.mark.parametrize(("options", "seats", "seed"), MATCHES)
def test_what_is_said_of_a_win_agrees_with_what_was_played(options: Options, seats: int, seed: int) -> None:
    for match, events in at_random(options, seats, seed):
        for at, event in enumerate(events):
            match event:
                case Declared():
                    assert event.kind in (event.waits or ())
                    assert len(event.waits or ()) == 1 or options.either_pair == "on"
                    assert (event.hand is not None) == (options.show == "hand")
                case Won():
                    before = events[at - 1]
                    assert isinstance(before, StockTurned | Discarded)
                    assert (event.card, event.by) == (before.card, before.seat)
                    assert isinstance(before, Discarded) == (event.how == "opponent_discard")
                    assert (event.how == "self_draw") == (event.seat == event.by)
                    assert event.multiplier == {"self_draw": 3, "opponent_draw": 1, "opponent_discard": 2}[event.how]
                    hand = last_hand(match, event.seat)
                    assert hand.count(event.card) >= 2
                case Scored():
                    scored = next(one for one in events if isinstance(one, DealScored))
                    assert event.points == event.scores
                    assert sum(points or 0 for points in event.points) == scored.multiplier
                    assert (scored.winner is None) == any(isinstance(one, StockEnded) for one in events)
                case _:
                    pass


def last_hand(match: Match, seat: int) -> Sequence[MoneyCard]:
    return match.state.final[-1].hands[seat] or ()


def test_all_that_can_happen_does() -> None:
    """The facts above would say little of matches in which nobody declares."""
    found: Counter[object] = Counter()
    for which, options in enumerate(EVERY_OPTION):
        for seats in (2, 3, 6):
            for _, events in at_random(options, seats, 10 * which + seats):
                found.update(type(event) for event in events)
                found.update(event.how for event in events if isinstance(event, Won))
                found["alone"] += [type(event) for event in events] == [Declared]
    wanted = {StockDrawn, StockTurned, DiscardTaken, Discarded, Declared, Won, StockEnded, "alone", Opened}
    assert {*wanted, "self_draw", "opponent_draw", "opponent_discard"} <= set(found)


@pytest.mark.parametrize("options", EVERY_OPTION)
def test_every_command_there_is_is_accepted_exactly_if_it_is_listed(options: Options) -> None:
    kinds = [None, *MONEY]
    domain: list[Command] = [DrawStock(), TakeDiscard(), *map(Checki, MONEY)]
    domain += [Discard(card, kind) for card in MONEY for kind in kinds]
    for turn, (match, _) in enumerate(at_random(options, 3, 3)):
        if turn % 7:
            continue
        for seat in match.taken:
            listed = match.listed(seat)
            assert len(set(listed)) == len(listed)
            accepted = {command for command in domain if is_accepted(match, command, seat)}
            assert accepted == {msgspec.structs.replace(command, turn=None) for command in listed}


def is_accepted(match: Match, command: Command, seat: int) -> bool:
    try:
        match.referee.decide(GAME, match.table, match.ask(command, seat))
    except Refused:
        return False
    return True


@pytest.mark.parametrize("options", EVERY_OPTION)
def test_deciding_and_looking_change_nothing(options: Options) -> None:
    for match, _ in at_random(options, 4, 5):
        before = msgspec.json.encode(match.state)
        for seat in match.taken:
            GAME.idle(match.state, seat)
            for command in list(GAME.legal(match.state, seat))[:3]:
                assert list(GAME.decide(match.state, match.ask(command, seat)._replace(chance=Kind(1, 3)))) == list(
                    GAME.decide(match.state, match.ask(command, seat)._replace(chance=Kind(1, 3)))
                )
        GAME.places(match.state, ())
        list(GAME.reveal(match.state))
        assert msgspec.json.encode(match.state) == before


def test_who_declares_is_ready_and_keeps_the_hand() -> None:
    for seed in range(4):
        hands: dict[int, Sequence[MoneyCard]] = {}
        for match, events in at_random(Options(), 3, seed):
            for event in events:
                if isinstance(event, Declared):
                    hands[event.seat] = tuple(match.state.hands[event.seat] or ())
                    assert event.kind in ready.pairs(hands[event.seat])
            if isinstance(match.state.phase, Drawing):
                assert all(tuple(match.state.hands[seat] or ()) == hand for seat, hand in hands.items())


@pytest.mark.parametrize("seats", [2, 3, 6])
def test_a_match_goes_on_whoever_resigns(seats: int) -> None:
    random = Random(seats)
    for turn, (match, _) in enumerate(at_random(Options(series=2), seats, seats)):
        left = [seat for seat in match.taken if seat not in match.table.resigned]
        if match.table.status == "playing" and turn % 40 == 30:
            match.resigns(random.choice(left))
    assert match.table.status == "ended"
    assert match.table.resigned
    with pytest.raises(Refused, match="ended"):
        match.do(Resign(), match.taken[0])
