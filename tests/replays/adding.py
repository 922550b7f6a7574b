"""Adding golden logs: which shapes are missing, and which scripts bring them. What is there is only read."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from service.game import AnyGame
from tests.laws.matches import Match
from tests.replays.keeping import names_of, read, write
from tests.replays.scripts import play, scripts
from tests.replays.shapes import held, needed, needed_of_any

# How often all scripts are gone through for what is missing, and of how many seeds of a script the best is kept.
ROUNDS = 4
SEEDS = 8

Folders = Sequence[tuple[AnyGame, Path]]
"""Games, each with the folder in which its golden logs lie."""


class Uncovered(Exception):
    """No script leads to these shapes: one must be written, or they are none yet (tests/replays/shapes.py)."""


def missing(folders: Folders) -> frozenset[str]:
    """Return every shape that no golden log in these folders holds."""
    logs = [read(folder / f"{name}.ndjson") for game, folder in folders for name in names_of(game, folder)]
    wanted = needed_of_any().union(*(needed(game) for game, _ in folders))
    return wanted.difference(*map(held, logs))


def add(folders: Folders) -> Iterator[Path]:
    """Write golden logs until no shape is missing, and yield their files; raise Uncovered where that can't be done."""
    left = missing(folders)
    for game, folder in folders:
        for found in _of_scripts(game, left):
            left -= held(found.match)
            yield _added(folder, f"{game.name}-{found.name}", found.match)
    if left:
        raise Uncovered(f"no script leads to {sorted(left)}")


class _Found(NamedTuple):
    """A match that brings shapes that were missing, and the name of its script."""

    name: str
    match: Match


def _of_scripts(game: AnyGame, missing: frozenset[str]) -> Iterator[_Found]:
    """Yield matches of a game, script by script, of the seeds of each the one that brings most, until all is there.

    A match goes no further than it brings something.
    """
    left = missing
    for turn in range(ROUNDS):
        for some in zip(*(scripts(game, seed) for seed in range(SEEDS * turn, SEEDS * (turn + 1))), strict=True):
            if not left & (needed(game) | needed_of_any()):
                return
            matches = [_cut(play(script), left) for script in some]
            match = max(matches, key=lambda match: (len(left & held(match)), -len(match.stored)))
            if left & held(match):
                left -= held(match)
                yield _Found(some[0].name, match)


def _cut(match: Match, wanted: frozenset[str]) -> Match:
    """Return the shortest beginning of a match that brings as much of what is wanted as the whole."""
    missing, count = wanted & held(match), 1
    for count, stored in enumerate(match.stored, 1):  # noqa: B007 how far it has come is wanted
        missing -= held(replace(match, stored=(stored,)))
        if not missing:
            break
    return replace(match, stored=match.stored[:count], decided=match.decided[:count])


def _added(folder: Path, name: str, match: Match) -> Path:
    """Write a match under a name that no file has."""
    folder.mkdir(exist_ok=True)
    path, number = folder / f"{name}.ndjson", 1
    while path.exists():
        number += 1
        path = folder / f"{name}-{number}.ndjson"
    write(path, match)
    return path
