"""Routes of what a table has been through: its story in words, and every seat's view of any of its versions."""

from collections.abc import AsyncIterator
from typing import Annotated, Final, Generic, TypeVar

from litestar.response.base import ASGIResponse
from litestar.response.streaming import ASGIStreamingResponse
from msgspec import Meta, Struct

from events.base import MAX_SEATS, GameName, Millis, Version
from service.api.answers import JSON, answer
from service.api.endpoint import Endpoint, Parameter
from service.api.eyes import AS, SCOPE_OF_AS, eyes
from service.api.following import only_of_a_page
from service.api.gameroutes import AFTER, AT, TABLE, VIEW_HEADERS, GameRoutes, at, tables_of, typed, view_of
from service.api.language import LANGUAGE, liked
from service.api.requests import AnyRequest, accepts, identity, query
from service.auth.scopes import PERSON
from service.game import AnyGame
from service.story import PAGE, Chapter, Stories
from service.words import languages
from service.words.telling import Step

VIEW = TypeVar("VIEW")

PLAIN: Final = "text/plain"

Count = Annotated[int, Meta(ge=1, le=PAGE)]
LIMIT = Parameter("limit", "query", Count, "At most so many decisions in a page of JSON.")

Line = Annotated[str, Meta(min_length=1, max_length=65_536, examples=["Ada plays ♠Q."])]
Caller = Annotated[str, Meta(min_length=1, max_length=512, description="Who asked for it.", examples=["Ada"])]
Language = Annotated[str, Meta(min_length=2, max_length=3, description="The language of the lines.", examples=["en"])]
Text = Annotated[
    str,
    Meta(
        max_length=2**30, description="Each decision to the newest: a line that heads it, indented ones that tell it."
    ),
]


class Views(Struct, Generic[VIEW], frozen=True):
    """A version of a table as each seat that is taken by then sees it, the lowest first."""

    version: Version
    views: Annotated[tuple[VIEW, ...], Meta(max_length=MAX_SEATS)]


class Told(Struct, frozen=True):
    """A decision in words: a line for each of its events, and after it one for each entry of what it lists."""

    version: Version
    at: Millis
    by: Caller
    lines: Annotated[tuple[Line, ...], Meta(max_length=2**21)]


class Story(Struct, frozen=True):
    """A page of a table's story; `next` is the version to ask after for the next page, null at the newest."""

    game: GameName
    language: Language
    decisions: Annotated[tuple[Told, ...], Meta(max_length=PAGE)]
    next: Version | None


class StoryRoutes(GameRoutes):
    """What the tables of one game have been through."""

    def __init__(self, game: AnyGame) -> None:
        """Make the routes of this game."""
        super().__init__(game)
        self._languages = languages(game)

    def endpoints(self) -> tuple[Endpoint, ...]:
        """Return the routes."""
        told_in = ", ".join(f"`{language}`" for language in self._languages)
        return (
            Endpoint(
                method="GET",
                path=f"{self.table}/story",
                name=f"get{self.kind}Story",
                summary="The decisions after a version in words, as you may see them.",
                about=f"""
                In the language that `Accept-Language` likes best of {told_in}; English otherwise. People are called by
                the names they go by today, who was erased by the id.

                - `application/json`: a page, whose `next` is what to ask `after` for the next page.
                - `text/plain`: all of them, to the newest, as `evenfold replay` prints them.

                Once play has ended `as` tells them through the eyes of any seat, or with what `all` seats saw together.
                More at `/docs/replay`.
                """,
                handler=self.story,
                parameters=(TABLE, AFTER, LIMIT, AS, LANGUAGE),
                answers={200: Story},
                media={PLAIN: Text},
                headers=("Content-Language",),
                errors=(400, 401, 403, 404, 406, 409, 429, 503),
                scope_of=SCOPE_OF_AS,
                tag=self.game.name,
            ),
            Endpoint(
                method="GET",
                path=f"{self.table}/views",
                name=f"get{self.kind}Views",
                summary="A version of a table that has ended, with all hands: as each of its seats saw it.",
                about="""
                Until play has ended it is refused with 409 `not_ended`. A token of scope `bot` alone gets none of it.
                """,
                handler=self.views,
                parameters=(TABLE, AT),
                answers={200: typed(Views, view_of(self.game))},
                errors=(400, 401, 403, 404, 409, 429, 503),
                scope=PERSON,
                tag=self.game.name,
            ),
        )

    async def story(self, request: AnyRequest) -> ASGIResponse:
        """Return decisions in words: a page of JSON, or all to the newest as plain text."""
        who = await identity(request)
        asked = self.asked(request, who, eyes(request, who, AS))
        after, limit = query(request, "after", Version, 0), query(request, "limit", Count, PAGE)
        language = liked(request, self._languages)
        media = accepts(request, JSON, PLAIN)
        only_of_a_page(request, LIMIT.name, media)
        stories: Stories = request.app.state.stories
        headers = {**VIEW_HEADERS, "Vary": "Authorization, Accept, Accept-Language", "Content-Language": language}
        if media == PLAIN:
            first = await stories.chapter(asked, language, after)
            pages = _pages(first, stories.following(asked, language, first))
            return ASGIStreamingResponse(iterator=pages, media_type=PLAIN, headers=headers)
        chapter = await stories.chapter(asked, language, after, limit)
        decisions = tuple(Told(step.version, step.at, step.who, step.lines) for step in chapter.steps)
        return answer(Story(self.game.name, language, decisions, chapter.next), headers=headers)

    async def views(self, request: AnyRequest) -> ASGIResponse:
        """Return every seat's view of a version, the newest if none is named."""
        who = await identity(request, PERSON)
        asked = self.asked(request, who, "all")
        version, views = await tables_of(request).views(asked, at(request))
        return answer(Views(version, views), headers=VIEW_HEADERS)


async def _pages(first: Chapter, following: AsyncIterator[Chapter]) -> AsyncIterator[bytes]:
    yield _page(first.steps)
    async for chapter in following:
        yield _page(chapter.steps)


def _page(steps: tuple[Step, ...]) -> bytes:
    return "".join(f"{line}\n" for step in steps for line in step.plain()).encode()
