"""The lobby as it is kept in the store, and as a client reads it."""

import asyncio
import random
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from redis.asyncio import Redis

import service.lobby
from projections.lobby import Summary
from projections.table import SeatView
from service.errors import Malformed
from service.functions import Source
from service.ids import new_id
from service.lobby import Filter, Lobby
from tests.lobbies import House, Wish, put, wished
from tests.served import Person, served
from tests.sizes import sized

pytestmark = pytest.mark.anyio

EVERY = Filter()

TABLES, LISTED = b"{lobby}:tables", b"{lobby}:listed"


@pytest.fixture
def lobby(store: Redis) -> Lobby:
    return Lobby(store)


def table(created_at: int, chance: random.Random, game: str = "chinkway") -> Summary:
    return Summary(
        game=game,
        table=new_id(chance.randbytes),
        ruleset=f"{game}/1",
        status="open",
        options={"deals": 10},
        seats=tuple(SeatView(seat, None, None, resigned=False) for seat in range(5)),
        host="h" * 26,
        start="full",
        created_at=created_at,
        started_at=None,
        version=1,
    )


def started(summary: Summary) -> Summary:
    return replace(summary, status="playing", started_at=summary.created_at + 1, version=summary.version + 1)


def over(summary: Summary) -> Summary:
    return replace(summary, status="ended", version=summary.version + 1)


async def kept(store: Redis) -> set[bytes]:
    """Return the keys that list tables."""
    beside = {"bells", *(f"{{lobby}}:{name}" for name in ("changes", "generation", "ended:0", "ended:1"))}
    keys: list[bytes] = await store.keys("*")  # type: ignore[assignment] # replies are not decoded
    return {key for key in keys if key.decode() not in beside}


async def listed(lobby: Lobby, wanted: Filter = EVERY, limit: int = 100) -> list[Summary]:
    page = await lobby.tables(wanted, None, limit)
    assert page.next is None
    return list(page.tables)


async def test_a_table_is_listed_from_its_opening_to_its_end(lobby: Lobby) -> None:
    summary = table(1, random.Random(1))
    await put(lobby, summary)
    assert await listed(lobby) == [summary]
    await put(lobby, started(summary))
    assert await listed(lobby) == [started(summary)]
    await put(lobby, over(started(summary)))
    assert await listed(lobby) == []
    assert (await lobby.find(summary.table)).summary is None


async def test_nothing_stays_in_the_store_of_tables_that_have_ended(lobby: Lobby, store: Redis) -> None:
    summary = table(1, random.Random(2))
    for state in (summary, started(summary), over(started(summary))):
        await put(lobby, state)
    assert await kept(store) == set()
    # But that it has ended, for who comes with what was before, and the change.
    assert await store.hgetall("{lobby}:ended:0") == {summary.table.encode(): b"3"}


async def test_filters_list_what_they_name_and_all_of_it(lobby: Lobby) -> None:
    chance = random.Random(3)
    tables = [table(at, chance, chance.choice(["chinkway", "toy"])) for at in range(40)]
    tables = [started(summary) if chance.random() < 0.5 else summary for summary in tables]
    await put(lobby, *(replace(summary, status="open") for summary in tables))
    await put(lobby, *tables)
    tables.reverse()
    assert await listed(lobby) == tables
    for game in ("chinkway", "toy", None):
        for status in ("open", "playing", None):
            wanted = [s for s in tables if game in {s.game, None} and status in {s.status, None}]
            assert await listed(lobby, Filter(game, status)) == wanted
            assert len(wanted) > 0


async def test_tables_opened_at_the_same_moment_are_all_listed(lobby: Lobby) -> None:
    chance = random.Random(4)
    tables = [table(7, chance) for _ in range(25)]
    for summary in tables:
        await put(lobby, summary)
    seen: list[Summary] = []
    cursor = None
    while len(seen) < 25:
        page = await lobby.tables(EVERY, cursor, 4)
        seen += page.tables
        cursor = page.next
    assert cursor is None
    assert sorted(summary.table for summary in seen) == sorted(summary.table for summary in tables)


@pytest.mark.parametrize("wanted", [EVERY, Filter(status="open"), Filter("chinkway")])
async def test_pages_neither_repeat_nor_hide_a_table_while_others_come_and_go(lobby: Lobby, wanted: Filter) -> None:
    chance = random.Random(5)
    there = {summary.table: summary for summary in (table(at // 3, chance) for at in range(250))}
    await put(lobby, *there.values())
    always = set(there)
    seen: list[Summary] = []
    cursor = None
    late = set()
    while True:
        page = await lobby.tables(wanted, cursor, 20)
        seen += page.tables
        cursor = page.next
        if cursor is None:
            break
        assert len(page.tables) == 20
        for _ in range(6):
            gone = there.pop(chance.choice(sorted(there)))
            always.discard(gone.table)
            await put(lobby, over(gone) if chance.random() < 0.5 else started(gone))
            new = table(1_000 + len(seen), chance)
            late.add(new.table)
            await put(lobby, new)
    names = [summary.table for summary in seen]
    assert len(names) == len(set(names))
    assert always <= set(names)
    assert not late & set(names)
    order = [(summary.created_at, summary.table) for summary in seen]
    assert order == sorted(order, reverse=True)
    assert len(always) < 200


@pytest.mark.parametrize("cursor", ["x", "0" * 41, "0" * 43, "u" * 42, "0" * 16 + ":" + "a" * 25, "0" * 16 + "u" * 26])
async def test_a_cursor_that_is_not_ours_is_malformed(lobby: Lobby, cursor: str) -> None:
    with pytest.raises(Malformed):
        await lobby.tables(EVERY, cursor, 10)


async def test_clearing_takes_out_every_table(lobby: Lobby, store: Redis) -> None:
    chance = random.Random(6)
    await put(lobby, *(table(at, chance) for at in range(10)))
    await lobby.clear()
    assert await kept(store) == set()


@given(seed=st.integers(0, 2**32))
@settings(max_examples=sized(15, 60, 400), suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_whoever_pages_through_any_tables_gets_those_that_stay_and_none_twice(
    lobby: Lobby, store: Redis, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Against a plain look at all tables, of which some come, change and go while pages are read."""
    await store.flushall()
    house = House(random.Random(seed))
    # Few are looked at for a page, so that many end before they are full.
    monkeypatch.setattr(service.lobby, "LOOKED_AT", house.chance.choice([1, 3, 500]))
    monkeypatch.setattr(service.lobby, "CHUNK", house.chance.choice([1, 2, 100]))
    await put(lobby, *(house.move() for _ in range(60)))
    for busy in (0, 0, 0, 3):
        wish, limit = wished(house), house.chance.randint(1, 6)
        always = {summary.table for summary in house.live if wish.is_met(summary)}
        ever = set(always)
        seen: list[Summary] = []
        cursor = None
        while True:
            page = await lobby.tables(wish.filter, cursor, limit)
            assert len(page.tables) <= limit
            # What is shown is what is there at that moment.
            assert [house.now[summary.table] for summary in page.tables] == list(page.tables)
            seen += page.tables
            cursor = page.next
            if cursor is None:
                break
            changes = [house.move() for _ in range(busy)]
            if changes:
                await put(lobby, *changes)
            for changed in changes:
                (ever.add if wish.is_met(changed) else always.discard)(changed.table)
        names = [summary.table for summary in seen]
        assert len(names) == len(set(names))
        assert always <= set(names) <= ever
        order = [(summary.created_at, summary.table) for summary in seen]
        assert order == sorted(order, reverse=True)
        if not busy:
            assert seen == [summary for summary in house.live if wish.is_met(summary)]


async def test_where_hardly_any_is_wanted_a_page_ends_before_it_is_full(
    lobby: Lobby, store: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def searches() -> int:
        return int((await store.info("commandstats"))["cmdstat_zrange"]["calls"])

    chance = random.Random(9)
    rare = replace(table(0, chance), options={"deals": 5})
    await put(lobby, rare, *(table(at, chance) for at in range(1, 1_200)))
    wanted = Filter("chinkway", options={"deals": frozenset([5])})
    for most, expected in ((500, [0, 0, 1]), (250, [0, 0, 0, 0, 1])):
        monkeypatch.setattr(service.lobby, "LOOKED_AT", most)
        lengths: list[int] = []
        cursor = None
        while cursor is not None or not lengths:
            before = await searches()
            page = await lobby.tables(wanted, cursor, 1)
            assert await searches() - before <= 5
            lengths.append(len(page.tables))
            cursor = page.next
        assert lengths == expected


async def test_of_what_comes_in_any_order_the_newest_is_listed(lobby: Lobby, store: Redis) -> None:
    """Several look at tables at once, and come with what they saw however late."""
    house = House(random.Random(10))
    looks = [(summary, 0) for summary in (house.move() for _ in range(200))]
    house.chance.shuffle(looks)
    outcomes = await asyncio.gather(*(lobby.put(*look) for look in looks))
    assert {answer.outcome for answer in outcomes} == {"put", "newer"}
    assert await listed(lobby) == house.live
    for player in house.people:
        expected = [summary for summary in house.live if Wish(player=player).is_met(summary)]
        assert await listed(lobby, Filter(player=player)) == expected
    assert any(seat.resigned for summary in house.live for seat in summary.seats)
    # What it once was is in no index any more, and a bot in none at all.
    places = {key: await store.zcard(key) for key in await kept(store) if key not in {TABLES, LISTED}}
    assert [key for key in places if b"bot" in key] == []
    assert sum(places.values()) == sum(4 + 1 + len(set(summary.people)) for summary in house.live)


@pytest.mark.parametrize("ended_before", [0, 3])
async def test_who_comes_with_a_look_from_before_an_end_that_is_forgotten_is_told_to_look_again(
    lobby: Lobby, monkeypatch: pytest.MonkeyPatch, ended_before: int
) -> None:
    few = service.lobby._FUNCTION.code.replace("ENDED = 5000", "ENDED = 3").replace("evenfold_", "evenfold_few_")  # noqa: SLF001 its number is in Lua
    name = service.lobby._FUNCTION.name.replace("evenfold_", "evenfold_few_")  # noqa: SLF001 the same
    monkeypatch.setattr(service.lobby, "_FUNCTION", Source(name, few))
    house = House(random.Random(11))
    for _ in range(ended_before):
        await put(lobby, house.ended(house.opened()))
    stale = house.opened()
    looked = (await lobby.find(stale.table)).generation
    await put(lobby, house.ended(stale))
    outcomes = []
    for _ in range(8):
        outcomes.append((await lobby.put(stale, looked)).outcome)
        house.now[stale.table] = replace(stale, status="ended")
        other = house.opened()
        await put(lobby, other)
        await put(lobby, house.ended(other))
    assert outcomes == ["newer"] * 5 + ["late"] * 3
    assert await listed(lobby) == []
    # Who looks again sees that it has ended.
    await put(lobby, house.ended(stale))
    assert await listed(lobby) == []


async def test_a_version_that_the_store_has_lost_is_put_right(lobby: Lobby) -> None:
    house = House(random.Random(12))
    before = house.move()
    lost = replace(before, version=before.version + 2)
    await put(lobby, lost)
    assert (await lobby.put(before, 0)).outcome == "newer"
    assert (await lobby.put(before, 0, instead_of=2)).outcome == "newer"
    assert (await lobby.put(before, 0, instead_of=3)).outcome == "put"
    assert await listed(lobby) == [before]
    *_, reset, last = await lobby.changes("0-0")
    assert (reset.table, last.table) == (None, before.table)


async def test_what_was_looked_at_before_all_was_made_anew_is_not_listed(lobby: Lobby) -> None:
    house = House(random.Random(13))
    summary = house.move()
    generation = (await lobby.find(summary.table)).generation
    await lobby.clear()
    assert (await lobby.put(summary, generation)).outcome == "late"
    await put(lobby, summary)
    assert await listed(lobby) == [summary]


async def test_a_client_pages_through_the_lobby(lobby: Lobby, valkey_url: str, tmp_path: Path) -> None:
    chance = random.Random(8)
    tables = [table(at, chance) for at in range(7)]
    for summary in tables:
        await put(lobby, summary)
    await put(lobby, started(tables[0]))
    with served(valkey_url, tmp_path) as url, closing(Person(url).http) as ada:
        first = ada.get("/v1/tables?limit=3").json()
        second = ada.get(f"/v1/tables?limit=4&after={first['next']}").json()
        assert [t["table"] for t in (*first["tables"], *second["tables"])] == [t.table for t in reversed(tables)]
        assert second["next"] is None
        page = ada.get("/v1/tables?status=playing&game=chinkway").json()
        assert page.pop("cursor") == first["cursor"] == await lobby.newest_change()
        assert second["cursor"] is None
        assert page == {
            "tables": [
                {
                    "game": "chinkway",
                    "table": tables[0].table,
                    "ruleset": "chinkway/1",
                    "status": "playing",
                    "options": {"deals": 10},
                    "seats": [{"seat": seat, "player": None, "bot": None, "resigned": False} for seat in range(5)],
                    "host": "h" * 26,
                    "start": "full",
                    "created_at": 0,
                    "started_at": 1,
                    "version": 2,
                }
            ],
            "next": None,
        }


async def test_what_is_outside_the_contract_is_told_by_its_parameter(
    store: Redis,  # noqa: ARG001 the store is empty
    valkey_url: str,
    tmp_path: Path,
) -> None:
    with served(valkey_url, tmp_path) as url, closing(Person(url).http) as ada:
        bad = {
            "game=": "game",
            "game=chinkway&game=chinkway": "game",
            "status=ended": "status",
            "status=null": "status",
            "after=x": "after",
            "after=": "after",
            "limit=0": "limit",
            "limit=101": "limit",
            "limit=ten": "limit",
            "seats=5": "seats",
            "started=maybe": "started",
            "open_seats=-1": "open_seats",
            "open_seats=9": "open_seats",
            "open_seats=1.5": "open_seats",
            "host=ada": "host",
            "player=bot:anyone/1%230": "player",
            "option=deals:10": "option",
            "game=chinkway&option=deals": "option",
            "game=chinkway&option=deals:": "option",
            "game=chinkway&option=deals:7": "option",
            "game=chinkway&option=deals:ten": "option",
            "game=chinkway&option=deals:true": "option",
            "game=chinkway&option=deals:10&option=stake:1": "option",
            "game=kowah&option=deals:10": "option",
            "game=kowah&option=series:1": "option",
            "game=kowah&option=series:on": "option",
            "game=kowah&" + "&".join(["option=series:2"] * 65): "option",
            "since=now": "since",
            "since=1-": "since",
            "follow=yes": "follow",
            "status=open&status=playing": "status",
        }
        for query, field in bad.items():
            answer = ada.get(f"/v1/tables?{query}")
            assert (answer.status_code, answer.json()["field"]) == (400, field), query
        page = ada.get("/v1/tables?follow=true", headers={"Accept": "application/json"})
        assert (page.status_code, page.json()["field"]) == (400, "follow")
        again = ada.get("/v1/tables", headers={"Accept": "text/event-stream", "Last-Event-ID": "now"})
        assert (again.status_code, again.json()["field"]) == (400, "Last-Event-ID")
        unknown = ada.get("/v1/tables?game=whist")
        assert (unknown.status_code, "whist" in unknown.json()["detail"]) == (404, True)
        assert ada.get("/v1/tables?game=chinkway&limit=100").json() == {
            "tables": [],
            "next": None,
            "cursor": "0-0",
        }
        assert ada.get("/v1/tables", headers={"Authorization": ""}).status_code == 401
