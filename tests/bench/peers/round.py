"""A round: so many tables of Trick at once, for so long; the words in which it is asked for and answered."""

from msgspec import Struct


class Round(Struct, frozen=True):
    """What is to be played.

    `fresh` makes a table and its connections for each match; else tables are made and connected before the clock
    starts, and dealt anew whenever a deal is over. A table has five `clients`, or one that plays for all seats.
    """

    tables: int
    fresh: bool
    clients: int
    seconds: float


class Outcome(Struct, frozen=True):
    """What it came to: moves made, CPU seconds of the servers and of the clients."""

    moves: int
    seconds: float
    server_cpu: float
    driver_cpu: float
    p50_ms: float
    p99_ms: float

    def figures(self) -> dict[str, float]:
        """Return what a sheet tells of it."""
        return {
            "moves/s": self.moves / self.seconds,
            "server CPU µs": self.server_cpu / self.moves * 1e6,
            "server's cores": self.server_cpu / self.seconds,
            "clients' cores": self.driver_cpu / self.seconds,
            "p50 ms": self.p50_ms,
            "p99 ms": self.p99_ms,
        }
