"""Limits over HTTP: who asks too much is told so, how much is allowed, and when to come again."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from service.parts import Sources
from service.settings import NO_LIMITS
from tests.served import NO_TLS, Person, served

MINUTE_MS = 1_790_000_040_000 // 60_000 * 60_000
OPEN = "/v1/chinkway/tables"


class Now:
    """What a clock shows."""

    ns = 1_000_000_000_000


@pytest.fixture
def limited(valkey_url: str, tmp_path: Path) -> Iterator[Callable[..., str]]:
    """Give a way to serve with limits: `limited(tables=2)`; its clock stands still until it is set."""
    serving = []

    def start(*, trust: tuple[str, ...] = (), now: Now | None = None, **limits: int) -> str:
        told = now or Now()
        sources = Sources(clock=lambda: MINUTE_MS + 18_000, monotonic_ns=lambda: told.ns)
        serving.append(
            served(valkey_url, tmp_path / "keys", sources=sources, limits=NO_LIMITS._replace(**limits), trust=trust)
        )
        return serving[-1].__enter__()

    yield start
    for one in serving:
        one.__exit__(None, None, None)


def refused(answer: httpx.Response, code: str) -> tuple[str, str, str]:
    """Return what a refusal for too much says of the policy, of what is left, and of when to come again."""
    assert (answer.status_code, answer.json()["code"]) == (429, code), answer.text
    return answer.headers["RateLimit-Policy"], answer.headers["RateLimit"], answer.headers["Retry-After"]


# --- Requests ---


def test_an_account_that_sends_too_fast_is_refused_and_others_are_not(limited: Callable[..., str]) -> None:
    now = Now()
    url = limited(requests=1, now=now)
    ada, bob = Person(url), Person(url, "Bob")
    path = f"{OPEN}/{'0' * 26}"
    for _ in range(2):
        assert ada.get("/v1/me").status_code == 200
    for answer in (ada.get("/v1/me"), ada.get(path), ada.post(f"{path}/commands", {"type": "table.resign"})):
        assert refused(answer, "too_many_requests") == ('"requests";q=1;w=1', '"requests";r=0;t=1', "1")
    assert bob.get("/v1/me").status_code == 200
    now.ns += 1_000_000_000
    assert [ada.get("/v1/me").status_code for _ in range(2)] == [200, 429]
    # What needs no token is not counted, and what is unauthenticated is no account's.
    assert ada.get("/v1/games").status_code == 200
    assert ada.get("/v1/me", Authorization="Bearer evf_" + "a" * 43).status_code == 401
    for person in (ada, bob):
        person.http.close()


# --- Tables ---


def test_a_table_above_the_quota_is_refused_until_one_has_ended(limited: Callable[..., str]) -> None:
    ada = Person(limited(tables=2))
    paths = [ada.post(OPEN).headers["Location"] for _ in range(2)]
    assert refused(ada.post(OPEN), "too_many_tables") == ('"open-tables";q=2', '"open-tables";r=0', "30")
    assert ada.post(f"{paths[0]}/commands", {"type": "table.abandon"}).status_code == 201
    assert ada.post(OPEN).status_code == 201
    assert ada.post(OPEN).status_code == 429
    ada.http.close()


def test_what_opened_its_table_is_answered_as_ever_at_the_quota(limited: Callable[..., str]) -> None:
    ada = Person(limited(tables=1))
    first = ada.post(OPEN, Idempotency_Key="one")
    assert ada.post(OPEN, Idempotency_Key="one").content == first.content
    path = first.headers["Location"]
    assert ada.post(f"{path}/commands", {"type": "table.abandon"}).status_code == 201
    assert ada.post(OPEN, Idempotency_Key="two").status_code == 201
    assert ada.post(OPEN, Idempotency_Key="one").content == first.content
    assert ada.post(OPEN, Idempotency_Key="three").status_code == 429
    ada.http.close()


def test_what_a_rule_refuses_takes_no_place(limited: Callable[..., str]) -> None:
    ada = Person(limited(tables=1))
    for _ in range(3):
        assert ada.post(OPEN, {"bots": ["nobody"]}).json()["code"] == "no_such_bot"
    assert ada.post(OPEN).status_code == 201
    assert ada.post(OPEN, {"bots": ["nobody"]}).json()["code"] == "no_such_bot"
    ada.http.close()


def test_fifty_rivals_on_two_workers_open_no_more_tables_than_the_quota(limited: Callable[..., str]) -> None:
    urls = [limited(tables=7) for _ in range(2)]
    ada = Person(urls[0])

    def opened(number: int) -> int:
        address, headers = f"{urls[number % 2]}{OPEN}", dict(ada.http.headers)
        return httpx.post(address, json={}, headers=headers, timeout=20, verify=NO_TLS).status_code

    with ThreadPoolExecutor(25) as rivals:
        answers = list(rivals.map(opened, range(50)))
    assert sorted(answers) == [201] * 7 + [429] * 43
    ada.http.close()


# --- Sign-ups ---


def sign_up(url: str, forwarded: str | None = None) -> httpx.Response:
    headers = {} if forwarded is None else {"X-Forwarded-For": forwarded}
    return httpx.post(f"{url}/v1/players", json={"name": "Ada"}, headers=headers, timeout=20, verify=NO_TLS)


def test_an_address_that_opens_too_many_accounts_is_refused(limited: Callable[..., str]) -> None:
    url = limited(sign_ups=3)
    assert [sign_up(url).status_code for _ in range(3)] == [201] * 3
    assert refused(sign_up(url), "too_many_requests") == ('"sign-ups";q=3;w=60', '"sign-ups";r=0;t=42', "42")


def test_a_stranger_who_claims_to_forward_is_not_believed(limited: Callable[..., str]) -> None:
    url = limited(sign_ups=2, trust=("192.0.2.0/24",))
    assert [sign_up(url, f"198.51.100.{number}").status_code for number in range(3)] == [201, 201, 429]


def test_a_trusted_proxy_is_believed_as_far_as_it_goes(limited: Callable[..., str]) -> None:
    url = limited(sign_ups=1, trust=("127.0.0.1", "192.0.2.0/24"))
    # Each of these claims more to its left, where anybody may have written anything.
    assert [sign_up(url, f"10.0.0.{number}, 198.51.100.7").status_code for number in range(2)] == [201, 429]
    assert sign_up(url, "198.51.100.7, 192.0.2.9").status_code == 429
    assert sign_up(url, "198.51.100.8, 192.0.2.9").status_code == 201
