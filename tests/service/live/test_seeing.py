"""A reader is shown what its player may see today, made once for all who see the same."""

import asyncio
from random import Random

import pytest

from service.errors import NotFound
from service.metrics import instruments
from service.referee import Resign, Sit
from service.tables import Asked
from tests.service.live.conftest import (
    ONLOOKER,
    PEOPLE,
    Process,
    _encode,
    asked,
    happen,
    opened,
    play,
    shown,
    take,
    word,
)

pytestmark = pytest.mark.anyio


async def test_a_reader_sees_what_the_seat_of_today_may_see(one: Process) -> None:
    table = await opened(one, "full")
    readings = {player: await one.live.open(asked(table, player), 0) for player in (*PEOPLE, ONLOOKER)}
    rng = Random(5)
    for seat, person in enumerate(PEOPLE):
        await one.tables.act(asked(table, person), Sit(seat=seat))
    for _ in range(40):
        await play(one, table, rng)
    version = (await one.tables.look(asked(table))).version
    sent = {player: await take(reading, version) for player, reading in readings.items()}
    assert len({_encode([frame.data for frame in frames]) for frames in sent.values()}) == 6
    for player, frames in sent.items():
        assert frames == await shown(one, table, player)
    # Who gives the seat up looks on from then on, and what comes late is shown by the rights of now.
    await one.tables.act(asked(table, PEOPLE[2]), Resign())
    mover = (await one.tables.look(asked(table))).to_act[0]
    assert mover != 2
    while await play(one, table, rng):
        pass
    version_now = (await one.tables.look(asked(table))).version
    late = {player: await take(reading, version_now - version + 1) for player, reading in readings.items()}
    assert late[PEOPLE[2]] == late[ONLOOKER] != late[PEOPLE[0]]
    for player, frames in late.items():
        assert frames[:-1] == await shown(one, table, player, version)
        assert frames[-1] == word("ended", version_now)
    assert b"table.opened" in late[ONLOOKER][-2].data
    for reading in readings.values():
        await reading.aclose()


async def test_a_decision_is_written_once_for_all_who_see_the_same_and_read_for_none_of_them(one: Process) -> None:
    table = await opened(one, "full")
    for seat, person in enumerate(PEOPLE):
        await one.tables.act(asked(table, person), Sit(seat=seat))
    begun = (await one.tables.look(asked(table))).version
    players = (*PEOPLE, *(f"{number:0>26}" for number in range(50)))
    readings = [await one.live.open(asked(table, player), begun) for player in players]
    coming = [asyncio.create_task(take(reading, 20)) for reading in readings]
    rng = Random(3)
    await play(one, table, rng)
    reads, written = count_of("evenfold_decisions_read_total"), count_of("evenfold_live_decisions_total")
    for _ in range(19):
        await play(one, table, rng)
    await asyncio.gather(*coming)
    assert count_of("evenfold_live_decisions_total") - written <= 20 * (len(PEOPLE) + 1)
    # The looks of `play` itself, two for each; and one where a hint was quicker than the reply to the append.
    assert count_of("evenfold_decisions_read_total") - reads <= (2 + 2) * 19
    for reading in readings:
        await reading.aclose()


async def test_what_another_process_appends_is_read_once_for_all_readers(one: Process, other: Process) -> None:
    table = await opened(one)
    readings = [await other.live.open(asked(table), 1) for _ in range(50)]
    await happen(one, table, 1)
    await asyncio.gather(*(take(reading, 1) for reading in readings))
    reads = count_of("evenfold_decisions_read_total")
    coming = [asyncio.create_task(take(reading, 10)) for reading in readings]
    await happen(one, table, 10)
    await asyncio.gather(*coming)
    # A look reads what is known and what is new: those of `happen` itself, and one for each thing that happened.
    assert count_of("evenfold_decisions_read_total") - reads <= 10 + 2 * 10
    for reading in readings:
        await reading.aclose()


def count_of(name: str) -> float:
    """Return a counter's count."""
    return sum(number[0] for _, number in instruments[name].series().numbers)


async def test_a_table_that_one_may_not_know_of_is_not_found(one: Process) -> None:
    table = await opened(one)
    for wrong in (Asked(ONLOOKER, "kowah", table), asked("0" * 26), asked("A" * 26)):
        with pytest.raises(NotFound):
            await one.live.open(wrong, 0)
