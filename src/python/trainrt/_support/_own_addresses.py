"""The addresses of this host by which other nodes reach it."""

from __future__ import annotations

import socket
from collections.abc import Iterable

_ANY_PORT = 9  # connect() of a datagram socket sends nothing, so that the port need not be open


def addresses_towards(nodes: Iterable[str]) -> list[str]:
    """Returns the local address of the route to each of `nodes`, names or addresses, without duplicates. Skips nodes with unknown names."""
    found = (_address_towards(node) for node in nodes)
    return list(dict.fromkeys(address for address in found if address))


def addresses_of_name() -> list[str]:
    """Returns the addresses to which the name of this host resolves, without loopback addresses. Returns [] if the name is unknown."""
    try:
        found = [str(each[4][0]) for each in socket.getaddrinfo(socket.gethostname(), None, type=socket.SOCK_STREAM)]
    except OSError:
        return []
    return list(dict.fromkeys(address for address in found if not address.startswith("127.") and address != "::1" and "%" not in address))


def _address_towards(node: str) -> str | None:
    try:
        found = socket.getaddrinfo(node, _ANY_PORT, type=socket.SOCK_DGRAM)
    except OSError:
        return None
    for family, kind, protocol, _, address in sorted(found, key=lambda each: each[0] != socket.AF_INET):
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.connect(address)
                return str(probe.getsockname()[0])
        except OSError:  # this host has no route to the address
            continue
    return None
