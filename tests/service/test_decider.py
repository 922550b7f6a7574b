"""Deciding on a stream, with a real store and a state so small that the tests can see all of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, cast

import msgspec
import pytest
from msgspec import Meta
from redis.asyncio import Redis

from events.base import By, Entry, Event
from service.archive import packed
from service.decider import Decider, Draft
from service.embedded import Embedded
from service.errors import Archived, Damaged, NotFound, Stale, StoreDown, Unconfirmed
from service.folding import Adding
from service.game import Refused
from service.ids import key_of, new_id
from service.log import Log
from service.metrics import instruments
from service.streams import Stored, head_after, keys_of, table_stream
from tests.archives import archiving
from tests.logs import logged, stopped

pytestmark = pytest.mark.anyio


class Added(Event, frozen=True, tag="sum.added"):
    number: Annotated[int, Meta(le=10**9)]


class Sum(msgspec.Struct):
    version: int = 0
    head: bytes = b""
    at: int = 0
    total: int = 0


class Sums:
    """Adds up the numbers of a stream."""

    def empty(self, stream: str) -> Sum:  # noqa: ARG002 a fold is asked with the stream's name
        return Sum()

    def read(self, state: Sum, stored: Stored) -> Adding:
        entry = _decode(stored.e)

        def add() -> None:
            assert entry.version == state.version + 1
            state.version, state.head, state.at = stored.version, stored.h, entry.at
            state.total += sum(event.number for event in entry.events)

        return add


_decode = msgspec.json.Decoder(Entry[msgspec.Raw, Added]).decode
ASKER = By(service="system")


@pytest.fixture
def decider(log: Log) -> Decider[Sum]:
    return Decider(log, Sums())


def adding(number: int, *, at_most: int = 10**9) -> Callable[[Sum, int], Draft]:
    """Draft the addition of a number, refused where the total would pass a limit."""

    def decide(state: Sum, at: int) -> Draft:
        if state.total + number > at_most:
            raise Refused("table_full")
        return Draft(at, ASKER, {"type": "add", "number": number}, (Added(number),))

    return decide


async def _created(decider: Decider[Sum], stream: str) -> Stored:
    return (await decider.decide(stream, adding(0), create=True)).stored


async def test_a_decision_is_stored_chained_and_folded(decider: Decider[Sum], stream: str, log: Log) -> None:
    await _created(decider, stream)
    decided = await decider.decide(stream, adding(5))
    first, second = await log.read(stream)
    assert decided.stored == second
    assert second.h == head_after(first.h, second.e)
    assert (decided.state.version, decided.state.total) == (2, 5)
    assert decided.draft is not None


async def test_the_clock_never_runs_back_within_a_stream(log: Log, stream: str) -> None:
    times = iter([2_000, 1_000, 3_000])
    decider = Decider(log, Sums(), clock=lambda: next(times))
    await decider.decide(stream, adding(1), create=True)
    await decider.decide(stream, adding(1))
    await decider.decide(stream, adding(1))
    assert [_decode(stored.e).at for stored in await log.read(stream)] == [2_000, 2_000, 3_000]


async def test_a_stream_without_entries_is_not_found(decider: Decider[Sum], stream: str) -> None:
    with pytest.raises(NotFound):
        await decider.decide(stream, adding(1))
    with pytest.raises(NotFound):
        await decider.newest(stream)


async def test_a_cold_stream_is_read_once_however_many_ask_for_it(log: Log, decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    for number in range(30):
        await decider.decide(stream, adding(number))
    cold, before = Decider(log, Sums()), decisions_read()
    states = await asyncio.gather(*(cold.newest(stream) for _ in range(50)))
    assert {id(state) for state in states} == {id(states[0])}
    # The others ask what came after, and see that the last of it stands.
    assert decisions_read() - before <= 31 + 49


def decisions_read() -> float:
    (number,) = instruments["evenfold_decisions_read_total"].series().numbers
    return number[1][0]


async def test_a_stale_state_is_decided_again_on_the_newest(log: Log, decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    other = Decider(log, Sums())
    for number in range(1, 4):
        await other.decide(stream, adding(number))
    decided = await decider.decide(stream, adding(10))
    assert (decided.stored.version, decided.state.total) == (5, 16)


async def test_a_refusal_by_a_stale_state_is_not_the_answer(log: Log, decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    await decider.decide(stream, adding(9))
    await Decider(log, Sums()).decide(stream, adding(-9))
    assert (await decider.decide(stream, adding(5, at_most=10))).state.total == 5


async def test_a_refusal_by_the_newest_state_is_the_answer_and_changes_nothing(
    log: Log, decider: Decider[Sum], stream: str
) -> None:
    await _created(decider, stream)
    await Decider(log, Sums()).decide(stream, adding(9))
    with pytest.raises(Refused):
        await decider.decide(stream, adding(5, at_most=10))
    assert len(await log.read(stream)) == 2


async def test_a_key_leads_to_the_decision_it_led_to_before(decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    key = key_of("account", "route", "key")
    first = await decider.decide(stream, adding(1), key=key)
    await decider.decide(stream, adding(2))
    again = await decider.decide(stream, adding(1), key=key)
    assert (again.stored, again.draft) == (first.stored, None)
    assert (await decider.newest(stream)).total == 3


async def test_a_key_is_looked_up_before_a_refusal(decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    key = key_of("account", "route", "key")
    first = await decider.decide(stream, adding(8, at_most=10), key=key)
    again = await decider.decide(stream, adding(8, at_most=10), key=key)
    assert (again.stored, again.draft) == (first.stored, None)


async def test_a_key_outlives_the_process(log: Log, decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    key = key_of("account", "route", "key")
    first = await decider.decide(stream, adding(1), key=key)
    assert (await Decider(log, Sums()).decide(stream, adding(1), key=key)).stored == first.stored


async def test_many_equal_keyed_commands_at_once_are_one_decision(log: Log, stream: str) -> None:
    deciders = [Decider(log, Sums()) for _ in range(4)]
    await _created(deciders[0], stream)
    key = key_of("account", "route", "key")
    answers = await asyncio.gather(*(deciders[n % 4].decide(stream, adding(1), key=key) for n in range(100)))
    assert {answer.stored for answer in answers} == {answers[0].stored}
    assert sum(answer.draft is not None for answer in answers) == 1
    assert len(await log.read(stream)) == 2


async def test_writers_of_two_processes_lose_nothing_to_each_other(log: Log, stream: str) -> None:
    deciders = [Decider(log, Sums()) for _ in range(2)]
    await _created(deciders[0], stream)

    async def write(writer: int) -> list[int]:
        return [(await deciders[writer % 2].decide(stream, adding(1))).stored.version for _ in range(20)]

    versions = await asyncio.gather(*(write(writer) for writer in range(10)))
    assert sorted(version for mine in versions for version in mine) == list(range(2, 202))
    assert (await Decider(log, Sums()).newest(stream)).total == 200


async def test_who_goes_away_in_mid_append_leaves_it_settled_and_folded(decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    waiting = asyncio.ensure_future(decider.decide(stream, adding(7)))
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await decider.drain()
    assert decider._states[stream].total == 7  # noqa: SLF001 what the cache holds is the fact
    assert (await decider.newest(stream)).version == 2


async def test_a_storm_of_cancelled_commands_gives_nobody_the_answer_of_another(log: Log, stream: str) -> None:
    decider = Decider(log, Sums())
    await _created(decider, stream)
    streams = [table_stream(new_id()) for _ in range(50)]
    await asyncio.gather(*(_created(decider, other) for other in streams))

    async def ask(number: int) -> None:
        decided = await decider.decide(streams[number % 50], adding(number))
        assert [event.number for event in _decode(decided.stored.e).events] == [number]

    asked = [asyncio.ensure_future(ask(number)) for number in range(1_000)]
    for number, task in enumerate(asked):
        if number % 3 == 0:
            asyncio.get_running_loop().call_later(number / 100_000, task.cancel)
    outcomes = await asyncio.gather(*asked, return_exceptions=True)
    assert {type(outcome) for outcome in outcomes} <= {type(None), asyncio.CancelledError}
    await decider.drain()
    for other in streams:
        fresh = await Decider(log, Sums()).newest(other)
        assert (await decider.newest(other)).total == fresh.total


async def test_a_store_that_lost_decisions_is_noticed_and_believed(
    decider: Decider[Sum], stream: str, store: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    await _created(decider, stream)
    await decider.decide(stream, adding(5))
    await _cut(store, keys_of(stream).stream)
    decided = await decider.decide(stream, adding(3))
    assert (decided.stored.version, decided.state.total) == (2, 3)
    assert "lost" in caplog.text


async def test_those_behind_one_who_waited_for_the_store_in_vain_are_told_at_once(
    own_store: Callable[..., Embedded], stream: str
) -> None:
    store = own_store()
    async with logged(store.url, settle_ms=300, timeout_ms=300) as log:
        decider = Decider(log, Sums())
        await _created(decider, stream)
        with stopped(store.pid):
            asked = [asyncio.ensure_future(decider.decide(stream, adding(1))) for _ in range(50)]
            async with asyncio.timeout(10):
                outcomes = await asyncio.gather(*asked, return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [Unconfirmed] + [StoreDown] * 49
        total = (await decider.decide(stream, adding(1))).state.total
        assert total in {1, 2}


async def test_what_could_not_be_read_back_is_not_stored(store: Redis, decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    with pytest.raises(msgspec.ValidationError):
        await decider.decide(stream, adding(10**9 + 1, at_most=10**10))
    assert await store.xlen(keys_of(stream).stream) == 1
    assert (await decider.decide(stream, adding(3))).state.total == 3


async def test_an_entry_that_can_not_be_read_is_damage_and_concerns_its_stream_alone(
    log: Log, decider: Decider[Sum], stream: str
) -> None:
    other = table_stream(new_id())
    await _created(decider, other)
    first = await _created(decider, stream)
    e = first.e.replace(b'"version":1', b'"version":2').replace(b'"number":0', b'"number":"x"')
    await log.append(stream, 1, e, head_after(first.h, e), None, first.h)
    for one in (decider, Decider(log, Sums())):
        with pytest.raises(Damaged):
            await one.newest(stream)
        with pytest.raises(Damaged):
            await one.decide(stream, adding(1))
    assert (await decider.decide(other, adding(3))).state.total == 3


async def test_an_entry_that_no_decision_can_have_led_to_is_damage_too(
    log: Log, decider: Decider[Sum], stream: str
) -> None:
    first = await _created(decider, stream)
    e = first.e.replace(b'"version":1', b'"version":3')
    await log.append(stream, 1, e, head_after(first.h, e), None, first.h)
    for one in (decider, Decider(log, Sums())):
        for _ in range(2):
            with pytest.raises(Damaged):
                await one.newest(stream)


async def test_only_so_many_states_are_kept(log: Log) -> None:
    decider = Decider(log, Sums(), cached=3)
    streams = [table_stream(new_id()) for _ in range(5)]
    for stream in streams:
        await _created(decider, stream)
    assert list(decider._states) == streams[2:]  # noqa: SLF001 what the cache holds is the fact
    assert (await decider.decide(streams[0], adding(4))).state.total == 4


async def test_a_strict_command_is_stale_only_by_the_newest_state(log: Log, decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    await Decider(log, Sums()).decide(stream, adding(1))

    def strict(state: Sum, at: int) -> Draft:
        if state.version != 2:
            raise Stale(2, state.version)
        return Draft(at, ASKER, {"type": "add", "number": 1}, (Added(1),))

    assert (await decider.decide(stream, strict)).stored.version == 3
    with pytest.raises(Stale) as stale:
        await decider.decide(stream, strict)
    assert stale.value.version == 3


async def test_a_past_state_is_folded_up_to_its_version(decider: Decider[Sum], stream: str) -> None:
    await _created(decider, stream)
    for number in (1, 2, 3):
        await decider.decide(stream, adding(number))
    assert [(await decider.at(stream, version)).total for version in (1, 2, 3, 4)] == [0, 1, 3, 6]
    with pytest.raises(NotFound):
        await decider.at(stream, 5)


async def test_an_archived_stream_takes_no_decision_but_remembers_those_it_took(
    valkey_url: str, store: Redis, decider: Decider[Sum], stream: str, tmp_path: Path
) -> None:
    await _created(decider, stream)
    once = await decider.decide(stream, adding(1), key="once")
    async with archiving(valkey_url, tmp_path / "archive") as (made, log):
        stale = Decider(log, Sums())
        assert (await stale.newest(stream)).version == 2
        last = (await decider.decide(stream, adding(2))).stored
        entries = await made.read(stream)
        await made.copy(stream, entries, packed(stream, entries))
        assert await made.bury(stream, last)
        await made.unlink(stream)
        for one in (stale, Decider(log, Sums())):
            with pytest.raises(Archived):
                await one.decide(stream, adding(3))
            assert (await one.newest(stream)).total == 3
            assert (await one.decide(stream, adding(1), key="once")).stored == once.stored
    assert await store.exists(keys_of(stream).stream) == 0


async def _cut(store: Redis, key: str) -> None:
    """Leave only the first entry, as after a failover to a replica that had not got the rest."""
    ((first, fields),) = cast("list[tuple[bytes, dict[Any, Any]]]", await store.xrange(key, count=1))
    await store.delete(key)
    await store.xadd(key, fields, id=first)
