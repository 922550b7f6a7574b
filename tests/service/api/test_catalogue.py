"""The routes of what can be played."""

import re

import pytest

from tests.served import Person


def test_the_games_are_listed_with_their_seats(nobody: Person) -> None:
    games = nobody.get("/v1/games").json()["games"]
    assert {
        "game": "chinkway",
        "title": "Chinkway",
        "ruleset": "chinkway/1",
        "seats": {"least": 5, "most": 5, "usual": 5},
    } in games


def test_a_game_is_told_in_full(nobody: Person) -> None:
    game = nobody.get("/v1/games/chinkway").json()
    assert [kind["type"] for kind in game["commands"]] == [
        f"chinkway.{kind}" for kind in ("discard", "declare", "play", "capture", "decline")
    ]
    assert "anyone" in game["bots"]
    assert {"not_your_turn", "turn_over", "must_follow_suit"} <= set(game["reasons"])
    assert all(len(sentence) > 10 for sentence in game["reasons"].values())
    assert "aces" in str(game["options"])


def test_a_game_that_is_not_played_here_is_not_found(nobody: Person) -> None:
    assert nobody.get("/v1/games/bridge").json()["code"] == "not_found"
    assert nobody.get("/v1/games/bridge/rules").status_code == 404


@pytest.mark.parametrize("language", ["", "en", "xx", "en-GB;q=0.5, *", "de;q=0", "en;q=x", ";;;"])
def test_the_rules_are_told_in_english_where_no_better_language_is_known(nobody: Person, language: str) -> None:
    answer = nobody.get("/v1/games/chinkway/rules", Accept_Language=language)
    assert answer.headers["Content-Language"] == "en"
    assert answer.headers["Content-Type"].startswith("text/markdown")
    assert answer.text.startswith("# Chinkway")


def test_the_rules_can_be_read_in_a_browser(nobody: Person) -> None:
    answer = nobody.get("/v1/games/chinkway/rules", Accept="text/html,application/xhtml+xml;q=0.9,*/*;q=0.8")
    assert answer.headers["Content-Type"].startswith("text/html")
    assert re.search("<h1[^>]*>Chinkway", answer.text)


def test_the_rules_come_in_no_other_media_type(nobody: Person) -> None:
    assert nobody.get("/v1/games/chinkway/rules", Accept="application/pdf").status_code == 406
