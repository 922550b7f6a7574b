"""Every language says all that English says, of every event, with its own plurals, cards and cases.

The lines that each language tells are worked out in told/<game>.txt: an event as it is stored, then a line each of what
is told of it, behind the language.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from fluent.runtime import FluentResource
from fluent.syntax import ast, visitor

from events.base import By, Event
from events.games import chinchon
from events.table import Created, TableEvent
from projections import fold
from service.game import AnyGame
from service.words import BETWEEN, ENGLISH, Names, Words, game_catalogue, languages, neutral_catalogue
from tests.laws.setups import GAMES
from tests.replays.keeping import kept, read
from tests.service.test_words import told_of

LANGUAGES = ("en", "de", "es", "ru", "sv")
TOLD = [game for game in GAMES if game.name != "toy"]
TOY = next(game for game in GAMES if game.name == "toy")
CHINKWAY = next(game for game in GAMES if game.name == "chinkway")
CHINCHON = next(game for game in GAMES if game.name == "chinchon")

NAMES = Names(["Ada", "Bo", "Cy", "Dov", "Eve", "Fay", "Gus", "Hal"], {"a": "Ada", "b": "Bo"})

in_every_language = pytest.mark.parametrize("language", LANGUAGES)
of_every_game = pytest.mark.parametrize("game", TOLD, ids=lambda game: game.name)


def catalogues(game: AnyGame, language: str) -> tuple[str, str]:
    return neutral_catalogue(language), game_catalogue(game, language)


def messages(catalogue: str) -> Iterator[ast.Message]:
    yield from (entry for entry in FluentResource(catalogue).body if isinstance(entry, ast.Message))


def said(catalogue: str) -> set[str]:
    """Return what a catalogue says: messages and attributes; how cards are written is each language's own."""
    own = {"card"}
    names = {message.id.name for message in messages(catalogue)}
    return names | {
        f"{message.id.name}.{attribute.id.name}"
        for message in messages(catalogue)
        for attribute in message.attributes
        if message.id.name not in own
    }


def test_the_games_are_told_in_five_languages_and_one_more_in_english_alone() -> None:
    assert [languages(game) for game in TOLD] == [LANGUAGES] * 3
    assert languages(TOY) == (ENGLISH,)


@in_every_language
@of_every_game
def test_every_language_says_what_english_says_and_no_more(game: AnyGame, language: str) -> None:
    for catalogue, english in zip(catalogues(game, language), catalogues(game, ENGLISH), strict=True):
        assert said(catalogue) == said(english)


class Variables(visitor.Visitor):
    """The variables of a pattern."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def visit_VariableReference(self, node: ast.VariableReference) -> None:  # noqa: N802 the library finds it by name
        self.names.add(node.id.name)


class Noting(Words):
    """Words that note down the variables that each of their messages is given."""

    def __init__(self, game: AnyGame, language: str) -> None:
        self.given: dict[tuple[str, str | None], set[str]] = {}
        super().__init__(game, language)

    def say(self, message: str, arguments: Mapping[str, Any], attribute: str | None = None) -> str:
        self.given.setdefault((message, attribute), set()).update(arguments)
        return super().say(message, arguments, attribute)


class Sight(NamedTuple):
    """An event as somebody sees it, and who decided it."""

    by: By
    event: Event


@cache
def sights(name: str) -> tuple[Sight, ...]:
    """Return the events of all golden logs of a game as stored and as redacted, one of each shape that is."""
    game = GAMES.named(name)
    assert game is not None
    found: dict[object, Sight] = {}
    for match in (match for match in map(read, kept()) if match.game is game):
        for entry in match.entries():
            for event in entry.events:
                if (kind := (entry.by.role, shape(event))) not in found:
                    found[kind] = Sight(entry.by, event)
                    for shown in (fold.redact(game.projection, event, viewer) for viewer in match.viewers):
                        found.setdefault((entry.by.role, shape(shown)), Sight(entry.by, shown))
    return tuple(found.values())


def shape(event: Event) -> object:
    """Return what a sentence may depend on: what is null, how much there is, what is one of a few words."""

    def of(value: object) -> object:
        match value:
            case None | bool():
                return value
            case int():
                return min(value, 2)
            case str():
                return value if value.islower() and value.isalpha() else "…"
            case tuple() | list():
                return frozenset(map(of, value)) if len(value) > 1 else tuple(map(of, value))
            case dict():
                return "{}"
            case _:
                return shape(value)  # type: ignore[arg-type] # a struct within an event

    return (type(event), *(of(getattr(event, field)) for field in event.__struct_fields__))


@in_every_language
def test_every_event_of_every_game_is_told_in_whole_sentences_by_what_they_are_given(language: str) -> None:
    given: dict[tuple[str, str | None], set[str]] = {("seat", None): {"number"}}
    for game in TOLD:
        words = Noting(game, language)
        worked_out = (event for name in ("table", game.name) for event in worked_events(name))
        for by, event in (*sights(game.name), *(Sight(By(), event) for event in worked_out)):
            assert words.who(by, NAMES)
            for line in words.tell(event, NAMES):
                assert line[0] not in " ,;:."
                assert line[-1] == "."
                for mark in ("None", "  ", "{", "}", " .", " ,", " ;", "..", ",.", ";.", ":."):
                    assert mark not in line, (event, line)
                assert isinstance(event, Created) or "none" not in line.split(), (event, line)
        for said_so, variables in words.given.items():
            given.setdefault(said_so, set()).update(variables)
    for catalogue in {catalogue for game in TOLD for catalogue in catalogues(game, language)}:
        for message, attribute, variables in used(catalogue):
            assert variables <= given[message, attribute], f"{message}.{attribute} of {language}"


def used(catalogue: str) -> Iterator[tuple[str, str | None, set[str]]]:
    """Yield each message and attribute of a catalogue with the variables that it uses."""
    for message in messages(catalogue):
        for attribute, pattern in [(None, message.value), *((a.id.name, a.value) for a in message.attributes)]:
            variables = Variables()
            variables.visit(pattern)
            yield message.id.name, attribute, variables.names


class Worked(NamedTuple):
    """An event, and the lines told of it by language."""

    event: str
    lines: Mapping[str, list[str]]


def worked(name: str) -> Iterator[Worked]:
    for block in (Path(__file__).parent / "told" / f"{name}.txt").read_text(encoding="utf-8").strip().split("\n\n"):
        event, *lines = block.splitlines()
        yield Worked(event, {tag: [line[3:] for line in lines if line[:2] == tag] for tag in LANGUAGES})


def worked_events(name: str) -> Iterator[Event]:
    game = GAMES.named(name)
    union: Any = TableEvent if game is None else game.projection.events
    yield from (msgspec.json.decode(event, type=union) for event, _ in worked(name))


@pytest.mark.parametrize("name", ["table", *(game.name for game in TOLD)])
def test_each_language_tells_the_lines_that_were_worked_out(name: str) -> None:
    game = GAMES.named(name) or CHINCHON
    union: Any = TableEvent if name == "table" else game.projection.events
    words = {language: Words(game, language) for language in LANGUAGES}
    for event, (_, lines) in zip(worked_events(name), worked(name), strict=True):
        for language, expected in lines.items():
            assert words[language].tell(event, NAMES) == expected
    assert {*map(type, worked_events(name))} == {*told_of(union)}


COUNTED = {
    "en": "which is empty now|in which one is left|in which 2 are left|in which 5 are left|in which 21 are left",
    "de": "der nun leer ist|in dem noch eine liegt|in dem noch 2 liegen|in dem noch 5 liegen|in dem noch 21 liegen",
    "es": "que se queda vacío|en el que queda una|en el que quedan 2|en el que quedan 5|en el que quedan 21",
    "ru": "теперь он пуст|в нём остаётся 1 карта|в нём остаются 2 карты|в нём остаётся 5 карт|в нём остаётся 21 карта",
    "sv": "som nu är tom|där ett kort är kvar|där 2 kort är kvar|där 5 kort är kvar|där 21 kort är kvar",
}


@in_every_language
def test_what_is_counted_has_the_plural_of_the_language(language: str) -> None:
    words = Words(CHINCHON, language)
    for left, end in zip((0, 1, 2, 5, 21), COUNTED[language].split("|"), strict=True):
        (line,) = words.tell(chinchon.StockDrawn(0, None, left), NAMES)
        assert line.endswith(f", {end}.")


RUSSIAN = {0: "0 фишек", 1: "1 фишка", 2: "2 фишки", 5: "5 фишек", 11: "11 фишек", 21: "21 фишка", 1204: "1204 фишки"}


@pytest.mark.parametrize(("pot", "counted"), RUSSIAN.items())
def test_russian_counts_by_the_last_digits(pot: int, counted: str) -> None:
    (line,) = Words(CHINCHON, "ru").tell(chinchon.Staked((0, 1), pot), NAMES)
    assert line == f"Ставку вносят Ada и Bo; в банке {counted}."


FRENCH = {
    "en": "♠2 ♥10 ♦J ♣Q ♠K ♥A",
    "de": "♠2 ♥10 ♦B ♣D ♠K ♥A",
    "es": "♠2 ♥10 ♦J ♣D ♠R ♥A",
    "ru": "♠2 ♥10 ♦В ♣Д ♠К ♥Т",  # noqa: RUF001 the letters are Russian
    "sv": "♠2 ♥10 ♦Kn ♣D ♠K ♥E",
}


@pytest.mark.parametrize(("language", "row"), FRENCH.items())
def test_french_cards_bear_the_letters_of_the_language(language: str, row: str) -> None:
    words = Words(CHINKWAY, language)
    assert words.cards([words.card(name)[""] for name in ("S2", "HT", "DJ", "CQ", "SK", "HA")]) == row


@in_every_language
@of_every_game
def test_no_two_cards_are_written_alike(game: AnyGame, language: str) -> None:
    packs = {"chinkway": "SHDC", "chinchon": "OCEB", "kowah": "CSM"}
    ranks = {"chinkway": "23456789TJQKA", "chinchon": [*map(str, range(1, 13))], "kowah": "123456789"}
    names = [suit + rank for suit in packs[game.name] for rank in ranks[game.name]]
    names += ["OT", "RF", "WF"] if game.name == "kowah" else []
    words = Words(game, language)
    ways = [words.card(name) for name in names]
    assert BETWEEN not in ways[0]
    for way in ways[0]:
        assert len({written[way] for written in ways}) == len(names)
