"""What waits for an account: as the tables stand at that moment, however far a reactor has got."""

import random
from contextlib import suppress
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service import games, todo
from service.attendance import Attendance, seats_key
from service.errors import Malformed
from service.game import AnyTable, Refused
from service.ids import new_id
from service.inbox import Inboxes
from service.log import Log
from service.parts import Service
from service.reactors.inbox import InboxFilling
from service.referee import Abandon, Leave, Resign, Sit, Start
from service.store import dial
from service.streams import keys_of
from service.tables import Asked
from service.todo import AnyTask, Page, Task, ToAct, Todo, ToStart
from tests.service.reactors.matches import ADA, GAME, HOST, connected, opened, seated, started, stream_of
from tests.sizes import sized
from tests.wire import Wire

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("store")]

PEOPLE = [letter * 26 for letter in "abcde"]
ANYONE = "anyone/1"


async def newest(parts: Service, table: AnyTable) -> AnyTable:
    return await parts.tables.look(Asked(HOST, GAME, table.id))


async def expected(parts: Service, tables: list[AnyTable], account: str) -> list[tuple[object, ...]]:
    """Return what waits for an account by the whole fold of each table, in any order."""
    found: list[tuple[object, ...]] = []
    for table in tables:
        now = await newest(parts, table)
        seat = now.seat_of(account)
        if seat in now.to_act:
            found.append((ToAct, now.id, now.version, seat, now.turn))
        elif now.status == "open" and now.start == "host" and now.host == account and len(now.taken) == 5:
            found.append((ToStart, now.id, now.version))
    return sorted(found, key=str)


def plain(tasks: tuple[AnyTask, ...]) -> list[tuple[object, ...]]:
    return sorted(
        (
            (ToAct, task.table, task.version, task.seat, task.turn)
            if isinstance(task, ToAct)
            else (ToStart, task.table, task.version)
            for task in tasks
        ),
        key=str,
    )


async def step(parts: Service, table: AnyTable, chance: random.Random) -> None:
    """Have something happen at a table."""
    now = await newest(parts, table)
    match now.status:
        case "open" if len(now.taken) == 5 and chance.random() < 0.5:
            await parts.tables.act(Asked(HOST, GAME, table.id), Start())
        case "open" if now.taken and chance.random() < 0.1:
            player = now.players[chance.choice(now.taken)]
            assert player is not None
            await parts.tables.act(Asked(player.id, GAME, table.id), Leave())
        case "open" if chance.random() < 0.05:
            await parts.tables.act(Asked(HOST, GAME, table.id), Abandon())
        case "open" if absent := [player for player in PEOPLE if now.seat_of(player) is None]:
            with suppress(Refused):  # somebody may have taken the seat that they left
                await parts.tables.act(Asked(chance.choice(absent), GAME, table.id), Sit())
        case "playing" if chance.random() < 0.03:
            player = now.players[chance.choice([seat for seat in now.taken if seat not in now.resigned])]
            assert player is not None
            await parts.tables.act(Asked(player.id, GAME, table.id), Resign())
        case _:
            await moved(parts, table)


async def moved(parts: Service, table: AnyTable) -> None:
    """Have whoever must act, if anybody, make the move that stands for a silent player."""
    now = await newest(parts, table)
    for seat in now.to_act[:1]:
        player = now.players[seat]
        assert player is not None
        command = parts.tables.game_of(now).idle(now.play, seat)
        await parts.tables.act(Asked(player.id, GAME, table.id), command)


async def test_it_is_what_the_tables_say_after_every_command_at_every_worker(valkey_url: str) -> None:
    chance = random.Random(4)
    async with connected(valkey_url) as one, connected(valkey_url) as other:
        tables = [await opened(one, start=chance.choice(["full", "host"])) for _ in range(6)]
        filling = InboxFilling(one.log, one.inboxes)
        kinds: set[type[Task]] = set()
        statuses: set[str] = set()
        for _ in range(sized(250, 600, 3_000)):
            acting, asking = chance.sample([one, other], 2)
            table = chance.choice(tables)
            await step(acting, table, chance)
            if chance.random() < 0.1:  # a reactor is behind, or not there
                await filling.look(stream_of(chance.choice(tables)), 0)
            for account in (HOST, chance.choice(PEOPLE)):
                page = await asking.todo.page(account, None, 100)
                assert plain(page.tasks) == await expected(acting, tables, account)
                assert page.next is None
                kinds.update(map(type, page.tasks))
            statuses.add((await newest(one, table)).status)
        assert kinds == {ToAct, ToStart}
        assert statuses >= {"playing", "ended"}


async def test_a_host_may_start_with_as_few_as_the_game_takes(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        least = games.find().ruled("chinkway/1").seats.least
        table = await opened(parts, start="host")
        filling = InboxFilling(parts.log, parts.inboxes)
        for player in PEOPLE[:least]:
            assert (await parts.todo.page(HOST, None, 10)).tasks == ()
            await seated(parts, table, player)
            await filling.look(stream_of(table), 0)
        (task,) = (await parts.todo.page(HOST, None, 10)).tasks
        assert isinstance(task, ToStart)
        assert task.since == (await newest(parts, table)).at
        await started(parts, table)
        assert (await parts.todo.page(HOST, None, 10)).tasks == ()


async def test_since_when_a_prompt_waits_is_told_whatever_others_do_meanwhile(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        table = await opened(parts)
        await seated(parts, table, *PEOPLE)
        now = await newest(parts, table)
        began, prompted = now.at, PEOPLE[now.to_act[0]]
        others = [player for player in PEOPLE if player != prompted]
        await parts.tables.act(Asked(others[0], GAME, table.id), Resign())
        (task,) = (await parts.todo.page(prompted, None, 10)).tasks
        assert isinstance(task, ToAct)
        assert (task.since, task.turn, task.version, task.due) == (began, now.turn, now.turn + 1, None)


async def playing(parts: Service, count: int) -> list[str]:
    """Open tables of four bots at which Ada must act, and return their ids in the order in which she came."""
    ids: list[str] = []
    while len(ids) < count:
        table = await opened(parts, *[ANYONE] * 4)
        await seated(parts, table, ADA)
        now = await newest(parts, table)
        if 0 in now.to_act:
            ids.append(table.id)
    return ids


@pytest.mark.parametrize("limit", [1, 2, 3, 7, 8])
async def test_pages_follow_one_another_without_a_gap(
    valkey_url: str, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(todo, "TOGETHER", 3)
    monkeypatch.setattr(todo, "MOST", 6)
    async with connected(valkey_url) as parts:
        ids = await playing(parts, 7)
        found: list[str] = []
        after: str | None = None
        while True:
            page = await parts.todo.page(ADA, after, limit)
            assert len(page.tasks) <= limit
            found += [task.table for task in page.tasks]
            if page.next is None:
                break
            after = page.next
        assert found == ids


async def test_a_page_looks_at_so_many_tables_and_no_more_whatever_they_say(
    valkey_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(todo, "TOGETHER", 2)
    monkeypatch.setattr(todo, "MOST", 4)
    async with connected(valkey_url) as parts:
        for _ in range(9):
            await seated(parts, await opened(parts), ADA)
        pages, after = 0, None
        while pages == 0 or after is not None:
            page = await parts.todo.page(ADA, after, 100)
            assert page.tasks == ()
            pages, after = pages + 1, page.next
        assert pages == 3


@pytest.mark.parametrize("cursor", ["", "x", "1" * 42 + "u", "0" * 16])
async def test_a_cursor_that_no_page_gave_is_refused(valkey_url: str, cursor: str) -> None:
    async with connected(valkey_url) as parts:
        with pytest.raises(Malformed):
            await parts.todo.page(ADA, cursor, 1)


async def test_tables_that_were_never_opened_or_are_damaged_wait_for_nobody(store: Redis, valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        (whole, damaged) = await playing(parts, 2)
        await store.zadd(seats_key(ADA), {new_id(): 1})
        await store.delete(keys_of(f"table:{damaged}").stream)
        assert [task.table for task in (await parts.todo.page(ADA, None, 10)).tasks] == [whole]


async def test_what_comes_after_its_number_tells_of_all_that_has_changed_since(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        filling = InboxFilling(parts.log, parts.inboxes)
        table = await opened(parts)
        await seated(parts, table, ADA)
        await filling.look(stream_of(table), 0)
        page = await parts.todo.page(ADA, None, 10)
        assert (page.tasks, page.number) == ((), 1)
        await seated(parts, table, *PEOPLE[1:])
        await filling.look(stream_of(table), 0)
        assert (await parts.inboxes.page(ADA, page.number, 10)).notices[0].version == 6


async def asked(parts: Service, wire: Wire) -> tuple[Page, int]:
    """Return what waits for Ada, and in how many pieces the store was asked for that."""
    client = dial(wire.url)
    log = Log(client)
    asking = Todo(Attendance(client), Inboxes(client), log, parts.games)
    await asking.page(ADA, None, 1)  # connects
    await log.ping()
    before = wire.chunks["request"]
    page = await asking.page(ADA, None, 500)
    pieces = wire.chunks["request"] - before
    await log.close()
    await client.aclose()
    return page, pieces


async def test_many_tables_cost_as_many_round_trips_as_few(valkey_url: str, tmp_path: Path) -> None:
    async with connected(valkey_url) as parts, Wire(valkey_url, tmp_path / "w") as wire:
        for _ in range(60):
            await seated(parts, await opened(parts, *[ANYONE] * 4), ADA)
        page, pieces = await asked(parts, wire)
        assert len(page.tasks) > 5
        # Two beside each other, what was noted of the tables, and what has come since.
        assert pieces == 4


async def test_a_table_that_is_noted_to_have_ended_or_to_be_given_up_is_not_read_again(
    valkey_url: str, tmp_path: Path
) -> None:
    async with connected(valkey_url) as parts, Wire(valkey_url, tmp_path / "w") as wire:
        filling = InboxFilling(parts.log, parts.inboxes)
        for resigning in range(1, 5):
            table = await opened(parts)
            await seated(parts, table, *PEOPLE)
            for player in PEOPLE[:resigning]:
                await parts.tables.act(Asked(player, GAME, table.id), Resign())
            await moved(parts, table)
            await filling.look(stream_of(table), 0)
        page, pieces = await asked(parts, wire)
        assert page.tasks == ()
        assert pieces == 3
