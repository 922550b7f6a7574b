"""Bodies for the laws: all where they are few, and of many also short ones and such as are nearly legal."""

from random import Random
from typing import Annotated

import msgspec
import pytest
from msgspec import Meta

from events.cards import SpanishCard
from service.game import Command
from tests.laws.bodies import SAMPLE, bodies, body, count_of, near
from tests.toy.service.toy import Hold, Lay, Pledge

Cards = Annotated[tuple[SpanishCard, ...], Meta(min_length=3, max_length=8)]


class Show(Command, frozen=True, tag="laws.show"):
    """Show a card and, or not, cards in heaps: more bodies than could ever be gone through."""

    card: SpanishCard
    heaps: Annotated[tuple[Cards, ...], Meta(max_length=2)] | None = None


LEGAL = [Show(card="O1", heaps=(("C1", "C2", "C3"), ("B5", "E5", "O5"))), Show(card="O2", heaps=())]


def valid(command: Command) -> bool:
    return msgspec.json.decode(msgspec.json.encode(command), type=type(command)) == command


def test_few_bodies_are_all_there_where_one_is_legal() -> None:
    pledges = [*bodies(Pledge, Random(1), [Pledge(card="R1")])]
    assert len(pledges) == len(set(pledges)) == count_of(Pledge)
    assert [*bodies(Hold, Random(1))] == [Hold()]


def test_rows_are_counted_by_their_lengths() -> None:
    assert len({body(Lay, number) for number in range(count_of(Lay))}) == count_of(Lay)


@pytest.mark.parametrize("legal", [[], LEGAL])
def test_of_too_many_bodies_some_are_drawn_each_as_the_schema_allows(legal: list[Command]) -> None:
    assert count_of(Show) > 10**26
    found = [*bodies(Show, Random(1), legal)]
    assert len(found) == SAMPLE
    assert all(map(valid, found))


def test_short_bodies_are_drawn_and_bodies_without_what_may_be_left_out() -> None:
    found = [command for seed in range(20) for command in bodies(Show, Random(seed))]
    assert {command.heaps is None for command in found} == {True, False}
    assert {len(command.heaps) for command in found if command.heaps is not None} == {0, 1, 2}
    assert {len(heap) for command in found for heap in command.heaps or ()} == {3, 4, 5, 6, 7, 8}


def test_bodies_near_a_legal_one_differ_from_it_in_every_way() -> None:
    (first, second), card = LEGAL[0].heaps or (), LEGAL[0].card
    found = {near(LEGAL[:1], Random(seed)) for seed in range(2_000)}
    assert all(map(valid, found))
    assert Show(card=card, heaps=(second, first)) in found, "in another order"
    assert Show(card=card, heaps=(first,)) in found, "one less"
    assert Show(card=card, heaps=(first, first)) in found, "one twice"
    assert Show(card=card, heaps=(("C2", "C1", "C3"), second)) in found, "a part in another order"
    assert Show(card=card, heaps=((*first, "C2"), second)) in found, "a part twice"
    changed = {heap for command in found for heap in (command.heaps or ())[:1] if len({*heap} & {*first}) == 2}
    assert any({*heap} & {"B5", "E5", "O5"} for heap in changed), "a part that stands elsewhere"
    assert Show(card="E5", heaps=(first, second)) in found
    assert any(command.card not in {"O1", "C1", "C2", "C3", "B5", "E5", "O5"} for command in found), "another card"


def test_near_bodies_take_parts_of_other_legal_ones() -> None:
    found = {near(LEGAL, Random(seed)).card for seed in range(100)}
    assert {"O1", "O2"} <= found


def test_a_body_without_parts_is_near_itself() -> None:
    assert near([Hold()], Random(1)) == Hold()
