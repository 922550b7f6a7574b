"""The verifier in JavaScript, run by Node: as a module on many records at once, or on the command line."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from service.audit.checkpoints import Checkpoint, vouched
from tests.laws.matches import Match
from tests.service.audit.records import KEYS, OURS
from tests.tree import ROOT

VERIFIER = ROOT / "service/web/verify.mjs"
NODE = shutil.which("node")
PUBLISHED = {
    "keys": [{"id": id_, "algorithm": "Ed25519", "public": key.hex(), "since": 1} for id_, key in KEYS.items()]
}

NEEDS_NODE = pytest.mark.skipif(NODE is None, reason="there is no node on PATH")

Asked = tuple[bytes, Any, list[Checkpoint]]
"""A record, the public keys, and the checkpoints that were kept."""

Verified = Callable[..., list[dict[str, Any]]]

# Takes a file of requests, one a line, and answers each: starting Node a thousand times would take minutes.
MANY = """
import { readFileSync } from "node:fs";
const { verify } = await import(process.argv[2]);
for (const line of readFileSync(process.argv[3], "utf8").split("\\n").filter(Boolean)) {
  const [record, keys, checkpoints] = JSON.parse(line);
  console.log(JSON.stringify(await verify(record, keys, checkpoints)));
}
"""


def verified_in(folder: Path, *asked: Asked) -> list[dict[str, Any]]:
    """Return what the module finds of each; a folder is needed for what it is asked."""
    lines = [json.dumps([one.decode("utf-8", "replace"), keys, msgspec.to_builtins(kept)]) for one, keys, kept in asked]
    (folder / "asked").write_text("\n".join(lines), encoding="utf-8")
    (folder / "many.mjs").write_text(MANY, encoding="utf-8")
    command = [str(NODE), str(folder / "many.mjs"), str(VERIFIER), str(folder / "asked")]
    printed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    return [json.loads(line) for line in printed.splitlines()]


def called(*arguments: Path | str, verifier: Path = VERIFIER) -> subprocess.CompletedProcess[str]:
    """Start it on the command line."""
    command = [str(NODE), str(verifier), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def kept(match: Match, version: int) -> Checkpoint:
    """Return a checkpoint of a match at a version, as we sign it."""
    return vouched(f"table:{match.table}", version, match.stored[version - 1].h, 5, OURS)
