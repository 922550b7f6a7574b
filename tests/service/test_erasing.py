"""Erasing an account over a real store: all of it goes, whenever it was cut off before."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from random import Random

import msgspec
import pytest
from redis.asyncio import Redis

from service import bots, games
from service.attendance import Attendance
from service.auth.accounts import ERASED_KEY, Accounts
from service.auth.scopes import SIGN_UP
from service.auth.tokens import Grant, Tokens
from service.clock import utc_ms
from service.disputes import Dispute
from service.erasing import Erasing
from service.errors import NotFound, Unauthenticated
from service.game import AnyTable, Command
from service.inbox import Inboxes
from service.log import Log
from service.presence import Presence
from service.referee import Abandon, Create, Leave, Resign, Sit
from service.streams import genesis, head_after, table_stream
from service.tables import Asked, Tables
from service.texts import Texts, Writing
from tests.stores import asking

pytestmark = pytest.mark.anyio

CHINKWAY = games.find().ruled("chinkway/1")
CREATE = Create(
    game="chinkway",
    ruleset="chinkway/1",
    seats=5,
    options=msgspec.to_builtins(CHINKWAY.projection.options()),
    start="full",
)


@dataclass
class House:
    """The parts of a process, on a store that others may be on too."""

    log: Log
    tables: Tables
    attendance: Attendance
    presence: Presence
    inboxes: Inboxes
    texts: Texts
    accounts: Accounts
    tokens: Tokens

    @property
    def erasing(self) -> Erasing:
        return Erasing(
            self.tables, self.attendance, self.presence, self.inboxes, self.texts, self.accounts, self.tokens
        )

    async def act(self, player: str, table: str, command: Command) -> None:
        await self.tables.act(Asked(player, "chinkway", table), command)

    async def opened(self, host: str, *sitting: str) -> str:
        """Open a table at which these sit down, the last seats taken by bots that start play if these fill it."""
        table = (await self.tables.create(host, CHINKWAY, CREATE, None)).table.id
        for player in sitting:
            await self.act(player, table, Sit())
        return table

    async def look(self, table: str) -> AnyTable:
        return await self.tables.reached(table_stream(table), 0)


@pytest.fixture
async def moved_in(store: Redis) -> AsyncIterator[Callable[[], House]]:
    """Give a way to start a process on the store."""
    logs: list[Log] = []

    def start(clock: Callable[[], int] = utc_ms) -> House:
        logs.append(Log(store))
        attendance, presence = Attendance(store), Presence(store)
        tables = Tables(
            logs[-1],
            games.find(),
            bots.find(),
            secret=bytes(32),
            clock=clock,
            attendance=attendance,
            presence=presence,
        )
        return House(
            logs[-1], tables, attendance, presence, Inboxes(store), Texts(store), Accounts(store), Tokens(store)
        )

    yield start
    for log in logs:
        await log.close()


@dataclass
class Life:
    """An account, its tokens' secrets, and tables of every kind that it has a part in."""

    account: str
    secrets: list[str]
    hosted: str
    left: str
    played: str
    ended: str

    @property
    def tables(self) -> tuple[str, ...]:
        return self.hosted, self.left, self.played, self.ended


async def lived(house: House) -> Life:
    """Open an account that hosts a table, sits at another, plays at a third and has played at a fourth."""
    people = [(await house.accounts.create(name)).id for name in ("Ada", "Bob", "Cyd", "Dan", "Eve")]
    ada, bob = people[:2]
    issued = [await house.tokens.issue(ada, Grant(SIGN_UP)) for _ in range(3)]
    ended = await house.opened(bob, *people)
    for player in people[1:]:
        await house.act(player, ended, Resign())
    life = Life(
        account=ada,
        secrets=[one.secret for one in issued],
        hosted=await house.opened(ada, ada, bob),
        left=await house.opened(bob, bob, ada),
        played=await house.opened(bob, *people),
        ended=ended,
    )
    await dispute(house, ada, life.played)
    await house.presence.save(house.tables.has_part)
    assert None not in (await house.presence.last_seen(life.played, people)).values()
    return life


async def dispute(house: House, player: str, table: str) -> None:
    """Dispute how a table began, in words."""
    async with house.texts.kept(Writing(player, "He showed me his hand.", b"{}", None)) as text:
        await house.act(player, table, Dispute(first=1, last=2, reason="conduct", text=text))


async def assert_nothing_is_left(house: House, life: Life, store: Redis) -> None:
    hosted, left, played, ended = [await house.look(table) for table in life.tables]
    assert (hosted.status, hosted.outcome) == ("ended", "abandoned")
    assert (left.status, left.seat_of(life.account)) == ("open", None)
    assert (played.status, played.resigned) == ("playing", (0,))
    assert ended.outcome == "finished"
    with pytest.raises(NotFound):
        await house.accounts.find(life.account)
    for secret in life.secrets:
        with pytest.raises(Unauthenticated):
            await house.tokens.identify(secret)
    assert played.disputes[0].text is not None
    assert await house.texts.find([played.disputes[0].text]) == {}
    keys = [key.decode() async for key in store.scan_iter()]
    assert [key for key in keys if life.account in key] == []
    assert await house.accounts.is_condemned(life.account)


async def test_an_erased_account_gives_everything_up(moved_in: Callable[[], House], store: Redis) -> None:
    house = moved_in()
    life = await lived(house)
    assert await house.erasing.erase(life.account) == 4
    await assert_nothing_is_left(house, life, store)


async def test_what_it_gives_up_is_decided_like_any_command(moved_in: Callable[[], House]) -> None:
    house = moved_in()
    life = await lived(house)
    await house.erasing.erase(life.account)
    for table, command in ((life.hosted, Abandon), (life.left, Leave), (life.played, Resign)):
        stored = (await house.log.read(table_stream(table)))[-1]
        entry = CHINKWAY.projection.decode(stored.e)
        assert entry.by.player == life.account
        assert msgspec.json.decode(entry.command)["type"] == command.__struct_config__.tag


async def test_every_chain_still_verifies(moved_in: Callable[[], House]) -> None:
    house = moved_in()
    life = await lived(house)
    await house.erasing.erase(life.account)
    for table in life.tables:
        head = genesis(table_stream(table))
        for stored in await house.log.read(table_stream(table)):
            head = head_after(head, stored.e)
            assert stored.h == head


STEPS: list[Callable[[House, Life], Awaitable[object]]] = [
    lambda house, life: house.accounts.condemn(life.account),
    lambda house, life: house.tables.withdraw(life.account, life.hosted),
    lambda house, life: house.tables.withdraw(life.account, life.left),
    lambda house, life: house.tables.withdraw(life.account, life.played),
    lambda house, life: house.tables.withdraw(life.account, life.ended),
    lambda house, life: house.attendance.forget(life.account),
    lambda house, life: house.inboxes.forget(life.account),
    lambda house, life: house.texts.forget(life.account),
    lambda house, life: house.presence.forget(life.account),
    lambda house, life: house.accounts.forget(life.account),
    lambda house, life: house.tokens.end_all(life.account),
]


@pytest.mark.parametrize("done", range(len(STEPS) + 1))
async def test_a_repeat_finishes_what_was_cut_off(moved_in: Callable[[], House], store: Redis, done: int) -> None:
    house = moved_in()
    life = await lived(house)
    for step in STEPS[:done]:
        await step(house, life)
    if done < len(STEPS):
        assert (await moved_in().tokens.identify(life.secrets[0])).account == life.account
    await moved_in().erasing.erase(life.account)
    await assert_nothing_is_left(moved_in(), life, store)


async def test_a_cancelled_erasing_is_finished_by_a_repeat(moved_in: Callable[[], House], store: Redis) -> None:
    rng = Random(5)
    for _ in range(8):
        house = moved_in()
        life = await lived(house)
        erasing = asyncio.ensure_future(house.erasing.erase(life.account))
        for _ in range(rng.randrange(60)):
            await store.ping()
        erasing.cancel()
        await asyncio.wait([erasing])
        await moved_in().erasing.erase(life.account)
        await assert_nothing_is_left(moved_in(), life, store)


async def test_who_sits_down_meanwhile_keeps_no_seat(moved_in: Callable[[], House]) -> None:
    rng = Random(7)
    for _ in range(8):
        here, there = moved_in(), moved_in()
        ada, bob = [(await here.accounts.create(name)).id for name in ("Ada", "Bob")]
        tables = [await here.opened(bob, bob) for _ in range(6)]
        acting = [there.act(ada, table, Sit()) for table in tables]
        acting += [there.opened(ada) for _ in range(4)]  # type: ignore[misc] # what they return is not looked at
        erasing = here.erasing.erase(ada)
        rng.shuffle(acting)
        done = await asyncio.gather(*acting[:5], erasing, *acting[5:], return_exceptions=True)
        assert all(not isinstance(one, BaseException) or isinstance(one, Unauthenticated) for one in done), done
        for stream in [table_stream(table) for table in tables] + await _all_streams(here.log):
            table = await here.tables.reached(stream, 0)
            assert table.seat_of(ada) is None
            assert table.host != ada or table.status == "ended"


@pytest.mark.parametrize("part", ["seat", "table"])
async def test_whose_erasing_begins_in_mid_command_gives_up_what_it_got(
    moved_in: Callable[..., House], valkey_url: str, part: str
) -> None:
    """The erasing has looked at the table just before the command went in."""
    house = moved_in()
    ada, bob = [(await house.accounts.create(name)).id for name in ("Ada", "Bob")]
    table = await house.opened(bob)

    def late() -> int:
        # A decision is dated after the account was let in, and before the append.
        with asking(valkey_url) as client:
            client.zadd(ERASED_KEY, {ada: 1}, nx=True)
        return utc_ms()

    there = moved_in(late)
    with pytest.raises(Unauthenticated):
        await (there.act(ada, table, Sit()) if part == "seat" else there.opened(ada))
    (changed,) = [stream for stream in await _all_streams(house.log) if part == "seat" or stream != table_stream(table)]
    entries = [CHINKWAY.projection.decode(stored.e) for stored in await house.log.read(changed)]
    assert [entry.by.player for entry in entries][-2:] == [ada, ada]
    state = await house.tables.reached(changed, 0)
    assert (state.seat_of(ada), state.status) == (None, "open" if part == "seat" else "ended")


async def test_an_erased_account_takes_no_seat_and_opens_no_table(moved_in: Callable[[], House], store: Redis) -> None:
    house = moved_in()
    ada, bob = [(await house.accounts.create(name)).id for name in ("Ada", "Bob")]
    table = await house.opened(bob)
    await house.erasing.erase(ada)
    with pytest.raises(Unauthenticated):
        await house.act(ada, table, Sit())
    with pytest.raises(Unauthenticated):
        await house.opened(ada)
    assert (await house.look(table)).version == 1
    assert [key async for key in store.scan_iter(f"*{ada}*")] == []


async def _all_streams(log: Log) -> list[str]:
    return [stream for partition in range(64) for stream in await log.streams(partition)]
