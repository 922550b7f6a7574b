"""The laws notice: each is held against a toy broken on purpose, and against a log that no referee would write."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace as changed

from events.base import Event
from events.table import Answered, DealReplayed, Ended, Opened, Order, Resigned, Shuffled, TurnBegan
from projections.table import Table
from service.bots import Bot
from service.game import Ask, Command, Refused
from service.streams import Stored, genesis, head_after
from tests.laws import playing, replaying, secrecy, worlds
from tests.laws.matches import Match, play
from tests.laws.setups import Setup
from tests.toy.events.toy import Dealt, Drew, Options, Pledged
from tests.toy.projections.toy import State, View, evolve, redact, view
from tests.toy.service.toy import GAME, Hold, Lay, Pledge, decide, idle, legal

Law = Callable[[Match], object]
AnyEvents = tuple[Event, ...]

LONG = Setup("toy", Options(deals=3, row=2), 3, 0, 0, seed=1, silence=0.1, resigning=0.0, longest=500)
GIVEN_UP = LONG._replace(seats=4, seed=12, resigning=0.04)
CONTESTED = LONG._replace(seed=31, contest=0.15)


class Shared(Options, frozen=True, kw_only=True):
    """Options with a part that changes, as no state may have."""

    dealt: list[int] = msgspec.field(default_factory=list)


LAWS: tuple[Law, ...] = (
    secrecy.a_view_needs_no_secrets,
    secrecy.redacted_as_stated,
    secrecy.viewed_as_stated,
    secrecy.no_hidden_card_is_named,
    worlds.a_choice_needs_no_secrets,
    replaying.refolds,
    replaying.heads_chain,
    replaying.decides_again,
    replaying.cards_are_conserved,
    replaying.deals_begin_again,
    replaying.nothing_is_changed,
    playing.listed_is_legal,
    playing.unlisted_is_illegal,
    playing.others_are_refused,
    playing.somebody_can_move,
    playing.idle_is_total,
    playing.turns_are_coherent,
    playing.the_end_is_lawful,
)


@pytest.fixture(scope="module")
def match() -> Match:
    """Give a match of three deals in which nobody gives up."""
    return play(LONG)


@pytest.fixture(scope="module")
def given_up() -> Match:
    """Give a match in which two seats are given up."""
    match = play(GIVEN_UP)
    assert sum(isinstance(event, Resigned) for events in match.decided for event in events) == 2
    return match


@pytest.fixture(scope="module")
def contested() -> Match:
    """Give a match of which a deal is played again that is not the first."""
    match = play(CONTESTED)
    assert any(isinstance(event, DealReplayed) and event.deal > 1 for events in match.decided for event in events)
    return match


def with_game(match: Match, **parts: Any) -> Match:  # noqa: ANN401 any part of a game
    """Return the match as a game with other parts reads it."""
    return replace(match, game=replace(GAME, **parts))


def with_projection(match: Match, **parts: Any) -> Match:  # noqa: ANN401 any part of a projection
    """Return the match as a game with another fold, view or redaction reads it."""
    return with_game(match, projection=replace(GAME.projection, **parts))


def with_events(match: Match, edit: Callable[[AnyEvents], AnyEvents]) -> Match:
    """Return the match with other events in its log, well encoded and chained."""
    stored, decided = [], []
    head = genesis(f"table:{match.table}")
    for entry in match.entries():
        events = edit(entry.events)
        e = msgspec.json.encode(changed(entry, events=events))
        head = head_after(head, e)
        stored.append(Stored(entry.version, e, head))
        decided.append(events)
    return replace(match, stored=tuple(stored), decided=tuple(decided))


def with_event(match: Match, kind: type[Event], edit: Callable[[Any], Sequence[Event]]) -> Match:
    """Return the match with others in place of each event of a kind."""
    return with_events(
        match,
        lambda events: tuple(new for event in events for new in (edit(event) if type(event) is kind else (event,))),
    )


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
def test_the_toy_as_it_is_breaks_no_law(law: Law, match: Match, given_up: Match, contested: Match) -> None:
    law(match)
    law(given_up)
    law(contested)


def shows_the_next_card(table: Table[State, Options], seat: int | None) -> View:
    seen = view(table, seat)
    stock = table.play.stock if table.play is not None else None
    return changed(seen, seen=(*seen.seen, stock[0])) if stock else seen


def shows_ones_own_hand_as_seen(table: Table[State, Options], seat: int | None) -> View:
    seen = view(table, seat)
    return changed(seen, seen=seen.hand or ())


@pytest.mark.parametrize(
    "law", [secrecy.a_view_needs_no_secrets, secrecy.no_hidden_card_is_named, worlds.a_choice_needs_no_secrets]
)
def test_a_view_that_shows_a_sealed_card_is_noticed(law: Law, match: Match) -> None:
    with pytest.raises(AssertionError):
        law(with_projection(match, view=shows_the_next_card))


def test_a_view_that_differs_where_it_should_not_is_noticed(match: Match) -> None:
    with pytest.raises(AssertionError, match="seen differs between viewers"):
        secrecy.viewed_as_stated(with_projection(match, view=shows_ones_own_hand_as_seen))


@pytest.mark.parametrize("law", [secrecy.redacted_as_stated, secrecy.no_hidden_card_is_named])
@pytest.mark.parametrize("kind", [Drew, Pledged])
def test_a_redaction_that_forgets_an_event_is_noticed(law: Law, kind: type[Event], match: Match) -> None:
    def forgetful(event: Any, seat: int | None) -> Event:  # noqa: ANN401 any event of the toy
        return event if type(event) is kind else redact(event, seat)

    with pytest.raises(AssertionError):
        law(with_projection(match, redact=forgetful))


def test_a_redaction_that_hides_what_all_may_see_is_noticed(match: Match) -> None:
    with pytest.raises(AssertionError):
        secrecy.redacted_as_stated(
            with_projection(match, redact=lambda event, seat: redact(event, None if seat == 1 else seat))
        )


def test_a_list_of_moves_that_knows_the_stock_is_noticed(match: Match) -> None:
    def knowing(state: State, seat: int) -> Iterator[Command]:
        lucky = bool(state.stock) and int(str((state.stock or ["R1"])[0])[1]) % 2 == 0
        return (command for command in legal(state, seat) if not (lucky and isinstance(command, Hold)))

    with pytest.raises(AssertionError, match=r"what is legal for seat . at version .* betrays"):
        worlds.a_choice_needs_no_secrets(with_game(match, legal=knowing), probes=len(match.stored))


def test_a_bot_that_does_not_choose_alike_is_noticed(match: Match) -> None:
    calls = count()
    fickle = Bot("fickle", 1, lambda _view, commands, _draws: commands[next(calls) % len(commands)])
    with pytest.raises(AssertionError, match="fickle/1 knows hidden cards"):
        worlds.a_choice_needs_no_secrets(match, (fickle,))


def test_a_fold_that_drops_a_card_is_noticed(match: Match) -> None:
    def dropping(state: State, event: Any) -> State:  # noqa: ANN401 any event of the toy
        folded = evolve(state, event)
        if isinstance(event, Drew):
            hand = folded.hands[event.seat] or []
            del hand[-1]
        return folded

    with pytest.raises(AssertionError, match="lost Counter"):
        replaying.cards_are_conserved(with_projection(match, evolve=dropping))


def test_a_fold_that_doubles_a_card_is_noticed(match: Match) -> None:
    def doubling(state: State, event: Any) -> State:  # noqa: ANN401 any event of the toy
        hands = [hand and list(hand) for hand in state.hands]
        folded = evolve(state, event)
        if isinstance(event, Pledged):
            folded.hands[event.seat] = hands[event.seat]
        return folded

    with pytest.raises(AssertionError, match="came Counter"):
        replaying.cards_are_conserved(with_projection(match, evolve=doubling))


def test_a_fold_that_adds_up_otherwise_each_time_is_noticed(match: Match) -> None:
    calls = count()

    def counting(state: State, event: Any) -> State:  # noqa: ANN401 any event of the toy
        folded = evolve(state, event)
        folded.left = next(calls)
        return folded

    with pytest.raises(AssertionError):
        replaying.refolds(with_projection(match, evolve=counting))


@pytest.mark.parametrize("version", [1, 7, 20])
def test_an_entry_changed_by_a_byte_is_noticed(version: int, match: Match) -> None:
    stored = list(match.stored)
    entry = stored[version - 1]
    stored[version - 1] = changed(entry, e=entry.e.replace(b'"at":1', b'"at":2', 1))
    with pytest.raises(AssertionError):
        replaying.heads_chain(replace(match, stored=tuple(stored)))


def test_an_entry_left_out_is_noticed(match: Match) -> None:
    with pytest.raises(AssertionError):
        replaying.heads_chain(replace(match, stored=match.stored[:6] + match.stored[7:]))


def test_a_decision_that_draws_lots_of_its_own_is_noticed(match: Match) -> None:
    random = Random(2)

    def gambling(state: State, ask: Ask) -> Iterator[Event]:
        for event in decide(state, ask):
            yield changed(event, best=random.choice(state.taken)) if hasattr(event, "best") else event

    with pytest.raises(AssertionError, match="is decided otherwise"):
        replaying.decides_again(with_game(match, decide=gambling))


def test_a_deal_played_again_under_a_number_that_is_not_the_next_is_noticed(contested: Match) -> None:
    later = with_event(contested, DealReplayed, lambda event: [changed(event, number=event.number + 1)])
    with pytest.raises(AssertionError):
        replaying.deals_begin_again(later)


def test_a_beginning_that_play_reaches_into_is_noticed(contested: Match) -> None:
    def forgetful(state: State, event: Any) -> State:  # noqa: ANN401 any event of the toy
        folded = evolve(state, event)
        if isinstance(event, Dealt):
            # What lies in a struct that never changes is not copied: play changes it in the beginning too.
            noting = folded.options
            if not isinstance(noting, Shared):
                folded.options = noting = Shared(**msgspec.structs.asdict(noting))
            noting.dealt.append(event.deal)
        return folded

    with pytest.raises(AssertionError, match="began otherwise"):
        replaying.deals_begin_again(with_projection(contested, evolve=forgetful))


def test_a_decision_that_changes_the_state_is_noticed(match: Match) -> None:
    def marking(state: State, ask: Ask) -> Iterator[Event]:
        events = list(decide(state, ask))
        state.left += 1
        return iter(events)

    with pytest.raises(AssertionError, match="was changed"):
        replaying.nothing_is_changed(with_game(match, decide=marking))


def test_a_view_that_sorts_a_hand_in_place_is_noticed(match: Match) -> None:
    def sorting(table: Table[State, Options], seat: int | None) -> View:
        if table.play is not None and table.play.hands[0]:
            table.play.hands[0].sort(reverse=True)
        return view(table, seat)

    with pytest.raises(AssertionError, match="was changed"):
        replaying.nothing_is_changed(with_projection(match, view=sorting))


def test_a_list_with_a_move_too_many_is_noticed(match: Match) -> None:
    def generous(state: State, seat: int) -> Iterator[Command]:
        yield from legal(state, seat)
        yield Pledge(card="R1")

    with pytest.raises(AssertionError, match="is listed at version"):
        playing.listed_is_legal(with_game(match, legal=generous))


@pytest.mark.parametrize("kind", [Pledge, Hold])
def test_a_list_with_a_move_too_few_is_noticed(kind: type[Command], match: Match) -> None:
    def stingy(state: State, seat: int) -> Iterator[Command]:
        commands = list(legal(state, seat))
        last = next((command for command in reversed(commands) if type(command) is kind), None)
        return (command for command in commands if command is not last)

    with pytest.raises(AssertionError, match="but not listed"):
        playing.unlisted_is_illegal(with_game(match, legal=stingy))


def test_a_list_that_names_a_move_twice_is_noticed(match: Match) -> None:
    with pytest.raises(AssertionError, match="twice"):
        playing.unlisted_is_illegal(with_game(match, legal=lambda *asked: (*legal(*asked), *legal(*asked))))


def test_a_reason_of_no_list_is_noticed(match: Match) -> None:
    def rude(state: State, ask: Ask) -> Iterator[Event]:
        try:
            return iter(list(decide(state, ask)))
        except Refused:
            raise Refused("because") from None

    with pytest.raises(AssertionError, match="because is on no list"):
        playing.unlisted_is_illegal(with_game(match, decide=rude))


def test_a_game_that_takes_commands_from_anybody_is_noticed(match: Match) -> None:
    def careless(state: State, ask: Ask) -> Iterator[Event]:
        prompted = next(seat for seat in state.taken if any(True for _ in legal(state, seat)))
        return decide(state, ask._replace(by=changed(ask.by, seat=prompted)))

    with pytest.raises(AssertionError, match="gave"):
        playing.others_are_refused(with_game(match, decide=careless))


def test_a_game_that_lists_moves_to_who_must_wait_is_noticed(match: Match) -> None:
    with pytest.raises(AssertionError, match="unasked"):
        playing.others_are_refused(with_game(match, legal=lambda _state, _seat: iter([Hold()])))


@pytest.mark.parametrize("law", [playing.somebody_can_move, playing.listed_is_legal])
def test_a_game_that_stands_still_is_noticed(law: Law, match: Match) -> None:
    def stuck(state: State, seat: int) -> Iterator[Command]:
        return iter(()) if state.deal == 2 else legal(state, seat)

    with pytest.raises(AssertionError):
        law(with_game(match, legal=stuck))


@pytest.mark.parametrize("command", [Hold(), Pledge(card="R1"), Lay(cards=("R1", "R2"))])
def test_an_idle_move_that_is_illegal_is_noticed(command: Command, match: Match) -> None:
    with pytest.raises(AssertionError, match="the idle"):
        playing.idle_is_total(with_game(match, idle=lambda _state, _seat: command))


def test_an_idle_move_that_is_accepted_but_not_listed_is_noticed(match: Match) -> None:
    def unlisted(state: State, seat: int) -> Iterator[Command]:
        return (command for command in legal(state, seat) if command != idle(state, seat))

    with pytest.raises(AssertionError, match="is not legal"):
        playing.idle_is_total(with_game(match, legal=unlisted))


@pytest.mark.parametrize(
    ("kind", "edit"),
    [
        (TurnBegan, lambda _: [TurnBegan(())]),
        (TurnBegan, lambda event: [TurnBegan((*event.seats, *event.seats))]),
        (TurnBegan, lambda _: [TurnBegan((3,))]),
        (Answered, lambda event: [event, event]),
        (Ended, lambda event: [event, TurnBegan((0,))]),
    ],
    ids=["nobody", "twice", "untaken", "answered twice", "after the end"],
)
def test_a_prompt_that_makes_no_sense_is_noticed(
    kind: type[Event], edit: Callable[[Any], Sequence[Event]], match: Match
) -> None:
    with pytest.raises(AssertionError):
        playing.turns_are_coherent(with_event(match, kind, edit))


def test_a_prompt_to_a_forfeited_seat_is_noticed(given_up: Match) -> None:
    gone = next(event.seat for events in given_up.decided for event in events if isinstance(event, Resigned))
    with pytest.raises(AssertionError):
        playing.turns_are_coherent(with_event(given_up, TurnBegan, lambda event: [TurnBegan((*event.seats, gone))]))


@pytest.mark.parametrize(
    "places",
    [(1, 1, 2), (2, 2, 3), (1, 2, None), (3, 2, 2)],
    ids=["gap", "nobody first", "unplaced", "second but for nobody"],
)
def test_places_that_make_no_sense_are_noticed(places: tuple[int | None, ...], match: Match) -> None:
    with pytest.raises(AssertionError):
        playing.the_end_is_lawful(with_event(match, Ended, lambda event: [changed(event, places=places)]))


def test_a_forfeited_seat_placed_before_another_is_noticed(given_up: Match) -> None:
    with pytest.raises(AssertionError, match=r"not last|ranks lower"):
        playing.the_end_is_lawful(
            with_event(
                given_up, Ended, lambda event: [changed(event, places=tuple(5 - place for place in event.places))]
            )
        )


def first_two_swapped(order: Sequence[Any]) -> tuple[Any, ...]:
    """Return an order as somebody would have it who stacks the pack."""
    return (order[1], order[0], *order[2:])


def restacked(orders: Sequence[Order]) -> tuple[Order, ...]:
    """Return the orders with the second of them stacked."""
    return (orders[0], Order(orders[1].c, first_two_swapped(orders[1].order)), *orders[2:])


@pytest.mark.parametrize(
    "edit",
    [
        lambda _: [],
        lambda event: [event, event],
        lambda event: [changed(event, seed="00" * 32)],
        lambda event: [changed(event, orders=event.orders[:-1])],
        lambda event: [changed(event, orders=restacked(event.orders))],
    ],
    ids=["nothing", "twice", "another seed", "an order too few", "another order"],
)
def test_what_is_not_opened_as_it_was_is_noticed(edit: Callable[[Any], Sequence[Event]], match: Match) -> None:
    with pytest.raises(AssertionError):
        playing.the_end_is_lawful(with_event(match, Opened, edit))


def test_a_pack_that_chance_did_not_shuffle_is_noticed(match: Match) -> None:
    """The one who runs the service could state a stacked order twice; the seed gives it away."""
    stacked = with_event(
        match, Shuffled, lambda event: [changed(event, order=first_two_swapped(event.order)) if event.c else event]
    )
    opened = with_event(
        stacked,
        Opened,
        lambda event: [
            changed(
                event,
                orders=tuple(Order(o.c, first_two_swapped(o.order)) if o.c else o for o in event.orders),
            )
        ],
    )
    with pytest.raises(AssertionError, match="printed order"):
        playing.the_end_is_lawful(opened)


def test_an_end_before_the_end_of_the_log_is_noticed(match: Match) -> None:
    more = replace(match, stored=(*match.stored, match.stored[-1]), decided=(*match.decided, match.decided[-1]))
    with pytest.raises(AssertionError):
        playing.the_end_is_lawful(more)
