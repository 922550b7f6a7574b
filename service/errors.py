"""What can stand in the way of an answer, as exceptions; only the API knows which HTTP status each of them is.

Refused (service/game.py)     a rule says no: its reason is one of a closed list
├── NotSeated                 the player has no seat at the table
└── NotHost                   the player is not its host
Obstacle                      everything else that a client may meet
├── Malformed                 the request is outside the contract
├── TooLarge                  the body is larger than any that is needed
├── HeadersTooLarge           so are the headers or the target
├── TimedOut                  the request did not come in within its time
├── Unsupported               the body is of another media type
├── Unacceptable              the answer can't be had in any media type that the client takes
├── UpgradeRequired           the address is a WebSocket's, and the request is no handshake of one
├── Unauthenticated           no token, or one that is unknown, expired or revoked
├── Forbidden                 the token lacks a scope
├── NotFound                  no such thing, or none that the player may know of
├── Unreadable                a name holds invisible characters, or too many once they are normalized
├── UnreadableText            nothing of a text can be seen
├── NoStream                  a ticket is wanted for a path at which there is no stream
├── AlreadyCreated            what a repeated request would create is there; its secret is told only once
├── TooManyTokens             the account has as many tokens as it may have
├── TooMany                   requests came faster than they may
│   ├── TooManyTables         the account has as many tables open as it may have
│   └── TooManyStreams        the account has as many streams open as it may have
├── Stale                     If-Match names an older version
├── KeyReused                 an Idempotency-Key came back with another body
├── Busy                      too many others wrote to the stream at once
├── Overloaded                there are too many connections for one more
├── Unconfirmed               the store can't be asked whether a decision went in
├── Archived                  the log is in the archive, and takes nothing more until it is restored
├── Illegible                 the log of a stream can't be read
│   ├── Damaged               it is not what appends alone can have made of it
│   └── ArchiveAway           it is in an archive that can't be reached
├── NoRoom                    the store has too little room left for a new table
└── StoreDown                 the store does not answer
"""

from events.base import Decision, Event


class Obstacle(Exception):
    """Something other than a rule stands in the way; the message is one sentence for the client."""


class Malformed(Obstacle):
    """The request is outside the contract; `field` names the place, as a JSON pointer or a parameter's name."""

    def __init__(self, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class TooLarge(Obstacle):
    """The body is larger than any that is needed."""


class HeadersTooLarge(Obstacle):
    """The headers or the target are larger than any that are needed."""


class TimedOut(Obstacle):
    """The request did not come in within its time."""


class Unsupported(Obstacle):
    """The body is of another media type."""


class Unacceptable(Obstacle):
    """The answer can't be had in any media type that the client takes."""


class UpgradeRequired(Obstacle):
    """The address is a WebSocket's, and the request is no handshake of one."""

    def __init__(self) -> None:
        super().__init__("Here a WebSocket is opened: this takes its handshake (RFC 6455), in HTTP/1.1.")


class Unauthenticated(Obstacle):
    """There is no token, or it is unknown, expired or revoked."""


class Forbidden(Obstacle):
    """The token lacks a scope."""


class NotFound(Obstacle):
    """There is no such thing, or none that the player may know of."""

    def __init__(self, message: str = "There is no such table.") -> None:
        super().__init__(message)


class Unreadable(Obstacle):
    """A name holds invisible characters, or grows too long in Unicode's normal form; a schema can't speak of that."""

    def __init__(self) -> None:
        super().__init__("A name or label holds no invisible characters, and at most 64 in Unicode's normal form C.")


class UnreadableText(Obstacle):
    """Nothing of a text can be seen; a schema can't speak of all that is invisible."""

    def __init__(self) -> None:
        super().__init__("Nothing of this text can be seen: it has at least one letter, digit, sign or symbol.")


class NoStream(Obstacle):
    """A ticket is wanted for a path at which there is no stream."""

    def __init__(self) -> None:
        super().__init__("There is no stream at this path, so no ticket opens it.")


class AlreadyCreated(Obstacle):
    """A request that returns a secret ran before, and nobody is told the secret again; `id` is what it created."""

    def __init__(self, id: str) -> None:  # noqa: A002 the word is id
        super().__init__("This request ran before; the secret that it returned is told only once.")
        self.id = id


class TooManyTokens(Obstacle):
    """The account has as many tokens as it may have."""

    def __init__(self, most: int) -> None:
        super().__init__(f"An account has at most {most} tokens; revoke one that is not needed any more.")


class TooMany(Obstacle):
    """Requests came faster than a policy allows: `quota` in each `window_s` seconds, None for at any one time.

    A request sent again after `retry_s` seconds is taken.
    """

    def __init__(self, message: str, policy: str, quota: int, window_s: int | None, retry_s: int) -> None:  # noqa: PLR0913, PLR0917 what the header fields say
        super().__init__(message)
        self.policy = policy
        self.quota = quota
        self.window_s = window_s
        self.retry_s = retry_s


class TooManyTables(TooMany):
    """The account has as many tables open as it may have; one that ends makes room, so `retry_s` is a guess."""

    def __init__(self, quota: int) -> None:
        message = f"An account has at most {quota} tables that have not ended; end or abandon one."
        super().__init__(message, "open-tables", quota, None, 30)


class TooManyStreams(TooMany):
    """The account has as many streams open in this process as it may have; one that is closed makes room."""

    def __init__(self, quota: int) -> None:
        message = f"An account has at most {quota} streams open at once; close one."
        super().__init__(message, "open-streams", quota, None, 5)


class Stale(Obstacle):
    """The stream is not at the version that the client insists on.

    `missed` holds what its player may see of the decisions since then, at most 100; `next` is where to read on.
    """

    def __init__(self, expected: int, version: int) -> None:
        super().__init__(f"The table is at version {version}, not at {expected}.")
        self.expected = expected
        self.version = version
        self.missed: tuple[Decision[Event], ...] = ()
        self.next: int | None = None


class KeyReused(Obstacle):
    """An Idempotency-Key came back with another body."""

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was used on this route with another body.")


class Busy(Obstacle):
    """Too many others wrote to the stream at once; nothing happened."""

    def __init__(self) -> None:
        super().__init__("Too many others wrote to this table at once; nothing happened.")


class Overloaded(Obstacle):
    """There are too many connections for one more."""

    def __init__(self) -> None:
        super().__init__("There are too many connections for one more; try again later.")


class Unconfirmed(Obstacle):
    """The store could not be asked in time whether a decision went in; `version` is the one it would have."""

    def __init__(self, stream: str, version: int) -> None:
        super().__init__(f"It could not be confirmed in time whether version {version} of {stream} was stored.")
        self.stream = stream
        self.version = version


class NoRoom(Obstacle):
    """The store has too little room left for a new table; those that there are go on."""

    def __init__(self) -> None:
        super().__init__("The store has too little room left for a new table; those that there are go on.")


class Archived(Obstacle):
    """The log is in the archive, where nothing is added to it: whoever runs the service must restore it first."""

    def __init__(self) -> None:
        super().__init__(
            "The log of this table was archived: until whoever runs the service has restored it, it takes nothing more."
        )


class Illegible(Obstacle):
    """The log of a stream can't be read; its message is for the operator, `told` for clients."""

    told = "The log of this table can't be read."


class Damaged(Illegible):
    """The log of a stream is not what appends alone can have made of it; its message is for the operator."""

    told = "The log of this table is damaged: nothing is answered from it until whoever runs the service has mended it."


class ArchiveAway(Illegible):
    """The log of a stream is in an archive that can't be reached; its message is for the operator."""

    told = "The log of this table is in the archive, which can't be reached now."


class StoreDown(Obstacle):
    """The store does not answer; nothing happened."""
