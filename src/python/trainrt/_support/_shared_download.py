"""Copies of files of an object store in temporary folders of this node, which the processes of this user share.

A download has the files TOKEN.lock and TOKEN (a folder) in a folder of this user. Processes that use the folder hold a shared lock (flock) on the
lock file. The process that downloads or removes it holds an exclusive lock. The kernel releases the locks of a killed process. TOKEN.error has the error
of a failed download, which the waiting processes raise, too.
"""

from __future__ import annotations

import errno
import fcntl
import os
import secrets
import shutil
import socket
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from ._object_store import Reader, checkpoint_limit_s

_PAUSE_S = 0.05
_MARGIN_S = 60.0  # a process waits for another process's download for the time limit of a download plus this time
_KEEP_ERROR_S = 3600.0


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
        """Returns a descriptor that holds a shared lock on the download. If the folder does not exist, downloads the files first, or waits for the process
        that is downloading them."""
        limit_s, began = checkpoint_limit_s() + _MARGIN_S, time.time()
        limit = time.monotonic() + limit_s
        while True:
            _raise_error_since(began, path)
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
                raise TimeoutError(f"{self.reader.url}: another process on this node did not complete its download within {limit_s:.0f} s. Check that the "
                                   f"store is available, or raise the limit: TRAINRT_FETCH_TIMEOUT=SECONDS in the environment")
            time.sleep(_PAUSE_S)

    def _download(self, path: str) -> None:
        partial = path + ".partial"  # also has the temporary files of a killed `trainrt fetch`
        shutil.rmtree(partial, ignore_errors=True)
        try:
            os.mkdir(partial, 0o700)
            self.reader.fetch(os.path.join(partial, "files"))
            os.rename(os.path.join(partial, "files"), path)
        except BaseException as error:
            if isinstance(error, OSError):
                _write_error(error, path)
            _remove_if_unused(path)
            raise
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _private_base() -> str:
    """Returns the folder of this user's downloads on this node; nodes may share TMPDIR. Raises OSError if other users have access to it."""
    base = os.path.join(tempfile.gettempdir(), f"trainrt-downloads-{os.geteuid()}-{socket.gethostname()}")
    try:
        os.mkdir(base, 0o700)
    except FileExistsError:
        pass
    found = os.lstat(base)
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise OSError(f"{base} is not a folder that only this user can access. Remove it, or set TMPDIR to another folder")
    return base


def _locked(lock: int, kind: int, path: str) -> bool:
    """Tries to lock the file, without waiting. Returns whether the lock was obtained, and the lock file was not removed or replaced meanwhile."""
    try:
        fcntl.flock(lock, kind | fcntl.LOCK_NB)
        return os.path.samestat(os.fstat(lock), os.stat(path + ".lock"))
    except (BlockingIOError, FileNotFoundError):
        return False
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP):
            raise
        raise OSError(error.errno, f"the file system of {os.path.dirname(path)} does not support locks (flock). Set TMPDIR to a local folder") from None


def _write_error(error: OSError, path: str) -> None:
    with open(path + ".error.new", "w", encoding="utf-8") as file:
        file.write(f"{type(error).__name__}\n{error}")
    os.replace(path + ".error.new", path + ".error")


def _raise_error_since(began: float, path: str) -> None:
    """Raises the error of another process whose download failed after `began`."""
    try:
        with open(path + ".error", encoding="utf-8") as file:
            kind, _, text = file.read().partition("\n")
            is_new = os.fstat(file.fileno()).st_mtime >= began
    except FileNotFoundError:
        return
    if is_new:
        raise {"FileNotFoundError": FileNotFoundError, "TimeoutError": TimeoutError}.get(kind, OSError)(text)


def _leave(lock: int, path: str) -> None:
    try:
        if _locked(lock, fcntl.LOCK_EX, path):
            _remove_if_unused(path)
    finally:
        os.close(lock)


def _remove_if_unused(path: str) -> None:
    """Removes a download and its lock file. This process must hold the exclusive lock, so that no process uses the download."""
    shutil.rmtree(path, ignore_errors=True)
    try:
        os.unlink(path + ".lock")
    except FileNotFoundError:
        pass


def _remove_abandoned(base: str) -> None:
    """Removes the downloads of killed processes."""
    for name in os.listdir(base):
        path, suffix = os.path.splitext(os.path.join(base, name))
        if suffix == ".error":
            _remove_old_error(path + suffix)
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


def _remove_old_error(path: str) -> None:
    try:
        if time.time() - os.stat(path).st_mtime > _KEEP_ERROR_S:
            os.unlink(path)
    except FileNotFoundError:
        pass  # another process removed it
