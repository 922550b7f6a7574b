"""Golden logs are read, folded, decided and seen as on the day on which they were kept."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from msgspec import Raw

from events.base import Entry, Event, Seat
from events.table import Ended, Opened, Scored
from projections import fold, lobby
from service.game import AnyGame, AnyTable
from tests.laws import playing, replaying, secrecy
from tests.laws.setups import GAMES
from tests.replays import scripts
from tests.replays.adding import Folders, add, missing
from tests.replays.keeping import final_views, folder_of, kept, read, views_in, write
from tests.replays.shapes import needed
from tests.sizes import FULL

MOST_BYTES = 1_500_000
"""Of all golden logs: they are in every checkout."""

_raw = msgspec.json.Decoder(Entry[Raw, Raw])

EVERY = pytest.mark.parametrize("path", kept(), ids=lambda path: path.stem)
FOLDERS: Folders = [(game, folder_of(game)) for game in GAMES]

WRITTEN = [game for game in GAMES if FULL or game.name == "toy"]
"""The games whose logs are written once more, to see how that is done: all of them takes half a minute."""


def says(now: object, then: object) -> bool:
    """Tell whether what is said now says all that was said then; members may have been added since."""
    match now, then:
        case Mapping(), Mapping():
            return all(name in now and says(now[name], value) for name, value in then.items())
        case (list(), list()):
            return len(now) == len(then) and all(map(says, now, then))
        case _:
            return type(now) is type(then) and now == then


def test_every_shape_is_held_by_a_golden_log() -> None:
    left = missing(FOLDERS)
    assert not left, f"no golden log holds {sorted(left)}: run make golden, and commit what it adds"


@EVERY
def test_its_heads_chain(path: Path) -> None:
    replaying.heads_chain(read(path))


@EVERY
def test_its_commands_are_decided_as_they_were(path: Path) -> None:
    match = read(path)
    for table, entry, stored in match.steps():
        events = match.again(table, entry)
        then = [msgspec.json.decode(event) for event in _raw.decode(stored.e).events]
        assert says(msgspec.json.decode(msgspec.json.encode(events)), then), f"version {entry.version}: {events}"


@EVERY
def test_its_shuffles_follow_from_the_seed(path: Path) -> None:
    match = read(path)
    last: AnyTable = match.empty()
    for last, _, _ in match.versions():  # noqa: B007 the last one is wanted
        pass
    playing.orders_follow(match, match.seed.hex(), tuple(last.orders))
    for event in match.decided[-1]:
        if isinstance(event, Opened):
            assert event == Opened(match.seed.hex(), tuple(last.orders))


@EVERY
def test_everybody_sees_at_its_end_what_was_seen(path: Path) -> None:
    seen, then = final_views(read(path)), views_in(path)
    assert len(seen) == len(then)
    for now, view in zip(seen, then, strict=True):
        assert says(now, view), f"the view of {view['you']} is {now}, and was {view}"


@EVERY
def test_it_keeps_the_laws(path: Path) -> None:
    match = read(path)
    replaying.cards_are_conserved(match)
    playing.turns_are_coherent(match)
    secrecy.a_view_needs_no_secrets(match)
    if any(isinstance(event, Ended) and event.outcome == "finished" for event in match.decided[-1]):
        playing.the_end_is_lawful(match)


@EVERY
def test_the_lobby_reads_it(path: Path) -> None:
    match = read(path)
    summary = lobby.add(None, (stored.e for stored in match.stored))
    table = match.empty()
    for entry, stored in zip(match.entries(), match.stored, strict=True):
        fold.add(match.game.projection, table, entry, stored.h)
    assert summary is not None
    assert (summary.table, summary.status, summary.host) == (table.id, table.status, table.host)
    assert [seat.player for seat in summary.seats] == [player and player.id for player in table.players]


def test_all_of_them_are_small() -> None:
    assert sum(path.stat().st_size for path in kept()) < MOST_BYTES


@pytest.fixture(scope="module")
def afresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder with the golden logs that are written where there are none."""
    folder = tmp_path_factory.mktemp("replays")
    assert [*add([(game, folder) for game in WRITTEN])]
    return folder


def test_what_is_added_holds_every_shape(afresh: Path) -> None:
    assert not missing([(game, afresh) for game in WRITTEN])


def test_the_same_logs_are_written_byte_for_byte_where_there_are_none(afresh: Path, tmp_path: Path) -> None:
    added = [path.name for path in add([(game, tmp_path) for game in WRITTEN])]
    assert sorted(added) == sorted(path.name for path in afresh.iterdir())
    for name in added:
        assert (tmp_path / name).read_bytes() == (afresh / name).read_bytes(), name


def test_nothing_is_added_where_no_shape_is_missing(afresh: Path) -> None:
    assert [*add([(game, afresh) for game in WRITTEN])] == []


def test_a_missing_shape_is_added_and_no_file_is_touched(afresh: Path, tmp_path: Path) -> None:
    """What a file holds may be all that is left of how a release wrote it."""
    game, *_ = WRITTEN
    for old in afresh.glob(f"{game.name}-*-1.ndjson"):
        (tmp_path / old.name).write_bytes(old.read_bytes())
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    assert before
    assert needed(game) & missing([(game, tmp_path)])
    added = [*add([(game, tmp_path), *((other, afresh) for other in WRITTEN if other is not game)])]
    assert added
    assert not set(added) & set(before)
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in before} == before
    assert not needed(game) & missing([(game, tmp_path)])


def test_a_golden_log_is_never_written_over(tmp_path: Path) -> None:
    path = tmp_path / "kept.ndjson"
    path.write_bytes(b"as it was")
    with pytest.raises(FileExistsError):
        write(path, read(kept()[0]))
    assert path.read_bytes() == b"as it was"


@pytest.mark.parametrize("game", list(GAMES), ids=lambda game: game.name)
def test_a_kind_of_event_or_a_field_that_is_new_is_missed(game: AnyGame) -> None:
    """Without its log, a shape must not be released: the next release might read it otherwise, and nobody knew."""
    tag = f"{game.name}.invented"
    kind = msgspec.defstruct("Invented", [("seat", Seat)], bases=(Event,), frozen=True, tag=tag)
    wider = replace(game, projection=replace(game.projection, events=game.projection.events | kind))
    others = [(other, folder) for other, folder in FOLDERS if other is not game]
    assert missing([(wider, folder_of(game)), *others]) == {tag, f"{tag}.seat"}


def test_a_log_that_is_read_otherwise_is_noticed(tmp_path: Path) -> None:
    matches = map(scripts.play, scripts.scripts(next(iter(GAMES)), 1))
    match = next(match for match in matches if any(isinstance(e, Scored) for events in match.decided for e in events))
    write(tmp_path / "as it is.ndjson", match)
    text = (tmp_path / "as it is.ndjson").read_text()
    scored = re.search(r'"scores":\[(-?\d+)', text[text.index('"table.scored"') :])
    assert scored
    (tmp_path / "changed.ndjson").write_text(text.replace(scored[0], f'"scores":[{int(scored[1]) + 1}'))
    for test in (test_its_heads_chain, test_its_commands_are_decided_as_they_were):
        test(tmp_path / "as it is.ndjson")
        with pytest.raises(AssertionError):
            test(tmp_path / "changed.ndjson")
