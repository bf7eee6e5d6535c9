"""Files that appear as a whole: written beside their name, synced, and renamed to it."""

import errno
import os
import secrets


def replace(folder, name, write, may_be_link=True):
    """Replaces `folder`/`name` by what `write(file)` writes to the open binary file; a reader sees the old file or the new one, and a
    failure leaves the old one. The file gets the rights that the umask leaves, unlike one of tempfile.mkstemp(). `may_be_link`: whether
    `folder` may be a symbolic link; OSError if it is one and may not."""
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


def _opened(folder, may_be_link):
    try:
        return os.open(folder, os.O_RDONLY | os.O_DIRECTORY | (0 if may_be_link else os.O_NOFOLLOW))
    except OSError as error:
        if not may_be_link and os.path.islink(folder):
            raise OSError(errno.ELOOP, "it is a symbolic link and is not followed; remove the link, or replace it by what it leads to", str(folder)) from None
        raise error
