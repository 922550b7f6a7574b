"""What the README shows is what happens: its curl session is run as it stands there."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.service.cli.processes import serving
from tests.tree import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
SESSION = README.partition("with nothing but curl")[2].partition("\n## ")[0]
BLOCKS = re.findall(r"```sh\n(.*?)```", SESSION, re.DOTALL)
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
    assert len(BLOCKS) == 2
    with serving(tmp_path) as server:
        script = (IMPATIENCE + "".join(BLOCKS)).replace(ADDRESS, server.url)
        played = subprocess.run(
            [shell, "-c", script],
            env={**os.environ, "tally": str(tmp_path / "tally")},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (played.returncode, played.stderr) == (0, ""), played.stdout[-500:] + played.stderr
    seated, view, actions, places = values(played.stdout)
    assert seated["seat"] == 0, seated
    assert view["hand"], view
    assert actions["seat"] == 0
    assert places[0] == 5


def values(printed: str) -> Iterator[Any]:
    """Yield the JSON values that were printed one after another, a dot a move between them."""
    left = printed.strip()
    while left:
        value, end = json.JSONDecoder().raw_decode(left)
        yield value
        left = left[end:].strip(" \n.")
