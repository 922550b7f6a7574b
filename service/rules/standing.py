"""Places: who stands before whom when play ends.

Level seats share the better place (1, 1, 3). Forfeited seats come after all others, whatever they scored, and of
them who gave up earlier comes later.
"""

from collections.abc import Sequence


def highest_wins(scores: Sequence[int | None], forfeits: Sequence[int]) -> tuple[int | None, ...]:
    """Return one place per seat, 1 for the highest score; None where the score is None (an untaken seat).

    `forfeits` lists the seats that were given up, in that order.
    """
    return _places([None if score is None else -score for score in scores], forfeits)


def lowest_wins(scores: Sequence[int | None], forfeits: Sequence[int]) -> tuple[int | None, ...]:
    """Return one place per seat, 1 for the lowest score; None where the score is None (an untaken seat).

    `forfeits` lists the seats that were given up, in that order.
    """
    return _places(scores, forfeits)


def _places(levels: Sequence[int | None], forfeits: Sequence[int]) -> tuple[int | None, ...]:
    ranks = [None if level is None else _rank(seat, level, forfeits) for seat, level in enumerate(levels)]
    known = [rank for rank in ranks if rank is not None]
    return tuple(None if rank is None else 1 + sum(other < rank for other in known) for rank in ranks)


def _rank(seat: int, level: int, forfeits: Sequence[int]) -> tuple[int, int]:
    # Who gave up first, at position 0, has the greatest rank of all.
    return (1, -forfeits.index(seat)) if seat in forfeits else (0, level)
