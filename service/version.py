"""Which version of Evenfold runs."""

import tomllib
from importlib import metadata
from pathlib import Path


def version() -> str:
    """Return the version that is installed; in a checkout that isn't, the one its pyproject.toml states."""
    try:
        return metadata.version("evenfold")
    except metadata.PackageNotFoundError:
        project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
        return str(project["project"]["version"])
