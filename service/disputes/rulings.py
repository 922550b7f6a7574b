"""Rulings: what an arbiter may rule on a dispute, and what follows from it.

A verdict comes with what goes with it, or is refused. While play goes on its consequences are events of the same
decision: seats given up, the end, a deal dealt anew, and play resumed where no other dispute keeps it paused. Once play
has ended there are none: the ruling itself states the scores and places that hold from now on.
"""

from collections.abc import Iterator

from events.base import Event
from events.table import LAST_DEAL, DealReplayed, Ended, Resumed, Ruled, Seats
from service.dealing import Chances, Dealing
from service.disputes.commands import Rule
from service.forfeits import give_up, is_deserted
from service.game import AnyGame, AnyTable, Refused


def rule(game: AnyGame, table: AnyTable, command: Rule) -> Ruled:
    """Return the ruling that the command asks for; raise Refused if it can't be given."""
    _check_parts(command)
    _check_stated(table, command)
    _check_forfeits(table, command.forfeits)
    if table.status == "ended":
        _check_afterwards(table, command)
    else:
        _check_in_play(game, table, command)
    return Ruled(
        command.dispute,
        command.verdict,
        command.scores,
        command.places,
        command.forfeits,
        command.deal,
        command.text,
    )


def follow(game: AnyGame, table: AnyTable, ruling: Ruled, chances: Chances) -> Iterator[Event]:
    """Yield what a ruling brings about in play that goes on; the table is as the ruling has left it."""
    if table.status == "ended":
        return
    events = tuple(_consequences(game, table, ruling, chances))
    is_over = any(isinstance(event, Ended) for event in events)
    if table.status == "paused" and not is_over and not any(dispute.is_open for dispute in table.disputes):
        yield Resumed()
    yield from events


def _consequences(game: AnyGame, table: AnyTable, ruling: Ruled, chances: Chances) -> Iterator[Event]:
    match ruling.verdict:
        case "upheld":
            return
        case "corrected":
            if ruling.forfeits:
                yield from give_up(game, table, ruling.forfeits)
        case "annulled":
            yield Ended("annulled", (None,) * len(table.players))
        case "replayed":
            yield from _replay(game, table, ruling.deal or 0, chances)


def _replay(game: AnyGame, table: AnyTable, deal: int, chances: Chances) -> Iterator[Event]:
    """Yield that play goes back to the beginning of a deal, and the deal under the next number that is unused."""
    then = table.beginning_of(deal)
    if then is None:
        raise ValueError(f"how deal {deal} of table {table.id} began is not known at version {table.version}")
    number = table.dealt + 1
    dealing = Dealing(chances, table, ahead=number - deal)
    yield DealReplayed(deal, number)
    yield from dealing.stated(game.again(then.play, table.play, dealing))


def _check_parts(command: Rule) -> None:
    """Raise Refused unless the verdict comes with its own parts and no others."""
    corrects = command.scores is not None or command.places is not None or bool(command.forfeits)
    if corrects != (command.verdict == "corrected") or (command.deal is not None) != (command.verdict == "replayed"):
        raise Refused("ruling_contradicts_itself")
    if len(set(command.forfeits)) != len(command.forfeits):
        raise Refused("ruling_contradicts_itself")


def _check_stated(table: AnyTable, command: Rule) -> None:
    """Raise Refused unless scores and places are of the seats that are taken, and places are such."""
    taken = tuple(player is not None for player in table.players)
    for stated in (command.scores, command.places):
        if stated is not None and tuple(value is not None for value in stated) != taken:
            raise Refused("one_for_each_seat")
    placed = [place for place in command.places or () if place is not None]
    if any(place != 1 + sum(better < place for better in placed) for place in placed):
        raise Refused("no_such_places")


def _check_forfeits(table: AnyTable, forfeits: Seats) -> None:
    for seat in forfeits:
        if seat not in table.taken:
            raise Refused("no_such_seat")
        if seat in table.resigned:
            raise Refused("resigned")


def _check_afterwards(table: AnyTable, command: Rule) -> None:
    """Raise Refused for what can't be ruled once play has ended; who forfeits comes after all who have not."""
    if command.verdict == "replayed":
        raise Refused("ended")
    if command.verdict == "corrected" and command.places is None:
        raise Refused("places_missing")
    if command.places is not None and command.forfeits:
        given_up = {*table.resigned, *command.forfeits}
        place_of = {seat: command.places[seat] or 0 for seat in table.taken}
        last = max((place for seat, place in place_of.items() if seat not in given_up), default=0)
        if min(place_of[seat] for seat in command.forfeits) <= last:
            raise Refused("ruling_contradicts_itself")


def _check_in_play(game: AnyGame, table: AnyTable, command: Rule) -> None:
    """Raise Refused for what can't be ruled while play goes on."""
    if command.places is not None:
        raise Refused("not_ended")
    if command.scores is not None and game.projection.rescored is None:
        raise Refused("no_running_scores")
    if command.deal is not None:
        _check_replay(game, table, command.deal)


def _check_replay(game: AnyGame, table: AnyTable, deal: int) -> None:
    then = table.beginning_of(deal)
    if then is None:
        in_progress = table.dealt - table.ahead
        raise Refused("deal_too_old" if 0 < deal < in_progress else "no_such_deal")
    if table.dealt == LAST_DEAL:
        raise Refused("deals_exhausted")
    if is_deserted(game, then.play, table.resigned):
        raise Refused("deal_without_players")
