"""Storage paths of runs that RunConfig accepts."""

import os

from ..._support import _store_url
from . import _filesystem, _paths


class PathInFilesystem(_paths.ExpandedPath):
    """A path in a filesystem object of pyarrow.fs that only Python can use: rank 0 copies checkpoints to it. The run is in the default storage path."""


def is_object_store(path):
    """Returns whether `path` is the URL of an object store, to which the checkpoints of runs are mirrored."""
    return path is not None and _store_url.is_store_url(path)


def checked_storage_path(path):
    """Returns an absolute path with its variables replaced, or the URL of an object store. Raises ValueError for other URLs."""
    text = _paths.expanded(path, "RunConfig(storage_path)")
    if isinstance(path, _paths.ExpandedPath):
        return path
    if text.startswith("file://"):
        text = text[len("file://"):]
    if _store_url.is_store_url(text):
        try:
            _store_url.parsed(text)
        except ValueError as error:
            raise ValueError(f"RunConfig(storage_path=...): {error}") from None
        return _paths.ExpandedPath(text)
    if "://" in text:
        raise ValueError(f"RunConfig(storage_path={path!r}): it must be a directory that all nodes see, or {' or '.join(_store_url.SCHEMES)}BUCKET/PREFIX")
    return _paths.ExpandedPath(os.path.abspath(os.path.expanduser(text)))


def location(call, path, filesystem):
    """Returns the path or URL that restore() was given, and the access keys in its filesystem object, or `None`. `call`: text for errors. Raises ValueError
    for a filesystem that only Python can use."""
    if filesystem is None:
        return path, None
    try:
        found = path_in_filesystem(os.fspath(path), filesystem)
    except ValueError as error:
        raise ValueError(f"{call}: {error}") from None
    if isinstance(found, PathInFilesystem):
        raise ValueError(f"{call}: storage_filesystem={type(filesystem).__name__} cannot be read by trainrt. It must be for S3 (s3, s3a), Google Cloud Storage "
                         f"(gs, gcs) or local files")
    return found, _filesystem.keys_of(filesystem)


def path_in_filesystem(path, filesystem):
    """Returns the storage path for `path` in a filesystem object: a URL with the address of the store, or a path of local files, or a
    PathInFilesystem. Raises ValueError if `path` is a URL of another scheme, or has options, which the filesystem has."""
    if isinstance(path, _paths.ExpandedPath):  # this function returned it for a RunConfig that was copied
        return path
    given = filesystem
    filesystem, text = _filesystem.inner(filesystem, path or "")
    is_copied = not _filesystem.is_known(filesystem) and hasattr(given, "open_output_stream")
    scheme = None if is_copied else _filesystem.scheme_of(filesystem)
    if path is None:
        raise ValueError("RunConfig(storage_filesystem=...): storage_path is missing; give the bucket and prefix, or a directory")
    if is_copied:
        return PathInFilesystem(_paths.expanded(path, "RunConfig(storage_path)").rstrip("/"))
    if "://" in text and not text.startswith(scheme or "file://"):
        raise ValueError(f"RunConfig(storage_path={text!r}, storage_filesystem=...): the filesystem is for {scheme or 'local files'}; give a path in it")
    if not scheme:
        return text
    if "://" in text and _store_url.parsed(text).has_options:
        raise ValueError("RunConfig(storage_path=..., storage_filesystem=...): storage_path has options ('anonymous@', or text after '?'), but the "
                         "filesystem object sets them. Remove these options from storage_path, or leave out storage_filesystem")
    text = _paths.expanded(text.removeprefix(scheme) if "://" in text else text.lstrip("/"), "RunConfig(storage_path)")
    return _paths.ExpandedPath(_filesystem.url_in(filesystem, scheme, text))
