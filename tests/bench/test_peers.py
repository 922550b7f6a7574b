"""The game that is played beside peers, and our side of it at its least size; the peers themselves take npm."""

import asyncio
import random
from pathlib import Path

import pytest

from events.table import Ended
from projections import fold
from projections.table import Table
from service import games
from service.game import AnyTable
from tests.bench.matches import play
from tests.bench.peers import contest, theirs
from tests.bench.peers.ours import KINDS
from tests.bench.peers.players import Clock, Decision, Happening, Players
from tests.bench.peers.transports import Streamed
from tests.bench.servers import Process
from tests.bench.size import LEAST
from tests.bench.trick.service import PACK, playable, taking

TRICK = games.find(contest.GAME).ruled("trick/1")


def test_a_match_of_trick_is_fifty_moves_in_which_no_card_is_lost() -> None:
    match = play(TRICK, random.Random(1))
    assert len(match.moves) == 50
    table: AnyTable = Table(id=match.stream.removeprefix("table:"))
    for stored in match.entries:
        fold.add(TRICK.projection, table, TRICK.projection.decode(stored.e), stored.h)
        if table.play is not None:
            assert sorted(TRICK.projection.cards(table.play)) == sorted(PACK)
    assert table.play is not None
    assert sum(table.play.taken) == 10
    assert any(isinstance(event, Ended) for event in TRICK.projection.decode(match.entries[-1].e).events)


@pytest.mark.parametrize("seat", [0, 3])
def test_a_seat_sees_its_own_hand_alone(seat: int) -> None:
    match = play(TRICK, random.Random(2))
    whole: AnyTable = Table(id=match.stream.removeprefix("table:"))
    shown: AnyTable = Table(id=whole.id)
    for stored in match.entries:
        entry = TRICK.projection.decode(stored.e)
        fold.add(TRICK.projection, whole, entry, stored.h)
        decision = fold.decision(TRICK.projection, entry, stored.h, seat)
        fold.add(TRICK.projection, shown, decision, stored.h)
        assert TRICK.projection.view(whole, seat) == TRICK.projection.view(shown, seat)
        if shown.play is not None and whole.play is not None:
            hidden: list[None] = [None] * 5
            assert shown.play.hands == [*hidden[:seat], whole.play.hands[seat], *hidden[seat + 1 :]]


def test_the_colour_led_is_followed_and_its_highest_card_takes() -> None:
    assert playable(["R1", "G2", "R9"], ["R5"]) == ["R1", "R9"]
    assert playable(["G2", "B9"], ["R5"]) == ["G2", "B9"]
    assert playable(["G2", "B9"], []) == ["G2", "B9"]
    assert taking(["R3", "W9", "R7", "R5", "Y8"]) == 2


def test_our_side_plays_in_every_way_that_players_hear_of_moves() -> None:
    sheet = contest.ours_alone(LEAST)
    assert sheet.lines.keys() == {f"2 {tables}: {kind}" for tables in ("fresh", "running") for kind in KINDS}
    assert all(figures["moves/s"][0] > 0 for figures in sheet.lines.values())


def test_a_table_ends_when_all_have_heard_of_the_last_move_and_fails_where_one_misses_any() -> None:
    async def played(*versions: int) -> None:
        clock = Clock()
        clock.stopped = True
        table = Streamed(Players(Process(0, 0), random.Random(1)), clock, "/v1/trick/tables/1")
        for seat, version in zip(table.seats, versions, strict=True):
            table.hear(seat, Decision(version, (Happening("table.turn_began", seats=(0,)),)))
        async with asyncio.timeout(1):
            await table.play()

    asyncio.run(played(6, 6, 6, 6, 6))
    with pytest.raises(AssertionError, match="seat 4 heard of 7 after 5"):
        asyncio.run(played(6, 6, 6, 6, 7))


def test_where_there_is_no_node_that_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(theirs.Missing, match="no node here: install Node 20"):
        theirs.install("colyseus", tmp_path)
