"""`python -m tests.bench`: measure, and print the figures with their ratios."""

import argparse

from rich.console import Console

from tests.bench import commands


def main() -> None:
    """Measure what is asked for, everything by default."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--connections", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=5)
    asked = parser.parse_args()
    console = Console()
    _, sheet = commands.measure(asked.connections, asked.rounds)
    console.print(sheet)


if __name__ == "__main__":
    main()
