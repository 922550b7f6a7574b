"""Whence a request comes: the client's address, by the word of the proxies that are trusted and of nobody else.

Each proxy appends to X-Forwarded-For whom it has the request from, so the list is read from its end, as long as whoever
says so is trusted. The rest of it may be anybody's invention. It is read where an address matters, not at each request.
"""

import ipaddress
import re
from collections.abc import Iterable
from typing import Final, TypeAlias

from service.api.requests import AnyRequest

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

# An address as proxies write it: some add the port, and then brackets to what has colons of its own.
_WRITTEN: Final = re.compile(r"\[(?P<bracketed>[^]]*)\](?::\d+)?|(?P<v4>[\d.]+)(?::\d+)?|(?P<plain>.*)")


class Proxies:
    """The proxies that are trusted."""

    def __init__(self, trusted: Iterable[str]) -> None:
        """Trust these addresses and networks."""
        self._trusted = tuple(map(ipaddress.ip_network, trusted))

    def client_of(self, request: AnyRequest) -> str:
        """Return the address of the client, as far as it is known."""
        client = request.scope["client"]
        peer = client[0] if client is not None else ""
        forwarded = [value.decode("latin-1") for name, value in request.scope["headers"] if name == b"x-forwarded-for"]
        return self.client(peer, ", ".join(forwarded))

    def client(self, peer: str, forwarded: str) -> str:
        """Return the address that a peer speaks for, its own unless it is a trusted proxy."""
        address, hops = _address(peer), forwarded.split(",")
        if address is None:
            return peer
        while hops and self._trusts(address):
            before = _address(hops.pop())
            if before is None:
                break
            address = before
        return str(address)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)


def _address(text: str) -> Address | None:
    """Read an address, None where there is none; one of IPv4 is one, however it is written."""
    match = _WRITTEN.fullmatch(text.strip())
    try:
        address = ipaddress.ip_address("" if match is None else next(filter(None, match.groups()), ""))
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address
