"""What people write is kept beside the log, found again by a repeat, and gone where nothing names it."""

import asyncio
from collections.abc import Awaitable
from dataclasses import dataclass

import pytest
from redis.asyncio import Redis

from events.table import TextRef
from service.auth.accounts import Accounts
from service.errors import (
    ArchiveAway,
    Archived,
    Busy,
    Damaged,
    KeyReused,
    Malformed,
    NotFound,
    Stale,
    StoreDown,
    Unauthenticated,
    Unconfirmed,
)
from service.game import Refused
from service.once import Once
from service.texts import Texts, Writing

pytestmark = pytest.mark.anyio

ONCE = Once("ada", "POST /v1/chinkway/tables/t/disputes", "once")
SECRET = bytes(range(32))


@dataclass
class Said:
    """What somebody says, and how it may come twice."""

    text: str | None = "He showed me his hand. ♠"
    author: str = "ada"
    body: bytes = b'{"reason":"conduct"}'
    once: Once | None = None

    async def by(
        self, texts: Texts, failure: BaseException | None = None, meanwhile: Awaitable[object] | None = None
    ) -> TextRef | None:
        """Write it where the decision that names it comes out like this, once something else has happened."""
        async with texts.kept(Writing(self.author, self.text, self.body, self.once)) as ref:
            if meanwhile is not None:
                await meanwhile
            if failure is not None:
                raise failure
        return ref


async def keys(store: Redis) -> set[bytes]:
    return {key async for key in store.scan_iter() if key.startswith(b"text")}


async def test_a_text_is_found_by_what_the_log_names_it(store: Redis) -> None:
    texts = Texts(store)
    ref = await Said().by(texts)
    assert ref is not None
    found = await texts.find([ref])
    assert (found[ref.id].text, found[ref.id].ref) == (Said().text, ref)


@pytest.mark.parametrize(
    ("field", "value"),
    [("text", b"Another."), ("text", b"\xff"), ("salt", b"0" * 32), ("salt", b"0"), ("salt", b"\xff" * 32)],
)
async def test_a_text_that_the_log_does_not_name_by_its_hash_is_none(store: Redis, field: str, value: bytes) -> None:
    texts = Texts(store)
    ref, other = await Said().by(texts), await Said().by(texts)
    assert ref is not None
    assert other is not None
    calls = store.pipeline()
    calls.hset(f"text:{ref.id}", field, value)
    await calls.execute()
    assert set(await texts.find([ref, other])) == {other.id}


async def test_nothing_written_is_nothing_kept(store: Redis) -> None:
    assert await Said(text=None).by(Texts(store)) is None
    assert await keys(store) == set()


async def test_the_same_text_twice_has_two_hashes(store: Redis) -> None:
    first, second = await Said().by(Texts(store)), await Said().by(Texts(store))
    assert first is not None
    assert second is not None
    assert first.hash != second.hash


async def test_a_repeat_names_the_text_as_before_in_any_process(store: Redis) -> None:
    first = await Said(once=ONCE).by(Texts(store, SECRET))
    before = await keys(store)
    assert await Said(once=ONCE).by(Texts(store, SECRET)) == first
    assert await keys(store) == before


@pytest.mark.parametrize(
    "other", [Said(text="Another.", body=b'{"text":"Another."}', once=ONCE), Said(body=b"{}", once=ONCE)]
)
async def test_a_key_with_another_body_takes_nothing_from_the_first(store: Redis, other: Said) -> None:
    texts = Texts(store, SECRET)
    first = await Said(once=ONCE).by(texts)
    assert first is not None
    with pytest.raises(KeyReused):
        await other.by(texts, KeyReused())
    assert set(await texts.find([first])) == {first.id}
    assert len(await keys(store)) == 2


@pytest.mark.parametrize(
    "nothing",
    [
        Refused("ended"),
        Stale(1, 2),
        NotFound(),
        KeyReused(),
        Archived(),
        Busy(),
        Malformed("Not this."),
        Damaged("It is damaged."),
        ArchiveAway("It is away."),
        StoreDown("The store does not answer; nothing happened."),
    ],
)
async def test_where_nothing_is_decided_no_text_is_left(store: Redis, nothing: Exception) -> None:
    with pytest.raises(type(nothing)):
        await Said().by(Texts(store), nothing)
    assert await keys(store) == set()


@pytest.mark.parametrize("open_", [Unconfirmed("table:t", 4), asyncio.CancelledError(), RuntimeError()])
async def test_what_may_have_been_stored_keeps_its_text(store: Redis, open_: BaseException) -> None:
    with pytest.raises(type(open_)):
        await Said().by(Texts(store), open_)
    assert len(await keys(store)) == 2


@pytest.mark.parametrize("named_before", [False, True])
async def test_who_is_refused_takes_nothing_from_what_another_with_its_key_named(
    store: Redis, named_before: bool
) -> None:
    said, texts = Said(once=ONCE), Texts(store, SECRET)
    if named_before:
        await said.by(texts)
    other = asyncio.ensure_future(said.by(Texts(store, SECRET)))
    with pytest.raises(Refused):
        await said.by(texts, Refused("ended"), meanwhile=other)
    ref = await other
    assert ref is not None
    assert set(await texts.find([ref])) == {ref.id}


async def test_of_two_with_one_key_that_are_both_refused_no_text_is_left(store: Redis) -> None:
    async def refused(meanwhile: Awaitable[object] | None = None) -> None:
        with pytest.raises(Refused):
            await Said(once=ONCE).by(Texts(store, SECRET), Refused("ended"), meanwhile)

    await refused(refused())
    assert await keys(store) == set()


async def test_who_is_forgotten_leaves_no_text_and_others_keep_theirs(store: Redis) -> None:
    texts = Texts(store)
    mine, mine_too, theirs = [await Said(author=author).by(texts) for author in ("ada", "ada", "bob")]
    assert mine is not None
    assert mine_too is not None
    assert theirs is not None
    await texts.forget("ada")
    assert set(await texts.find([mine, mine_too, theirs])) == {theirs.id}
    await texts.forget("ada")
    assert len(await keys(store)) == 2


async def test_who_is_being_erased_writes_nothing(store: Redis) -> None:
    await Accounts(store).condemn("ada")
    with pytest.raises(Unauthenticated):
        await Said().by(Texts(store))
    assert await keys(store) == set()
