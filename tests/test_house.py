"""Facts about the house: what must hold of the tree and its files, whatever they say."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests import licences
from tests.tree import ROOT, tracked

LOCKS = [ROOT / "requirements.lock", ROOT / "tests" / "requirements.lock"]
CLIENT_LOCK = ROOT / "tests" / "client" / "requirements.lock"

# Written apart, so that this file does not name what it forbids.
REGISTRIES = re.compile("|".join(["py" + r"pi\.", "python" + "hosted", "npm" + r"js\.", r"deb\." + "debian"]))

# The reason stands behind the rule's name or in a comment of its own on the line above; import-untyped says it all.
SUPPRESSION = re.compile(
    r"# (?:noqa|type: ignore(?!\[import-untyped\]))"
    r"(?P<rules>: [A-Z]+\d+(?:, ?[A-Z]+\d+)*|\[[\w, -]+\])?(?P<reason>.*)"
)

# Where `Any` may stand in what is served, and why nothing narrower does.
UNTYPED = {
    "projections/fold.py": "which events are a game's own is known at run time alone",
    "service/game.py": "so are its commands, its state and its options",
    "service/actions.py": "a JSON Schema",
    "service/api/documents.py": "the document, which is JSON",
    "service/api/examples.py": "the JSON of any body",
    "service/api/problems.py": "a problem is generic in codes, commands and events that each game has of its own",
    "service/api/requests.py": "Litestar's Request is generic in what is not used here",
    "service/api/schemas.py": "JSON Schemas",
    "service/api/gameroutes.py": "types made of a game's own at run time",
    "service/api/tables.py": "a body that is generic in options",
    "service/cli/client.py": "whatever JSON a server answers, and httpx's own arguments",
    "service/cli/play.py": "the JSON of views and commands of any game",
    "service/cli/replay.py": "the JSON of views of any game",
    "service/once.py": "a stored command of any game, as JSON",
    "service/web/reference.py": "JSON Schemas",
}


def imported(path: Path) -> Iterator[str]:
    """Yield the dotted name of every module that a file may mean by its imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_second_lock_is_tracked() -> None:
    assert [path for path in tracked() if path.name in {"uv.lock", "poetry.lock", "Pipfile.lock"}] == []


def test_no_tracked_file_names_a_package_registry() -> None:
    naming = [path for path in tracked() if REGISTRIES.search(path.read_text(encoding="utf-8", errors="replace"))]
    assert naming == []


def test_no_tracked_file_holds_a_merge_half_done() -> None:
    half_done = re.compile(r"^(?:<{7}|={7}|>{7})(?: |$)", re.MULTILINE)
    assert [path for path in tracked() if half_done.search(path.read_text(encoding="utf-8", errors="replace"))] == []


@pytest.mark.parametrize("lock", [*LOCKS, CLIENT_LOCK], ids=["runtime", "dev", "client"])
def test_a_lock_pins_every_package_with_a_hash_and_names_no_host(lock: Path) -> None:
    text = lock.read_text(encoding="utf-8")
    assert "://" not in text
    assert "--index-url" not in text
    entries = re.split(r"\n(?=[a-z0-9])", text)
    assert [entry.partition("\n")[0] for entry in entries if "--hash=sha256:" not in entry] == []
    assert [entry.partition("\n")[0] for entry in entries if not re.match(r"[a-z0-9-]+==[^ ]+ ", entry)] == []


def test_the_dev_lock_holds_what_the_runtime_lock_holds() -> None:
    # Of those whose markers hold here: what a test's library wants on other systems too has another marker there.
    runtime, dev = ({(each.name, str(each.specifier)) for each in licences.locked(lock)} for lock in LOCKS)
    assert runtime < dev


def test_every_declared_dependency_is_locked_at_a_version_it_allows() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    pinned = {requirement.name: next(iter(requirement.specifier)).version for requirement in licences.locked(LOCKS[1])}
    for group in [project["project"]["dependencies"], *project["dependency-groups"].values()]:
        for wanted in map(Requirement, group):
            assert pinned[wanted.name] in wanted.specifier, wanted


def test_every_runtime_dependency_has_a_licence_we_may_ship() -> None:
    assert list(licences.complaints(requirement.name for requirement in licences.locked())) == []


def test_a_package_without_a_stated_licence_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, licence in {"silent": "", "copyleft": "License-Expression: AGPL-3.0-only\n"}.items():
        (folder := tmp_path / f"{name}-1.dist-info").mkdir()
        (folder / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: 1\n{licence}")
    monkeypatch.syspath_prepend(tmp_path)
    silent, copyleft = licences.complaints(["silent", "copyleft"])
    assert silent == "silent states no licence"
    assert "copyleft" in copyleft
    assert "AGPL-3.0-only" in copyleft


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only OR MIT", True),
        ("MIT AND BSD-3-Clause", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT)", False),
        ("Proprietary", False),
    ],
)
def test_one_alternative_and_every_joined_licence_must_be_allowed(expression: str, allowed: bool) -> None:
    assert licences.allows(expression) is allowed


def test_route_modules_evaluate_their_annotations() -> None:
    # Litestar reads them at run time; as strings, typed routes break.
    postponed = [path for path in tracked("service/api/*.py") if "__future__.annotations" in imported(path)]
    assert postponed == []


def test_only_append_lua_adds_entries_to_streams() -> None:
    adding = {
        path: path.read_text(encoding="utf-8") for path in tracked("service/*") if b"xadd" in path.read_bytes().lower()
    }
    # The bells hold nothing but names of what has changed beside the log; inboxes and the lobby can be made anew, and
    # come with a backup.
    calls = {path.name: re.findall(r"(?:\.xadd\(\s*|call\('XADD', )(\w+)", text) for path, text in adding.items()}
    assert calls == {
        "append.lua": ["feed", "stream", "feed", "stream"],
        "feeds.py": ["BELLS"],
        "inbox.lua": ["inbox", "bells"],
        "lobby.lua": ["changes", "changes", "bells"],
        "lobby.py": ["_CHANGES"],
        "values.py": ["derived"],
    }


def test_a_pattern_ends_where_the_text_ends() -> None:
    # Python's `$` also stands before a last newline: a nonce that ends in one was taken once, and no table could start.
    loose = re.compile(r"""pattern=r?(["']).*\$\1""")
    code = tracked("events/*.py", "projections/*.py", "service/*.py")
    assert [path for path in code if loose.search(path.read_text(encoding="utf-8"))] == []


def test_a_games_module_imports_no_other_game() -> None:
    for path in tracked("events/games/*.py", "projections/games/*.py", "service/games/*.py"):
        _, _, own, *_ = path.relative_to(ROOT).with_suffix("").parts
        if own != "__init__":
            games = {m[1] for name in imported(path) if (m := re.match(r"\w+\.games\.(\w+)", name))}
            strangers = {game for game in games - {own} if list(ROOT.glob(f"*/games/{game}*"))}
            assert strangers == set(), path


def test_any_stands_only_where_nothing_narrower_can() -> None:
    code = tracked("events/*.py", "projections/*.py", "service/*.py")
    trees = {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text(encoding="utf-8")) for path in code}
    naming = {
        name
        for name, tree in trees.items()
        if any(isinstance(node, ast.Name) and node.id == "Any" for node in ast.walk(tree))
    }
    assert naming == UNTYPED.keys()


def test_every_exception_from_a_lint_rule_has_its_reason() -> None:
    lines = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    exceptions = [line for line in lines if re.match(r'\s+"[A-Z]+[0-9]*",', line)]
    assert exceptions
    assert [line for line in exceptions if not re.search(r"# .*\w+ \w+.*\.$", line)] == []


def test_every_suppressed_finding_names_its_rule_and_its_reason() -> None:
    unreasoned = []
    for path in tracked("*.py"):
        above = ""
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if found := SUPPRESSION.search(line):
                reason = found["reason"] if found["rules"] else ""
                if not re.search(r"\w+ \w+", reason) and not (found["rules"] and above.lstrip().startswith("# ")):
                    unreasoned.append(f"{path.relative_to(ROOT)}:{number}")
            above = line
    assert unreasoned == []
