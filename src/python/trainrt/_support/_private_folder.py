"""Folders for the pickles that a script and its ranks exchange. Only their user can read and write them, since loading a pickle runs code.

A folder is in the run's storage path, which all nodes see, and is removed when fit() returns.
"""

from __future__ import annotations

import contextlib
import errno
import os
import pickle
import re
import secrets
import shutil
import socket
import stat
from collections.abc import Iterator
from typing import Any

_ADVICE = {errno.EFBIG: "raise the limit of file sizes (ulimit -f)",
           errno.ENOSPC: "free space or inodes there",
           errno.EDQUOT: "your quota there is used up",
           errno.EMFILE: "raise the limit of open files (ulimit -n)"}
_NAME = re.compile(r"\.fit-(.+)-(\d+)-[0-9a-f]{16}$")


def make(storage: str) -> str:
    """Makes a folder in `storage`, and returns its path. Folders of killed scripts of this machine are removed."""
    folder = os.path.join(storage, f".fit-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(8)}")
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


def _remove_abandoned(storage: str) -> None:
    for name in os.listdir(storage):
        match = _NAME.fullmatch(name)
        if match and match[1] == socket.gethostname() and not os.path.exists(f"/proc/{match[2]}"):
            remove(os.path.join(storage, name))


def remove(folder: str) -> None:
    shutil.rmtree(folder, ignore_errors=True)


def write(folder: str, name: str, data: bytes) -> None:
    """Writes the file `name` with mode 0600. It appears complete or not at all."""
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{secrets.token_hex(4)}")
    with _explained_errors(folder):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, os.path.join(folder, name))


def read(folder: str, name: str) -> bytes | None:
    """Returns the content of the file, or `None` if it does not exist. Raises PermissionError if another user could have written it."""
    try:
        descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        for label, found in ((folder, os.lstat(folder)), (os.path.join(folder, name), os.fstat(descriptor))):
            if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
                raise PermissionError(f"{label} is not read, since other users could have written it (owner {found.st_uid}, mode "
                                      f"{stat.S_IMODE(found.st_mode):04o}; it must be yours with mode 0600 or 0700)")
        return file.read()


def read_pickle(folder: str, name: str, default: Any = None) -> Any:
    """Returns the object in a pickle of such a folder, or `default` if the file does not exist. Raises PermissionError as read() does."""
    data = read(folder, name)
    return default if data is None else pickle.loads(data)
