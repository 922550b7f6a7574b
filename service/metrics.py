"""Metrics: what a process has done and how it fares, as numbers that Prometheus reads.

A module counts beside its work, as it logs: `_appends = Counter("evenfold_appends_total", "…", "outcome")` at its top,
`_appends.add("ok")` where it happens. Numbers are plain ones in memory, 0.1 to 0.3 µs each; prometheus-client's own,
kept in files that processes share, take 2 to 5 µs, and a command moves ten of them. It writes the text, no more.

The processes of one server each leave a sheet of theirs in a folder, once a second, and whichever is asked adds up all
of them. A sheet bears the name of the process's place in the server (`api-1`, `reactor`), not its id: whoever is
started in the place of a process that ended goes on from its numbers. A kill loses those of the last second.

Left out, for labels must have few values: ids and names; and by design cards, tokens, and whatever a client may invent.
"""

import asyncio
import contextlib
import logging
import re
from bisect import bisect_left
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

import msgspec
from prometheus_client import generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from service.clock import utc_ms

MEDIA_TYPE: Final = "text/plain; version=0.0.4"
"""Prometheus's text, which every version of it reads."""

LEAVE_S: Final = 1.0
"""How often a process leaves its sheet."""

SUPERVISORS: Final = "server.json"
"""The name of the supervisor's sheet."""

FRESH_MS: Final = 10_000
"""A sheet this old is of a process that has ended: what it counted stands, how it fared is over."""

SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
"""The upper bounds of a histogram's buckets, in seconds; above the last is one more."""

Kind: TypeAlias = Literal["counter", "histogram", "least", "most", "sum"]
"""What a number is, and how those of several processes become one; the last three are gauges."""

Labels: TypeAlias = tuple[str, ...]

_journal = logging.getLogger(__name__)
instruments: dict[str, "Counter | Gauge | Histogram"] = {}
"""Every metric of this process, by its name."""


@cache
def label_of(name: str) -> str:
    """Return the name of a class as the value of a label: `StoreDown` is `store_down`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


class Series(msgspec.Struct):
    """All numbers of one name: by the values of its labels one number or, of a histogram, its sum and its buckets."""

    name: str
    kind: Kind
    about: str
    labels: Labels
    bounds: tuple[float, ...]
    numbers: list[tuple[Labels, list[float]]]


class Sheet(msgspec.Struct):
    """The numbers of one process at a moment (UTC ms)."""

    at: int
    series: list[Series]


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Sheet).decode


class Counter:
    """How often something has happened; a name ends in `_total`."""

    def __init__(self, name: str, about: str, *labels: str) -> None:
        self._series = Series(name, "counter", about, labels, (), [])
        self._counts: dict[Labels, float] = {} if labels else {(): 0}
        instruments[name] = self

    def add(self, *labels: str, by: float = 1) -> None:
        """Count what has happened, under the values of its labels in their order."""
        counts = self._counts
        counts[labels] = counts.get(labels, 0) + by

    def expect(self, *labels: str) -> None:
        """Show a zero for what has not happened yet: only then is its first time seen as an increase."""
        self._counts.setdefault(labels, 0)

    def series(self) -> Series:
        """Return the numbers as they stand."""
        return msgspec.structs.replace(self._series, numbers=[(labels, [n]) for labels, n in self._counts.items()])

    def resume(self, series: Series) -> None:
        """Go on from the numbers of a process that has ended."""
        for labels, (number,) in series.numbers:
            self.add(*labels, by=number)


class Gauge:
    """How much of something there is, now; `kind` says whose word counts where several processes look at the same."""

    def __init__(self, name: str, kind: Literal["least", "most", "sum"], about: str, *labels: str) -> None:
        self._series = Series(name, kind, about, labels, (), [])
        self._values: dict[Labels, float] = {}
        instruments[name] = self

    def set(self, value: float, *labels: str) -> None:
        """State it."""
        self._values[labels] = float(value)

    def series(self) -> Series:
        """Return the numbers as they stand."""
        return msgspec.structs.replace(self._series, numbers=[(labels, [n]) for labels, n in self._values.items()])

    def resume(self, series: Series) -> None:
        """Leave it at what this process finds itself."""


class Histogram:
    """How long something took, in seconds, by buckets; a name ends in `_seconds`."""

    def __init__(self, name: str, about: str, *labels: str) -> None:
        self._series = Series(name, "histogram", about, labels, SECONDS, [])
        self._numbers: dict[Labels, list[float]] = {}
        instruments[name] = self

    def observe(self, seconds: float, *labels: str) -> None:
        """Count it in the first bucket that holds it."""
        numbers = self._numbers.get(labels)
        if numbers is None:
            numbers = self._numbers[labels] = [0.0] * (len(SECONDS) + 2)
        numbers[0] += seconds
        numbers[bisect_left(SECONDS, seconds) + 1] += 1

    def series(self) -> Series:
        """Return the numbers as they stand."""
        return msgspec.structs.replace(self._series, numbers=[(labels, [*n]) for labels, n in self._numbers.items()])

    def resume(self, series: Series) -> None:
        """Go on from the numbers of a process that has ended, unless its buckets were others."""
        if series.bounds == SECONDS:
            for labels, numbers in series.numbers:
                self._numbers[labels] = _added(self._numbers.get(labels), numbers)


class Sheets:
    """The folder in which the processes of a server leave their sheets, and this process's place in it."""

    def __init__(self, place: Path) -> None:
        """Take the file that is this process's; resume from what is in it."""
        self._place = place
        for series in self._read(place).series:
            instrument = instruments.get(series.name)
            if instrument is not None:
                instrument.resume(series)

    async def keep_leaving(self) -> None:
        """Leave a sheet once a second, for ever; a disk that is full or slow holds nobody up."""
        told = False
        while True:
            try:
                await asyncio.to_thread(self._write, _encode(_own()))
            except OSError as error:
                if not told:
                    _journal.warning("metrics can't be left at %s: %s", self._place, error.strerror)
                told = True
            else:
                told = False
            await asyncio.sleep(LEAVE_S)

    def others(self) -> Iterator[Sheet]:
        """Yield the sheets of the server's other processes."""
        for path in sorted(self._place.parent.glob("*.json")):
            if path != self._place:
                yield self._read(path)

    def clear_away(self) -> None:
        """Remove this process's sheet, and the folder with the last: once a server ends, nobody asks any more.

        The supervisor's does not count: it may have been killed, and if it lives it leaves another.
        """
        folder = self._place.parent
        with contextlib.suppress(OSError):
            self._place.unlink(missing_ok=True)
            if [path.name for path in folder.iterdir()] == [SUPERVISORS]:
                (folder / SUPERVISORS).unlink()
            folder.rmdir()

    def _write(self, sheet: bytes) -> None:
        self._place.parent.mkdir(mode=0o700, exist_ok=True)
        draft = self._place.with_suffix(".new")
        draft.write_bytes(sheet)
        draft.replace(self._place)

    def _read(self, path: Path) -> Sheet:
        try:
            return _decode(path.read_bytes())
        except OSError:
            return Sheet(0, [])
        except msgspec.DecodeError as error:
            _journal.warning("the metrics at %s can't be read: %s", path, error)
            return Sheet(0, [])


@asynccontextmanager
async def sheets(place: Path | None) -> AsyncIterator[Sheets | None]:
    """Leave this process's sheet at a place, once a second until the block ends; None leaves none."""
    if place is None:
        yield None
        return
    own = Sheets(place)
    leaving = asyncio.create_task(own.keep_leaving())
    try:
        yield own
    finally:
        leaving.cancel()
        await asyncio.wait([leaving])
        own.clear_away()


async def exposition(shared: Sheets | None) -> bytes:
    """Return the numbers of all processes of the server as Prometheus reads them."""
    own = _own()

    def written() -> bytes:
        return generate_latest(_Exposed([own, *(shared.others() if shared is not None else ())]))

    # Ten milliseconds for a thousand lines: not on the loop that answers everybody.
    return await asyncio.to_thread(written)


def _own() -> Sheet:
    return Sheet(utc_ms(), [instrument.series() for instrument in instruments.values()])


class _Exposed(Collector):
    """The sum of some sheets, in prometheus-client's terms."""

    def __init__(self, sheets: Iterable[Sheet]) -> None:
        self._sheets = sheets

    def collect(self) -> Iterator[Metric]:
        for series in sorted(_summed(self._sheets).values(), key=lambda series: series.name):
            yield _family(series)


def _summed(sheets: Iterable[Sheet]) -> Mapping[str, Series]:
    """Add up sheets, name by name."""
    now = utc_ms()
    summed: dict[str, Series] = {}
    for sheet in sheets:
        for series in sheet.series:
            if series.kind in {"counter", "histogram"} or now - sheet.at < FRESH_MS:
                known = summed.get(series.name)
                summed[series.name] = series if known is None else _merged(known, series)
    return summed


def _merged(one: Series, other: Series) -> Series:
    if (one.kind, one.labels, one.bounds) != (other.kind, other.labels, other.bounds):
        return one  # Of another version of the service, for the moment in which both run.
    numbers = dict(one.numbers)
    merge = _MERGED[one.kind]
    for labels, these in other.numbers:
        known = numbers.get(labels)
        numbers[labels] = these if known is None else merge(known, these)
    return msgspec.structs.replace(one, numbers=list(numbers.items()))


def _added(known: list[float] | None, more: list[float]) -> list[float]:
    return more if known is None else [a + b for a, b in zip(known, more, strict=True)]


_MERGED: Mapping[Kind, Callable[[list[float], list[float]], list[float]]] = {
    "counter": _added,
    "histogram": _added,
    "least": min,
    "most": max,
    "sum": _added,
}


def _family(series: Series) -> Metric:
    numbers = sorted(series.numbers)
    match series.kind:
        case "counter":
            counter = CounterMetricFamily(series.name, series.about, labels=series.labels)
            for labels, (number,) in numbers:
                counter.add_metric(labels, number)
            return counter
        case "histogram":
            histogram = HistogramMetricFamily(series.name, series.about, labels=series.labels)
            for labels, (total, *buckets) in numbers:
                histogram.add_metric(labels, list(_cumulated(series.bounds, buckets)), total)
            return histogram
        case _:
            gauge = GaugeMetricFamily(series.name, series.about, labels=series.labels)
            for labels, (number,) in numbers:
                gauge.add_metric(labels, number)
            return gauge


def _cumulated(bounds: tuple[float, ...], buckets: list[float]) -> Iterator[tuple[str, float]]:
    """Yield each bound with the count of all that was not above it, as the format wants it."""
    count = 0.0
    for bound, more in zip((*map(str, bounds), "+Inf"), buckets, strict=True):
        count += more
        yield bound, count
