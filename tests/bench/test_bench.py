"""The bench, at its least size: that every figure comes out, not what it is."""

from pathlib import Path

import pytest
from rich.console import Console

from tests.bench import compare, report
from tests.bench.__main__ import PARTS, measure
from tests.bench.report import Report, Sheet
from tests.bench.size import LEAST
from tests.sizes import CI


@pytest.mark.skipif(not CI, reason="takes a quarter of a minute: in CI, and with the laws")
def test_every_part_comes_out_with_its_figures() -> None:
    found = measure(PARTS, LEAST, Console(quiet=True))
    assert found.sheets.keys() == {*PARTS, "share"}
    for part, sheet in found.sheets.items():
        assert sheet.lines, part
        for what, figures in sheet.lines.items():
            assert figures, (part, what)
            assert all(len(values) == LEAST.rounds for values in figures.values()), (part, what)
    assert report.read(report.written(found)).sheets == found.sheets


@pytest.mark.skipif(not CI, reason="takes ten seconds: in CI, and with the laws")
def test_revisions_take_turns_and_are_measured_by_the_bench_of_here() -> None:
    head, here = compare.reports(["HEAD", "."], ["steps", "--quick"], 2)
    for found in (head, here):
        (sheet,) = found.sheets.values()
        assert {len(values) for figures in sheet.lines.values() for values in figures.values()} == {2}
    assert head.sheets["steps"].lines.keys() == here.sheets["steps"].lines.keys()


def test_the_ratio_of_two_reports_is_that_of_their_medians(tmp_path: Path) -> None:
    for name, rounds in (("a", [2.0, 1.0, 50.0]), ("b", [3.0, 3.0, 3.0])):
        sheet = Sheet("Views", {"view": {"ms": rounds}})
        (tmp_path / name).write_bytes(report.written(Report({}, {}, {"reads": sheet, name: sheet})))
    sides = [str(tmp_path / name) for name in "ab"]
    (table,) = report.compared(*compare.reports(sides, [], 1))
    cells = [next(iter(column.cells)) for column in table.columns]
    assert cells == ["view, ms", "2 ±1225%", "3", "1.50", "0.06 … 3.00"]


@pytest.mark.parametrize("side", ["no-such-revision", "--output=/dev/null", __file__])
def test_what_is_neither_a_report_nor_a_revision_is_named(side: str) -> None:
    with pytest.raises(compare.Unknown, match=side):
        compare.reports([side, "."], [], 1)


def test_a_report_names_neither_the_machine_nor_a_path_on_it() -> None:
    assert report.machine().keys() >= {"cpus", "python", "litestar", "msgspec"}
    assert not any("/" in str(fact) for fact in report.machine().values())
