"""Exchange: byte strings that a script and the ranks of its `fit()` exchange over a socket. Nothing is stored in files.

The ranks get the address and a new secret key in two environment variables, which only processes of this user can read. Both sides sign each
message with the key (_signed_frames.py), so that pickles are loaded only if this fit() or one of its ranks has sent them. A rank sends one request per
connection: `get`, `put`, `remove` or `names`.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import threading
from collections.abc import Sequence
from typing import Any

from ._signed_frames import KEY_BYTES, NotSigned, SignedConnection

ADDRESS, KEY = "TRAINRT_FIT", "TRAINRT_FIT_KEY"  # environment variables
_TIMEOUT_S = 60.0
_FIRST_REQUEST_S = 10.0  # limit for the first signed message of a new connection, which proves that the client has the key
_MAX_UNPROVEN = 256  # maximum number of connections per socket without this proof; further connections wait in the queue of the socket
_BACKLOG = 4096
_PAUSE_S = 0.1


class Exchange:
    """The server in the process of the script. Leaving its `with` block closes it.

    Parameters: `hosts`, addresses of this host by which ranks on other nodes reach it. The server listens on a TCP port of each address, and on a socket
    that only processes of this machine can reach. Raises OSError if this host does not have one of the addresses.
    """

    def __init__(self, hosts: Sequence[str] = ()) -> None:
        self._values: dict[str, bytes] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._key = secrets.token_bytes(KEY_BYTES)
        name = f"trainrt-fit-{os.getpid()}-{secrets.token_hex(16)}"
        local = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        local.bind("\0" + name)  # a name without a file, which the kernel removes with the socket
        local.listen(_BACKLOG)
        self._listeners, self._addresses = [local], [f"unix:{name}"]
        for host in hosts:
            self._listeners.append(_tcp_listener(host))
            self._addresses.append(f"tcp:{self._listeners[-1].getsockname()[1]}:{host}")
        for listener in self._listeners:
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def __enter__(self) -> Exchange:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Closes the sockets. Ranks that are still running can no longer send requests."""
        self._closed.set()
        for listener in self._listeners:
            try:
                listener.shutdown(socket.SHUT_RDWR)  # wakes accept()
            except OSError:
                pass
            listener.close()

    def variables(self) -> dict[str, str]:
        """Returns the environment variables that ranks need to connect."""
        return {ADDRESS: ",".join(self._addresses), KEY: self._key.hex()}

    # ---- methods that the script calls ----

    def put(self, name: str, data: bytes) -> None:
        with self._lock:
            self._values[name] = data

    def get(self, name: str) -> bytes | None:
        with self._lock:
            return self._values.get(name)

    def names(self) -> list[str]:
        with self._lock:
            return sorted(self._values)

    # ---- methods that answer requests of ranks ----

    def _accept(self, listener: socket.socket) -> None:
        unproven = threading.BoundedSemaphore(_MAX_UNPROVEN)
        while not self._closed.is_set():
            unproven.acquire()
            try:
                connected, _ = listener.accept()
            except OSError:  # close() was called, or, for example, this process has too many open files
                unproven.release()
                self._closed.wait(_PAUSE_S)
                continue
            try:
                threading.Thread(target=self._serve, args=(connected, unproven), daemon=True).start()
            except RuntimeError:  # too many threads; the rank tries again
                connected.close()
                unproven.release()
                self._closed.wait(_PAUSE_S)

    def _serve(self, connected: socket.socket, unproven: threading.BoundedSemaphore) -> None:
        with connected:
            try:
                connection, request = self._first_request(connected, unproven)
                connection.settimeout(_TIMEOUT_S)
                data = self._answer(connection, request["op"], request.get("name", ""))
                connection.send(b"" if data is None else b"+" + data)
            except (OSError, EOFError, NotSigned):
                pass  # not a rank of this fit(), or a rank that has exited

    def _first_request(self, connected: socket.socket, unproven: threading.BoundedSemaphore) -> tuple[SignedConnection, dict[str, Any]]:
        try:
            connected.settimeout(_FIRST_REQUEST_S)
            connection = SignedConnection(connected, self._key, is_server=True)
            return connection, json.loads(connection.receive())
        finally:
            unproven.release()

    def _answer(self, connection: SignedConnection, op: str, name: str) -> bytes | None:
        if op == "put":
            self.put(name, connection.receive())
        elif op == "remove":
            with self._lock:
                self._values.pop(name, None)
        elif op == "names":
            return json.dumps(self.names()).encode()
        else:
            return self.get(name)
        return None


def _tcp_listener(host: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, 0), family=family, backlog=_BACKLOG)
