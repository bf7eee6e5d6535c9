"""Copies of files of an object store in temporary folders of this node, which the processes of this user share.

A download has the files TOKEN.lock and TOKEN (a folder) in a folder of this user. Processes that use the folder hold a shared lock (flock) on the
lock file. The process that downloads or removes it holds an exclusive lock. The kernel releases the locks of a killed process.
"""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ._object_store import Reader

_PAUSE_S = 0.05
_LOCK_LIMIT_S = 7200.0  # maximum time to wait for the download of another process


class SharedDownload:
    """The files that `reader` reads, downloaded when folder() is entered. Copies of this object in other processes (pickle) use the same folder."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self._token = secrets.token_hex(16)

    @contextmanager
    def folder(self) -> Iterator[str]:
        """Context manager that returns the folder with the files. The last process that leaves it removes the folder. Raises as Reader.fetch()
        does, and TimeoutError if another process on this node does not complete its download."""
        base = _private_base()
        _remove_abandoned(base)
        path = os.path.join(base, self._token)
        lock = self._entered(path)
        try:
            yield path
        finally:
            _leave(lock, path)

    def _entered(self, path: str) -> int:
        """Returns a descriptor with a shared lock, after the folder exists."""
        limit = time.monotonic() + _LOCK_LIMIT_S
        while True:
            lock = os.open(path + ".lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                if _locked(lock, fcntl.LOCK_SH, path) and os.path.isdir(path):
                    return lock
                if _locked(lock, fcntl.LOCK_EX, path):
                    if not os.path.isdir(path):
                        self._download(path)
                    if _locked(lock, fcntl.LOCK_SH, path) and os.path.isdir(path):
                        return lock
            except BaseException:
                os.close(lock)
                raise
            os.close(lock)
            if time.monotonic() > limit:
                raise TimeoutError(f"{self.reader.url}: another process on this node did not complete its download within {_LOCK_LIMIT_S:.0f} s")
            time.sleep(_PAUSE_S)

    def _download(self, path: str) -> None:
        partial = path + ".partial"  # also has the temporary files of a killed `trainrt fetch`
        shutil.rmtree(partial, ignore_errors=True)
        try:
            os.mkdir(partial, 0o700)
            self.reader.fetch(os.path.join(partial, "files"))
            os.rename(os.path.join(partial, "files"), path)
        except BaseException:
            _remove_if_unused(path)
            raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _private_base() -> str:
    """Returns the folder of this user's downloads. Raises OSError if other users have access to it."""
    base = os.path.join(tempfile.gettempdir(), f"trainrt-downloads-{os.geteuid()}")
    try:
        os.mkdir(base, 0o700)
    except FileExistsError:
        pass
    found = os.lstat(base)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise OSError(f"{base} is not a folder that only this user can access. Remove it, or set TMPDIR to another folder")
    return base


def _locked(lock: int, kind: int, path: str) -> bool:
    """Locks the file without waiting. Returns whether it is locked and still has its name."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(lock), os.stat(path + ".lock"))
    except (BlockingIOError, FileNotFoundError):
        return False


def _leave(lock: int, path: str) -> None:
    try:
        if _locked(lock, fcntl.LOCK_EX, path):
            _remove_if_unused(path)
    finally:
        os.close(lock)


def _remove_if_unused(path: str) -> None:
    """Removes a download. This process holds the exclusive lock."""
    shutil.rmtree(path, ignore_errors=True)
    try:
        os.unlink(path + ".lock")
    except FileNotFoundError:
        pass


def _remove_abandoned(base: str) -> None:
    """Removes the downloads of killed processes."""
    for name in os.listdir(base):
        path, suffix = os.path.splitext(os.path.join(base, name))
        if suffix != ".lock":
            continue
        try:
            lock = os.open(path + ".lock", os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            continue
        try:
            if _locked(lock, fcntl.LOCK_EX, path):
                shutil.rmtree(path + ".partial", ignore_errors=True)
                _remove_if_unused(path)
        finally:
            os.close(lock)
