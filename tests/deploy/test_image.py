"""The image: its Dockerfile's lines are run in a folder, and what it would start plays."""

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.deploy.dockerfile import Built, Instruction, instructions, words_of
from tests.deploy.store import DEPLOY
from tests.service.cli.processes import PATIENCE_S, person, until
from tests.sizes import CI
from tests.stores import free_port
from tests.tree import ROOT, tracked

DOCKERFILE = DEPLOY / "Dockerfile"


@pytest.mark.skipif(not CI, reason="takes half a minute: in CI, and with the laws")
def test_the_image_plays_and_holds_what_runs_and_nothing_else(tmp_path: Path) -> None:
    # One test, for it takes half a minute to build one.
    image = Built(DOCKERFILE, ROOT, tmp_path)
    _holds_what_runs(image)
    with running(image) as url, person(url) as ada:
        opened = ada.post("/v1/chinkway/tables", {"bots": ["anyone"] * 4})
        assert opened.status_code == 201
        assert ada.post(f"{opened.headers['Location']}/seats").status_code == 201
        assert ada.get(f"{opened.headers['Location']}/actions").json()["seat"] == 0
        assert ada.get("/v1/games/chinkway/rules").status_code == 200
        assert ada.get("/docs").status_code == 200
    assert not is_healthy(image, str(free_port()))


@contextmanager
def running(image: Built) -> Iterator[str]:
    """Start what the image starts, with the environment that it states and no other, on a free port."""
    port = str(free_port())
    environment = {**image.variables, "PATH": os.defpath, "EVENFOLD_HOST": "127.0.0.1", "EVENFOLD_PORT": port}
    command = image.command([*words_of(image.stated, "ENTRYPOINT"), *words_of(image.stated, "CMD")])
    process = subprocess.Popen(command, cwd=image.variables["DATA"], env=environment, stdout=subprocess.PIPE)
    try:
        until(lambda: is_healthy(image, port))
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0


def is_healthy(image: Built, port: str) -> bool:
    """Ask as the engine does."""
    check = image.command(words_of(image.stated, "HEALTHCHECK"))
    return not subprocess.run(check, env={"EVENFOLD_PORT": port}, check=False, capture_output=True).returncode


def _holds_what_runs(image: Built) -> None:
    app = Path(image.variables["APP"])
    (packages,) = app.glob("lib/*/site-packages")
    files = [path.relative_to(ROOT) for path in tracked("events/*", "projections/*", "service/*")]
    assert [file for file in files if (packages / file).read_bytes() != (ROOT / file).read_bytes()] == []
    installed = {path.name for path in packages.iterdir()}
    assert {name for name in installed if re.match(r"pip\b|tests|pytest|deploy", name)} == set()
    # The second word of bytecode says that no time of a source is looked at: 1 is by hash, unchecked.
    compiled = list(app.rglob("*.pyc"))
    assert {path.read_bytes()[4] for path in compiled} == {1}
    assert len([path for path in compiled if "service" in path.parts]) > 50


def test_the_image_runs_without_root_and_with_a_slim_base() -> None:
    stated = dict(instructions(DOCKERFILE))
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", stated["USER"])
    assert re.fullmatch(r"BASE=python:3\.1\d-slim-\w+", stated["ARG"])
    assert [line.rest for line in instructions(DOCKERFILE) if line.word == "FROM"] == ["${BASE} AS build", "${BASE}"]
    # Without it the folder is there as well, made by WORKDIR, but not its user's.
    owned = Instruction("COPY", f"--from=build --chown={stated['USER']} ${{DATA}} ${{DATA}}")
    assert owned in instructions(DOCKERFILE)


def test_a_stage_has_nothing_of_another_but_what_is_copied(tmp_path: Path) -> None:
    lines = ["FROM a AS one", "ENV A=/a B=/b", "RUN mkdir -p $A $B", "FROM a", "ENV A=/a", "COPY --from=one ${A} ${A}"]
    (tmp_path / "Dockerfile").write_text("\n".join(lines), encoding="utf-8")
    image = Built(tmp_path / "Dockerfile", tmp_path, tmp_path)
    assert [path.name for path in image.root.iterdir()] == ["a"]
    assert image.variables == {"A": str(image.root / "a")}


def test_what_is_copied_is_sent_to_the_engine_and_nothing_else() -> None:
    ignored = (DEPLOY / "Dockerfile.dockerignore").read_text(encoding="utf-8").splitlines()
    sent = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    copied = [line.rest.split()[:-1] for line in instructions(DOCKERFILE) if line.word == "COPY"]
    assert {word for words in copied for word in words if not words[0].startswith("--from")} == sent
    assert ignored[1] == "*"
