"""`evenfold token`: a token made in the store, printed alone."""

from pathlib import Path

import httpx
import pytest

from service.auth.scopes import SCOPES
from tests.service.cli.processes import Called, Server, person, run


def me(url: str, token: str) -> httpx.Response:
    return httpx.get(f"{url}/v1/me", headers={"Authorization": f"Bearer {token}"})


def test_a_token_is_printed_alone_and_speaks_for_its_account(server: Server) -> None:
    scopes = [part for scope in SCOPES for part in ("--scope", scope)]
    made = run("token", "--name", "Ada", *scopes, "--expires", "30d", "--data", str(server.data))
    assert made.returncode == 0, made.stderr
    assert made.stdout.count("\n") == 1
    known = me(server.url, made.stdout.strip()).json()
    assert (known["player"]["name"], known["scopes"]) == ("Ada", sorted(SCOPES))
    assert known["player"]["id"] in made.stderr
    assert made.stdout.strip() not in made.stderr


def test_a_token_of_an_account_that_is_there_plays_and_hosts_by_default(called: Called, server: Server) -> None:
    with person(server.url) as ada:
        made = called("token", ada.id, "--data", str(server.data))
        assert made.code == 0, made.told
        assert me(server.url, made.printed.strip()).json()["player"]["id"] == ada.id
        assert me(server.url, made.printed.strip()).json()["scopes"] == ["host", "play"]


def test_a_token_may_be_made_before_the_first_start(called: Called, tmp_path: Path) -> None:
    made = called("token", "--name", "Ada", "--scope", "admin", "--data", str(tmp_path / "new"))
    assert made.code == 0, made.told
    assert made.printed.startswith("evf_")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "Name either an account by its id, or a new one with --name"),
        (("0" * 26, "--name", "Ada"), "Name either an account by its id, or a new one with --name"),
        (("0" * 26,), "The store has no account 00000000000000000000000000"),
        (("ada",), "The store has no account ada"),
        (("--name", "Ada", "--scope", "root"), "There is no scope 'root'; there are play, host, bot, arbiter, admin"),
        (("--name", "Ada", "--expires", "soon"), "'soon' is no time until a token expires"),
        (("--name", "Ada", "--expires", "0d"), "'0d' is no time until a token expires"),
        (("--name", "Ada", "--expires", "36501d"), "'36501d' is no time until a token expires"),
        (("--name", " "), "A name has 1 to 64 characters."),
        (("--name", "A\u200bda"), "A name or label holds no "),
    ],
)
def test_a_token_that_can_not_be_is_refused(
    called: Called, server: Server, arguments: tuple[str, ...], words: str
) -> None:
    assert words in called("token", *arguments, "--data", str(server.data)).refusal
