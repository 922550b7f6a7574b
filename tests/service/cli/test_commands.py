"""The commands as a whole: help, version, the document, and what is no command."""

import json
import tomllib
from pathlib import Path

import pytest

from tests.service.cli.processes import ROOT, Called


def test_the_version_is_the_projects(called: Called) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    told = called("--version")
    assert (told.code, told.printed) == (0, f"evenfold {project['version']}\n")


def test_the_help_lists_the_commands_of_people(called: Called) -> None:
    printed = called("--help").printed
    assert all(f" {name} " in printed for name in ("serve", "play", "replay", "openapi", "token"))
    assert not any(f" {name} " in printed for name in ("api", "react"))


@pytest.mark.parametrize("command", ["serve", "play", "replay", "openapi", "token"])
def test_every_command_has_help(called: Called, command: str) -> None:
    told = called(command, "--help")
    assert (told.code, told.told) == (0, "")
    assert f"evenfold {command}" in told.printed


@pytest.mark.parametrize("arguments", [("deal",), ("serve", "--nonsense"), ("serve", "--port"), ("play",)])
def test_what_is_no_command_is_refused_in_a_sentence(called: Called, arguments: tuple[str, ...]) -> None:
    assert called(*arguments).refusal


def test_the_document_is_written_to_a_file_or_printed(called: Called, tmp_path: Path) -> None:
    told = called("openapi", "--output", str(tmp_path / "new" / "openapi.json"))
    assert (told.code, told.printed) == (0, "")
    written = (tmp_path / "new" / "openapi.json").read_text()
    assert json.loads(written)["openapi"].startswith("3.1")
    assert called("openapi").printed == written


def test_a_file_that_can_not_be_written_is_told(called: Called) -> None:
    told = called("openapi", "--output", "/dev/null/new/openapi.json")
    assert (told.code, told.told) == (1, "evenfold: /dev/null/new/openapi.json can't be written: Not a directory.\n")
