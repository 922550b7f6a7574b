"""What an operator can say, from the environment too.

Each option of `serve` has a variable, `--bot-pause` is `EVENFOLD_BOT_PAUSE`; the store's address is EVENFOLD_REDIS_URL.
A value that can't be meant is refused in one sentence that names its variable; nothing is silently defaulted.
"""

from pathlib import Path
from typing import NamedTuple

import platformdirs


class Settings(NamedTuple):
    """How one process of the service is set up.

    `redis` is the address of the store. `keys` is the folder of the service's secrets, `secret` one stated as hex
    instead. `games` names modules outside the tree whose games are served too. `bot_pause_ms` is how long bots think.
    """

    redis: str
    keys: Path
    secret: str | None = None
    sign_up: bool = True
    games: tuple[str, ...] = ()
    bot_pause_ms: int = 400

    def environment(self) -> dict[str, str]:
        """Return the variables that say the same to a process; on its command line, anyone could read a password.

        `secret` is not among them: it came from the environment, which a process inherits.
        """
        return {
            "EVENFOLD_REDIS_URL": self.redis,
            "EVENFOLD_KEYS": str(self.keys),
            "EVENFOLD_SIGN_UP": "true" if self.sign_up else "false",
            "EVENFOLD_GAMES": " ".join(self.games),
            "EVENFOLD_BOT_PAUSE": str(self.bot_pause_ms),
        }


class Place(NamedTuple):
    """Where the store is: the address of one that runs elsewhere, or None for the embedded one of the data folder."""

    data: Path
    redis: str | None


def default_data() -> Path:
    """Return the folder that the embedded store lives in unless another is named."""
    return Path(platformdirs.user_data_dir("evenfold"))
