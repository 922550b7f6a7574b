"""How large a run of the bench is: everything that bounds its count and its time."""

from typing import NamedTuple


class Size(NamedTuple):
    """Bounds of a run.

    rounds      how often each thing takes its turn
    requests    how many requests a load has, over all its clients
    clients     how many clients send at once, one load for each number
    tables      how many tables each worker plays at once, where workers are counted
    versions    at which versions of a table a command is measured
    commands    how many commands at each of them
    cold        how many decisions a table has that a new worker opens
    seconds     how long each part is measured by itself
    repeats     how often each step of a command is done for each move
    readers         how many read one table at once
    aged            how many decisions their table has before: what a reader that stalls has not taken yet
    pace            how many commands a second are sent to them, where it is not as many as can be
    peers_tables    how many tables of Trick are played at once beside peers
    peers_seconds   how long each of their rounds is
    """

    rounds: int = 5
    requests: int = 4_000
    clients: tuple[int, ...] = (1, 16, 64)
    tables: int = 16
    versions: tuple[int, ...] = (10, 1_000, 10_000)
    commands: int = 200
    cold: tuple[int, ...] = (2_000, 10_000)
    seconds: float = 0.5
    repeats: int = 20
    readers: int = 2_000
    aged: int = 2_000
    pace: float = 4.0
    peers_tables: tuple[int, ...] = (1, 20, 100)
    peers_seconds: float = 2.0


FULL = Size()
QUICK = Size(rounds=3, requests=1_200, commands=100, seconds=0.2, repeats=5, readers=500, peers_seconds=1.0)
LEAST = Size(
    rounds=1,
    requests=20,
    clients=(1, 4),
    tables=2,
    versions=(10, 30),
    commands=5,
    cold=(40,),
    seconds=0.01,
    repeats=1,
    readers=20,
    aged=50,
    pace=200.0,
    peers_tables=(2,),
    peers_seconds=0.1,
)
"""As little as shows that every figure comes out."""
