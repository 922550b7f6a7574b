"""Disputes in the matches of the laws: what players may contest now, and what an arbiter may make of it."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import get_args

from events.base import By
from events.table import MOST_POINTS, DisputeReason, Scores, TextRef
from service.disputes import Dispute, Look, Pause, Resume, Rule
from service.forfeits import is_deserted
from service.game import AnyGame, AnyTable, Command
from service.ids import new_id

# How likely what cuts a match short is among what may be asked.
SELDOM = 0.1

LAST = 9
"""Behind every place that there is."""


def contest(game: AnyGame, table: AnyTable, random: Random) -> Iterator[Command]:
    """Yield what an arbiter may ask of a table in play or after it, each in one form of many."""
    if table.status == "playing":
        yield Pause()
    if table.status == "paused":
        yield Resume()
    for dispute in table.disputes:
        if dispute.is_open:
            first, last = _versions(table, random)
            yield Look(dispute=dispute.number, first=first, last=last)
            yield Rule(dispute=dispute.number, verdict="upheld", text=_text(random))
            yield from _rulings(game, table, dispute.number, random)


def _rulings(game: AnyGame, table: AnyTable, dispute: int, random: Random) -> Iterator[Command]:
    """Yield the rulings that change something."""
    has_ended, text = table.status == "ended", _text(random)
    if random.random() < SELDOM:
        yield Rule(dispute=dispute, verdict="annulled", text=text)
    places = _places(table, random) if has_ended else None
    if has_ended:
        yield Rule(dispute=dispute, verdict="corrected", places=places, text=text)
    if table.outcome == "annulled":
        return
    if has_ended or game.projection.rescored is not None:
        yield Rule(dispute=dispute, verdict="corrected", scores=_scores(table, random), places=places, text=text)
    left = [seat for seat in table.taken if seat not in table.resigned]
    if left and (has_ended or random.random() < SELDOM):
        seat = random.choice(left)
        behind = None if places is None else _ranked({**_ranks(places), seat: LAST}, len(places))
        yield Rule(dispute=dispute, verdict="corrected", forfeits=(seat,), places=behind, text=text)
    for beginning in table.beginnings:
        if not is_deserted(game, beginning.play, table.resigned):
            yield Rule(dispute=dispute, verdict="replayed", deal=beginning.deal, text=text)


def disputes(table: AnyTable, random: Random) -> Iterator[tuple[By, Command]]:
    """Yield a dispute for each person who sits, or gave a seat up, and may file one."""
    open_by = {dispute.player for dispute in table.disputes if dispute.is_open}
    for seat in table.taken:
        player = table.players[seat]
        if player is not None and player.bot is None and player.id not in open_by:
            first, last = _versions(table, random)
            reason = random.choice(get_args(DisputeReason))
            yield By(seat=seat, player=player.id), Dispute(first=first, last=last, reason=reason, text=_text(random))


def kind_of(command: Command) -> object:
    """Return what tells commands apart of which each is to come up."""
    match command:
        case Rule():
            stated = (command.scores is not None, command.places is not None, bool(command.forfeits))
            return Rule, command.verdict, stated
        case _:
            return type(command)


def _versions(table: AnyTable, random: Random) -> tuple[int, int]:
    first, last = sorted(random.choices(range(1, table.version + 1), k=2))
    return first, last


def _text(random: Random) -> TextRef | None:
    return TextRef(new_id(random.randbytes), random.randbytes(32).hex()) if random.random() < 1 / 2 else None


def _scores(table: AnyTable, random: Random) -> Scores:
    """Return scores near those that stand, or as far apart as can be stated."""
    if random.random() < SELDOM:
        return tuple(None if score is None else random.choice((-MOST_POINTS, MOST_POINTS)) for score in table.scores)
    near = (None if score is None else score + random.randrange(-3, 4) for score in table.scores)
    return tuple(None if score is None else max(-MOST_POINTS, min(score, MOST_POINTS)) for score in near)


def _places(table: AnyTable, random: Random) -> tuple[int | None, ...]:
    return _ranked({seat: random.randrange(3) for seat in table.taken}, len(table.players))


def _ranks(places: tuple[int | None, ...]) -> dict[int, int]:
    return {seat: place for seat, place in enumerate(places) if place is not None}


def _ranked(ranks: Mapping[int, int], seats: int) -> tuple[int | None, ...]:
    """Return the places of seats with these ranks, the lowest first."""
    return tuple(
        1 + sum(rank < ranks[seat] for rank in ranks.values()) if seat in ranks else None for seat in range(seats)
    )
