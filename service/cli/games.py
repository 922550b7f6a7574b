"""The games, for a command: what keeps a module from being one is told in a sentence."""

from collections.abc import Sequence

from service import games
from service.cli.sentences import Unusable
from service.games import Games


def found(modules: Sequence[str]) -> Games:
    """Find the games of the tree and those of the modules named; raise Unusable."""
    try:
        return games.find(*modules)
    except (ImportError, SyntaxError, ValueError) as error:
        raise Unusable(f"Invalid value for '--games' (env var: 'EVENFOLD_GAMES'): {error}") from error
