"""Readers of a table at their least number: that nobody misses an event, and that it would be noticed."""

import asyncio

import pytest

from tests.bench import readers
from tests.bench.audience import Audience, Phase, Reader
from tests.bench.clients import EventStream, Sent
from tests.bench.processes import rig
from tests.bench.report import Sheet
from tests.bench.size import LEAST
from tests.bench.tables import Company
from tests.sizes import CI


@pytest.mark.skipif(not CI, reason="takes twenty seconds: in CI, and with the laws")
def test_each_of_two_thousand_readers_hears_of_every_event() -> None:
    many = LEAST._replace(readers=2_000)
    with rig(floors=0, workers=1) as processes:
        sheet = readers.sheet(Company(processes), many)
    assert len(sheet.lines) == 6
    for what, figures in sheet.lines.items():
        assert figures["events"] == [many.readers * many.commands], what
        assert figures["CPU to bare"][0] > 0, what
    assert readers.lost(sheet) == 0


def heard(*versions: int) -> Reader:
    """Make a reader that has heard of these versions, after 4."""
    reader = Reader(4)
    reader.stream = EventStream(reader.hear)
    for version in versions:
        reader.hear(Sent(str(version), "decision", b"{}"))
    return reader


def test_what_is_missed_and_what_comes_twice_or_late_is_counted() -> None:
    audience = Audience([heard(5, 6, 7), heard(5, 7), heard(5, 5, 6, 7), heard(6, 5, 7)])
    found = asyncio.run(audience.heard(Phase({5: 0.0, 6: 0.0, 7: 0.0})))
    assert (found.events, found.missing, found.late) == (10, 2, 2)
    sheet = Sheet("Readers", {"ours": {readers.MISSING: [2.0, 0.0], readers.LATE: [2.0, 0.0]}})
    assert readers.lost(sheet) == 4
