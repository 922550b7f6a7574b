"""A Dockerfile, read and done without a container engine: its folders lie under one of our own, its lines are run.

What it can't show: the base image itself, and that nothing but what is copied is there.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

INHERITED: Final = re.compile(r"PIP_|UV_|SSL_|REQUESTS_|HTTPS?_PROXY|NO_PROXY|LANG|LC_|HOME$")
"""What of our environment a build needs: where packages come from is the machine's business."""


class Instruction(NamedTuple):
    """One line of a Dockerfile."""

    word: str
    rest: str


def instructions(path: Path) -> Iterator[Instruction]:
    """Yield the instructions of a Dockerfile whose lines are not continued."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            assert not line.endswith("\\"), line
            yield Instruction(*line.split(maxsplit=1))


class Built:
    """An image as a folder: both of its stages share it, for they share their paths."""

    def __init__(self, path: Path, context: Path, root: Path) -> None:
        self.root = root
        self.variables: dict[str, str] = {}
        self.stated: dict[str, str] = {}
        self._context = context
        self._workdir = root
        self._python = root / "base"
        self._python.mkdir(parents=True)
        (self._python / "python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
        for word, rest in instructions(path):
            self._do(word, rest)

    def command(self, words: list[str]) -> list[str]:
        """Return the command line of ENTRYPOINT, CMD or HEALTHCHECK, in its folder."""
        return [self._placed(word) for word in words]

    def _do(self, word: str, rest: str) -> None:
        match word:
            case "RUN":
                ran = subprocess.run(
                    ["sh", "-c", rest],
                    cwd=self._workdir,
                    env=self._environment(),
                    check=False,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                )
                assert ran.returncode == 0, (rest, ran.stdout)
            case "ENV":
                for name, value in (pair.split("=", 1) for pair in shlex.split(rest)):
                    self.variables[name] = self._placed(value)
            case "WORKDIR":
                self._workdir = Path(self._expanded(rest))
                self._workdir.mkdir(parents=True, exist_ok=True)
            case "COPY":
                self._copy(shlex.split(rest))
            case "HEALTHCHECK":
                self.stated[word] = rest.partition(" CMD ")[2]
            case _:
                self.stated[word] = rest

    def _copy(self, words: list[str]) -> None:
        flags = [word for word in words if word.startswith("--")]
        *sources, target = [self._expanded(word) for word in words if not word.startswith("--")]
        if any(flag.startswith("--from=") for flag in flags):
            # The other stage's folders are where they belong already.
            assert [source for source in sources if not Path(source).exists()] == []
            return
        for source in sources:
            place = self._workdir / target
            if (self._context / source).is_dir():
                shutil.copytree(self._context / source, place, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(self._context / source, place)

    def _environment(self) -> dict[str, str]:
        inherited = {name: value for name, value in os.environ.items() if INHERITED.match(name)}
        return {**inherited, **self.variables, "PATH": f"{self._python}:/usr/bin:/bin"}

    def _expanded(self, word: str) -> str:
        return re.sub(r"\$\{?(\w+)\}?", lambda name: self.variables[name[1]], word)

    def _placed(self, value: str) -> str:
        return f"{self.root}{value}" if value.startswith("/") else value


def words_of(stated: Mapping[str, str], word: str) -> list[str]:
    """Read an instruction in its exec form."""
    words: list[str] = json.loads(stated[word])
    return words
