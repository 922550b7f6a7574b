"""The licences of what we run on: each package of requirements.lock states one that we may ship beside ours.

Run by `make licences`, and by test_house.py. Reads what the installed packages say of themselves, so it runs where they
are installed; packages whose marker doesn't hold here (another system, another Python) are left out.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

LOCK = Path(__file__).parents[1] / "requirements.lock"

# SPDX names: the MIT, BSD, Apache, ISC, PSF and MPL families.
ALLOWED = frozenset(
    {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "MIT", "MIT-0", "MPL-2.0", "PSF-2.0", "Python-2.0"}
)

# What packages without an SPDX expression write instead, as classifier or as the first line of `License`.
SPDX = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD-3-Clause",
    "ISC License": "ISC",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}

_CLASSIFIER = "License :: OSI Approved :: "


def locked(lock: Path = LOCK) -> Iterator[Requirement]:
    """Yield the requirements of a lock whose markers hold here."""
    for line in lock.read_text(encoding="utf-8").splitlines():
        if line and line[0].isalnum():
            requirement = Requirement(line.removesuffix("\\"))
            if requirement.marker is None or requirement.marker.evaluate():
                yield requirement


def stated(package: str) -> str | None:
    """Return the licence a package states, as SPDX names it where that can be told; None if it states none."""
    about = metadata.metadata(package)
    if expression := about.get_all("License-Expression"):
        return str(expression[0])
    classifiers = [c.removeprefix(_CLASSIFIER) for c in about.get_all("Classifier") or [] if c.startswith(_CLASSIFIER)]
    if classifiers:
        return " OR ".join(SPDX.get(name, name) for name in classifiers)
    first = "".join(about.get_all("License") or []).strip().partition("\n")[0]
    return SPDX.get(first, first) or None


def allows(expression: str) -> bool:
    """Tell whether a licence may be shipped: of alternatives one, of licences joined by AND all must be allowed.

    An expression with brackets is not understood, so not allowed: a person should read it.
    """
    return any(
        all(name.strip() in ALLOWED for name in re.split(r"\s+AND\s+", alternative))
        for alternative in re.split(r"\s+OR\s+", expression)
    )


def complaints(packages: Iterable[str]) -> Iterator[str]:
    """Yield a sentence for each installed package that states no licence, or one that isn't allowed."""
    for package in packages:
        licence = stated(package)
        if licence is None:
            yield f"{package} states no licence"
        elif not allows(licence):
            yield f"{package} has the licence {licence!r}, which is not among {', '.join(sorted(ALLOWED))}"


if __name__ == "__main__":
    sys.exit("\n".join(complaints(requirement.name for requirement in locked())) or None)
