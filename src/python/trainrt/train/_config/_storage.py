"""Storage paths of runs that RunConfig accepts."""

import os

from . import _filesystem, _paths


def is_object_store(path):
    """Returns whether `path` is the URL of an object store, to which the checkpoints of runs are mirrored."""
    return path is not None and path.startswith(_filesystem.STORES)


def checked_storage_path(path):
    """Returns an absolute path with its variables replaced, or the URL of an object store. Raises ValueError for other URLs."""
    text = _paths.expanded(path, "RunConfig(storage_path)")
    if isinstance(path, _paths.ExpandedPath):
        return path
    if text.startswith("file://"):
        text = text[len("file://"):]
    if text.startswith(_filesystem.STORES):
        return _paths.ExpandedPath(text)
    if "://" in text:
        raise ValueError(f"RunConfig(storage_path={path!r}): it must be a directory that all nodes see, or {' or '.join(_filesystem.STORES)}BUCKET/PREFIX")
    return _paths.ExpandedPath(os.path.abspath(os.path.expanduser(text)))


def path_in_filesystem(path, filesystem):
    """Returns `path` with the scheme of `filesystem`, such as s3://. Adds a missing scheme. Raises ValueError if `path` has another scheme."""
    scheme = _filesystem.scheme_of(filesystem)
    if path is None:
        raise ValueError("RunConfig(storage_filesystem=...): storage_path is missing; give the bucket and prefix, or a directory")
    _filesystem.settings_of(filesystem)  # this call only checks the options of the filesystem
    text = os.fspath(path)
    if "://" not in text:
        return scheme + (text.lstrip("/") if scheme else text)
    if not text.startswith(scheme or "file://"):
        raise ValueError(f"RunConfig(storage_path={text!r}, storage_filesystem=...): the filesystem is for {scheme or 'local files'}; give a path in it")
    return path
