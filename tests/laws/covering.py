"""Few rows of values in which every few values that go together come up together: a covering array.

Rows are made one after another, as AETG does (D. Cohen, S. Dalal, M. Fredman, G. Patton, IEEE TSE 23, 1997): each is
drawn several times, value by value for the missing pieces that it brings, and the one that brings most is taken. The
product of all values, which may have millions of rows, is never gone through.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations, product
from random import Random

Values = Mapping[str, Sequence[object]]
Row = dict[str, object]
Piece = frozenset[tuple[str, object]]

# How often a row is drawn before the best is taken; how often the rest of a piece is drawn before it counts as one
# that can't be, once all rows that differ from the usual one in up to `NEAR` more values have been tried.
DRAWS = 12
REST = 200
NEAR = 2


def cover(values: Values, usual: Row, is_allowed: Callable[[Row], bool], together: int) -> list[Row]:
    """Return few allowed rows in which every `together` values come up that may, the usual one first.

    The same values give the same rows, whatever the process.
    """
    random = Random(repr(values))
    missing: dict[Piece, Row] = {}
    for piece in pieces(values, together):
        row = completed(piece, values, usual, is_allowed, random)
        if row is not None:
            missing[piece] = row
    rows = [usual]
    _take(usual, missing, together)
    while missing:
        drawn = [_drawn(values, missing, is_allowed, together, random) for _ in range(DRAWS)]
        rows.append(max(drawn, key=lambda row: _gain(row, missing, together)))
        _take(rows[-1], missing, together)
    return rows


def pieces(values: Values, together: int) -> Iterator[Piece]:
    """Yield every choice of values for `together` of the names."""
    for names in combinations(values, together):
        for chosen in product(*(values[name] for name in names)):
            yield frozenset(zip(names, chosen, strict=True))


def completed(
    piece: Piece, values: Values, usual: Row, is_allowed: Callable[[Row], bool], random: Random
) -> Row | None:
    """Return an allowed row with these values, as near the usual one as there is; None where none is found."""
    base = {**usual, **dict(piece)}
    free = {name: values[name] for name in values if name not in dict(piece)}
    for more in range(NEAR + 1):
        for change in pieces(free, more):
            if is_allowed(row := {**base, **dict(change)}):
                return row
    for _ in range(REST):
        if is_allowed(row := {**base, **{name: random.choice(among) for name, among in free.items()}}):
            return row
    return None


def _drawn(
    values: Values, missing: Mapping[Piece, Row], is_allowed: Callable[[Row], bool], together: int, random: Random
) -> Row:
    """Draw a row: from an allowed one with some missing piece, name by name to what brings most with those before."""
    piece, row = random.choice([*missing.items()])
    chosen = dict(piece)
    for name in random.sample([*values], len(values)):
        if name in chosen:
            continue
        befores = [*combinations(chosen.items(), together - 1)]
        gains = {v: sum(frozenset([*before, (name, v)]) in missing for before in befores) for v in values[name]}
        best = sorted(random.sample(values[name], len(gains)), key=gains.__getitem__, reverse=True)
        chosen[name] = next(v for v in best if v == row[name] or is_allowed({**row, name: v}))
        row = {**row, name: chosen[name]}
    return row


def _gain(row: Row, missing: Mapping[Piece, Row], together: int) -> int:
    return sum(frozenset(piece) in missing for piece in combinations(row.items(), together))


def _take(row: Row, missing: dict[Piece, Row], together: int) -> None:
    for piece in combinations(row.items(), together):
        missing.pop(frozenset(piece), None)
