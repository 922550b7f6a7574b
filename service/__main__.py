"""The command line, `evenfold` or `python -m service`: each command says what it takes; its work is in service/cli.

What can't be done as asked is told in one sentence on the error stream, with exit code 2 and no traceback.
"""

import re
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated

import typer

from service.cli.options import (
    DEFAULT_DATA,
    WHERE,
    WHERE_KEYS,
    ArchiveAt,
    Data,
    Games,
    Host,
    Keys,
    KeysAlone,
    Port,
    Redis,
    RedisAlone,
    Supervised,
    Tokens,
    Url,
    WithoutArchive,
    keys_at,
    path_of,
    settled,
    settled_but,
    stated,
)
from service.settings import Place, Settings

app = typer.Typer(
    name="evenfold",
    help="Evenfold referees card games over HTTP.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

DEFAULT_PORT = 8_000

_StoreFolder = Annotated[
    Path | None, typer.Option(envvar="EVENFOLD_STORE_FOLDER", hidden=True, help="The embedded store's folder.")
]
_Sheet = Annotated[
    Path | None, typer.Option(envvar="EVENFOLD_METRICS_SHEET", hidden=True, help="Where to leave metrics.")
]


@app.callback(invoke_without_command=True)
def about(
    version: Annotated[bool, typer.Option("--version", metavar="", help="Say which version this is.")] = False,
) -> None:
    """Evenfold referees card games over HTTP."""
    if version:
        from service.version import version as installed

        sys.stdout.write(f"evenfold {installed()}\n")
        raise typer.Exit


@app.command(epilog=WHERE)
@settled
def serve(
    *,
    host: Host = "127.0.0.1",
    port: Port = DEFAULT_PORT,
    data: Data = DEFAULT_DATA,
    redis: Redis = None,
    keys: Keys = None,
    workers: Annotated[
        int, typer.Option(envvar="EVENFOLD_WORKERS", min=1, max=64, help="How many processes answer requests.")
    ] = 1,
    reactors: Annotated[
        int, typer.Option(envvar="EVENFOLD_REACTORS", min=1, max=64, help="How many move bots and keep the lobby.")
    ] = 1,
    supervised: Supervised = False,
    settings: Settings,
) -> None:
    """Serve: the store, the API and the bots in one go. Ctrl-C stops it."""
    from service.cli import serve as work

    place = Place(data.expanduser().absolute(), redis)
    secrets = (keys or place.data / "keys").expanduser().absolute()
    settings = settings._replace(redis=redis or "", keys=secrets)
    raise typer.Exit(work.serve(work.Plan(host, port, place, workers, reactors, settings, supervised)))


@app.command(epilog=WHERE_KEYS)
@settled_but("bot_pause")
def api(
    *,
    redis: RedisAlone,
    host: Host = "127.0.0.1",
    port: Port = DEFAULT_PORT,
    keys: KeysAlone = None,
    fd: Annotated[int | None, typer.Option(min=0, hidden=True, help="The descriptor of a listening socket.")] = None,
    store_folder: _StoreFolder = None,
    metrics_sheet: _Sheet = None,
    settings: Settings,
) -> None:
    """Answer requests, and nothing else: one process, of any number on one store. Ctrl-C stops it.

    Bots move, and lobby and inboxes are kept, while at least one `evenfold react` runs on the same store.

    All in one go is `evenfold serve`.
    """
    from service.cli import api as work

    settings = settings._replace(redis=redis, keys=keys_at(keys), folder=store_folder, sheet=metrics_sheet)
    if fd is not None:
        work.of_supervisor(settings, fd)
    else:
        raise typer.Exit(work.of_person(settings, host, port))


@app.command(epilog=WHERE_KEYS)
@settled_but("sign_up", "table_quota", "rate_limit", "sign_up_limit", "stream_limit", "trust", "cors_origin")
def react(
    *,
    redis: RedisAlone,
    host: Annotated[
        str, typer.Option(envvar="EVENFOLD_HOST", help="Where --metrics-port is.", callback=stated)
    ] = "127.0.0.1",
    keys: KeysAlone = None,
    supervised: Supervised = False,
    store_folder: _StoreFolder = None,
    metrics_sheet: _Sheet = None,
    settings: Settings,
) -> None:
    """Move bots, keep the lobby and fill the inboxes: one process, of any number on one store. Ctrl-C stops it.

    They share the work evenly; one that ends hands its part over at once, one that is killed within a few seconds.

    With --metrics-port it answers there to /metrics, /readyz and /healthz.
    """
    from service.cli import react as work

    settings = settings._replace(redis=redis, keys=keys_at(keys), folder=store_folder, sheet=metrics_sheet)
    work.react(settings, host, supervised=supervised)


@app.command()
def play(
    game: Annotated[str, typer.Argument(help="What to play: chinkway, …")],
    url: Url = None,
    token: Tokens = None,
    seats: Annotated[int | None, typer.Option(min=1, max=8, help="How many play.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the game; may come several times."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="The seed of all choices, but not of the cards.")] = None,
    games: Games = None,
) -> None:
    """Play a match of bots over HTTP, on a server that runs or on one of its own, and show the score sheet.

    Without --url the server goes afterwards and the table with it; with --url the table stays, for `replay` too.
    """
    from service.cli import play as work

    options = dict(map(work.option, option or ()))
    work.play(work.Match(game, seats, options, seed), url, token or (), games or ())


@app.command()
def arena(
    game: Annotated[str, typer.Argument(help="What to play: chinkway, …")],
    bots: Annotated[list[str], typer.Argument(help="Who plays; fewer than seats sit down again in turn.")],
    deals: Annotated[int, typer.Option(min=1, help="How many deals are played, at least.")] = 1_000,
    seats: Annotated[int | None, typer.Option(min=1, max=8, help="How many play.")] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the game; may come several times."),
    ] = None,
    moves: Annotated[
        int, typer.Option(min=1, help="After how many moves a match is left that has not ended.")
    ] = 20_000,
    seed: Annotated[int | None, typer.Option(help="The seed of all cards and choices.")] = None,
    games: Games = None,
) -> None:
    """Have bots play many deals in memory, and tell which of them does better, and how sure that is.

    The same cards are played again until every bot has sat on every seat; so few deals tell much.
    """
    from service.cli import arena as work
    from service.cli.play import option as read

    options = dict(map(read, option or ()))
    work.arena(work.Wanted(game, bots, seats, options, deals, moves, seed), games or ())


@app.command(epilog=WHERE)
def replay(
    table: Annotated[str, typer.Argument(help="The id of a table.")],
    data: Data = DEFAULT_DATA,
    redis: Redis = None,
    archive: ArchiveAt = None,
    seat: Annotated[
        int | None, typer.Option(min=0, max=7, help="Show what this seat may see; without it all is shown.")
    ] = None,
    spectator: Annotated[
        bool, typer.Option("--spectator", metavar="", help="Show what anybody may see who has no seat.")
    ] = False,
    after: Annotated[int, typer.Option(min=0, metavar="VERSION", help="Leave out what came up to this version.")] = 0,
    until: Annotated[
        int | None, typer.Option(min=1, metavar="VERSION", help="Leave out what came after this version.")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="In which language: en, de, es, ru or sv; else in the one that LANG names, or in English."),
    ] = None,
    url: Url = None,
    token: Tokens = None,
    games: Games = None,
) -> None:
    """Tell each decision of a table's log in words, from the store or, with --url and --token, from a server.

    The store tells all, the seed and every hand too, even while the table is in play; --seat tells what a seat may see,
    --spectator what anybody may. A server tells what your own seat may see, or with --spectator what anybody may; when
    the table has ended, what any --seat did too.
    """
    from service.cli import replay as work

    wanted = work.Wanted(table, seat, after, until, language, spectator)
    if url is None:
        work.from_store(Place(data.expanduser().absolute(), redis, archive), wanted, games or ())
    else:
        work.from_server(work.Source(url, token or ()), wanted, games or ())


@app.command()
def verify(
    files: Annotated[list[Path], typer.Argument(metavar="FILE…", parser=path_of, help="Records, and folders of them.")],
    keys: Annotated[
        Path | None,
        typer.Option(metavar="FILE", parser=path_of, help="The service's public keys, as it publishes them."),
    ] = None,
    unsigned: Annotated[bool, typer.Option("--unsigned", metavar="", help="Leave signatures aside.")] = False,
    checkpoint: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", parser=path_of, help="Checkpoints that were kept, one a line."),
    ] = None,
    proof: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", parser=path_of, help="Proofs of inclusion and consistency, one a line."),
    ] = None,
    tree: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", parser=path_of, help="Heads of the transparency log that were kept, one a line."),
    ] = None,
    other_tables: Annotated[
        bool, typer.Option("--other-tables", metavar="", help="There may be evidence of tables that no FILE is of.")
    ] = False,
    jobs: Annotated[int | None, typer.Option(min=1, max=64, help="How many processes; else one a core.")] = None,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Tell each in a line of JSON.")] = False,
    games: Games = None,
) -> None:
    """Check records of tables offline: log, signature, shuffles, and every decision by the rules.

    Exit code 0 says that all of them hold, 1 that one does not: it is told which entry is wrong first, and why. So is
    evidence that is no good, or of a table that no record is of (see --other-tables). The public keys are at
    /.well-known/evenfold-keys.json of the service.
    """
    from service.cli import verify as work

    wanted = work.Wanted(
        paths=files,
        keys=keys,
        unsigned=unsigned,
        checkpoints=checkpoint or (),
        proofs=proof or (),
        trees=tree or (),
        other_tables=other_tables,
        games=games or (),
        jobs=jobs,
        as_json=as_json,
    )
    raise typer.Exit(work.verify(wanted))


@app.command()
def openapi(
    output: Annotated[Path | None, typer.Option(metavar="FILE", help="The file; else the standard output.")] = None,
    games: Games = None,
) -> None:
    """Write the OpenAPI document."""
    from service.cli import openapi as work

    work.openapi(output, games or ())


@app.command(epilog=WHERE)
def token(
    account: Annotated[str | None, typer.Argument(help="The id of an account.")] = None,
    name: Annotated[str | None, typer.Option(help="Open a new account with this name.")] = None,
    scope: Annotated[
        list[str] | None,
        typer.Option(help="What the token may do: one of the scopes above; may come several times."),
    ] = None,
    expires: Annotated[str | None, typer.Option(metavar="TIME", help="How long it lives: 30d, 12h, 45m.")] = None,
    data: Data = DEFAULT_DATA,
    redis: Redis = None,
) -> None:
    """Make a token in the store and print it, and nothing else, on the standard output.

    What a token may do is its scopes; without --scope they are play and host:

    - play: sit down and play

    - host: open, start and abandon tables, and seat bots

    - bot: play as a bot does, with the rights of its seat and no record

    - arbiter: look behind the cards of a dispute and rule on it; given by this command alone

    - admin: run the service; given by this command alone
    """
    from service.cli import token as work

    place = Place(data.expanduser().absolute(), redis)
    sys.stdout.write(work.token(place, work.Wanted(account, name, scope or (), expires)) + "\n")


@app.command(epilog=WHERE)
def erase(
    account: Annotated[str, typer.Argument(help="The id of an account.")],
    yes: Annotated[bool, typer.Option("--yes", metavar="", help="Do it; it can't be undone.")] = False,
    data: Data = DEFAULT_DATA,
    redis: Redis = None,
    archive: ArchiveAt = None,
    games: Games = None,
) -> None:
    """Erase an account for good: it gives up its seats, its tokens end, its name is forgotten.

    Tables that it has opened and that have not begun are abandoned. The log keeps its id, which has no name any more.
    """
    from service.cli import erase as work

    work.erase(Place(data.expanduser().absolute(), redis, archive), account, games or (), sure=yes)


@app.command(epilog=WHERE)
def rebuild(
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Only this: keys, attendance, lobby or inboxes; may come several times."),
    ] = None,
    data: Data = DEFAULT_DATA,
    redis: Redis = None,
    archive: ArchiveAt = None,
) -> None:
    """Make everything anew that is derived from the logs of the tables, while the service runs or not.

    - keys: which Idempotency-Key led to which decision, so that a request that is repeated is not done twice

    - attendance: at which tables an account is host, sits or sat

    - lobby: which tables are open or in play; who follows its changes begins anew

    - inboxes: what each account was told, by new numbers

    It changes no log, and may be said again where it was cut off.
    """
    from service.cli import rebuild as work

    work.rebuild(Place(data.expanduser().absolute(), redis, archive), only or ())


@app.command(epilog=WHERE)
def archive(
    *,
    data: Data = DEFAULT_DATA,
    redis: Redis = None,
    archive: ArchiveAt = None,
    older_than: Annotated[
        str,
        typer.Option(
            metavar="TIME", help="Leave a table that something was added to since: 30d, 12h, 45m, 1m at least."
        ),
    ] = "30d",
    dry_run: Annotated[bool, typer.Option("--dry-run", metavar="", help="Only say what would go.")] = False,
    as_json: Annotated[bool, typer.Option("--json", metavar="", help="Tell what came of it as JSON.")] = False,
    games: Games = None,
) -> None:
    """Move the logs of tables that ended long ago to the archive, while the service runs or not.

    A table goes when it has ended, no dispute is open, and nothing was added to it for the time of --older-than: less
    than the default cuts short how long a table may be disputed. Each copy is read back before the store lets it go,
    and reads go through to it; whoever serves the store needs the same --archive.

    S3 is asked with AWS_ENDPOINT_URL, AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, where they are set.

    It may be said again where it was cut off.
    """
    from service.cli import archive as work

    place = Place(data.expanduser().absolute(), redis, archive)
    raise typer.Exit(work.archive(place, work.Wanted(older_than, dry_run, as_json), games or ()))


@app.command(epilog=WHERE)
def backup(
    target: Annotated[
        str,
        typer.Argument(
            metavar="FILE|FOLDER",
            help="A new file, or a folder that is there, to make one in; what ends in / is a folder.",
            callback=stated,
        ),
    ],
    data: Data = DEFAULT_DATA,
    redis: Redis = None,
    archive: ArchiveAt = None,
    with_keys: Annotated[
        bool, typer.Option("--with-keys", metavar="", help="The service's secrets go with it: keep it from everybody.")
    ] = False,
    keys: Keys = None,
) -> None:
    """Copy all that a store keeps into one file, while the service runs or not.

    All that was acknowledged before is in it. Logs in the archive stay there: keep both. The ids of erased accounts are
    noted beside it, in evenfold-erased.txt, so that an older backup of the same folder brings nobody back.
    """
    from service.cli import backup as work

    place = Place(data.expanduser().absolute(), redis, archive)
    secrets = (keys or place.data / "keys").expanduser().absolute()
    work.backup(place, work.Wanted(target, secrets if with_keys else None))


@app.command(epilog=WHERE)
def restore(
    what: Annotated[str, typer.Argument(metavar="TABLE|FILE", help="The id of an archived table, or a backup.")],
    data: Data = DEFAULT_DATA,
    redis: Redis = None,
    archive: ArchiveAt = None,
    without_archive: WithoutArchive = False,
    keys: Keys = None,
    games: Games = None,
) -> None:
    """Put the log of a table back into the store, from the archive; or fill an empty store from a backup.

    A table that is back may be disputed and ruled on again. Its file stays in the archive, and the next `evenfold
    archive` takes the table again, unless a dispute is open by then.

    A backup is read through before anything is written. If it holds the service's secrets they go to --keys. Accounts
    that evenfold-erased.txt beside it or the archive names are erased again: that of a store with an archive takes
    --archive.
    """
    place = Place(data.expanduser().absolute(), redis, archive)
    if re.fullmatch(r"(table:)?[0-9a-z]{26}", what):
        from service.cli import archive as of_table

        of_table.restore(place, what)
    else:
        from service.cli import backup as of_store

        secrets = (keys or place.data / "keys").expanduser().absolute()
        wanted = of_store.Refill(Path(what).expanduser().absolute(), secrets, without_archive)
        of_store.restore(place, wanted, games or ())


def main() -> None:
    """Run the command line and leave with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # What its encoding has no character for, as in the name of a file, ends no command.
            stream.reconfigure(errors="backslashreplace")
    try:
        sys.exit(app(prog_name="evenfold", standalone_mode=False))
    except typer.TyperException as error:
        # Where no command was named, the help has been printed and there is nothing to say.
        if words := error.format_message().rstrip("."):
            sys.stderr.write(f"evenfold: {words}.\n")
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
