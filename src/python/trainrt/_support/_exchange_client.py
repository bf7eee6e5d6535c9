"""ExchangeClient, through which a rank sends requests to the Exchange of `fit()`."""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from ._exchange import ADDRESS, KEY
from ._signed_frames import NotSigned, SignedConnection

_CONNECT_TIMEOUT_S, _REPLY_TIMEOUT_S = 5.0, 300.0
_START_S, _LATER_S = 30.0, 3.0  # how long a rank tries to reach the script, at its start and later: connections may fail when many ranks start
_REFUSED_S = 1.0  # how long a rank tries if connections are refused, because the script does not listen


class ScriptUnreachable(RuntimeError):
    """Raised if the script cannot be reached, or does not have the key."""


class ExchangeClient:
    """Sends requests to the script that called fit(). All methods raise ScriptUnreachable if the script does not answer."""

    def __init__(self, addresses: list[str], key: bytes) -> None:
        self._addresses, self._key = addresses, key

    @classmethod
    def from_environment(cls) -> ExchangeClient:
        """Returns a client for the environment variables of Exchange.variables(). Removes the variables, so that child processes do not inherit them."""
        return cls(os.environ.pop(ADDRESS).split(","), bytes.fromhex(os.environ.pop(KEY)))

    def get(self, name: str) -> bytes | None:
        """Returns the value that put() has stored under `name`, or `None` if there is no such value."""
        return self._request({"op": "get", "name": name}, tries_s=_START_S)

    def put(self, name: str, data: bytes) -> None:
        self._request({"op": "put", "name": name}, data)

    def remove(self, name: str) -> None:
        self._request({"op": "remove", "name": name})

    def names(self) -> list[str]:
        return json.loads(self._request({"op": "names"}) or b"[]")

    def _request(self, request: dict[str, Any], data: bytes | None = None, tries_s: float = _LATER_S) -> bytes | None:
        start = time.monotonic()
        while True:
            failures, is_refused = [], True
            for label, connect in self._ways():
                try:
                    return self._sent(connect(), request, data)
                except (OSError, EOFError, NotSigned) as error:
                    failures.append(f"{label}: {error or 'closed'}")
                    is_refused = is_refused and isinstance(error, ConnectionRefusedError)
            if time.monotonic() > start + (_REFUSED_S if is_refused else tries_s):
                raise ScriptUnreachable(f"the script that called fit() cannot be reached from {socket.gethostname()}: {'; '.join(failures)}. The script must "
                                        f"still be running, and nodes must be able to connect to it; otherwise start the script on every rank: srun trainrt "
                                        f"-- python3 train.py")
            time.sleep(0.2)

    def _sent(self, connected: socket.socket, request: dict[str, Any], data: bytes | None) -> bytes | None:
        with connected:
            connected.settimeout(_REPLY_TIMEOUT_S)
            connection = SignedConnection(connected, self._key, is_server=False)
            connection.send(json.dumps(request).encode())
            if data is not None:
                connection.send(data)
            reply = connection.receive()
            return reply[1:] if reply else None

    def _ways(self) -> list[tuple[str, Callable[[], socket.socket]]]:
        """Returns pairs (label, function that connects): first the socket of this machine, then the address that srun has used, then the others."""
        found: list[tuple[str, Callable[[], socket.socket]]] = []
        of_srun = os.environ.get("SLURM_LAUNCH_NODE_IPADDR")
        remote: list[tuple[str, int]] = []
        for address in self._addresses:
            kind, _, rest = address.partition(":")
            if kind == "unix":
                found.append(("this machine", partial(_connected_locally, rest)))
            else:
                port, _, host = rest.partition(":")
                remote.append((host, int(port)))
        for each in sorted(remote, key=lambda address: address[0] != of_srun):
            found.append((f"{each[0]}, port {each[1]}", partial(socket.create_connection, each, _CONNECT_TIMEOUT_S)))
        return found


def _connected_locally(name: str) -> socket.socket:
    connected = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connected.settimeout(_CONNECT_TIMEOUT_S)
        until_s = time.monotonic() + _CONNECT_TIMEOUT_S
        while not _is_connected(connected, name, until_s):
            time.sleep(0.05)
    except OSError:
        connected.close()
        raise
    return connected


def _is_connected(connected: socket.socket, name: str, until_s: float) -> bool:
    """Tries once to connect. If the queue of the listening socket is full, returns False; after `until_s`, raises BlockingIOError instead."""
    try:
        connected.connect("\0" + name)
    except BlockingIOError:  # unlike a TCP socket, a Unix socket with a timeout does not wait here
        if time.monotonic() >= until_s:
            raise
        return False
    return True
