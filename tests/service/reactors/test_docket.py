"""The docket as the reactor keeps it from the streams, and as arbiters page through it."""

import asyncio

import pytest

from projections.docket import OpenDispute
from service.disputes import Dispute, Rule
from service.docket import Docket
from service.errors import Malformed
from service.game import AnyTable, Command
from service.parts import Service
from service.reactors.docket import DocketKeeping
from service.streams import keys_of
from service.tables import Asked
from tests.service.reactors.matches import GAME, connected, no_sleep, opened, pursuing, seated, stream_of

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("store")]

PEOPLE = [letter * 26 for letter in "abcde"]
JUDGE = "j" * 26
DISPUTE = Dispute(first=1, last=2, reason="rules")


async def act(parts: Service, table: AnyTable, player: str, command: Command) -> None:
    await parts.tables.act(Asked(player, GAME, table.id), command)


async def contested(parts: Service, *players: str) -> AnyTable:
    """Return a table in play that these players have disputed, in their order."""
    table = await opened(parts)
    await seated(parts, table, *PEOPLE)
    for player in players:
        await act(parts, table, player, DISPUTE)
    return table


def named(disputes: tuple[OpenDispute, ...]) -> list[tuple[str, int]]:
    return [(dispute.table, dispute.dispute) for dispute in disputes]


async def until_listed(parts: Service, *expected: tuple[str, int]) -> tuple[OpenDispute, ...]:
    """Return what is listed once it is this; it hangs if it never is."""
    async with asyncio.timeout(30):
        while named((found := await parts.docket.page(None, 100)).disputes) != [*expected]:
            pass
    return found.disputes


async def test_a_dispute_is_listed_from_its_filing_to_its_ruling(valkey_url: str) -> None:
    async with connected(valkey_url) as parts, pursuing(parts, keeping(parts), sleep=no_sleep):
        first = await contested(parts, *PEOPLE[:2])
        second = await contested(parts, PEOPLE[0])
        listed = await until_listed(parts, (first.id, 1), (first.id, 2), (second.id, 1))
        assert (listed[1].game, listed[1].player, listed[1].reason) == (GAME, PEOPLE[1], "rules")
        assert (listed[1].first, listed[1].last) == (1, 2)
        await act(parts, first, JUDGE, Rule(dispute=1, verdict="upheld"))
        await until_listed(parts, (first.id, 2), (second.id, 1))
        await act(parts, first, JUDGE, Rule(dispute=2, verdict="annulled"))
        await until_listed(parts, (second.id, 1))


async def test_pages_are_read_on_by_place_though_disputes_go_meanwhile(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        table = await contested(parts, *PEOPLE)
        await keeping(parts).show(stream_of(table))
        first = await parts.docket.page(None, 2)
        assert first.next is not None
        for ruled in (1, 3):
            await act(parts, table, JUDGE, Rule(dispute=ruled, verdict="upheld"))
        await keeping(parts).show(stream_of(table))
        second = await parts.docket.page(first.next, 2)
        assert named((*first.disputes, *second.disputes)) == [(table.id, number) for number in (1, 2, 4, 5)]
        assert second.next is None
        with pytest.raises(Malformed):
            await parts.docket.page("here", 2)


async def test_whoever_comes_late_with_an_older_version_changes_nothing(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        table = await contested(parts, PEOPLE[0])
        await keeping(parts).show(stream_of(table))
        (old,) = (await parts.docket.page(None, 9)).disputes
        await act(parts, table, JUDGE, Rule(dispute=1, verdict="upheld"))
        await keeping(parts).show(stream_of(table))
        await parts.docket.put(table.id, table.version - 1, [old])
        assert (await parts.docket.page(None, 9)).disputes == ()


async def test_what_a_store_has_lost_is_not_listed_any_more(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        table = await contested(parts, *PEOPLE[:2])
        reactor = keeping(parts)
        await reactor.show(stream_of(table))
        last = table.version
        await parts.redis.xdel(keys_of(stream_of(table)).stream, f"{last}-0")
        await reactor.show(stream_of(table))
        assert named((await parts.docket.page(None, 9)).disputes) == [(table.id, 1)]


async def test_a_table_that_nobody_disputes_leaves_nothing_in_the_store(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        await keeping(parts).show(stream_of(await contested(parts)))
        assert await parts.redis.keys("{docket}:*") == []


def keeping(parts: Service) -> DocketKeeping:
    return DocketKeeping(parts.log, Docket(parts.redis))
