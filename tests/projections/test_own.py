"""A copy of a state is folded on alone."""

from msgspec import Struct

from projections.own import own


class Kept(Struct, frozen=True):
    """What never changes."""

    place: int


class State(Struct):
    """A state with lists and dicts in one another."""

    kept: Kept
    cards: list[str]
    hands: list[list[str] | None]
    counts: list[dict[str, int]]
    known: dict[str, list[list[int]]]
    seats: tuple[int, ...] = ()


def state() -> State:
    return State(Kept(1), ["a", "b"], [["c"], None, []], [{"d": 1}, {}], {"e": [[1], [2, 3]]}, (0, 1))


def test_a_copy_is_the_same_and_of_the_same_kind() -> None:
    first = state()
    copied = own(first)
    assert copied == first
    assert type(copied) is State
    assert copied.kept is first.kept


def test_nothing_that_is_changed_in_a_copy_changes_what_it_was_copied_from() -> None:
    first = state()
    copied = own(first)
    copied.cards.append("x")
    copied.hands[2] = ["x"]
    hand = copied.hands[0]
    assert hand is not None
    hand.clear()
    copied.counts[0]["d"] += 1
    copied.counts[1]["x"] = 1
    copied.known["e"][1].append(4)
    copied.known["x"] = []
    copied.seats = ()
    assert first == state()


def test_a_table_before_play_has_nothing_to_copy() -> None:
    assert own(None) is None
