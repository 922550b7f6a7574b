"""What an operator can say, from the environment too.

Each option of `serve` has a variable, `--bot-pause` is `EVENFOLD_BOT_PAUSE`; the store's address is EVENFOLD_REDIS_URL.
A value that can't be meant is refused in one sentence that names its variable; nothing is silently defaulted.
"""

from pathlib import Path
from typing import Literal, NamedTuple

import platformdirs

LogFormat = Literal["text", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]
Durability = Literal["store", "fsync", "replicated"]


class Limits(NamedTuple):
    """How much one account or address may ask for; 0 sets no limit.

    `tables` open at once, by the account that opened them. `requests` a second, by account. `sign_ups` a minute, by
    address. `min_free` is the room (MiB) that the store must have left for a new table. `streams` open at once in a
    process, by account.
    """

    tables: int = 100
    requests: int = 200
    sign_ups: int = 60
    min_free: int = 256
    streams: int = 256


NO_LIMITS = Limits(0, 0, 0, 0, 0)


class Settings(NamedTuple):
    """How one process of the service is set up.

    `redis` is the address of the store. `keys` is the folder of the service's secrets; `secret` and `signing_key` are
    stated as hex instead. `games` names modules outside the tree whose games are served too. `bot_pause_ms` is how long
    bots think. `durability` is what a decision waits for before it is acknowledged. `trust` names the proxies
    (addresses or networks) whose word on a client's address is taken. `cors_origins` are those whose pages may read
    answers, `*` for any. `metrics_port` None has /metrics beside the API.

    `archive` is the address of the archive, None where no log is in one.

    A server states two for the processes that it starts: `folder`, whose disk an embedded store fills, and `sheet`, the
    file at which a process leaves its metrics; both are None where there is no such thing.
    """

    redis: str
    keys: Path
    secret: str | None = None
    signing_key: str | None = None
    sign_up: bool = True
    games: tuple[str, ...] = ()
    bot_pause_ms: int = 400
    durability: Durability = "store"
    limits: Limits = Limits()
    trust: tuple[str, ...] = ()
    cors_origins: tuple[str, ...] = ("*",)
    metrics_port: int | None = None
    log_format: LogFormat = "text"
    log_level: LogLevel = "warning"
    archive: str | None = None
    folder: Path | None = None
    sheet: Path | None = None

    def environment(self) -> dict[str, str]:
        """Return the variables that say the same to a process; on its command line, anyone could read a password.

        `secret` and `signing_key` are not among them: they came from the environment, which a process inherits.
        """
        optional = {
            "EVENFOLD_METRICS_PORT": self.metrics_port,
            "EVENFOLD_ARCHIVE": self.archive,
            "EVENFOLD_STORE_FOLDER": self.folder,
            "EVENFOLD_METRICS_SHEET": self.sheet,
        }
        return {name: str(value) for name, value in optional.items() if value is not None} | {
            "EVENFOLD_REDIS_URL": self.redis,
            "EVENFOLD_KEYS": str(self.keys),
            "EVENFOLD_SIGN_UP": "true" if self.sign_up else "false",
            "EVENFOLD_GAMES": " ".join(self.games),
            "EVENFOLD_BOT_PAUSE": str(self.bot_pause_ms),
            "EVENFOLD_DURABILITY": self.durability,
            "EVENFOLD_TABLE_QUOTA": str(self.limits.tables),
            "EVENFOLD_RATE_LIMIT": str(self.limits.requests),
            "EVENFOLD_SIGN_UP_LIMIT": str(self.limits.sign_ups),
            "EVENFOLD_MIN_FREE": str(self.limits.min_free),
            "EVENFOLD_STREAM_LIMIT": str(self.limits.streams),
            "EVENFOLD_TRUST": " ".join(self.trust),
            "EVENFOLD_CORS_ORIGIN": " ".join(self.cors_origins) or "none",
            "EVENFOLD_LOG_FORMAT": self.log_format,
            "EVENFOLD_LOG_LEVEL": self.log_level,
        }


class Place(NamedTuple):
    """Where the store is: the address of one that runs elsewhere, or None for the embedded one of the data folder.

    `archive` is where the logs are that it does not have any more, None where no log is archived.
    """

    data: Path
    redis: str | None
    archive: str | None = None


def default_data() -> Path:
    """Return the folder that the embedded store lives in unless another is named."""
    return Path(platformdirs.user_data_dir("evenfold"))
