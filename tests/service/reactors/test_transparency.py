"""The reactor of the transparency log: what has ended is logged, once, and nothing else is."""

import pytest

from service.app import Service
from service.reactors.transparency import EndLogging
from service.referee import Abandon
from service.tables import Asked
from tests.service.reactors.matches import GAME, HOST, connected, opened, stream_of

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
