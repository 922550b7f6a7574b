"""Everything derived, made anew from the streams, is what it was: after it was lost, and while it changes."""

import asyncio
import random
from collections.abc import AsyncIterator
from typing import Any, cast

import msgspec
import pytest
from redis.asyncio import Redis

from service.disputes import Dispute, Rule
from service.errors import Damaged
from service.game import AnyTable, Command
from service.once import Once
from service.parts import Service
from service.reactors.lobby import PLAYING_S
from service.reactors.rebuilding import DERIVED
from service.reactors.run import reactors
from service.referee import Abandon, Create, Leave, Resign
from service.streams import head_after, keys_of
from service.tables import Asked, Done
from service.walk import Walk
from tests.service.reactors.matches import (
    GAME,
    HOST,
    connected,
    ended,
    move_silently,
    opened,
    pursuing,
    seated,
    stream_of,
)

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("store")]

ANYONE = "anyone/1"
PEOPLE = [letter * 26 for letter in "abcde"]
JUDGE = "j" * 26
ROUTE = "POST /v1/chinkway/tables"

PATTERNS = {
    "keys": ("*:keys:*",),
    "attendance": ("account:hosting:*", "account:seats:*", "account:past:*"),
    "lobby": ("{lobby}:*",),
    "inboxes": ("inbox:*", "*:told:*"),
    "docket": ("{docket}:*",),
}
"""The keys in the store, by what is derived."""

Form = dict[str, dict[str, object]]


@pytest.fixture
async def parts(valkey_url: str) -> AsyncIterator[Service]:
    async with connected(valkey_url) as connection:
        yield connection


async def keys(store: Redis, name: str) -> list[str]:
    found: list[bytes] = [key for pattern in PATTERNS[name] for key in await store.keys(_escaped(pattern))]  # type: ignore[misc] # not decoded
    return sorted(key.decode() for key in found)


def _escaped(pattern: str) -> str:
    return pattern.replace("[", "\\[")


async def normal(parts: Service) -> Form:
    """Return what is derived, without what may differ: numbers, times of asking, what is put away only now and then."""
    store = parts.redis
    form: Form = {name: {} for name in PATTERNS}
    for key in await keys(store, "keys"):
        form["keys"][key] = await store.hgetall(key)
    for key in await keys(store, "attendance"):
        kind, account = key.split(":")[1:]
        members = cast("list[bytes]", await store.zrange(key, 0, -1))
        tables = [table.decode() for table in members]
        live = {table for table in tables if (await parts.tables.reached(f"table:{table}", 0)).status != "ended"}
        # The ended leave the hosts' when a quota asks for that, and go from seats to past ones when there are many.
        form["attendance"].setdefault(f"{kind}:{account}" if kind == "hosting" else f"sat:{account}", set()).update(  # type: ignore[attr-defined] # they are sets
            live if kind == "hosting" else set(tables)
        )
    form["attendance"] = {key: tables for key, tables in form["attendance"].items() if tables}
    for key in await keys(store, "lobby"):
        match key.split(":")[1]:
            case "tables" | "listed":
                form["lobby"][key] = await store.hgetall(key)
            case "index" | "host" | "player":
                form["lobby"][key] = await store.zrange(key, 0, -1)
            case _:
                pass  # changes that were, and tables that have ended since
    disputes = cast("dict[bytes, bytes]", await store.hgetall("{docket}:disputes"))
    form["docket"] = {place.decode(): stored for place, stored in disputes.items()}
    assert await store.zrange("{docket}:open", 0, -1) == sorted(disputes)
    for account in [*PEOPLE, HOST]:
        page = await parts.inboxes.page(account, None, 2_000)
        notices = [msgspec.structs.replace(notice, number=0) for notice in page.notices]
        form["inboxes"][account] = sorted(map(msgspec.json.encode, notices))
    return form


async def lose(store: Redis, *names: str) -> None:
    """Lose some of what is derived, as by a store that was restored in part."""
    for name in names or PATTERNS:
        for key in await keys(store, name):
            await store.delete(key)


async def rebuild(parts: Service, *names: str) -> set[str]:
    """Make this anew, or everything; return what could not be read."""
    damaged: set[str] = set()
    for each in DERIVED:
        if not names or each.name in names:
            walk = Walk(parts.log)
            await each.rebuild(walk, parts.redis)
            damaged |= walk.damaged
    return damaged


async def create(parts: Service, key: str) -> Done:
    """Open a table by a request that may be repeated."""
    game = parts.games.named(GAME)
    assert game is not None
    options = msgspec.to_builtins(game.projection.options())
    stated = {"type": "table.create", "game": GAME, "ruleset": game.ruleset, "seats": 5, "start": "full"}
    command = msgspec.convert(stated | {"options": options, "bots": []}, Create)
    return await parts.tables.create(HOST, game, command, Once(HOST, ROUTE, key))


async def act(parts: Service, table: AnyTable, player: str, command: Command, key: str) -> Done:
    """Act by a request that may be repeated."""
    once = Once(player, f"POST /v1/{GAME}/tables/{table.id}/commands", key)
    return await parts.tables.act(Asked(player, GAME, table.id, once), command)


async def lived(parts: Service, chance: random.Random) -> None:
    """Have tables open, full, left, abandoned, in play, resigned from, and played to their end, by people and bots."""
    await create(parts, "open")
    left = (await create(parts, "left")).table
    await seated(parts, left, *PEOPLE[:2])
    await act(parts, left, PEOPLE[1], Leave(), "leave")
    abandoned = (await create(parts, "abandoned")).table
    await seated(parts, abandoned, PEOPLE[2])
    await act(parts, abandoned, HOST, Abandon(), "abandon")
    playing = (await create(parts, "playing")).table
    await seated(parts, playing, *PEOPLE)
    resigned = (await create(parts, "resigned")).table
    await seated(parts, resigned, *PEOPLE)
    for player in PEOPLE:
        await act(parts, resigned, player, Dispute(first=1, last=2, reason="rules"), f"dispute {player}")
    await act(parts, resigned, JUDGE, Rule(dispute=2, verdict="upheld"), "rule")
    for number, player in enumerate(chance.sample(PEOPLE, 4)):
        await act(parts, resigned, player, Resign(), f"resign {number}")
    mixed = await opened(parts, *[ANYONE] * 3)
    await seated(parts, mixed, *PEOPLE[:2])
    await asyncio.gather(*(move_silently(parts, mixed, player) for player in PEOPLE[:2]))
    await ended(parts, await opened(parts, *[ANYONE] * 5))


async def at_rest(parts: Service) -> Form:
    """Return what is derived once the reactors have nothing more to do."""
    now = await normal(parts)
    for _ in range(20):
        await asyncio.sleep(PLAYING_S + 0.2)
        before, now = now, await normal(parts)
        if now == before:
            return now
    raise AssertionError("it never came to rest")


async def test_whatever_is_lost_is_made_anew_as_it_was(parts: Service) -> None:
    async with pursuing(parts, *reactors(parts)):
        await lived(parts, random.Random(4))
        before = await at_rest(parts)
    assert all(len(form) > 2 for form in before.values())
    await lose(parts.redis)
    lost = await normal(parts)
    assert [name for name in PATTERNS if any(lost[name].values())] == []
    assert await rebuild(parts) == set()
    assert await normal(parts) == before
    for name in PATTERNS:
        await lose(parts.redis, name)
        assert (await normal(parts))[name] != before[name]
        await rebuild(parts, name)
        assert await normal(parts) == before
    # And once more, with nothing lost.
    assert await rebuild(parts) == set()
    assert await normal(parts) == before


async def test_made_anew_while_tables_are_played_it_is_what_the_streams_hold(valkey_url: str, parts: Service) -> None:
    async def again_and_again() -> None:
        async with connected(valkey_url) as other:
            while not lives.done():
                assert await rebuild(other) == set()

    async with pursuing(parts, *reactors(parts)):
        lives = asyncio.ensure_future(lived(parts, random.Random(5)))
        await asyncio.gather(lives, again_and_again())
        await rebuild(parts)
        under_way = await at_rest(parts)
    await lose(parts.redis)
    await rebuild(parts)
    assert await normal(parts) == under_way


async def test_requests_that_are_repeated_find_their_decisions_again(parts: Service) -> None:
    table = (await create(parts, "a")).table
    await seated(parts, table, *PEOPLE)
    resigned = await act(parts, table, PEOPLE[3], Resign(), "b")
    await lose(parts.redis, "keys")
    await rebuild(parts, "keys")
    again = await create(parts, "a")
    assert (again.decision.version, again.table.id) == (1, table.id)
    assert (await act(parts, table, PEOPLE[3], Resign(), "b")).decision == resigned.decision


async def test_nothing_of_an_erased_account_comes_back(parts: Service) -> None:
    table = (await create(parts, "a")).table
    account = await parts.accounts.create("Ada")
    await seated(parts, table, account.id, *PEOPLE[:4])
    await parts.erasing.erase(account.id)
    await lose(parts.redis)
    await rebuild(parts)
    assert await parts.redis.keys(f"*{account.id}*") == []
    assert await parts.redis.exists(f"account:seats:{PEOPLE[0]}") == 1


async def test_a_damaged_table_is_left_out_and_the_others_are_made_anew(parts: Service) -> None:
    tables = [(await create(parts, str(number))).table for number in range(4)]
    # What no append has made: an entry is missing.
    await seated(parts, tables[1], *PEOPLE[:2])
    await parts.redis.xdel(keys_of(stream_of(tables[1])).stream, "2-0")
    with pytest.raises(Damaged):
        await parts.log.read(stream_of(tables[1]))
    await lose(parts.redis)
    assert await rebuild(parts) == {stream_of(tables[1])}
    listed: Any = await parts.redis.hkeys("{lobby}:tables")
    assert {table.decode() for table in listed} == {table.id for table in tables} - {tables[1].id}


async def test_so_is_one_with_an_entry_that_can_not_be_read(parts: Service) -> None:
    tables = [(await create(parts, str(number))).table for number in range(4)]
    e, last = b'"type":"table.seat_taken" "type":"table.dispute_filed"', tables[1].head
    await parts.log.append(stream_of(tables[1]), 1, e, head_after(last, e), None, last)
    await lose(parts.redis)
    assert await rebuild(parts) == {stream_of(tables[1])}
    listed: Any = await parts.redis.hkeys("{lobby}:tables")
    assert {table.decode() for table in listed} == {table.id for table in tables} - {tables[1].id}


def test_nothing_derived_is_forgotten() -> None:
    assert [each.name for each in DERIVED] == list(PATTERNS)
