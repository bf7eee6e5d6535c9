"""Signs records with a secret key of this user. A valid code (HMAC) proves that a process of this user wrote the record, and that it is unchanged.

The key is 32 random bytes in the user's state folder, made when the first record is written; core/files/user_key.hpp of the runtime uses the
same file. If the user removes it, a new one is made, and records with codes of the old key count as unsigned.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat

from . import _notes

_BYTES = 32


def path() -> str | None:
    """Returns the path of the key file, or `None` if this user has no home."""
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):  # the XDG specification ignores relative paths
        state = os.path.join(os.path.expanduser("~"), ".local", "state")
    return os.path.join(state, "trainrt", "record.key") if os.path.isabs(state) else None


class KeyRefused(Exception):
    """Raised if the key file exists but is not used, for example because other users have access to it."""


def code_of(message: bytes) -> str | None:
    """Returns the HMAC-SHA256 of `message` in hexadecimal digits, or `None` if this user has no key and cannot make one. If the key file is refused,
    prints a note with the reason and returns `None`."""
    try:
        key = _read() or _made()
    except KeyRefused as error:
        _notes.say(f"{error}. Records of runs are not signed, so restore() needs the train function again")
        return None
    return _code(key, message) if key else None


def reason_against(code: object, message: bytes) -> str | None:
    """Returns the reason why `code` does not prove that a process of this user wrote `message`; `None` if `code` is valid."""
    if code is None:
        return "it is not signed: an older version of trainrt wrote it, or the home folder of its user was read-only"
    try:
        key = _read()
    except KeyRefused as error:
        return str(error)
    if key is None:
        return f"this user has no key to verify the authentication code in it ({path() or 'the home folder is unknown'})"
    is_valid = isinstance(code, str) and hmac.compare_digest(_code(key, message).encode(), code.encode("utf-8", "replace"))
    return None if is_valid else "its authentication code is not valid: another user wrote it, it was changed, or the key is new"


def _code(key: bytes, message: bytes) -> str:
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def _read() -> bytes | None:
    """Returns the key, or `None` if it does not exist. Raises KeyRefused if another user owns the file or has rights on it."""
    where = path()
    if where is None:
        return None
    try:
        descriptor = os.open(where, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise KeyRefused(f"the key {where} cannot be read: {error.strerror}") from error
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        mode = stat.S_IMODE(found.st_mode)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or mode & 0o077:
            raise KeyRefused(f"the key {where} is not used, since other users have access to it (owner {found.st_uid}, mode {mode:04o}). Remove it; "
                             f"trainrt then creates a new one")
        if found.st_size != _BYTES:
            raise KeyRefused(f"the key {where} has {found.st_size} bytes, not {_BYTES}, and is not used. Remove it; trainrt then creates a new one")
        return file.read(_BYTES)


def _made() -> bytes | None:
    """Makes and returns a new key; returns `None` if the state folder cannot be written. If several processes make one, all return the same."""
    where = path()
    if where is None:
        return None
    temporary = f"{where}.{os.getpid()}.{secrets.token_hex(8)}"
    try:
        os.makedirs(os.path.dirname(where), mode=0o700, exist_ok=True)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(_BYTES))
                file.flush()
                os.fsync(descriptor)
            _link(temporary, where)
        finally:
            os.unlink(temporary)
    except OSError:
        return None
    return _read()


def _link(temporary: str, where: str) -> None:
    """Gives the file `temporary` the name `where` of the key file, unless another process has already made the key file."""
    try:
        os.link(temporary, where)
    except FileExistsError:
        pass
