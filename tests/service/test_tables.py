"""Tables over a real store: whole matches, and what a restart between any two commands changes."""

from collections.abc import Callable
from random import Random
from typing import Any

import msgspec
import pytest
from redis.asyncio import Redis

from events.base import By, Decision, Event
from events.table import TableEvent
from projections import fold
from projections.table import Table
from service import bots, games
from service.game import AnyTable
from service.log import Log
from service.once import Once
from service.referee import Create, Resign, Sit
from service.streams import table_stream
from service.tables import Asked, Tables

pytestmark = pytest.mark.anyio

GAMES = games.find()
CHINKWAY = GAMES.ruled("chinkway/1")
PEOPLE = tuple(f"{name:0<26}" for name in "abcde")
VIEWERS = (*PEOPLE, "spectator")
CREATE = Create(
    game="chinkway",
    ruleset="chinkway/1",
    seats=5,
    options=msgspec.to_builtins(CHINKWAY.projection.options(deals=5, partners="five")),
    start="full",
)


@pytest.fixture
def tables(log: Log) -> Callable[[], Tables]:
    """Make the tables of a process that has just started; all of them draw the same seed."""
    return lambda: Tables(
        log,
        GAMES,
        bots.find(),
        secret=bytes(32),
        entropy=lambda count: bytes(range(count)),
        clock=lambda: 1_790_000_000_000,
    )


async def _begun(tables: Tables, key: str) -> str:
    """Open a table, its id derived from a key, and seat five people; return its id."""
    done = await tables.create(PEOPLE[0], CHINKWAY, CREATE, Once(PEOPLE[0], "POST /v1/chinkway/tables", key))
    for seat, person in enumerate(PEOPLE):
        await tables.act(Asked(person, "chinkway", done.table.id), Sit(seat=seat, nonce=f"n{seat}"))
    return done.table.id


async def _moved(tables: Tables, table: str, rng: Random) -> bool:
    """Let whoever must act do anything legal; return False when nobody must."""
    to_act = (await tables.look(Asked(PEOPLE[0], "chinkway", table))).to_act
    if not to_act:
        return False
    asked = Asked(PEOPLE[to_act[0]], "chinkway", table)
    await tables.act(asked, rng.choice((await tables.actions(asked)).legal))
    return True


async def test_the_log_of_a_match_refolds_to_what_every_viewer_saw_at_every_version(
    tables: Callable[[], Tables], log: Log
) -> None:
    serving, rng = tables(), Random(11)
    table = await _begun(serving, "refold")
    seen: dict[int, list[bytes]] = {}
    while await _moved(serving, table, rng):
        state = await serving.look(Asked(PEOPLE[0], "chinkway", table))
        seen[state.version] = [msgspec.json.encode(serving.view(state, viewer)) for viewer in VIEWERS]
    assert len(seen) > 250
    again: AnyTable = Table(id=table)
    for stored in await log.read_range(table_stream(table), 1, max(seen)):
        fold.add(CHINKWAY.projection, again, CHINKWAY.projection.decode(stored.e), stored.h)
        if again.version in seen:
            assert [msgspec.json.encode(serving.view(again, viewer)) for viewer in VIEWERS] == seen[again.version]


async def test_what_a_viewer_was_sent_folds_to_what_the_viewer_is_shown(tables: Callable[[], Tables]) -> None:
    serving, rng = tables(), Random(12)
    table = await _begun(serving, "redacted")
    while await _moved(serving, table, rng):
        pass
    decode = msgspec.json.Decoder(Decision[TableEvent | CHINKWAY.projection.events]).decode  # type: ignore[name-defined] # known at run time
    for seat, viewer in enumerate(VIEWERS):
        asked = Asked(viewer, "chinkway", table)
        folded: AnyTable = Table(id=table)
        sent: list[Decision[Event]] = []
        while (page := await serving.decisions(asked, len(sent), 500)).decisions:
            sent += page.decisions
        for decision in sent:
            received = decode(msgspec.json.encode(decision))
            fold.add(CHINKWAY.projection, folded, received, bytes.fromhex(received.head))
            if folded.version % 40 == 0 or folded.status == "ended":
                own = seat if seat < len(PEOPLE) else None
                shown = await serving.view_at(asked, folded.version)
                assert CHINKWAY.projection.view(folded, own) == shown


async def test_a_process_that_starts_anew_before_every_command_changes_nothing(
    tables: Callable[[], Tables], log: Log, store: Redis
) -> None:
    steady, rng = tables(), Random(13)
    table = await _begun(steady, "twin")
    while await _moved(steady, table, rng):
        pass
    kept = await _without_salt(log, table)
    await store.flushall()
    rng = Random(13)
    assert await _begun(tables(), "twin") == table
    while await _moved(tables(), table, rng):
        pass
    assert await _without_salt(log, table) == kept


async def test_a_resignation_in_mid_match_is_decided_alike_after_a_restart(tables: Callable[[], Tables]) -> None:
    table = await _begun(tables(), "resigned")
    rng = Random(14)
    for seat in (4, 2):
        for _ in range(30):
            await _moved(tables(), table, rng)
        await tables().act(Asked(PEOPLE[seat], "chinkway", table), Resign())
    while await _moved(tables(), table, rng):
        pass
    ended = await tables().look(Asked(PEOPLE[0], "chinkway", table))
    assert (ended.outcome, ended.resigned) == ("finished", (4, 2))
    assert ended.places is not None
    assert (ended.places[4], ended.places[2]) == (5, 4)


async def test_a_bot_acts_through_the_same_door(tables: Callable[[], Tables]) -> None:
    serving = tables()
    command = msgspec.structs.replace(CREATE, bots=("anyone/1",) * 5)
    done = await serving.create(PEOPLE[0], CHINKWAY, command, None)
    (seat,) = done.table.to_act
    asked = Asked(f"bot:anyone/1#{seat}", "chinkway", done.table.id)
    acted = await serving.act(asked, (await serving.actions(asked)).legal[0])
    assert acted.decision.by == By(seat=seat, player=asked.player)


async def _without_salt(log: Log, table: str) -> list[dict[str, Any]]:
    """Return a table's entries but for what is drawn anew each time."""
    entries = await log.read_range(table_stream(table), 1, 10_000)
    return [msgspec.json.decode(stored.e) | {"salt": None} for stored in entries]
