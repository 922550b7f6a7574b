"""Requests that may come twice, and happen once: what names them, and whether the second asks what the first did."""

from typing import Any, NamedTuple

import msgspec
from msgspec import Raw

from service.game import Command
from service.ids import key_of


class Once(NamedTuple):
    """The name of a request that may come twice: whose it is, its route, and the Idempotency-Key as sent."""

    account: str
    route: str
    value: str

    @property
    def hash(self) -> str:
        """The hex that a stream remembers it by."""
        return key_of(self.account, self.route, self.value)


def same_request(stored: Raw, command: Command) -> bool:
    """Tell whether a stored command is what this request asks; rulesets and bots may have grown newer in between."""
    return _ageless(msgspec.json.decode(stored)) == _ageless(msgspec.json.decode(msgspec.json.encode(command)))


def _ageless(command: dict[str, Any]) -> dict[str, Any]:
    ageless = {name: value for name, value in command.items() if name != "ruleset"}
    if "bot" in ageless:
        ageless["bot"] = _unbuilt(ageless["bot"])
    if "bots" in ageless:
        ageless["bots"] = [_unbuilt(bot) for bot in ageless["bots"]]
    return ageless


def _unbuilt(bot: str) -> str:
    return bot.partition("/")[0]
