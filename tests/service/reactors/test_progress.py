"""Cursors in a real store: none goes past what is still to be done."""

import pytest
from redis.asyncio import Redis

from service.ids import PARTITIONS
from service.reactors.progress import Progress

pytestmark = pytest.mark.anyio


async def kept(store: Redis, partition: int) -> bytes | str | None:
    return await store.get(f"{{{partition:02}}}:cursor:bots")


async def grow(store: Redis, partition: int, *numbers: int) -> None:
    for number in numbers:
        await store.xadd(f"{{{partition:02}}}:feed", {"s": "table:x", "v": number}, id=f"{number}-0")


async def begun(store: Redis) -> Progress:
    """Return the progress of a reactor that has looked at everything there is."""
    progress = Progress(store, "bots")
    for ticket in await progress.load():
        progress.close(ticket)
    return progress


async def test_who_is_ended_before_knowing_where_to_go_on_keeps_no_cursor(store: Redis) -> None:
    await Progress(store, "bots").save()
    assert await store.keys("*") == []


async def test_a_partition_whose_streams_are_still_looked_at_keeps_no_cursor(store: Redis) -> None:
    await grow(store, 3, 1, 2)
    progress = Progress(store, "bots")
    lost = await progress.load()
    assert [ticket.partition for ticket in lost] == list(range(PARTITIONS))
    await progress.save()
    assert await store.keys("*:cursor:*") == []
    progress.close(lost[3])
    await progress.save()
    assert await kept(store, 3) == b"2-0"


async def test_the_cursor_stays_before_the_first_hint_that_is_open(store: Redis) -> None:
    progress = await begun(store)
    tickets = [progress.open(5, f"{number}-0") for number in range(4)]
    progress.read[5] = "9-0"
    for closed, cursor in ((1, "0-0"), (0, "2-0"), (3, "2-0"), (2, "9-0")):
        progress.close(tickets[closed])
        await progress.save()
        assert await kept(store, 5) == cursor.encode()


async def test_a_cursor_beyond_the_end_of_its_feed_is_lost(store: Redis) -> None:
    await grow(store, 7, 1, 2, 3)
    first = await begun(store)
    first.read[7] = "3-0"
    await first.save()
    assert 7 not in {ticket.partition for ticket in await Progress(store, "bots").load()}
    # As after a failover to a replica that lacks the last hint, where the cursor was kept once more.
    await store.delete("{07}:feed")
    await grow(store, 7, 1, 2)
    again = Progress(store, "bots")
    assert 7 in {ticket.partition for ticket in await again.load()}
    assert again.read[7] == "2-0"


async def test_another_process_goes_on_from_the_cursor_while_the_feed_still_holds_it(store: Redis) -> None:
    for partition in range(PARTITIONS):
        await grow(store, partition, 1, 2, 3)
    first = await begun(store)
    first.read[7] = "2-0"
    await first.save()
    second = Progress(store, "bots")
    assert await second.load() == []
    assert (second.read[7], second.read[8]) == ("2-0", "3-0")
    await store.xtrim("{07}:feed", minid="2-0", approximate=False)
    assert await Progress(store, "bots").load() == []
    await store.xtrim("{07}:feed", minid="3-0", approximate=False)
    third = Progress(store, "bots")
    assert [ticket.partition for ticket in await third.load()] == [7]
    assert third.read[7] == "3-0"


async def test_reactors_keep_cursors_of_their_own(store: Redis) -> None:
    for partition in range(PARTITIONS):
        await grow(store, partition, 1)
    await (await begun(store)).save()
    assert len(await Progress(store, "lobby").load()) == PARTITIONS
    assert await Progress(store, "bots").load() == []
