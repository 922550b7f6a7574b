"""Routes of what can be played: the games, their options and commands, their rules pages."""

from inspect import cleandoc
from typing import Annotated

import msgspec
from litestar.response.base import ASGIResponse
from msgspec import Meta, Struct

from events.base import GameName, Ruleset
from service.actions import MAX_TYPES, CommandTag, Reason, Schema
from service.api.answers import BotName, answer, told
from service.api.endpoint import Endpoint, Link, Parameter
from service.api.language import LANGUAGE, liked
from service.api.requests import AnyRequest, accepts
from service.errors import NotFound
from service.game import REASONS, AnyGame, Command, tag_of
from service.games import Games, rules_pages
from service.web import HEADERS, page

MARKDOWN = "text/markdown"
HTML = "text/html"

Count = Annotated[int, Meta(ge=1, le=8)]
Title = Annotated[str, Meta(min_length=1, max_length=64)]
Sentence = Annotated[str, Meta(min_length=1, max_length=1_024)]
Page = Annotated[str, Meta(min_length=1, max_length=2**20)]


class SeatRange(Struct, frozen=True):
    """How many may play: from `least` to `most`, `usual` where nothing is said."""

    least: Count
    most: Count
    usual: Count


class CommandType(Struct, frozen=True):
    """A type of command, with the JSON Schema of its body."""

    type: CommandTag
    description: Sentence
    schema: Schema


class GameSummary(Struct, frozen=True):
    """A game that can be played here; `ruleset` is what new tables are pinned to."""

    game: GameName
    title: Title
    ruleset: Ruleset
    seats: SeatRange


class GameDetails(Struct, frozen=True):
    """A game in full: its options as JSON Schema, its commands, and every reason it can refuse one for.

    `bots` can be seated. `rival` is the one that takes all seats but the lowest of a table that says nothing of bots,
    null where all seats wait for people.
    """

    game: GameName
    title: Title
    ruleset: Ruleset
    seats: SeatRange
    options: Schema
    commands: Annotated[tuple[CommandType, ...], Meta(max_length=MAX_TYPES)]
    reasons: Annotated[dict[Reason, Sentence], Meta(max_length=256)]
    bots: Annotated[tuple[BotName, ...], Meta(max_length=256)]
    rival: BotName | None


class GameList(Struct, frozen=True):
    """The games that can be played here, by name."""

    games: Annotated[tuple[GameSummary, ...], Meta(max_length=256)]


async def all_games(request: AnyRequest) -> ASGIResponse:
    """List the games."""
    return answer(GameList(tuple(_summary(game) for game in request.app.state.games)))


async def one_game(request: AnyRequest) -> ASGIResponse:
    """Describe a game."""
    game = _game(request)
    return answer(
        GameDetails(
            **{name: getattr(_summary(game), name) for name in GameSummary.__struct_fields__},
            options=msgspec.json.schema(game.projection.options),
            commands=tuple(_command(kind) for kind in game.command_types),
            reasons={**REASONS, **game.reasons},
            bots=tuple(bot.name for bot in request.app.state.bots),
            rival=game.rival,
        )
    )


async def rules(request: AnyRequest) -> ASGIResponse:
    """Return a game's rules page in the language that the reader likes best, English otherwise."""
    pages = rules_pages(_game(request))
    language = liked(request, pages)
    text = pages[language].read_text(encoding="utf-8")
    media = accepts(request, MARKDOWN, HTML)
    headers = {"Content-Language": language, "Vary": "Accept, Accept-Language", **HEADERS}
    return told(page(text) if media == HTML else text, headers, media)


def _game(request: AnyRequest) -> AnyGame:
    games: Games = request.app.state.games
    game = games.named(request.path_params["game"])
    if game is None:
        raise NotFound("There is no such game.")
    return game


def _summary(game: AnyGame) -> GameSummary:
    return GameSummary(game.name, game.title, game.ruleset, SeatRange(*game.seats))


def _command(kind: type[Command]) -> CommandType:
    return CommandType(tag_of(kind), cleandoc(kind.__doc__ or ""), msgspec.json.schema(kind))


_GAME = Parameter("game", "path", GameName, "The game's name.", required=True)

ENDPOINTS: tuple[Endpoint, ...] = (
    Endpoint(
        method="GET",
        path="/v1/games",
        name="getGames",
        summary="The games that can be played here.",
        handler=all_games,
        answers={200: GameList},
        links=(Link("getGame", {"game": "$response.body#/games/0/game"}),),
        errors=(400,),
        token=False,
        tag="games",
    ),
    Endpoint(
        method="GET",
        path="/v1/games/{game}",
        name="getGame",
        summary="A game: its seats, options, commands and reasons of refusal.",
        handler=one_game,
        parameters=(_GAME,),
        answers={200: GameDetails},
        links=(Link("getRules", {"game": "$response.body#/game"}),),
        errors=(400, 404),
        token=False,
        tag="games",
    ),
    Endpoint(
        method="GET",
        path="/v1/games/{game}/rules",
        name="getRules",
        summary="A game's rules page.",
        handler=rules,
        parameters=(_GAME, LANGUAGE),
        answers={200: None},
        media={MARKDOWN: Page, HTML: Page},
        headers=("Content-Language",),
        errors=(400, 404, 406),
        token=False,
        tag="games",
    ),
)
