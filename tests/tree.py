"""The tree of this checkout: its root, and the files that git tracks."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]


def tracked(*patterns: str) -> Iterator[Path]:
    """Yield the files git tracks, all or those that match."""
    listed = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=True, text=True)
    return (path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file())
