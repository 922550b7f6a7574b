"""A token made beside the service, directly in the store: the only way to one that may arbitrate or administer."""

import asyncio
from collections.abc import Sequence
from typing import NamedTuple, cast

from service.auth.accounts import Account, Accounts, clean_name
from service.auth.scopes import SCOPES, SIGN_UP, Scope
from service.auth.tokens import Grant, Tokens
from service.cli.opened import opened
from service.cli.sentences import Unusable, say
from service.cli.spans import LONGEST_MS, span_ms
from service.clock import utc_ms
from service.errors import Malformed, NotFound, TooManyTokens, Unreadable
from service.settings import Place


class Wanted(NamedTuple):
    """Whose token to make, an account's or one to be opened under a name; what it may do; how long (`30d`, `12h`)."""

    account: str | None
    name: str | None
    scopes: Sequence[str]
    expires: str | None


def token(place: Place, wanted: Wanted) -> str:
    """Make a token and return it; tell the rest on the error stream. Raise Unusable."""
    scopes = _scopes(wanted.scopes)
    life_ms = None if wanted.expires is None else _life_ms(wanted.expires)
    if (wanted.account is None) == (wanted.name is None):
        raise Unusable("Name either an account by its id, or a new one with --name")
    if wanted.name is not None:
        try:
            clean_name(wanted.name)
        except (Malformed, Unreadable) as wrong:
            raise Unusable(str(wrong)) from None
    return asyncio.run(_made(place, wanted, scopes, life_ms))


def _scopes(names: Sequence[str]) -> tuple[Scope, ...]:
    for name in names:
        if name not in SCOPES:
            raise Unusable(f"There is no scope {name!r}; there are {', '.join(SCOPES)}")
    return cast("tuple[Scope, ...]", tuple(dict.fromkeys(names))) or SIGN_UP


def _life_ms(text: str) -> int:
    life_ms = span_ms(text)
    if not 0 < life_ms <= LONGEST_MS:
        raise Unusable(f"{text!r} is no time until a token expires: write 30d, 12h or 45m, 1m to 36500d")
    return life_ms


async def _made(place: Place, wanted: Wanted, scopes: tuple[Scope, ...], life_ms: int | None) -> str:
    async with opened(place, "evenfold token", create=wanted.name is not None) as redis:
        accounts = Accounts(redis)
        account = await _account(accounts, wanted)
        expires_ms = None if life_ms is None else utc_ms() + life_ms
        try:
            issued = await Tokens(redis).issue(account.id, Grant(scopes, expires_ms))
        except TooManyTokens as too_many:
            raise Unusable(str(too_many)) from None
        until = "it never expires" if wanted.expires is None else f"it expires in {wanted.expires}"
        say(f"A token of {account.name} ({account.id}) for {', '.join(scopes)}; {until}:")
        return issued.secret


async def _account(accounts: Accounts, wanted: Wanted) -> Account:
    if wanted.name is not None:
        return await accounts.create(wanted.name)
    try:
        return await accounts.find(wanted.account or "")
    except NotFound:
        raise Unusable(f"The store has no account {wanted.account}") from None
