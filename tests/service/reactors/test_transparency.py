"""The reactor of the transparency log: what has ended is logged, once, and nothing else is."""

import pytest

from service.disputes.commands import Dispute, Rule
from service.parts import Service
from service.reactors.transparency import EndLogging
from service.referee import Abandon, Resign
from service.tables import Asked
from tests.service.reactors.matches import ADA, GAME, HOST, connected, opened, seated, stream_of

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("store")]


def logging(parts: Service) -> EndLogging:
    return EndLogging(parts.log, parts.transparency)


async def test_a_table_is_logged_when_it_has_ended_and_once(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        table = await opened(parts)
        reactor = logging(parts)
        await reactor.look(stream_of(table), 0)
        assert await parts.transparency.size() == 0
        await parts.tables.act(Asked(HOST, GAME, table.id), Abandon())
        ended = await parts.tables.look(Asked(HOST, GAME, table.id))
        for again in (reactor, logging(parts), reactor):
            await again.look(stream_of(table), 0)
        leaves = (await parts.transparency.leaves(0, 10)).leaves
        assert [(leaf.stream, leaf.version, leaf.head) for leaf in leaves] == [
            (stream_of(table), ended.version, ended.head.hex())
        ]
        assert (await parts.transparency.inclusion(stream_of(table), ended.version)).holds()


async def test_what_a_ruling_adds_after_the_end_is_logged_too(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        table = await opened(parts, *["anyone/1"] * 4)
        await seated(parts, table, ADA)
        asked = Asked(ADA, GAME, table.id)
        await parts.tables.act(asked, Resign())
        reactor = logging(parts)
        await reactor.look(stream_of(table), 0)
        ended = (await parts.tables.look(asked)).version
        await parts.tables.act(asked, Dispute(first=1, last=ended, reason="mistake"))
        await parts.tables.act(Asked("r" * 26, GAME, table.id), Rule(dispute=1, verdict="annulled"))
        await reactor.look(stream_of(table), 0)
        versions = [ended, ended + 1, ended + 2]
        assert [leaf.version for leaf in (await parts.transparency.leaves(0, 10)).leaves] == versions
        for version in versions:
            assert (await parts.transparency.inclusion(stream_of(table), version)).holds()


async def test_no_version_after_the_end_is_left_out_however_late_it_is_looked_at(valkey_url: str) -> None:
    async with connected(valkey_url) as parts:
        table = await opened(parts, *["anyone/1"] * 4)
        await seated(parts, table, ADA)
        asked = Asked(ADA, GAME, table.id)
        await parts.tables.act(asked, Resign())
        ended = (await parts.tables.look(asked)).version
        await parts.tables.act(asked, Dispute(first=1, last=ended, reason="mistake"))
        for reactor in (logging(parts), logging(parts)):
            await reactor.look(stream_of(table), 0)
        assert [leaf.version for leaf in (await parts.transparency.leaves(0, 10)).leaves] == [ended, ended + 1]
