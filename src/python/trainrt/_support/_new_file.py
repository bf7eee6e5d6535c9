"""Writes files so that readers see either the complete old content or the complete new content."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Callable
from typing import Any, BinaryIO


def replace(folder: str, name: str, write: Callable[[BinaryIO], Any], may_be_link: bool = True) -> None:
    """Replaces `folder`/`name` with the content that `write(file)` writes to the open binary file. A failure leaves the old file. The mode follows
    the umask, unlike that of tempfile.mkstemp(). Raises OSError if `folder` is a symbolic link and `may_be_link` is false."""
    directory = _opened(folder, may_be_link)
    aside = f".{name}.{secrets.token_hex(8)}"
    try:
        descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=directory)
        try:
            with os.fdopen(descriptor, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, name, src_dir_fd=directory, dst_dir_fd=directory)
        except BaseException:
            os.unlink(aside, dir_fd=directory)
            raise
        os.fsync(directory)
    finally:
        os.close(directory)


def _opened(folder: str, may_be_link: bool) -> int:
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | (0 if may_be_link else os.O_NOFOLLOW))
    except OSError as error:
        if not may_be_link and os.path.islink(folder):
            raise OSError(errno.ELOOP, "it is a symbolic link, which is not followed; remove the link, or replace it with the folder that it points "
                                       "to", str(folder)) from None
        raise error
