"""Numbers, as a process counts them and as Prometheus reads those of all processes of a server."""

import json
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from service import metrics
from service.clock import utc_ms
from service.metrics import FRESH_MS, SECONDS, Counter, Gauge, Histogram, Sheets, exposition, label_of, sheets

pytestmark = pytest.mark.anyio

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


def samples(text: bytes) -> Samples:
    """Return what an exposition says, by name and labels."""
    families = text_string_to_metric_families(text.decode())
    return {(s.name, tuple(sorted(s.labels.items()))): s.value for family in families for s in family.samples}


async def told(shared: Sheets | None, name: str) -> Samples:
    """Return what is told of the metric of a name."""
    return {key: value for key, value in samples(await exposition(shared)).items() if key[0].startswith(name)}


@pytest.fixture(autouse=True)
def empty(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have each test begin without a metric, as another process would."""
    with monkeypatch.context() as context:
        context.setattr(metrics, "instruments", {})
        yield


def left_by_another(place: Path, *instruments: Counter | Gauge | Histogram, at: int | None = None) -> None:
    """Leave the sheet of another process, with these metrics."""
    sheet = metrics.Sheet(utc_ms() if at is None else at, [instrument.series() for instrument in instruments])
    place.write_bytes(msgspec.json.encode(sheet))


async def test_what_happened_is_counted_by_its_labels() -> None:
    moves = Counter("moves_total", "Moves.", "game", "outcome")
    moves.add("a", "done")
    moves.add("a", "done")
    moves.add("a", "refused", by=3)
    moves.expect("b", "done")
    assert await told(None, "moves") == {
        ("moves_total", (("game", "a"), ("outcome", "done"))): 2,
        ("moves_total", (("game", "a"), ("outcome", "refused"))): 3,
        ("moves_total", (("game", "b"), ("outcome", "done"))): 0,
    }


async def test_a_counter_without_labels_begins_at_nought() -> None:
    Counter("moves_total", "Moves.")
    assert await told(None, "moves") == {("moves_total", ()): 0}


async def test_what_took_as_long_as_a_bound_is_within_it() -> None:
    took = Histogram("took_seconds", "How long.")
    for seconds in (0.0, 0.001, 0.0011, 5.0, 6.0):
        took.observe(seconds)
    now = await told(None, "took")
    buckets = {dict(labels)["le"]: value for (name, labels), value in now.items() if name == "took_seconds_bucket"}
    assert list(buckets) == [*map(str, SECONDS), "+Inf"]
    assert list(buckets.values()) == [1, 2, *[3] * (len(SECONDS) - 3), 4, 5]
    assert now["took_seconds_count", ()] == 5
    assert now["took_seconds_sum", ()] == pytest.approx(11.0021)


async def test_a_text_in_a_label_is_read_as_it_was() -> None:
    odd = 'a "quoted"\\ line\nand é'
    Counter("moves_total", odd.replace("\n", " "), "odd").add(odd)
    assert await told(None, "moves") == {("moves_total", (("odd", odd),)): 1}


async def test_the_numbers_of_all_processes_are_one(tmp_path: Path) -> None:
    moves, up, lag, open_now = (
        Counter("moves_total", "Moves.", "game"),
        Gauge("up", "least", "Whether it is up."),
        Gauge("lag_seconds", "most", "How far behind."),
        Gauge("open", "sum", "How many are open."),
    )
    took = Histogram("took_seconds", "How long.")
    everything = (moves, up, lag, open_now, took)
    moves.add("a")
    moves.add("b", by=2)
    for gauge, value in ((up, 0), (lag, 7), (open_now, 4)):
        gauge.set(value)
    took.observe(0.3)
    left_by_another(tmp_path / "api-2.json", *everything)
    moves.add("a")
    for gauge, value in ((up, 1), (lag, 5), (open_now, 1)):
        gauge.set(value)
    now = samples(await exposition(Sheets(tmp_path / "api-1.json")))
    assert (now["moves_total", (("game", "a"),)], now["moves_total", (("game", "b"),)]) == (3, 4)
    assert (now["up", ()], now["lag_seconds", ()], now["open", ()]) == (0, 7, 5)
    assert (now["took_seconds_count", ()], now["took_seconds_sum", ()]) == (2, 0.6)


async def test_of_a_process_that_has_ended_stands_what_it_counted_and_not_how_it_fared(tmp_path: Path) -> None:
    moves, up = Counter("moves_total", "Moves."), Gauge("up", "least", "Whether it is up.")
    moves.add(by=5)
    up.set(0)
    left_by_another(tmp_path / "api-2.json", moves, up, at=utc_ms() - FRESH_MS)
    up.set(1)
    now = samples(await exposition(Sheets(tmp_path / "api-1.json")))
    assert (now["moves_total", ()], now["up", ()]) == (10, 1)


async def test_whoever_takes_a_place_over_goes_on_from_its_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves, took = Counter("moves_total", "Moves."), Histogram("took_seconds", "How long.", "route")
    gone = Counter("gone_total", "What the next version does not count.")
    moves.add(by=5)
    took.observe(1, "r")
    left_by_another(tmp_path / "api-1.json", moves, took, gone)
    monkeypatch.delitem(metrics.instruments, "gone_total")
    again = Sheets(tmp_path / "api-1.json")
    moves.add()
    took.observe(1, "r")
    now = samples(await exposition(again))
    assert now["moves_total", ()] == 11
    assert now["took_seconds_count", (("route", "r"),)] == 3


async def test_a_process_leaves_its_sheet_at_once_and_takes_it_away_in_the_end(tmp_path: Path) -> None:
    Counter("moves_total", "Moves.").add()
    folder = tmp_path / "sheets"
    folder.mkdir()
    other = Sheets(folder / "api-2.json")
    async with sheets(folder / "api-1.json") as own:
        assert own is not None
        while not list(other.others()):
            pass_on = await exposition(own)
            assert b"moves_total 1.0" in pass_on
        assert samples(await exposition(other))["moves_total", ()] == 2
    assert not folder.exists()


async def test_a_sheet_that_can_not_be_read_is_told_and_left_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Counter("moves_total", "Moves.").add()
    (tmp_path / "api-2.json").write_text(json.dumps({"at": "noon"}))
    assert samples(await exposition(Sheets(tmp_path / "api-1.json"))) == {("moves_total", ()): 1}
    assert "api-2.json can't be read" in caplog.text


async def test_a_place_that_can_not_be_written_is_told_and_holds_nothing_up(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    Counter("moves_total", "Moves.").add()
    (tmp_path / "file").touch()
    async with sheets(tmp_path / "file" / "api-1.json") as own:
        while not caplog.records:
            assert samples(await exposition(own))["moves_total", ()] == 1
    assert "metrics can't be left at" in caplog.text


async def test_a_metric_that_two_versions_understand_otherwise_is_told_by_one(tmp_path: Path) -> None:
    old = Counter("moves_total", "Moves.", "game")
    old.add("a")
    left_by_another(tmp_path / "api-2.json", old)
    Counter("moves_total", "Moves.", "table").add("t")
    assert await told(Sheets(tmp_path / "api-1.json"), "moves") == {("moves_total", (("table", "t"),)): 1}


def test_a_classes_name_becomes_a_label() -> None:
    assert [label_of(name) for name in ("StoreDown", "NoRoom", "Gone")] == ["store_down", "no_room", "gone"]
