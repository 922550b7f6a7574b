"""Cursors in a real store: none goes past what is still to be done."""

import pytest
from redis.asyncio import Redis

from service.leases import Leases
from service.reactors.progress import Progress, asking, cursor_key, told

pytestmark = pytest.mark.anyio

PLACE = 5


async def kept(store: Redis, reactor: str = "bots") -> bytes | str | None:
    return await store.get(cursor_key(PLACE, reactor))


async def grow(store: Redis, *numbers: int) -> None:
    for number in numbers:
        await store.xadd(f"{{{PLACE:02}}}:feed", {"s": "table:x", "v": number}, id=f"{number}-0")


async def begun(store: Redis, reactor: str = "bots") -> Progress:
    """Return the progress of a reactor as it begins."""
    leases = Leases(store)
    try:
        feed, (its,) = told(await leases.ask(*asking(PLACE, reactor)))
    finally:
        await leases.close()
    return Progress(its, feed)


async def save(store: Redis, progress: Progress, reactor: str = "bots") -> None:
    call = progress.saving(cursor_key(PLACE, reactor))
    if call is not None:
        await store.execute_command(*call)  # type: ignore[no-untyped-call] # redis-py has not annotated it
        progress.saved()


async def test_a_partition_whose_streams_are_still_looked_at_keeps_no_cursor(store: Redis) -> None:
    await grow(store, 1, 2)
    progress = await begun(store)
    assert progress.lost
    looking = progress.open(None)
    # Hints may come before all has been looked at, and be done with.
    progress.read = "3-0"
    progress.close(progress.open("2-0"))
    await save(store, progress)
    assert await kept(store) is None
    progress.close(looking)
    await save(store, progress)
    assert await kept(store) == b"3-0"


async def test_a_look_at_all_that_finds_work_after_a_hint_came_keeps_no_cursor(store: Redis) -> None:
    await grow(store, 1)
    progress = await begun(store)
    hint = progress.open("1-0")
    found = progress.open(None)
    progress.read = "2-0"
    for ticket, cursor in ((hint, None), (found, b"2-0")):
        progress.close(ticket)
        await save(store, progress)
        assert await kept(store) == cursor


async def test_the_cursor_stays_before_the_first_hint_that_is_open(store: Redis) -> None:
    progress = await begun(store)
    tickets = [progress.open(f"{number}-0") for number in range(4)]
    progress.read = "9-0"
    for closed, cursor in ((1, "0-0"), (0, "2-0"), (3, "2-0"), (2, "9-0")):
        progress.close(tickets[closed])
        await save(store, progress)
        assert await kept(store) == cursor.encode()


async def test_a_cursor_beyond_the_end_of_its_feed_is_lost_and_never_believed_again(store: Redis) -> None:
    await grow(store, 1, 2, 3)
    await save(store, await begun(store))
    assert await kept(store) == b"3-0"
    # As after a failover to a replica that lacks the last hint, where the cursor was kept once more.
    await store.delete(f"{{{PLACE:02}}}:feed")
    await grow(store, 1, 2)
    again = await begun(store)
    looking = again.open(None)
    assert (again.lost, again.read) == (True, "2-0")
    await save(store, again)
    # It is cut off before it has looked at all, and the feed grows past where the cursor was.
    await grow(store, 3, 4)
    third = await begun(store)
    assert (third.lost, third.read) == (True, "4-0")
    again.close(looking)


async def test_another_process_goes_on_from_the_cursor_while_the_feed_still_holds_it(store: Redis) -> None:
    await grow(store, 1, 2, 3)
    first = await begun(store)
    first.read = "2-0"
    await save(store, first)
    for trimmed, lost, read in (("1-0", False, "2-0"), ("2-0", False, "2-0"), ("3-0", True, "3-0")):
        await store.xtrim(f"{{{PLACE:02}}}:feed", minid=trimmed, approximate=False)
        progress = await begun(store)
        assert (progress.lost, progress.read) == (lost, read)


async def test_a_cursor_that_has_not_moved_is_not_written(store: Redis) -> None:
    await grow(store, 1)
    await save(store, await begun(store))
    assert (await begun(store)).saving("key") is None


async def test_a_write_that_failed_is_made_again(store: Redis) -> None:
    await grow(store, 1)
    progress = await begun(store)
    assert progress.saving("key") == progress.saving("key") == ("SET", "key", "1-0")


async def test_reactors_keep_cursors_of_their_own(store: Redis) -> None:
    await grow(store, 1)
    await save(store, await begun(store))
    assert (await begun(store, "lobby")).lost
    assert not (await begun(store)).lost
