"""Golden logs as files: a log's entries one a line, its exact bytes and its heads, then what everybody saw at its end.

    {"h":"<the head, in hex>","e":<the entry, byte for byte as stored>}      one line an entry
    {"views":[<the spectator's view>,<what differs for seat 0>,…]}             the last line

A game's logs lie in `replays` of the folder of tests that is the game's; a file is written once and never again.
"""

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Raw, Struct

from events.base import Entry
from events.table import Created
from projections import fold
from projections.table import Table
from service.game import AnyGame, AnyTable
from service.streams import Stored
from tests.laws.audience import TESTS, statement_path
from tests.laws.matches import Match
from tests.laws.setups import GAMES, Setup

Json = dict[str, Any]


class Line(Struct, frozen=True):
    """An entry, and its head in hex."""

    h: str
    e: Raw


class Views(Struct, frozen=True):
    """The last line: the spectator's view at the end, then by seat the fields in which that seat's differs."""

    views: tuple[Json, ...]


_line = msgspec.json.Decoder(Line)
_views = msgspec.json.Decoder(Views)
_first = msgspec.json.Decoder(Entry[Raw, Raw])
_created = msgspec.json.Decoder(Created)
_encode = msgspec.json.Encoder().encode


def folder_of(game: AnyGame) -> Path:
    """Return where the game's golden logs lie."""
    home = statement_path(game.name).parents[1]
    return (TESTS if home.name == "laws" else home) / "replays"


def names_of(game: AnyGame, folder: Path) -> list[str]:
    """Return the names of the game's golden logs in a folder, in order."""
    return sorted(path.stem for path in folder.glob(f"{game.name}-*.ndjson"))


def kept() -> list[Path]:
    """Return the files of all golden logs."""
    return [folder_of(game) / f"{name}.ndjson" for game in GAMES for name in names_of(game, folder_of(game))]


@cache
def read(path: Path) -> Match:
    """Read the match of a golden log; a table keeps the ruleset that it was opened with."""
    lines = [_line.decode(line) for line in path.read_bytes().splitlines()[:-1]]
    stored = [Stored(version, bytes(line.e), bytes.fromhex(line.h)) for version, line in enumerate(lines, 1)]
    first = _first.decode(stored[0].e)
    created = _created.decode(first.events[0])
    game = GAMES.ruled(created.ruleset)
    decided = tuple(game.projection.decode(entry.e).events for entry in stored)
    options = msgspec.convert(created.options, game.projection.options)
    setup = Setup(game.name, options, created.seats, 0, 0, seed=0, silence=0, resigning=0, longest=len(stored))
    return Match(game, first.stream.removeprefix("table:"), tuple(stored), decided, setup)


def views_in(path: Path) -> tuple[Json, ...]:
    """Return what the spectator and each seat saw at the end, as a golden log states it."""
    last = _views.decode(path.read_bytes().splitlines()[-1])
    spectators, *differing = last.views
    return (spectators, *({**spectators, **own} for own in differing))


def write(path: Path, match: Match) -> None:
    """Keep a match as a golden log; FileExistsError if the file is there, for what it holds may never change."""
    with path.open("xb") as file:
        for line in _lines(match):
            file.write(line + b"\n")


def _lines(match: Match) -> Iterator[bytes]:
    for stored in match.stored:
        yield _encode(Line(stored.h.hex(), Raw(stored.e)))
    spectators, *own = final_views(match)
    yield _encode(Views((spectators, *(_differing(view, spectators) for view in own))))


def final_views(match: Match) -> list[Json]:
    """Return what the spectator and each seat see at the end, as JSON."""
    table: AnyTable = Table(id=match.table)
    for entry, stored in zip(match.entries(), match.stored, strict=True):
        fold.add(match.game.projection, table, entry, stored.h)
    return [msgspec.json.decode(match.view(table, viewer)) for viewer in match.viewers]


def _differing(view: Json, other: Json) -> Json:
    return {name: value for name, value in view.items() if other[name] != value}
