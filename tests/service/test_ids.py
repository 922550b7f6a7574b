"""Ids are spelt, recognised, derived and placed as the log's bytes say."""

import base64
import hmac
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from service.ids import derived, is_id, key_of, new_id, new_salt, partition

VECTORS = json.loads((Path(__file__).parents[1] / "vectors" / "log-1.json").read_text(encoding="utf-8"))

SECRET = bytes(range(32))
ROUTE = "POST /v1/chinkway/tables"


def test_an_id_spells_the_first_130_bits_five_a_character() -> None:
    assert new_id(lambda _: bytes(17)) == "0" * 26
    assert new_id(lambda _: b"\xff" * 17) == "z" * 26
    assert new_id(lambda _: b"\x08" + bytes(16)) == "1" + "0" * 25
    # The last six bits of 17 bytes are more than an id holds.
    assert new_id(lambda _: bytes(16) + b"\x7f") == "0" * 25 + "1"


def test_ids_and_salts_take_the_randomness_of_the_system() -> None:
    assert len({new_id() for _ in range(1000)}) == 1000
    assert len({new_salt() for _ in range(1000)}) == 1000


@pytest.mark.parametrize("text", ["0" * 26, "z" * 26, "0123456789abcdefghjkmnpqrs"])
def test_every_string_of_26_characters_of_the_alphabet_is_an_id(text: str) -> None:
    assert is_id(text)


@pytest.mark.parametrize(
    "text", ["", "0" * 25, "0" * 27, "0" * 25 + "Z", *("0" * 25 + other for other in "ilou-_\n é"), "0" * 26 + "\n"]
)
def test_nothing_else_is(text: str) -> None:
    assert not is_id(text)


def test_a_salt_is_128_bits_in_base64url() -> None:
    assert new_salt(bytes) == "A" * 22
    assert base64.urlsafe_b64decode(new_salt(lambda count: bytes(range(count))) + "==") == bytes(range(16))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: str(vector["ctx"]))
def test_a_partition_is_the_first_byte_of_the_ids_hash(vector: dict[str, Any]) -> None:
    assert partition(vector["ctx"].removeprefix("table:")) == vector["partition"]


def test_all_64_partitions_are_used() -> None:
    assert {partition(new_id()) for _ in range(10_000)} == set(range(64))


def test_a_key_is_the_hash_of_account_route_and_header() -> None:
    expected = sha256(b"evenfold/key/1\0acc\0POST /v1/chinkway/tables\0once").hexdigest()
    assert key_of("acc", ROUTE, "once") == expected
    assert len({key_of("acc", ROUTE, "o"), key_of("ac", ROUTE, "o"), key_of("acc", ROUTE + "/", "o")}) == 3


def test_a_derived_id_is_the_servers_secret_over_account_route_and_header() -> None:
    digest = hmac.digest(SECRET, b"evenfold/id/1\0acc\0POST /v1/chinkway/tables\0once", "sha256")
    made = derived(SECRET, "acc", ROUTE, "once")
    assert is_id(made)
    assert made == new_id(lambda count: digest[:count])
    assert made != derived(SECRET[::-1], "acc", ROUTE, "once")
    assert made != derived(SECRET, "acc", ROUTE, "twice")
