"""The socket that all API workers share: bound once, so that a busy port is found out before anything starts."""

import errno
import os
import socket
import time
from typing import NamedTuple

from service.cli.sentences import Unusable

BACKLOG = 2_048

PATIENCE_S = 2.0
"""How long a port may stay in use: workers whose server was killed need a moment to notice."""


class Listener(NamedTuple):
    """A listening socket, and the address at which a client on this machine reaches it."""

    socket: socket.socket
    url: str


def listen(host: str, port: int, option: str = "--port") -> Listener:
    """Listen on a host's first address; port 0 takes a free one. Raise Unusable, which names the port's option."""
    family, address = _resolved(host, port)
    until = time.monotonic() + PATIENCE_S
    while True:
        listening = socket.socket(family, socket.SOCK_STREAM)
        try:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            listening.bind(address)
            listening.listen(BACKLOG)
        except OSError as error:
            listening.close()
            if error.errno != errno.EADDRINUSE or time.monotonic() > until:
                raise Unusable(_complaint(error, host, port, option)) from None
            time.sleep(0.05)
        else:
            return Listener(listening, _url(host, listening))


def _resolved(host: str, port: int) -> tuple[socket.AddressFamily, tuple[str, int]]:
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is no name of a host"
        raise Unusable(f"The host {host!r} is unknown: {reason}.") from None
    family, _, _, _, address = found[0]
    return family, (str(address[0]), int(address[1]))


def _complaint(error: OSError, host: str, port: int, option: str) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            free = ", or 0 for any that is free" if option == "--port" else ""
            return f"Port {port} of {host} is in use; name another with {option}{free}."
        case errno.EACCES:
            return f"Port {port} of {host} may not be used by this user; name one above 1023 with {option}."
        case errno.EADDRNOTAVAIL:
            return f"The host {host!r} is not an address of this machine."
        case _:
            return f"Port {port} of {host} can't be used: {os.strerror(error.errno or 0)}."


def _url(host: str, listening: socket.socket) -> str:
    address, port = listening.getsockname()[:2]
    # The wildcard addresses are none that a client could connect to.
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(address)  # noqa: S104 recognised here, not bound
    if shown is None:
        shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}"
