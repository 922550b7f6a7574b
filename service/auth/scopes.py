"""Scopes: what a token may do, and which of them something needs.

    play     sit down, leave, and play on one's own seats
    host     open, start and abandon tables, and seat bots
    bot      play as a bot does: sit down, leave and play, nothing else
    arbiter  look behind the cards of a dispute, and rule on it
    admin    run the service

A token of no scope looks on. Signing up gives `play` and `host`; who has both may also change the account itself: its
name, its tokens, its end. The last two are given by the operator alone, and give no right to a seat.
"""

from collections.abc import Iterable
from typing import Final, Literal, TypeAlias, get_args

Scope = Literal["play", "host", "bot", "arbiter", "admin"]
SCOPES: Final[tuple[Scope, ...]] = get_args(Scope)
SIGN_UP: Final[tuple[Scope, ...]] = ("play", "host")

RESERVED: Final[frozenset[Scope]] = frozenset({"arbiter", "admin"})
"""What the operator alone gives."""

Needed: TypeAlias = tuple[frozenset[Scope], ...]
"""What a token must hold: every scope of one of these sets. No set at all: any token will do."""

ANY: Final[Needed] = ()
PLAY: Final[Needed] = (frozenset({"play"}), frozenset({"bot"}))
PERSON: Final[Needed] = tuple(frozenset({scope}) for scope in SCOPES if scope != "bot")
HOST: Final[Needed] = (frozenset({"host"}),)
ARBITER: Final[Needed] = (frozenset({"arbiter"}),)
ACCOUNT: Final[Needed] = (frozenset(SIGN_UP),)


def suffices(held: frozenset[Scope], needed: Needed) -> bool:
    """Tell whether the scopes that a token holds are those needed."""
    # A loop, for every request asks this: `any` with a generator takes four times as long.
    for enough in needed:
        if enough <= held:
            return True
    return not needed


def may_give(held: frozenset[Scope], scopes: Iterable[Scope]) -> bool:
    """Tell whether who holds some scopes may make a token of others: of no more than that; who plays may let a bot."""
    allowed = held | {"bot"} if "play" in held else held
    return allowed - RESERVED >= frozenset(scopes)


def told(needed: Needed) -> str:
    """Say what is needed, for people: `play` or `bot`."""
    return " or ".join(" and ".join(f"`{scope}`" for scope in SCOPES if scope in enough) for enough in needed)
