"""Reactors after a failover to a replica that lagged: they see what was lost, and go on from what is there."""

import asyncio
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.embedded import Embedded
from service.game import AnyTable
from service.parts import Service
from service.reactors.run import reactors
from service.tables import Asked
from tests.service.reactors.matches import ADA, GAME, connected, opened, pursuing, seated

pytestmark = pytest.mark.anyio

Replica = dict[bytes | str, bytes]


async def replica_of(store: Redis) -> Replica:
    """Return what a replica holds that has got everything up to now."""
    names = await store.keys("*")
    async with store.pipeline() as calls:  # all of one moment
        for name in names:
            calls.dump(name)
        return dict(zip(names, await calls.execute(), strict=True))


async def fail_over(store: Redis, replica: Replica) -> None:
    """Put a replica's keys in place of the store's, and break every connection."""
    async with store.pipeline() as calls:
        calls.flushall()
        for name, value in replica.items():
            calls.restore(name, 0, value)
        await calls.execute()
    assert await store.client_kill_filter(_type="normal", skipme=True)


async def waits_for_ada(parts: Service, table: AnyTable, version: int) -> AnyTable:
    """Return a table when it has reached a version and waits for Ada."""
    async with asyncio.timeout(20):
        while True:
            now = await parts.tables.look(Asked(ADA, GAME, table.id))
            if now.version >= version and now.seat_of(ADA) in now.to_act:
                return now
            await asyncio.sleep(0.01)


async def listening(store: Redis) -> None:
    """Return when somebody waits for hints over a connection, which a failover will break."""
    async with asyncio.timeout(20):
        while True:
            clients = await store.client_list()
            if any(client["cmd"] == "xread" and "b" in client["flags"] for client in clients):
                return
            await asyncio.sleep(0.01)


async def test_bots_move_again_whose_moves_were_lost(tmp_path: Path) -> None:
    with Embedded(tmp_path, what="a test") as embedded:
        async with connected(embedded.url) as parts, connected(embedded.url) as watching:
            table = await opened(parts, *["anyone/1"] * 4)
            async with pursuing(parts, *reactors(parts)):
                await seated(watching, table, ADA)
                now = await waits_for_ada(watching, table, 2)
                for _ in range(6):
                    command = watching.tables.game_of(now).idle(now.play, now.seat_of(ADA) or 0)
                    moved = (await watching.tables.act(Asked(ADA, GAME, table.id), command)).decision.version
                    # It lags by what the bots move from here on.
                    replica = await replica_of(watching.redis)
                    await waits_for_ada(watching, table, moved)
                    await listening(watching.redis)
                    await fail_over(watching.redis, replica)
                    now = await waits_for_ada(watching, table, moved)
