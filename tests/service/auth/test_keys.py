"""The service's secret: made once, shared, kept from others."""

import hashlib
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from redis.asyncio import Redis

from service.auth.keys import FINGERPRINT_KEY, KeysUnfit, fingerprint, is_at_home, secret_from


def test_a_secret_is_made_once_and_read_from_then_on(tmp_path: Path) -> None:
    folder = tmp_path / "keys"
    first = secret_from(folder, None)
    assert (len(first), secret_from(folder, None)) == (32, first)
    assert stat.S_IMODE((folder / "secret").stat().st_mode) == 0o600
    assert [path.name for path in folder.iterdir()] == ["secret"]


def test_processes_that_start_at_once_share_one_secret(tmp_path: Path) -> None:
    with ThreadPoolExecutor(16) as starting:
        secrets = set(starting.map(lambda _: secret_from(tmp_path / "keys", None), range(64)))
    assert len(secrets) == 1


def test_a_secret_that_is_stated_needs_no_folder(tmp_path: Path) -> None:
    assert secret_from(tmp_path / "keys", "ab" * 32) == bytes.fromhex("ab" * 32)
    assert not (tmp_path / "keys").exists()


@pytest.mark.parametrize("stated", ["", "ab", "zz" * 32, "ab" * 33])
def test_a_secret_that_is_none_is_told_in_a_sentence(tmp_path: Path, stated: str) -> None:
    with pytest.raises(KeysUnfit, match=r"EVENFOLD_SECRET must hold 64 hex digits\."):
        secret_from(tmp_path, stated)


def test_a_folder_that_can_not_be_used_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("no folder")
    with pytest.raises(KeysUnfit, match="can't be used"):
        secret_from(tmp_path / "keys", None)


def test_a_secret_that_was_spoilt_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("spoilt")
    with pytest.raises(KeysUnfit, match=r"secret must hold 64 hex digits\."):
        secret_from(tmp_path, None)


@pytest.mark.anyio
async def test_a_store_knows_the_first_secret_that_it_is_served_with(store: Redis) -> None:
    first, other = bytes(32), b"\1" * 32
    assert await is_at_home(first, store)
    assert not await is_at_home(other, store)
    assert await is_at_home(first, store)
    assert await store.get(FINGERPRINT_KEY) == fingerprint(first)
    assert await store.ttl(FINGERPRINT_KEY) == -1


def test_a_fingerprint_is_derived_under_a_name_of_its_own() -> None:
    secret = bytes(range(32))
    assert fingerprint(secret).decode() == hashlib.sha256(b"evenfold/secret/1" + b"\0" + secret).hexdigest()
