"""The story of a table: its decisions in words, as somebody may see them, by the names that people go by today.

Names live beside the log. Whoever has been erased is called by the id, in the oldest story too.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Final, NamedTuple

from service.auth.accounts import Accounts
from service.game import AnyGame, AnyTable
from service.ids import is_id
from service.tables import Asked, Page, Tables
from service.words import Words
from service.words.telling import Step, Teller, bots_called, named_in

PAGE: Final = 100
"""How many decisions are told at once."""

SLICE: Final = 10
"""How many decisions are told in one turn of the loop: a tenth of a millisecond an event is not nothing."""


class Chapter(NamedTuple):
    """Decisions in words that follow one another.

    `next` is the version to ask after for more, None at the newest; `seated` is who sits where by then, by id.
    """

    steps: tuple[Step, ...]
    next: int | None
    seated: tuple[str | None, ...]


class Stories:
    """The stories of all tables, in every language that their games are told in."""

    def __init__(self, tables: Tables, accounts: Accounts) -> None:
        """Tell what these tables show, by the names of these accounts."""
        self._tables = tables
        self._accounts = accounts
        self._words: dict[tuple[str, str], Words] = {}

    async def chapter(self, asked: Asked, language: str, after: int, limit: int = PAGE) -> Chapter:
        """Return up to `limit` decisions after a version, in a language that the table's game is told in.

        Raise what `Tables.decisions` does.
        """
        page = await self._tables.decisions(asked, after, limit)
        if not page.decisions:
            return Chapter((), None, ())
        return await self._told(asked, language, page, await self._tables.seated(asked, after))

    async def following(self, asked: Asked, language: str, chapter: Chapter) -> AsyncIterator[Chapter]:
        """Yield what follows a chapter, to the newest decision."""
        while chapter.next is not None:
            page = await self._tables.decisions(asked, chapter.next, PAGE)
            chapter = await self._told(asked, language, page, chapter.seated)
            yield chapter

    async def _told(self, asked: Asked, language: str, page: Page, seated: Sequence[str | None]) -> Chapter:
        table = await self._tables.look(asked)
        words = self._words_of(self._tables.game_of(table), language)
        # All who have had a part in the table, so that people are called the same on each of its pages.
        people = dict.fromkeys([*_known(table), *named_in(page.decisions)])
        accounts = await self._accounts.named(filter(is_id, people))
        called = bots_called(people) | {account.id: account.name for account in accounts}
        teller = Teller(words, called, seated)
        steps = []
        for told, decision in enumerate(page.decisions, 1):
            steps.append(teller.tell(decision))
            if told % SLICE == 0:
                await asyncio.sleep(0)
        return Chapter(tuple(steps), page.next, teller.seated)

    def _words_of(self, game: AnyGame, language: str) -> Words:
        key = game.ruleset, language
        if key not in self._words:
            self._words[key] = Words(game, language)
        return self._words[key]


def _known(table: AnyTable) -> Sequence[str]:
    """Return the ids of all who have had a part in a table."""
    return (table.host, *(player.id for player in table.players if player is not None), *table.former)
