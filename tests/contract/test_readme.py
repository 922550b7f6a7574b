"""What the README shows is what happens: its curl sessions are run as they stand there."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.main import get_command

from service.__main__ import app
from tests.service.cli.processes import Server, serving
from tests.tree import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(heading: str) -> list[str]:
    """Return what a section of the README would have one say to a shell."""
    section = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


GAME, AUDIT = blocks("A first game in a minute"), blocks("An audit in another minute")
ADDRESS = "http://127.0.0.1:8000"

# A match is long: before the twelfth request the player resigns, and with no person left it ends.
IMPATIENCE = """
curl() {
  printf . >>"$tally"
  [ "$(wc -c <"$tally")" -ne 12 ] || resign >/dev/null
  command curl "$@"
}
resign() { post "$table/commands" '{"type": "table.resign"}'; }
"""

SHELLS = [shell for shell in ["bash", "dash"] if shutil.which(shell) and shutil.which("curl")]
"""On a machine without curl nobody can play like that; CI must have it."""


def test_ci_can_play_by_curl() -> None:
    assert SHELLS or os.environ.get("CI") != "true", "CI needs curl on PATH: apt-get install curl"


@pytest.mark.parametrize("shell", SHELLS)
def test_the_curl_session_of_the_readme_plays(shell: str, tmp_path: Path) -> None:
    assert len(GAME) == 2
    with serving(tmp_path) as server:
        played = said(shell, [IMPATIENCE, *GAME], server)
    assert (played.returncode, played.stderr) == (0, ""), played.stdout[-500:] + played.stderr
    seated, view, actions, places = values(played.stdout)
    assert seated["seat"] == 0, seated
    assert view["hand"], view
    assert actions["seat"] == 0
    assert places[0] == 5


@pytest.mark.parametrize("shell", SHELLS)
def test_the_audit_of_the_readme_verifies_disputes_and_rules(shell: str, tmp_path: Path) -> None:
    installed(tmp_path)
    audited, ruled = AUDIT
    with serving(tmp_path) as server:
        done = said(shell, [GAME[0], "echo AUDIT\n", audited, "echo RULED\n", ruled], server)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr
    assert re.fullmatch(r"A token of Ruth \(\w{26}\) for arbiter; it never expires:\n", done.stderr)
    audit, _, ruling = done.stdout.partition("AUDIT\n")[2].partition("RULED\n")
    told, _, verified = audit.partition("record.ndjson: ")
    seated, disputed, resigned = values(told)
    assert seated["seat"] == 0
    assert [event["type"] for event in disputed["events"]] == ["table.dispute_filed"]
    assert "table.ended" in [event["type"] for event in resigned["events"]]
    assert verified.startswith("good (signed, 1 checkpoint met)\n")
    assert verified.endswith("\n1 of 1 holds.\n")
    [event] = json.loads(ruling)["events"]
    assert (event["type"], event["dispute"], event["verdict"]) == ("table.ruled", 1, "upheld")


def test_the_command_line_is_listed_whole() -> None:
    section = README.partition("\n## The command line\n")[2].partition("\n## ")[0]
    rows = [row.split("|")[1] for row in section.splitlines() if row.startswith("| `")]
    listed = [name.removeprefix("evenfold ").split()[0] for row in rows for name in re.findall(r"`(.*?)`", row)]
    commands = get_command(app)
    assert isinstance(commands, TyperGroup)
    assert {*listed} == commands.commands.keys()


def said(shell: str, script: Sequence[str], server: Server) -> subprocess.CompletedProcess[str]:
    """Say something to a shell, in the folder where the server keeps its own."""
    folder = server.data.parent
    return subprocess.run(
        [shell, "-c", "".join(script).replace(ADDRESS, server.url)],
        cwd=folder,
        env={**os.environ, "EVENFOLD_DATA": str(server.data), "tally": str(folder / "tally")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def installed(folder: Path) -> None:
    """Put the command where a checkout has it."""
    path = folder / ".venv" / "bin" / "evenfold"
    path.parent.mkdir(parents=True)
    python, root = shlex.quote(sys.executable), shlex.quote(str(ROOT))
    path.write_text(f'#!/bin/sh\nPYTHONPATH={root} exec {python} -m service "$@"\n', encoding="utf-8")
    path.chmod(0o755)


def values(printed: str) -> Iterator[Any]:
    """Yield the JSON values that were printed one after another, a dot a move between them."""
    left = printed.strip()
    while left:
        value, end = json.JSONDecoder().raw_decode(left)
        yield value
        left = left[end:].strip(" \n.")
