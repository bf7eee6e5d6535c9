"""Messages over a socket that are signed with a key. A message is accepted only if its sender knows the key and it was sent in this connection.

Each side sends 32 random bytes first. The key of the connection is the HMAC-SHA256 of both, so that recorded messages are not valid in another
connection. A frame is: length (8 bytes), signature of the length, data, signature of the data.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import socket
import struct

KEY_BYTES = 32
_SIGNATURE_BYTES = 32
_LENGTH = struct.Struct("!Q")


class NotSigned(Exception):
    """Raised if a message does not have the signature of the key."""


class SignedConnection:
    """A connected socket, owned by this object, that sends and receives signed messages. `is_server`: whether this side accepted the connection.

    All methods raise OSError if the connection fails or its timeout expires, and EOFError if the other side closes it.
    """

    def __init__(self, connected: socket.socket, key: bytes, is_server: bool) -> None:
        self._socket = connected
        own = secrets.token_bytes(KEY_BYTES)
        connected.sendall(own)
        other = bytes(self._received(KEY_BYTES))
        self._key = hmac.new(key, own + other if is_server else other + own, hashlib.sha256).digest()
        self._sends, self._receives = (b"server", b"client") if is_server else (b"client", b"server")
        self._sent = self._arrived = 0  # numbers of messages

    def send(self, data: bytes) -> None:
        label = self._sends + _LENGTH.pack(self._sent)
        self._sent += 1
        length = _LENGTH.pack(len(data))
        self._socket.sendall(length + self._signature(label, b"length", length))
        self._socket.sendall(data)
        self._socket.sendall(self._signature(label, b"data", data))

    def receive(self) -> bytes:
        """Returns the next message. Verifies its length before it reads the data. Raises NotSigned if the message is not signed with the key."""
        label = self._receives + _LENGTH.pack(self._arrived)
        self._arrived += 1
        length = bytes(self._received(_LENGTH.size))
        self._verify(label, b"length", length)
        data = bytes(self._received(_LENGTH.unpack(length)[0]))
        self._verify(label, b"data", data)
        return data

    def settimeout(self, seconds: float) -> None:
        self._socket.settimeout(seconds)

    def close(self) -> None:
        self._socket.close()

    def _signature(self, label: bytes, kind: bytes, data: bytes) -> bytes:
        code = hmac.new(self._key, label + kind, hashlib.sha256)
        code.update(data)
        return code.digest()

    def _verify(self, label: bytes, kind: bytes, data: bytes) -> None:
        if not hmac.compare_digest(self._signature(label, kind, data), bytes(self._received(_SIGNATURE_BYTES))):
            raise NotSigned("a message is not signed with the key of this fit()")

    def _received(self, count: int) -> bytearray:
        data = bytearray(count)
        view, done = memoryview(data), 0
        while done < count:
            size = self._socket.recv_into(view[done:])
            if size == 0:
                raise EOFError
            done += size
        return data
