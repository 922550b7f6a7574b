"""Erasing an account: what it takes to forget somebody whom the log can't name.

The log keeps opaque ids and no text, so it stays as it is and every chain still verifies; what the account wrote about
disputes is kept beside it, and goes. From the moment that an erasing begins the account gets no further part in any
table; what it has, it gives up by commands of its own, through the door that all commands come in by. Its name and its
tokens go last: whoever is cut off before that can still ask again, and a repeat finishes what is left. An archive that
was not told, as it was away or not named, is told before anything more goes to it. A store that was filled from an
older backup without it is told by it: whom the archive knows as erased is erased there again
(service/reactors/erased.py).
"""

import logging
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import suppress

from service.archive import Archive
from service.attendance import Attendance
from service.auth.accounts import Accounts
from service.auth.tokens import Tokens
from service.errors import ArchiveAway, Illegible
from service.inbox import Inboxes
from service.presence import Presence
from service.tables import Tables
from service.texts import Texts

_journal = logging.getLogger(__name__)


class Erasing:
    """Erases accounts."""

    def __init__(  # noqa: PLR0913, PLR0917 whatever knows something of an account: no fewer will do
        self,
        tables: Tables,
        attendance: Attendance,
        presence: Presence,
        inboxes: Inboxes,
        texts: Texts,
        accounts: Accounts,
        tokens: Tokens,
        archive: Archive | None = None,
    ) -> None:
        """Take whatever knows something of an account, and the archive, which remembers who was erased."""
        self._tables = tables
        self._attendance = attendance
        self._presence = presence
        self._inboxes = inboxes
        self._texts = texts
        self._accounts = accounts
        self._tokens = tokens
        self._archive = archive

    async def erase(self, account: str) -> int:
        """Erase an account for good; return how many tables it may have had a part in. Raise StoreDown, and others."""
        await self._accounts.condemn(account)
        tables = await self._attendance.tables(account)
        for table in tables:
            with suppress(Illegible):  # Nobody acts at such a table any more.
                await self._tables.withdraw(account, table)
        await self._attendance.forget(account)
        await self._presence.forget(account)
        await self._inboxes.forget(account)
        await self._texts.forget(account)
        await self._accounts.forget(account)
        await self._tokens.end_all(account)
        await self._note(account)
        return len(tables)

    async def erase_again(self, accounts: Iterable[str]) -> AsyncIterator[tuple[str, Exception | None]]:
        """Erase some; yield each with why it is not erased altogether, None if it is: one that fails holds up no other.

        Why may be a KeyError that names the ruleset of a game that is not known here.
        """
        for account in accounts:
            try:
                await self.erase(account)
            except Exception as error:  # noqa: BLE001 it is the caller's to word, or to raise
                yield account, error
            else:
                yield account, None

    async def still_known(self, accounts: Collection[str]) -> list[str]:
        """Return of whom of these the store has a name, or tokens, or no note that they are erased; raise StoreDown."""
        lingering = {*await self._accounts.lingering(accounts), *await self._tokens.lingering(accounts)}
        return sorted(lingering.union(await self.not_listed(accounts)))

    async def not_listed(self, accounts: Collection[str]) -> list[str]:
        """Return who of these is not on the store's list of the erased; raise StoreDown."""
        return sorted(set(accounts) - await self._accounts.condemned())

    async def archived(self) -> set[str]:
        """Return whom the archive knows as erased, nobody where there is none; raise ArchiveAway."""
        return set() if self._archive is None else await self._archive.erased()

    async def _note(self, account: str) -> None:
        """Have the archive know who was erased; where it is away, `tell` does later."""
        if self._archive is None:
            return
        try:
            await self._archive.note_erased(account)
        except ArchiveAway as away:
            _journal.warning("%s is erased; the archive is told by the next `evenfold archive`: %s", account, away)


async def tell(accounts: Accounts, archive: Archive) -> int:
    """Have the archive know all who are on the store's list of the erased; return how many it did not.

    Raise StoreDown or ArchiveAway.
    """
    untold = await accounts.condemned() - await archive.erased()
    for account in sorted(untold):
        await archive.note_erased(account)
    return len(untold)
