"""The client of the command line, met by a server that has limits."""

import time
from pathlib import Path

import pytest

from service.cli.client import Client, Refusal
from service.settings import Limits
from tests.served import Person, served

LIMITED = Limits(tables=1, requests=50, sign_ups=0, min_free=0)


@pytest.mark.anyio
async def test_a_client_that_is_too_fast_waits_as_long_as_it_is_told(valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path, limits=LIMITED) as url:
        ada = Person(url)
        began = time.monotonic()
        async with Client(url, ada.token) as client:
            for _ in range(130):
                assert (await client.get("/v1/me"))["player"]["id"] == ada.id
        # A hundred at once and fifty a second: the rest could not have come sooner.
        assert time.monotonic() - began > 0.5
        ada.http.close()


@pytest.mark.anyio
async def test_a_client_does_not_wait_longer_than_its_patience(valkey_url: str, tmp_path: Path) -> None:
    with served(valkey_url, tmp_path, limits=LIMITED) as url:
        ada = Person(url)
        async with Client(url, ada.token, patience_s=5) as client:
            await client.post("/v1/chinkway/tables", {})
            with pytest.raises(Refusal, match="too_many_tables"):
                await client.post("/v1/chinkway/tables", {})
        ada.http.close()
