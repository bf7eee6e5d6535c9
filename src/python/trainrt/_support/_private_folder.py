"""A folder that only its user can look into, for what goes to the ranks and comes back: pickles, which run code when they are read.

It lies under the run's storage path, which all nodes see, and is gone when fit() returns.
"""

import contextlib
import errno
import os
import pickle
import re
import secrets
import shutil
import socket
import stat

_ADVICE = {errno.EFBIG: "raise the limit of file sizes (ulimit -f)",
           errno.ENOSPC: "free space or inodes there",
           errno.EDQUOT: "your quota there is used up",
           errno.EMFILE: "raise the limit of open files (ulimit -n)"}
_NAME = re.compile(r"\.fit-(.+)-(\d+)-[0-9a-f]{16}$")


def make(storage):
    """A new one; what a script that was killed has left there, from this machine, goes."""
    folder = os.path.join(storage, f".fit-{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(8)}")
    with _errors_in_words(storage):
        os.makedirs(storage, exist_ok=True)
        _sweep(storage)
        os.mkdir(folder, 0o700)
    return folder


@contextlib.contextmanager
def _errors_in_words(folder):
    """An OSError of the block is raised with what failed and what to do; its type and number stay."""
    try:
        yield
    except OSError as error:
        advice = _ADVICE.get(error.errno, "choose a storage_path that exists on all nodes and that you may write")
        raise OSError(error.errno, f"cannot write in '{folder}': {error.strerror}; {advice}") from None


def _sweep(storage):
    for name in os.listdir(storage):
        match = _NAME.fullmatch(name)
        if match and match[1] == socket.gethostname() and not os.path.exists(f"/proc/{match[2]}"):
            remove(os.path.join(storage, name))


def remove(folder):
    shutil.rmtree(folder, ignore_errors=True)


def write(folder, name, data):
    """All or nothing, for the user alone."""
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.{secrets.token_hex(4)}")
    with _errors_in_words(folder):
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, os.path.join(folder, name))


def read(folder, name):
    """Its bytes, or None if it is not there. PermissionError if anybody but this user could have written it."""
    try:
        descriptor = os.open(os.path.join(folder, name), os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        for what, found in ((folder, os.lstat(folder)), (os.path.join(folder, name), os.fstat(descriptor))):
            if found.st_uid != os.geteuid() or stat.S_IMODE(found.st_mode) & 0o077:
                raise PermissionError(f"{what} is not this user's alone (owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}), and "
                                      f"is not read")
        return file.read()


def read_pickle(folder, name, default=None):
    """What is in it; only from such a folder."""
    data = read(folder, name)
    return default if data is None else pickle.loads(data)
