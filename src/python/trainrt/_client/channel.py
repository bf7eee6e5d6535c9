"""Channel, which sends and receives messages between the program and its runtime. A message is one line with a JSON object."""

from __future__ import annotations

import json
import socket
from typing import Any

_MAX_LINE_BYTES = 64 << 20
_to_json = json.JSONEncoder(allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode  # json.dumps() with options would create an encoder per call


def message_line(message: dict[str, Any]) -> bytes:
    """Returns a message as a line of JSON. Raises ValueError if the message contains invalid Unicode or exceeds the maximum length."""
    try:
        line = _to_json(message).encode() + b"\n"
    except UnicodeEncodeError as error:
        part = error.object[max(error.start - 20, 0):error.end + 20]
        raise ValueError(f"{message['op']}() was given text that is not valid Unicode: ...{part!r}... Names of files may be such text; replace the character "
                         f"that begins with \\ud") from None
    if len(line) > _MAX_LINE_BYTES:
        raise ValueError(f"{message['op']}() was given {len(line)} bytes of names, values and strings; the maximum is {_MAX_LINE_BYTES}. Keep large "
                         f"data in tensors or files (state.tensor, state.file)")
    return line


def valid_utf8(text: str) -> str:
    """Returns `text` with `?` in place of each character that UTF-8 cannot encode."""
    return text.encode("utf-8", "replace").decode()


class Channel:
    """A connected socket that sends and receives messages. A Channel owns the descriptor `fd`. Not thread-safe."""

    def __init__(self, fd: int) -> None:
        self._socket = socket.socket(fileno=fd)
        self._socket.set_inheritable(False)
        self._received = bytearray()
        self.file: int | None = None  # descriptor that arrived with the last message; owned by the caller of receive()

    def send(self, line: bytes, fd: int | None = None) -> None:
        """Sends `line`, a result of message_line(), and the descriptor `fd` if it is given. Raises OSError if the runtime has exited."""
        if fd is not None:
            line = line[socket.send_fds(self._socket, [line], [fd]):]
        self._socket.sendall(line)

    def receive(self, with_file: bool = False) -> dict[str, Any]:
        """Waits for the next message and returns the message. If `with_file` is True, sets `file` to the descriptor that arrived with the message,
        or `None`. Raises EOFError if the runtime has exited."""
        self.file = None
        while b"\n" not in self._received:
            if with_file:
                data, files, _, _ = socket.recv_fds(self._socket, 1 << 16, 1, socket.MSG_CMSG_CLOEXEC)
                self.file = files[0] if files else self.file
            else:
                data = self._socket.recv(1 << 16)
            if not data:
                raise EOFError
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return json.loads(line)

    def close(self) -> None:
        self._socket.close()
