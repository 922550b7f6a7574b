"""Whom the archive knows as erased: a store that still knows them erases them again, whenever the archive answers."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.archive import Archive, remembered
from service.auth.accounts import PAGE, Account
from service.auth.scopes import SIGN_UP
from service.auth.tokens import Grant
from service.errors import Unauthenticated
from service.ids import new_id
from service.parts import Service, service
from service.reactors.erased import keep_erased
from service.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("store")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "archive").mkdir()
    return tmp_path / "archive"


@pytest.fixture
async def parts(valkey_url: str, store: Redis, folder: Path) -> AsyncIterator[Service]:
    """Give the parts of a process that has an archive."""
    async with service(Settings(valkey_url, Path(), "00" * 32, "11" * 32, archive=folder.as_uri())) as made:
        yield made
    await store.flushall()


async def account(parts: Service, name: str) -> tuple[Account, str]:
    """Open an account; return the secret of its token too."""
    made = await parts.accounts.create(name)
    return made, (await parts.tokens.issue(made.id, Grant(SIGN_UP))).secret


async def is_gone(parts: Service, who: tuple[Account, str]) -> bool:
    """Tell whether nothing is left of an account."""
    try:
        await parts.tokens.confirmed(who[1])
    except Unauthenticated:
        return not await parts.accounts.named([who[0].id]) and await parts.accounts.is_condemned(who[0].id)
    return False


async def test_a_store_remembers_its_archive(parts: Service, folder: Path) -> None:
    assert await remembered(parts.redis) == folder.as_uri()


async def test_all_whom_the_archive_knows_are_erased_and_nobody_else(parts: Service, folder: Path) -> None:
    ada, bob, cyd, dan = [await account(parts, name) for name in ("Ada", "Bob", "Cyd", "Dan")]
    # Two of them were left by whoever was cut off: on the list, one with its name and one with its tokens alone.
    await parts.accounts.condemn(bob[0].id)
    await parts.accounts.condemn(cyd[0].id)
    await parts.accounts.forget(cyd[0].id)
    for one in (ada, bob, cyd):
        await Archive(folder.as_uri()).note_erased(one[0].id)
    (folder / "erased" / "README").touch()
    await keep_erased(parts.erasing)
    assert [await is_gone(parts, one) for one in (ada, bob, cyd, dan)] == [True, True, True, False]


async def test_whoever_is_erased_is_looked_for_page_by_page(parts: Service) -> None:
    ids = [new_id() for _ in range(PAGE)]
    ada, _ = await account(parts, "Ada")
    assert await parts.accounts.lingering([*ids, ada.id]) == [ada.id]
    assert await parts.accounts.lingering([]) == []


async def test_whatever_fails_is_told_and_tried_again(
    parts: Service, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ada, bob = [await account(parts, name) for name in ("Ada", "Bob")]
    for one in (ada, bob):
        await Archive(folder.as_uri()).note_erased(one[0].id)
    wrong = ["accounts:erased", f"account:seats:{ada[0].id}"]
    for key in wrong:
        await parts.redis.set(key, "neither a set nor a hash")
    gone: list[bool] = []

    async def sleep(_: float) -> None:
        gone.append(await is_gone(parts, bob) if gone else False)
        await parts.redis.delete(wrong.pop(0))

    await keep_erased(parts.erasing, sleep)
    assert (gone, [await is_gone(parts, one) for one in (ada, bob)]) == ([False, True], [True, True])
    first, second = [record.getMessage() for record in caplog.records if record.levelname == "CRITICAL"]
    assert "whether all whom the archive knows as erased are so is not known yet: " in first
    assert f"{ada[0].id}, erased as the archive knows, is not erased here: " in second


async def test_an_archive_that_is_away_is_asked_again(parts: Service, folder: Path, tmp_path: Path) -> None:
    ada = await account(parts, "Ada")
    await Archive(folder.as_uri()).note_erased(ada[0].id)
    await asyncio.to_thread(folder.rename, tmp_path / "away")
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)
        if len(waits) == 2:
            await asyncio.to_thread((tmp_path / "away").rename, folder)

    await keep_erased(parts.erasing, sleep)
    assert waits == [60, 60]
    assert await is_gone(parts, ada)
