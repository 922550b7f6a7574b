"""The lobby's changes over a real store: who applies them to a copy has the list, wherever it was cut off."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import aclosing

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from redis.asyncio import Redis

import service.changes
import service.lobby
from projections.lobby import Summary
from service.changes import Changes, Frame, LobbyAt, LobbyGone, LobbyReset, LobbyTable
from service.lobby import Filter, Lobby
from service.log import Log
from tests.lobbies import House, Wish, put, wished
from tests.sizes import sized

pytestmark = pytest.mark.anyio

_decoder: "msgspec.json.Decoder[LobbyTable | LobbyGone | LobbyReset | LobbyAt]" = msgspec.json.Decoder(
    LobbyTable | LobbyGone | LobbyReset | LobbyAt
)
frame_of = _decoder.decode


@pytest.fixture
def lobby(store: Redis) -> Lobby:
    return Lobby(store)


@pytest.fixture
async def changes(lobby: Lobby, log: Log) -> AsyncIterator[Changes]:
    changes = Changes(lobby, log)
    yield changes
    await changes.close()


class Client:
    """Keeps a list of the tables that it wants as the page for developers says."""

    def __init__(self, lobby: Lobby, wish: Wish) -> None:
        self._lobby = lobby
        self._wish = wish
        self.tables: dict[str, Summary] = {}
        self.cursor = ""
        self.resets = 0

    async def fetch(self, *between: Summary) -> None:
        """Fetch the list, while these come in between its pages."""
        first = page = await self._lobby.tables(self._wish.filter, None, 3)
        found = [*page.tables]
        if between:
            await put(self._lobby, *between)
        while page.next is not None:
            page = await self._lobby.tables(self._wish.filter, page.next, 3)
            found += page.tables
        self.tables = {summary.table: summary for summary in found}
        self.cursor = first.change

    async def take(self, frame: Frame) -> None:
        """Do what a frame says."""
        told = frame_of(frame.data)
        self.cursor = told.cursor
        assert (told.cursor, told.__struct_config__.tag) == (frame.place, frame.kind)
        match told:
            case LobbyTable(_, summary):
                known = self.tables.get(summary.table)
                if known is None or known.version <= summary.version:
                    self.tables[summary.table] = summary
            case LobbyGone(_, table, version):
                known = self.tables.get(table)
                if known is not None and known.version <= version:
                    del self.tables[table]
            case LobbyReset(cursor):
                self.resets += 1
                await self.fetch()
                self.cursor = cursor
            case LobbyAt():
                pass


async def follow(changes: Changes, client: Client, wish: Wish, until: str, most: int = 10_000) -> None:
    """Let a client follow until it is at a change, or has had so many frames."""
    if client.cursor == until:
        return
    async with asyncio.timeout(30), aclosing(await changes.follow(wish.filter, client.cursor)) as frames:
        async for frame in frames:
            await client.take(frame)
            most -= 1
            if not most or client.cursor == until:
                return


@given(seed=st.integers(0, 2**32))
@settings(max_examples=sized(15, 60, 400), suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_who_applies_what_comes_has_the_list_wherever_it_was_cut_off(
    lobby: Lobby, changes: Changes, store: Redis, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    await store.flushall()
    # Every change that is not wanted says where it stands: so it is known how far a client has come.
    monkeypatch.setattr(service.changes, "UNWANTED", 1)
    monkeypatch.setattr(service.lobby, "PAGE", random.Random(seed).choice([1, 2, 100]))
    house = House(random.Random(seed))
    chance = house.chance
    await put(lobby, *(house.move() for _ in range(20)))
    wishes = [wished(house) for _ in range(3)]
    clients = [Client(lobby, wish) for wish in wishes]
    for client in clients:
        await client.fetch(*(house.move() for _ in range(3)))
    for _ in range(4):
        following = [
            follow(changes, client, wish, "", most=chance.randint(1, 12))
            for client, wish in zip(clients, wishes, strict=True)
        ]
        await asyncio.gather(put(lobby, *(house.move() for _ in range(15))), *following)
    newest = await lobby.newest_change()
    for client, wish in zip(clients, wishes, strict=True):
        await follow(changes, client, wish, newest)
        expected = {summary.table: summary for summary in house.live if wish.is_met(summary)}
        assert client.tables == expected
        assert client.resets == 0


async def test_a_table_that_is_not_wanted_any_more_is_told_as_gone_and_no_other_is(
    lobby: Lobby, changes: Changes
) -> None:
    house = House(random.Random(1))
    wish = Wish(status="open", open_seats=1)
    shown: set[str] = set()
    await put(lobby, house.move())
    start = await lobby.newest_change()
    shown.update(summary.table for summary in house.live if wish.is_met(summary))
    for _ in range(150):
        await put(lobby, house.move())
    told = gone = 0
    async with asyncio.timeout(30), aclosing(await changes.follow(wish.filter, start)) as frames:
        async for frame in frames:
            change = frame_of(frame.data)
            if isinstance(change, LobbyTable):
                assert wish.is_met(change.summary)
                shown.add(change.summary.table)
            elif isinstance(change, LobbyGone):
                shown.remove(change.table)
                gone += 1
            told += 1
            if shown == {summary.table for summary in house.live if wish.is_met(summary)} and told > 60:
                break
    assert gone > 10


async def test_who_comes_from_a_place_that_is_not_kept_is_told_to_begin_anew(
    lobby: Lobby, log: Log, store: Redis
) -> None:
    house = House(random.Random(2))

    async def first(since: str) -> Frame:
        # As another process has it, which remembers nothing.
        changes = Changes(lobby, log)
        async with asyncio.timeout(20), aclosing(await changes.follow(Filter(), since)) as frames:
            async for frame in frames:
                return frame
        raise AssertionError

    await put(lobby, house.move())
    assert (await first("0-0")).kind == "table"
    old = await lobby.newest_change()
    summary = house.move()
    await put(lobby, summary)
    assert (await first(old)).kind in {"table", "gone"}
    newest = await lobby.newest_change()
    # It was cut down to what is newest, as the cap does, or came back without its last.
    await store.xtrim("{lobby}:changes", maxlen=1, approximate=False)
    for since in ("0-0", old, f"{newest[:-1]}9", "999999999999999-0", "1-1"):
        assert await first(since) == ("reset", newest, b'{"type":"reset","cursor":"%b"}' % newest.encode()), since


async def test_a_reader_whose_place_is_lost_while_it_waits_begins_anew(
    lobby: Lobby, changes: Changes, store: Redis
) -> None:
    house = House(random.Random(3))
    await put(lobby, house.move())
    async with asyncio.timeout(20), aclosing(await changes.follow(Filter(), None)) as frames:
        await put(lobby, house.opened())
        assert (await anext(aiter(frames))).kind == "table"
        coming = asyncio.ensure_future(anext(aiter(frames)))
        await store.ping()
        await store.delete("{lobby}:changes")
        await put(lobby, house.move())
        assert (await coming).kind == "reset"


async def test_all_made_anew_is_told_and_then_each_table(lobby: Lobby, changes: Changes) -> None:
    house = House(random.Random(4))
    await put(lobby, *(house.move() for _ in range(30)))
    async with asyncio.timeout(20), aclosing(await changes.follow(Filter(), None)) as frames:
        await lobby.clear()
        await put(lobby, *house.live)
        got = [frame_of((await anext(aiter(frames))).data) for _ in range(1 + len(house.live))]
    assert isinstance(got[0], LobbyReset)
    assert {one.summary.table for one in got[1:] if isinstance(one, LobbyTable)} == {one.table for one in house.live}


async def test_what_changes_nothing_is_told_to_nobody(lobby: Lobby) -> None:
    house = House(random.Random(5))
    summary = house.move()
    for _ in range(3):
        await put(lobby, summary)
    over = house.ended(summary)
    for _ in range(3):
        await put(lobby, over)
    assert [(one.version, one.now) for one in await lobby.changes("0-0")] == [(1, summary), (over.version, None)]


async def test_who_wants_none_of_many_changes_is_told_where_it_is(lobby: Lobby, changes: Changes) -> None:
    house = House(random.Random(6))
    async with asyncio.timeout(20), aclosing(await changes.follow(Filter(game="none"), None)) as frames:
        await put(lobby, *(house.opened() for _ in range(service.changes.UNWANTED)))
        frame = await anext(aiter(frames))
    assert (frame.kind, frame.place) == ("at", await lobby.newest_change())


async def test_a_hundred_readers_at_one_place_read_it_once(lobby: Lobby, changes: Changes, store: Redis) -> None:
    async def reads() -> int:
        return int((await store.info("commandstats"))["cmdstat_xrange"]["calls"])

    house = House(random.Random(7))
    await put(lobby, house.move())
    readers = [await changes.follow(Filter(), None) for _ in range(100)]
    firsts = [asyncio.ensure_future(anext(aiter(reader))) for reader in readers]
    await asyncio.sleep(0)
    before = await reads()
    for number in range(5):
        await put(lobby, house.opened())
        async with asyncio.timeout(20):
            frames = await asyncio.gather(*firsts)
        assert len({frame.place for frame in frames}) == 1
        if number < 4:
            firsts = [asyncio.ensure_future(anext(aiter(reader))) for reader in readers]
    assert await reads() - before <= 12
    for reader in readers:
        await reader.aclose()
