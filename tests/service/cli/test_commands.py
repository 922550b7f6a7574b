"""The commands as a whole: help, version, the document, and what is no command."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from service.auth.scopes import SCOPES
from service.cli.options import DEFAULT_DATA
from tests.service.cli.processes import ROOT, Called

COMMANDS = ["serve", "api", "react", "play", "replay", "openapi", "token", "erase", "rebuild"]


def test_the_version_is_the_projects(called: Called) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = called("--version")
    assert (told.code, told.printed) == (0, f"evenfold {project['version']}\n")


def test_the_help_lists_the_commands_of_people(called: Called) -> None:
    printed = called("--help").printed
    assert all(f" {name} " in printed for name in COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(called: Called, command: str) -> None:
    told = called(command, "--help")
    assert (told.code, told.told) == (0, "")
    assert f"evenfold {command}" in told.printed


def test_the_help_shows_no_option_that_another_process_of_the_server_takes(called: Called) -> None:
    api, react = (called(command, "--help").printed for command in ("api", "react"))
    assert ("--bot-pause" in api, "--bot-pause" in react) == (False, True)
    assert ("--rate-limit" in api, "--rate-limit" in react) == (True, False)
    for hidden in ("--fd", "--supervised", "--store-folder", "--metrics-sheet"):
        assert hidden not in api + react
    # They are taken all the same: all processes of a server may have one environment.
    assert "EVENFOLD_RATE_LIMIT" in called("react", "--redis", "redis://a", EVENFOLD_RATE_LIMIT="many").refusal


@pytest.mark.parametrize("arguments", [("deal",), ("serve", "--nonsense"), ("serve", "--port"), ("play",)])
def test_what_is_no_command_is_refused_in_a_sentence(called: Called, arguments: tuple[str, ...]) -> None:
    assert called(*arguments).refusal


def test_without_a_command_the_help_is_printed_and_nothing_told(called: Called) -> None:
    told = called()
    assert (told.code, told.told) == (2, "")
    assert told.printed.split() == called("--help").printed.split()


@pytest.mark.parametrize("command", ["serve", "replay", "token", "erase"])
def test_the_help_names_the_folder_of_the_store_in_full(
    called: Called, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert str(DEFAULT_DATA) in re.sub(r"\n +", "", called(command, "--help").printed)


def test_the_help_of_token_says_what_each_scope_allows(called: Called) -> None:
    printed = called("token", "--help").printed
    assert "without --scope they are play and host" in printed
    assert all(f" {scope}: " in printed for scope in SCOPES)


@pytest.mark.parametrize(
    ("command", "option", "variable"),
    [
        ("serve", "data", "EVENFOLD_DATA"),
        ("serve", "keys", "EVENFOLD_KEYS"),
        ("serve", "redis", "EVENFOLD_REDIS_URL"),
        ("token", "data", "EVENFOLD_DATA"),
        ("token", "redis", "EVENFOLD_REDIS_URL"),
    ],
)
def test_what_is_set_to_nothing_is_refused(called: Called, command: str, option: str, variable: str) -> None:
    told = called(command, f"--{option}", "").refusal
    assert f"Invalid value for '--{option}'" in told
    assert called(command, **{variable: ""}).refusal == told


def test_what_is_stated_stands_above_a_variable_set_to_nothing(called: Called, tmp_path: Path) -> None:
    told = called("replay", "0" * 26, "--data", str(tmp_path), EVENFOLD_DATA="")
    assert f"The data folder {tmp_path} holds no store" in told.refusal


def test_the_document_is_written_to_a_file_or_printed(called: Called, tmp_path: Path) -> None:
    told = called("openapi", "--output", str(tmp_path / "openapi.json"))
    assert (told.code, told.printed) == (0, "")
    written = (tmp_path / "openapi.json").read_text()
    assert json.loads(written)["openapi"].startswith("3.1")
    assert called("openapi").printed == written


def test_a_file_that_can_not_be_written_is_told(called: Called, tmp_path: Path) -> None:
    path = tmp_path / "missing" / "openapi.json"
    told = called("openapi", "--output", str(path))
    assert (told.code, told.told) == (1, f"evenfold: {path} can't be written: No such file or directory.\n")
    assert not path.parent.exists()
