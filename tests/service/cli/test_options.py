"""The options that make up the settings, on the command line and in the environment."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from service.cli.options import settled
from service.settings import Settings
from tests.service.cli.processes import Called

PAGE, LOCAL = "https://cards.example.org", "http://localhost:5173"


def settings_of(*arguments: str, **variables: str) -> Settings:
    """Return the settings that a command gets which has no options but theirs."""
    kept: list[Settings] = []

    def command(*, settings: Settings) -> None:
        kept.append(settings)

    app = typer.Typer()
    app.command()(settled(command))
    done = CliRunner().invoke(app, arguments, env={"EVENFOLD_CORS_ORIGIN": None, **variables})
    assert done.exit_code == 0, done.output
    return kept[0]


@pytest.mark.parametrize(
    ("origins", "settled_on"),
    [
        ([], ("*",)),
        (["*"], ("*",)),
        (["none"], ()),
        ([PAGE], (PAGE,)),
        ([PAGE, LOCAL, "http://[::1]:8080", "capacitor://localhost"], None),
    ],
)
def test_origins_are_any_none_or_those_that_are_named(origins: list[str], settled_on: tuple[str, ...] | None) -> None:
    expected = tuple(origins) if settled_on is None else settled_on
    named = [word for origin in origins for word in ("--cors-origin", origin)]
    assert settings_of(*named).cors_origins == expected
    if origins:
        assert settings_of(EVENFOLD_CORS_ORIGIN=" ".join(origins)).cors_origins == expected


@pytest.mark.parametrize("origins", [("*",), (), (PAGE,), (PAGE, LOCAL)])
def test_a_process_is_told_of_them_by_a_variable(origins: tuple[str, ...]) -> None:
    settings = Settings(redis="", keys=Path(), cors_origins=origins)
    told = settings.environment()["EVENFOLD_CORS_ORIGIN"]
    assert settings_of(EVENFOLD_CORS_ORIGIN=told).cors_origins == origins


@pytest.mark.parametrize(
    "origin",
    [
        "cards.example.org",
        f"{PAGE}/",
        f"{PAGE}/play",
        "https://*.example.org",
        "https://Cards.example.org",
        "https://kärt.example.org",
        "https://ada:secret@cards.example.org",
        "https://cards.example.org:",
        "https://",
        "null",
        "all",
    ],
)
def test_what_no_browser_calls_an_origin_is_refused(called: Called, origin: str) -> None:
    refusal = called("serve", "--cors-origin", origin).refusal
    assert "Invalid value for '--cors-origin'" in refusal
    assert "write it as browsers do, https://cards.example.org, or none" in refusal
    assert called("serve", EVENFOLD_CORS_ORIGIN=f"{PAGE} {origin}").refusal == refusal


@pytest.mark.parametrize(
    ("origin", "reason"),
    [("https://a:443", "browsers say https://a for https://a:443"), ("http://a:80", "browsers say http://a for")],
)
def test_a_port_that_browsers_leave_out_is_refused(called: Called, origin: str, reason: str) -> None:
    assert reason in called("serve", "--cors-origin", origin).refusal


@pytest.mark.parametrize("alone", ["*", "none"])
def test_any_and_none_stand_alone(called: Called, alone: str) -> None:
    assert f"{alone} stands alone" in called("serve", EVENFOLD_CORS_ORIGIN=f"{PAGE} {alone}").refusal


def test_origins_that_are_set_to_nothing_are_refused(called: Called) -> None:
    assert "it is empty" in called("serve", EVENFOLD_CORS_ORIGIN="").refusal
    assert called("serve", "--cors-origin", "").refusal
