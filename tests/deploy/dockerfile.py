"""A Dockerfile, read and done without a container engine: its folders lie under one of our own, its lines are run.

What it can't show: the base image itself.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
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
    """An image as a folder. Each stage begins with an empty one, at the same path, for what is built names its path.

    The folder of a stage that is through is put aside, under the stage's name.
    """

    def __init__(self, path: Path, context: Path, folder: Path) -> None:
        self.root = folder / "image"
        self.variables: dict[str, str] = {}
        self.stated: dict[str, str] = {}
        self._context = context
        self._stages = folder / "stages"
        self._stage = "before the first"
        self._workdir = self.root
        self._python = folder / "base"
        self._python.mkdir(parents=True)
        (self._python / "python").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
        for word, rest in instructions(path):
            self._do(word, rest)

    def command(self, words: list[str]) -> list[str]:
        """Return the command line of ENTRYPOINT, CMD or HEALTHCHECK, in its folder."""
        return [self._placed(word) for word in words]

    def _do(self, word: str, rest: str) -> None:
        match word:
            case "FROM":
                self._begin(rest.partition(" AS ")[2])
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

    def _begin(self, stage: str) -> None:
        """Put the folder of the stage before aside; nothing of it is known to the next, not even its variables."""
        if self.root.exists():
            self._stages.mkdir(exist_ok=True)
            self.root.rename(self._stages / self._stage)
        self.root.mkdir()
        self._stage, self._workdir = stage, self.root
        self.variables.clear()
        self.stated.clear()

    def _copy(self, words: list[str]) -> None:
        flags = dict(word.split("=", 1) for word in words if word.startswith("--"))
        *sources, target = [self._expanded(word) for word in words if not word.startswith("--")]
        for source in sources:
            origin, place = self._context / source, self._workdir / target
            if "--from" in flags:
                origin = self._stages / flags["--from"] / Path(source).relative_to(self.root)
            if origin.is_dir():
                shutil.copytree(origin, place, symlinks=True, ignore=self._left_out(flags))
            else:
                shutil.copy(origin, place)

    @staticmethod
    def _left_out(flags: Mapping[str, str]) -> Callable[[str, list[str]], set[str]] | None:
        """Return what is not sent to the engine of a folder in the context; of a stage everything is copied."""
        return None if "--from" in flags else shutil.ignore_patterns("__pycache__")

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
