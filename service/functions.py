"""Functions at the store: Lua beside the module that calls it, loaded when the store does not know it.

Library and function are both named after the file and the hash of what it says without its first line and its name, so
that old and new run side by side.
"""

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

_HASH_CHARACTERS = 16


class Source(NamedTuple):
    """A function: its name, and the library to load."""

    name: str
    code: str


def source(file: Path) -> Source:
    """Read the file `<name>.lua`, whose function calls itself `evenfold_<name>`."""
    own = f"evenfold_{file.stem}"
    body = file.read_text(encoding="utf-8").partition("\n")[2]
    digest = sha256(body.replace(own, "").encode("utf-8")).hexdigest()
    name = f"evenfold_{digest[:_HASH_CHARACTERS]}"
    return Source(name, f"#!lua name={name}\n{body.replace(own, name)}")


def is_missing(error: Exception) -> bool:
    """Tell whether a server has refused a call because it does not have the function."""
    return "Function not found" in str(error)
