"""The bench, at its least size: that every figure comes out, not what it is."""

from rich.console import Console

from tests.bench import report
from tests.bench.__main__ import PARTS, measure
from tests.bench.size import LEAST


def test_every_part_comes_out_with_its_figures() -> None:
    console = Console(record=True, width=160, quiet=True)
    found = measure(PARTS, LEAST, console)
    assert found.sheets.keys() == {*PARTS, "share"}
    for part, sheet in found.sheets.items():
        assert sheet.lines, part
        for what, figures in sheet.lines.items():
            assert figures, (part, what)
            assert all(len(values) == LEAST.rounds for values in figures.values()), (part, what)
    assert report.read(report.written(found)).sheets == found.sheets
