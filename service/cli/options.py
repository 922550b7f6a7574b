"""Options that commands share, each with its variable; those that make up the settings stand here once.

`settled` gives a command all options of the settings, so that `serve` and the processes it starts can't differ in them.
"""

import inspect
import ipaddress
import os
import re
from collections.abc import Callable, Collection
from copy import copy
from functools import wraps
from pathlib import Path
from typing import Annotated, TypeVar, get_args

import typer

from service.settings import Durability, Limits, LogFormat, LogLevel, Settings, default_data

T = TypeVar("T")

_USUAL = Limits()

DEFAULT_DATA = default_data()

# In the table of options a long path would be cut.
WHERE = f"Without --data the store is in {DEFAULT_DATA}, the user's own folder for data."

WHERE_KEYS = f"Without --keys the secrets are where `serve` has them: in EVENFOLD_DATA or {DEFAULT_DATA}, in `keys`."

_EMPTY = "it is empty; leave it out, or state it"

# As RFC 6454 has browsers write it: in lower case, a name in ASCII, and no port that the scheme has anyway.
_HOST = r"[a-z0-9_-]+(?:\.[a-z0-9_-]+)*|\[[0-9a-f:.]+\]"
_ORIGIN = re.compile(rf"\*|none|(?P<scheme>[a-z][a-z0-9+.-]*)://(?:{_HOST})(?::(?P<port>[1-9][0-9]{{0,4}}))?")
_USUAL_PORTS = {"http": "80", "https": "443"}


def stated(context: typer.Context, parameter: typer.CallbackParam, value: T) -> T:
    """Refuse what is set to nothing, on the command line or in the environment: nobody means the default by that."""
    source = context.get_parameter_source(str(parameter.name))
    unset = source is not None and source.name == "DEFAULT" and os.environ.get(str(parameter.envvar)) == ""
    if value == "" or unset:
        raise typer.BadParameter(_EMPTY)
    return value


def path_of(path: str | Path) -> Path:
    """Read a path; an empty one would be the working directory."""
    if path == "":
        raise typer.BadParameter(_EMPTY)
    return Path(path)


def _network(text: str) -> str:
    """Read an address or a network; anything else would trust nobody, silently."""
    try:
        ipaddress.ip_network(text)
    except ValueError as error:
        raise typer.BadParameter(f"{error}; write an address or a network, 10.0.0.0/8") from None
    return text


def _archive(text: str) -> str:
    """Read the address of an archive."""
    from service.archive import Archive, ArchiveUnfit  # noqa: PLC0415 large, and only needed where one is named

    try:
        Archive(text)
    except ArchiveUnfit as unfit:
        raise typer.BadParameter(str(unfit).rstrip(".")) from None
    return text


def _origin(text: str) -> str:
    """Read an origin; what no browser ever says would let nobody in, silently."""
    match = _ORIGIN.fullmatch(text)
    if match is None:
        raise typer.BadParameter(f"{text!r} is no origin; write it as browsers do, https://cards.example.org, or none")
    if match["port"] is not None and match["port"] == _USUAL_PORTS.get(match["scheme"]):
        raise typer.BadParameter(f"browsers say {text.rpartition(':')[0]} for {text}: leave the port out")
    return text


def _one_way(context: typer.Context, parameter: typer.CallbackParam, origins: list[str] | None) -> list[str] | None:
    """Refuse any and none beside others."""
    origins = stated(context, parameter, origins)
    for alone in ("*", "none"):
        if origins is not None and alone in origins and set(origins) != {alone}:
            raise typer.BadParameter(f"{alone} stands alone, and here are others beside it")
    return origins


Host = Annotated[str, typer.Option(envvar="EVENFOLD_HOST", help="The address to listen at.", callback=stated)]
Port = Annotated[int, typer.Option(envvar="EVENFOLD_PORT", min=0, max=65_535, help="The port; 0 takes a free one.")]
Data = Annotated[
    Path,
    typer.Option(
        envvar="EVENFOLD_DATA",
        help="The folder of the store.",
        show_default=False,
        metavar="FOLDER",
        parser=path_of,
        callback=stated,
    ),
]
Redis = Annotated[
    str | None,
    typer.Option(
        callback=stated,
        envvar="EVENFOLD_REDIS_URL",
        metavar="URL",
        help="Another store instead: redis://, rediss:// (TLS) or unix://; Redis 7.0 or newer, or Valkey. "
        "The environment keeps a password from those who list processes.",
    ),
]
RedisAlone = Annotated[
    str,
    typer.Option(
        callback=stated,
        envvar="EVENFOLD_REDIS_URL",
        metavar="URL",
        help="The store: redis://, rediss:// (TLS) or unix://; Redis 7.0 or newer, or Valkey. The environment keeps a "
        "password from those who list processes.",
    ),
]
Keys = Annotated[
    Path | None,
    typer.Option(
        envvar="EVENFOLD_KEYS",
        metavar="FOLDER",
        help="The folder of the service's secrets; else `keys` in --data. Servers of one store need the same.",
        parser=path_of,
        callback=stated,
    ),
]
KeysAlone = Annotated[
    Path | None,
    typer.Option(
        envvar="EVENFOLD_KEYS",
        metavar="FOLDER",
        help="The folder of the service's secrets; all processes of one store need the same.",
        parser=path_of,
        callback=stated,
    ),
]
Games = Annotated[
    list[str] | None,
    typer.Option(
        envvar="EVENFOLD_GAMES", metavar="MODULE", help="A module with one more game; may come several times."
    ),
]
ArchiveAt = Annotated[
    str | None,
    typer.Option(
        "--archive",
        envvar="EVENFOLD_ARCHIVE",
        metavar="URL",
        parser=_archive,
        callback=stated,
        help="Where logs are that `evenfold archive` has moved: file:///folder or s3://bucket/prefix.",
    ),
]
WithoutArchive = Annotated[
    bool,
    typer.Option("--without-archive", metavar="", help="The archive of a backup is lost, and who was erased with it."),
]
Url = Annotated[
    str | None, typer.Option(envvar="EVENFOLD_URL", metavar="URL", help="The address of a server that runs.")
]
Tokens = Annotated[
    list[str] | None,
    typer.Option(envvar="EVENFOLD_TOKEN", help="A player's token at that server; may come several times."),
]
Supervised = Annotated[bool, typer.Option(hidden=True, help="End with the standard input.")]

_SignUp = Annotated[
    bool, typer.Option(envvar="EVENFOLD_SIGN_UP", metavar="", help="Whether anyone may open an account.")
]
_BotPause = Annotated[
    int, typer.Option(envvar="EVENFOLD_BOT_PAUSE", min=0, max=60_000, metavar="MS", help="How long bots think, in ms.")
]
_Durability = Annotated[
    Durability,
    typer.Option(
        envvar="EVENFOLD_DURABILITY",
        help="What a decision waits for until it is acknowledged: what the store does, its disk, a replica.",
    ),
]
_TableQuota = Annotated[
    int,
    typer.Option(
        envvar="EVENFOLD_TABLE_QUOTA", min=0, max=1_000_000, help="Tables one account may have open; 0: no limit."
    ),
]
_RateLimit = Annotated[
    int,
    typer.Option(
        envvar="EVENFOLD_RATE_LIMIT", min=0, max=1_000_000, help="Requests a second of one account; 0: no limit."
    ),
]
_SignUpLimit = Annotated[
    int,
    typer.Option(
        envvar="EVENFOLD_SIGN_UP_LIMIT", min=0, max=1_000_000, help="New accounts a minute of one address; 0: no limit."
    ),
]
_MinFree = Annotated[
    int,
    typer.Option(
        envvar="EVENFOLD_MIN_FREE",
        min=0,
        max=1_000_000_000,
        metavar="MIB",
        help="Below this room in the store no new table is opened, in MiB; 0: no limit.",
    ),
]
_StreamLimit = Annotated[
    int,
    typer.Option(
        envvar="EVENFOLD_STREAM_LIMIT", min=0, max=1_000_000, help="Streams one account may have open; 0: no limit."
    ),
]
_Trust = Annotated[
    list[str] | None,
    typer.Option(
        envvar="EVENFOLD_TRUST",
        metavar="ADDRESS",
        parser=_network,
        help="A proxy, or a network of them, whose X-Forwarded headers are believed; may come several times.",
    ),
]
_CorsOrigins = Annotated[
    list[str] | None,
    typer.Option(
        "--cors-origin",
        envvar="EVENFOLD_CORS_ORIGIN",
        metavar="ORIGIN",
        parser=_origin,
        callback=_one_way,
        help="Whose pages may read answers, https://cards.example.org; may come several times. Without it any may; "
        "none: no other origin's.",
    ),
]
_MetricsPort = Annotated[
    int | None,
    typer.Option(
        envvar="EVENFOLD_METRICS_PORT",
        min=1,
        max=65_535,
        help="The port of /metrics; without it, the API's own (reactors that run alone then have none).",
    ),
]
_LogFormat = Annotated[
    LogFormat,
    typer.Option(envvar="EVENFOLD_LOG_FORMAT", help="How the log is written."),
]
_LogLevel = Annotated[
    LogLevel,
    typer.Option(
        envvar="EVENFOLD_LOG_LEVEL",
        help="From what weight on the log is written; info has a line for each request.",
    ),
]


def _settings(  # noqa: PLR0913 an operator's options, each by its name
    *,
    bot_pause: _BotPause = 400,
    sign_up: _SignUp = True,
    games: Games = None,
    durability: _Durability = "store",
    table_quota: _TableQuota = _USUAL.tables,
    rate_limit: _RateLimit = _USUAL.requests,
    sign_up_limit: _SignUpLimit = _USUAL.sign_ups,
    min_free: _MinFree = _USUAL.min_free,
    stream_limit: _StreamLimit = _USUAL.streams,
    trust: _Trust = None,
    cors_origin: _CorsOrigins = None,
    metrics_port: _MetricsPort = None,
    archive: ArchiveAt = None,
    log_format: _LogFormat = "text",
    log_level: _LogLevel = "warning",
) -> Settings:
    """Make the settings of a process that does not know its store yet."""
    return Settings(
        redis="",
        keys=Path(),
        secret=os.environ.get("EVENFOLD_SECRET"),
        signing_key=os.environ.get("EVENFOLD_SIGNING_KEY"),
        sign_up=sign_up,
        games=tuple(games or ()),
        bot_pause_ms=bot_pause,
        durability=durability,
        limits=Limits(table_quota, rate_limit, sign_up_limit, min_free, stream_limit),
        trust=tuple(trust or ()),
        cors_origins=tuple(origin for origin in cors_origin or ["*"] if origin != "none"),
        metrics_port=metrics_port,
        archive=archive,
        log_format=log_format,
        log_level=log_level,
    )


def keys_at(stated: Path | None) -> Path:
    """Return the folder of the secrets, for a process without a data folder: where `serve` has it, unless stated."""
    return (stated or Path(os.environ.get("EVENFOLD_DATA") or DEFAULT_DATA) / "keys").expanduser().absolute()


def settled(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of the settings after its own; it takes what they come to as `settings`."""
    return settled_but()(command)


def settled_but(*others: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Do as `settled` does, and leave some options out of the help: they are for another process of the same server."""

    def settled(command: Callable[..., None]) -> Callable[..., None]:
        return _settled(command, others)

    return settled


def _settled(command: Callable[..., None], hidden: Collection[str]) -> Callable[..., None]:
    own = {name: each for name, each in inspect.signature(command).parameters.items() if name != "settings"}
    added = inspect.signature(_settings).parameters

    @wraps(command)
    def called(**given: object) -> None:
        settings = _settings(**{name: given.pop(name) for name in added})  # type: ignore[arg-type] # typer has read them
        command(**given, settings=settings)

    shown = (_unshown(each) if each.name in hidden else each for each in added.values())
    parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own.values(), *shown)]
    called.__signature__ = inspect.Signature(parameters, return_annotation=None)  # type: ignore[attr-defined] # what typer reads
    called.__annotations__ = {each.name: each.annotation for each in parameters}
    return called


def _unshown(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return an option as it is, but for the help."""
    kind, option = get_args(parameter.annotation)
    option = copy(option)
    option.hidden = True
    return parameter.replace(annotation=Annotated[kind, option])
