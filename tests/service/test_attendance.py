"""Attendance over a real store: what is written down, what is let go, and who is let in."""

import asyncio
from typing import cast

import pytest
from redis.asyncio import Redis

from service.attendance import GRACE_MS, ROOM, Attendance, Standing, hosting_key, past_key, seats_key
from service.auth.accounts import Accounts
from service.errors import TooManyTables, Unauthenticated

pytestmark = pytest.mark.anyio

ADA = "a" * 26


def named(count: int) -> list[str]:
    """Return ids of so many tables."""
    return [f"{number:026}" for number in range(count)]


class Stated:
    """How it stands with tables, as it is stated; what is not stated is live."""

    def __init__(self, *unopened: str) -> None:
        self.stated: dict[str, Standing] = dict.fromkeys(unopened, "none")
        self.looks = 0

    async def look(self, table: str) -> Standing:
        self.looks += 1
        return self.stated.get(table, "live")


async def members(store: Redis, key: str) -> set[str]:
    found = cast("list[bytes]", await store.zrange(key, 0, -1))
    return {member.decode() for member in found}


async def test_fifty_rivals_open_no_more_tables_than_the_quota(store: Redis) -> None:
    tables = Stated(*named(50))
    rivals = [Attendance(store, 10) for _ in range(50)]
    opened = await asyncio.gather(
        *(one.host(ADA, table, tables.look) for one, table in zip(rivals, named(50), strict=True)),
        return_exceptions=True,
    )
    assert sum(one is None for one in opened) == 10
    assert len(await members(store, hosting_key(ADA))) == 10


async def test_what_has_ended_makes_room_in_the_same_moment(store: Redis) -> None:
    tables = Stated()
    attendance = Attendance(store, 2)
    first, second, third, fourth = named(4)
    await attendance.host(ADA, first, tables.look)
    await attendance.host(ADA, second, tables.look)
    tables.stated[third] = "none"
    with pytest.raises(TooManyTables) as full:
        await attendance.host(ADA, third, tables.look)
    assert (full.value.quota, full.value.policy) == (2, "open-tables")
    tables.stated[first] = "ended"
    await attendance.host(ADA, fourth, tables.look)
    assert await members(store, hosting_key(ADA)) == {second, fourth}


async def test_a_table_that_was_opened_before_is_no_further_one(store: Redis) -> None:
    tables = Stated()
    attendance = Attendance(store, 1)
    first, second = named(2)
    await attendance.host(ADA, first, tables.look)
    await attendance.host(ADA, first, tables.look)
    # Opened long ago, and out of the set since it ended.
    tables.stated[second] = "ended"
    await attendance.host(ADA, second, tables.look)
    assert await members(store, hosting_key(ADA)) == {first}


async def test_a_table_that_was_never_opened_is_let_go_after_a_while(store: Redis) -> None:
    first, second = named(2)
    tables = Stated(first, second)
    now = [1_000_000]
    attendance = Attendance(store, 1, lambda: now[0])
    await attendance.host(ADA, first, tables.look)
    now[0] += GRACE_MS - 1
    with pytest.raises(TooManyTables):
        await attendance.host(ADA, second, tables.look)
    now[0] += 1
    await attendance.host(ADA, second, tables.look)


async def test_nobody_is_looked_at_before_the_quota_is_used_up(store: Redis) -> None:
    tables = Stated()
    attendance = Attendance(store, 10)
    for table in named(10):
        await attendance.host(ADA, table, tables.look)
    assert tables.looks == 0


async def test_without_a_quota_any_number_is_open_and_what_has_ended_is_let_go(store: Redis) -> None:
    tables = Stated()
    attendance = Attendance(store)
    for table in named(ROOM):
        await attendance.host(ADA, table, tables.look)
        tables.stated[table] = "ended"
    await attendance.host(ADA, "z" * 26, tables.look)
    assert await members(store, hosting_key(ADA)) == {"z" * 26}


async def test_tables_where_an_account_sat_stay_known_when_they_have_ended(store: Redis) -> None:
    tables = Stated()
    attendance = Attendance(store)
    many = named(2 * ROOM)
    for number, table in enumerate(many):
        await attendance.sit(ADA, table, tables.look)
        if number % 2:
            tables.stated[table] = "ended"
    live, past = await members(store, seats_key(ADA)), await members(store, past_key(ADA))
    assert live | past == set(many)
    assert not live & past
    assert past
    assert set(await attendance.tables(ADA)) == live


async def test_who_is_being_erased_is_not_let_in(store: Redis) -> None:
    tables = Stated()
    attendance = Attendance(store, 1)
    await attendance.sit(ADA, named(1)[0], tables.look)
    await Accounts(store).condemn(ADA)
    assert not await attendance.is_welcome(ADA)
    for enter in (attendance.host, attendance.sit):
        with pytest.raises(Unauthenticated):
            await enter(ADA, "z" * 26, tables.look)
    assert await attendance.tables(ADA) == named(1)
    await attendance.forget(ADA)
    assert await attendance.tables(ADA) == []
