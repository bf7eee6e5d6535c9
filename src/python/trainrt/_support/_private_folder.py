"""Folders for temporary files of a script and its ranks, which only their user can read and write. They contain no pickles.

A folder is in the run's storage path, which all nodes see, and is removed when the run ends.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import socket
from collections.abc import Iterator

_ADVICE = {errno.EFBIG: "raise the limit of file sizes (ulimit -f)",
           errno.ENOSPC: "its file system has no free space or inodes: delete files, or choose another storage_path",
           errno.EDQUOT: "your quota of its file system is used up: delete files, or choose another storage_path",
           errno.EMFILE: "raise the limit of open files (ulimit -n)"}
_NAME = re.compile(r"\.fit-(.+)-(\d+)-[0-9a-f]{16}$")  # the result of _place(), and the process ID


def make(storage: str) -> str:
    """Makes a folder in `storage`, and returns its path. Folders of killed scripts of this machine are removed."""
    folder = os.path.join(storage, f".fit-{_place()}-{os.getpid()}-{secrets.token_hex(8)}")
    with _explained_errors(storage):
        os.makedirs(storage, exist_ok=True)
        _remove_abandoned(storage)
        os.mkdir(folder, 0o700)
    return folder


@contextlib.contextmanager
def _explained_errors(folder: str) -> Iterator[None]:
    """Context manager that adds the folder and advice to the message of an OSError."""
    try:
        yield
    except OSError as error:
        advice = _ADVICE.get(error.errno or 0, "choose a storage_path that exists on all nodes and that you may write")
        raise OSError(error.errno, f"cannot write in '{folder}': {error.strerror}; {advice}") from None


def _place() -> str:
    """Returns the host name and the number of the PID namespace. Containers may have the same host name, but each has process IDs of its own."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")  # such as pid:[4026531836]
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}-{re.sub('[^0-9]', '', namespace) or '0'}"


def _remove_abandoned(storage: str) -> None:
    for name in os.listdir(storage):
        match = _NAME.fullmatch(name)
        if match and match[1] == _place() and not os.path.exists(f"/proc/{match[2]}"):
            remove(os.path.join(storage, name))


def remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)
