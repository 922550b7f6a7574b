"""The lobby as it is kept in the store, and as a client reads it."""

import random
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace
from redis.asyncio import Redis

from projections.lobby import Summary
from projections.table import SeatView
from service.errors import Malformed
from service.ids import new_id
from service.lobby import Filter, Lobby
from tests.served import Person, served

pytestmark = pytest.mark.anyio

EVERY = Filter()


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


async def listed(lobby: Lobby, wanted: Filter = EVERY, limit: int = 100) -> list[Summary]:
    page = await lobby.tables(wanted, None, limit)
    assert page.next is None
    return list(page.tables)


async def test_a_table_is_listed_from_its_opening_to_its_end(lobby: Lobby) -> None:
    summary = table(1, random.Random(1))
    await lobby.put(summary)
    assert await listed(lobby) == [summary]
    await lobby.put(started(summary))
    assert await listed(lobby) == [started(summary)]
    await lobby.put(over(started(summary)))
    assert await listed(lobby) == []
    assert await lobby.find(summary.table) is None


async def test_nothing_stays_in_the_store_of_tables_that_have_ended(lobby: Lobby, store: Redis) -> None:
    summary = table(1, random.Random(2))
    for state in (summary, started(summary), over(summary)):
        await lobby.put(state)
    assert await store.keys("*") == []


async def test_filters_list_what_they_name_and_all_of_it(lobby: Lobby) -> None:
    chance = random.Random(3)
    tables = [table(at, chance, chance.choice(["chinkway", "toy"])) for at in range(40)]
    tables = [started(summary) if chance.random() < 0.5 else summary for summary in tables]
    for summary in tables:
        await lobby.put(replace(summary, status="open"))
        await lobby.put(summary)
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
        await lobby.put(summary)
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
    for summary in there.values():
        await lobby.put(summary)
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
            await lobby.put(over(gone) if chance.random() < 0.5 else started(gone))
            new = table(1_000 + len(seen), chance)
            late.add(new.table)
            await lobby.put(new)
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
    for at in range(10):
        await lobby.put(table(at, chance))
    await lobby.clear()
    assert await store.keys("*") == []


async def test_a_client_pages_through_the_lobby(lobby: Lobby, valkey_url: str, tmp_path: Path) -> None:
    chance = random.Random(8)
    tables = [table(at, chance) for at in range(7)]
    for summary in tables:
        await lobby.put(summary)
    await lobby.put(started(tables[0]))
    with served(valkey_url, tmp_path) as url, closing(Person(url).http) as ada:
        first = ada.get("/v1/tables?limit=3").json()
        second = ada.get(f"/v1/tables?limit=4&after={first['next']}").json()
        assert [t["table"] for t in (*first["tables"], *second["tables"])] == [t.table for t in reversed(tables)]
        assert second["next"] is None
        assert ada.get("/v1/tables?status=playing&game=chinkway").json() == {
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
        }
        for query, field in bad.items():
            answer = ada.get(f"/v1/tables?{query}")
            assert (answer.status_code, answer.json()["field"]) == (400, field), query
        unknown = ada.get("/v1/tables?game=whist")
        assert (unknown.status_code, "whist" in unknown.json()["detail"]) == (404, True)
        assert ada.get("/v1/tables?game=chinkway&limit=100").json() == {"tables": [], "next": None}
        assert ada.get("/v1/tables", headers={"Authorization": ""}).status_code == 401
