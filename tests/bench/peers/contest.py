"""Who plays Trick beside whom, and what the ratios are to reach.

In each round all play one after the other, so that drift hits them alike. The peers push every move to all who are
connected; ours pushes it to five seats, or to nobody. With one client for all five seats theirs tell the mover alone.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

from tests.bench.peers import theirs
from tests.bench.peers.ours import KINDS, Evenfold
from tests.bench.peers.round import Outcome, Round
from tests.bench.processes import serving
from tests.bench.report import Sheet
from tests.bench.size import Size

GAME = "tests.bench.trick.service"
PEERS = {"boardgameio": "boardgame.io", "colyseus": "Colyseus"}
FIVE = 5


class Side(NamedTuple):
    """Somebody who plays rounds, with one client a table or five."""

    name: str
    clients: int
    play: Callable[[Round], Outcome]


class Duel(NamedTuple):
    """Two sides and the ratio to reach of the first to the second: where tables are fresh, and where they are not."""

    first: str
    second: str
    fresh: float | None = None
    running: float | None = None


FEW = 20
"""From how many tables at once the aims are meant."""

DUELS = (
    Duel("HTTP, nobody told", "boardgame.io, pushed to five", 4, 4),
    Duel("HTTP, nobody told", "boardgame.io, one client"),
    Duel("HTTP, pushed to five", "boardgame.io, pushed to five", 2, 2),
    Duel("WebSocket, pushed to five", "boardgame.io, pushed to five"),
    Duel("WebSocket, pushed to five", "Colyseus, pushed to five", 1.5, 0.5),
    Duel("WebSocket, nobody told", "Colyseus, one client"),
)


def sheets(size: Size, folder: Path | None) -> dict[str, Sheet]:
    """Return what each side came to, and the ratios; raise theirs.Missing where the peers can't be run."""
    with ExitStack() as stack:
        place = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="evenfold-peers-")))
        sides = [*stack.enter_context(_theirs(place)), *stack.enter_context(_ours())]
        return contest(sides, size)


def ours_alone(size: Size) -> Sheet:
    """Return what our side came to, without any peer."""
    with _ours() as sides:
        return contest(sides, size)["peers"]


def contest(sides: list[Side], size: Size) -> dict[str, Sheet]:
    """Have all sides play, round after round."""
    found = Sheet("Trick: five seats, fifty moves a match; ours durable, the peers in memory")
    ratios = Sheet("Trick: ratios of ours to the peers'")
    for _ in range(size.rounds):
        for tables in size.peers_tables:
            for fresh in (True, False):
                outcomes: dict[str, Outcome] = {}
                for side in sides:
                    outcomes[side.name] = side.play(Round(tables, fresh, side.clients, size.peers_seconds))
                where = f"{tables} {'fresh' if fresh else 'running'}"
                for name, outcome in outcomes.items():
                    found.add(f"{where}: {name}", outcome.figures())
                for duel in DUELS:
                    if duel.first in outcomes and duel.second in outcomes:
                        aim = (duel.fresh if fresh else duel.running) if tables >= FEW else None
                        figures = _ratios(outcomes[duel.first], outcomes[duel.second])
                        ratios.add(f"{where}: {duel.first}, to {duel.second}", figures | ({"aim": aim} if aim else {}))
    return {"peers": found, "peers, ratios": ratios}


def _ratios(first: Outcome, second: Outcome) -> dict[str, float]:
    one, other = first.figures(), second.figures()
    return {
        "moves/s": one["moves/s"] / other["moves/s"],
        "moves per CPU s of the server": other["server CPU µs"] / one["server CPU µs"],
    }


@contextmanager
def _theirs(folder: Path) -> Iterator[list[Side]]:
    with ExitStack() as stack:
        sides = []
        for place in [theirs.install(name, folder) for name in PEERS]:
            peer = stack.enter_context(theirs.running(place))
            _warm(peer.play)
            sides.append(Side(f"{PEERS[place.name]}, pushed to five", FIVE, peer.play))
            sides.append(Side(f"{PEERS[place.name]}, one client", 1, peer.play))
        yield sides


@contextmanager
def _ours() -> Iterator[list[Side]]:
    with serving(GAME) as served:
        evenfold = Evenfold(served)
        yield [Side(name, FIVE, evenfold.playing(kind)) for name, kind in KINDS.items()]


def _warm(play: Callable[[Round], Outcome]) -> None:
    """Have a peer compile what it runs often, before it is measured."""
    for fresh in (True, False):
        play(Round(FIVE, fresh, FIVE, 1))
