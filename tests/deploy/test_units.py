"""compose.yaml and the systemd units: they name what exists, and systemd itself finds no fault."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]
from typer.main import get_command

from service.__main__ import app
from tests.deploy.store import DEPLOY

UNITS = sorted(DEPLOY.glob("*.service"))

WORST = 20
"""The exposure that `systemd-analyze security` may find, of 100."""


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    """Read compose.yaml; what extends a service has what that has."""
    read: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    services = read["services"]
    for name, one in services.items():
        if "extends" in one:
            base = services[one["extends"]["service"]]
            services[name] = {**base, **one, "environment": {**base["environment"], **one.get("environment", {})}}
    return read


def variables(name: str = "serve") -> set[str]:
    """Return the variables that a command reads."""
    command = get_command(app).commands[name]  # type: ignore[attr-defined] # the command of commands
    options = {str(option.envvar) for option in command.params if option.envvar}
    return options | {"EVENFOLD_SECRET", "EVENFOLD_SIGNING_KEY"}


def units() -> Iterator[tuple[str, list[str]]]:
    """Yield each assignment in the units, in order of their files: its name, and its words."""
    for unit in UNITS:
        for line in unit.read_text(encoding="utf-8").splitlines():
            if found := re.fullmatch(r"(\w+)=(.*)", line):
                yield found[1], found[2].replace('"', "").split()


def test_compose_mounts_what_is_there(compose: dict[str, Any]) -> None:
    mounts = [mount for one in compose["services"].values() for mount in one.get("volumes", ())]
    made = {"./secrets/store"}  # by secrets.sh
    named = {mount.split(":")[0] for mount in mounts}
    assert {name for name in named if name.startswith(".") and not (DEPLOY / name).exists()} == made
    assert {name for name in named if not name.startswith(".")} == compose["volumes"].keys()


def test_compose_builds_the_image_that_is_tested(compose: dict[str, Any]) -> None:
    build = compose["services"]["service"]["build"]
    assert (DEPLOY / build["context"] / build["dockerfile"]).resolve() == DEPLOY / "Dockerfile"


def test_compose_names_networks_and_services_that_there_are(compose: dict[str, Any]) -> None:
    for one in compose["services"].values():
        assert set(one["networks"]) <= compose["networks"].keys()
        assert set(one.get("depends_on", ())) <= compose["services"].keys()
    assert compose["networks"]["back"]["internal"]
    assert "ports" not in compose["services"]["store"]
    assert "ports" not in compose["services"]["service"]


def test_compose_gives_no_container_more_than_it_needs(compose: dict[str, Any]) -> None:
    for name, one in compose["services"].items():
        assert one["security_opt"] == ["no-new-privileges:true"], name
        assert one["restart"] == "unless-stopped", name
    assert compose["services"]["service"]["cap_drop"] == ["ALL"]
    assert compose["services"]["service"]["read_only"]


def test_the_service_believes_the_proxys_network_alone(compose: dict[str, Any]) -> None:
    (subnet,) = compose["networks"]["front"]["ipam"]["config"]
    assert compose["services"]["service"]["environment"]["EVENFOLD_TRUST"] == subnet["subnet"]
    assert "front" not in compose["services"]["store"]["networks"]


def test_what_is_set_is_what_serve_reads(compose: dict[str, Any]) -> None:
    stated = set(compose["services"]["service"]["environment"])
    stated |= {words[0].partition("=")[0] for name, words in units() if name == "Environment"}
    stated |= set(re.findall(r"(EVENFOLD_\w+)=", (DEPLOY / "Dockerfile").read_text(encoding="utf-8")))
    stated |= set(re.findall(r"(EVENFOLD_\w+)=", (DEPLOY / "secrets.sh").read_text(encoding="utf-8")))
    assert len(stated) > 8
    assert stated <= variables()


def test_the_parts_of_the_service_run_apart_with_what_it_has(compose: dict[str, Any]) -> None:
    services = compose["services"]
    apart = {name: one["command"] for name, one in services.items() if one.get("profiles") == ["apart"]}
    assert apart == {"api": ["api"], "react": ["react"]}
    for name in apart:
        assert "ports" not in services[name]
        assert services[name]["env_file"] == services["service"]["env_file"]
        # What the other part alone reads does it no harm; what neither reads would be a slip.
        stated = set(services[name]["environment"])
        assert stated <= variables(name) | variables("serve")
    assert (
        services["react"]["environment"]["EVENFOLD_PORT"] == services["react"]["environment"]["EVENFOLD_METRICS_PORT"]
    )


def test_systemd_finds_no_fault_in_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        return  # What they name is looked at by the other tests.
    for unit in UNITS:
        # Where Evenfold and Valkey are on a machine that has them.
        text = re.sub(r"(?m)^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(encoding="utf-8"))
        (tmp_path / unit.name).write_text(text, encoding="utf-8")
    paths = [str(tmp_path / unit.name) for unit in UNITS]
    assert _told("verify", *paths) == (0, "")
    for path in paths:
        code, said = _told("security", "--offline=true", f"--threshold={WORST}", path)
        assert code == 0, said


def _told(*arguments: str) -> tuple[int, str]:
    told = subprocess.run(["systemd-analyze", *arguments], check=False, capture_output=True, text=True)
    return told.returncode, told.stderr


def test_the_units_read_what_secrets_sh_and_the_readme_put_there() -> None:
    stated = dict(units())
    assert stated["EnvironmentFile"] == ["/etc/evenfold/evenfold.env"]
    starts = [words for name, words in units() if name == "ExecStart"]
    assert ["/usr/bin/valkey-server", "/etc/evenfold/redis.conf"] in starts
    assert ["/opt/evenfold/.venv/bin/evenfold", "serve"] in starts
    conf = (DEPLOY / "redis.conf").read_text(encoding="utf-8")
    assert "\naclfile /etc/evenfold/store/users.acl\n" in conf


def test_the_readme_names_every_file_of_its_folder_and_no_other() -> None:
    readme = (DEPLOY / "README.md").read_text(encoding="utf-8")
    listed = {
        word for line in readme.splitlines() if line.startswith("| `") for word in re.findall(r"`([\w.-]+)`", line)
    }
    there = {path.name for path in DEPLOY.iterdir() if path.is_file()}
    assert there - listed == {"README.md", "Dockerfile.dockerignore"}
    assert {name for name in re.findall(r"deploy/([\w-]+\.\w+)", readme) if name not in there} == set()
