"""What people write is kept beside the log, found again by a repeat, and gone where nothing names it."""

from dataclasses import dataclass

import pytest
from redis.asyncio import Redis

from events.table import TextRef
from service.auth.accounts import Accounts
from service.errors import Archived, KeyReused, NotFound, Stale, StoreDown, Unauthenticated
from service.game import Refused
from service.tables import Once
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

    async def by(self, texts: Texts, failure: Exception | None = None) -> TextRef | None:
        """Write it where the decision that names it comes out like this."""
        async with texts.kept(Writing(self.author, self.text, self.body, self.once)) as ref:
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


@pytest.mark.parametrize("refusal", [Refused("ended"), Stale(1, 2), NotFound(), KeyReused(), Archived()])
async def test_what_is_refused_leaves_no_text(store: Redis, refusal: Exception) -> None:
    with pytest.raises(type(refusal)):
        await Said().by(Texts(store), refusal)
    assert await keys(store) == set()


async def test_what_may_have_been_stored_keeps_its_text(store: Redis) -> None:
    with pytest.raises(StoreDown):
        await Said().by(Texts(store), StoreDown("The store does not answer."))
    assert len(await keys(store)) == 2


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
