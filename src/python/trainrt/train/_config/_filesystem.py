"""Determines the storage, its address and its access keys from a filesystem object of fsspec or pyarrow.fs. Reads and writes nothing through the object."""

import os
from typing import Any

from ..._support._store_url import SCHEMES, StoreUrl

_SCHEMES = {"s3": "s3://", "s3a": "s3://", "gs": "gs://", "gcs": "gs://", "file": "", "local": ""}


def inner(filesystem, path):
    """Returns the filesystem that pyarrow's PyFileSystem(FSSpecHandler(...)) and SubTreeFileSystem wrap, and the path in it."""
    path = os.fspath(path)
    while True:
        wrapped = getattr(getattr(filesystem, "handler", None), "fs", None)
        if wrapped is not None:
            filesystem = wrapped
        elif getattr(filesystem, "type_name", None) == "subtree":
            filesystem, path = filesystem.base_fs, f"{filesystem.base_path.rstrip('/')}/{path.lstrip('/')}"
        else:
            return filesystem, path


def scheme_of(filesystem):
    """Returns 's3://', 'gs://', or '' for local files, by `protocol` (fsspec) or `type_name` (pyarrow). Raises ValueError for others."""
    names = _names_of(filesystem)
    if is_known(filesystem):
        return next(_SCHEMES[name] for name in names if name in _SCHEMES)
    shown = f"{type(filesystem).__name__} of {' or '.join(map(repr, names))}" if names else f"{type(filesystem).__name__} without protocol and type_name"
    raise ValueError(f"RunConfig(storage_filesystem={shown}) is not supported; it must be a filesystem of fsspec or pyarrow.fs for S3 (s3, s3a), "
                     f"Google Cloud Storage (gs, gcs) or local files (file, local). A filesystem of another protocol must be an object of pyarrow.fs: "
                     f"pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(filesystem)). Or leave it out and give storage_path alone: a directory that all "
                     f"nodes see, or {' or '.join(SCHEMES)}BUCKET/PREFIX")


def is_known(filesystem):
    """Returns whether the runtime can read and write the storage of a filesystem object."""
    return any(name in _SCHEMES for name in _names_of(filesystem))


def _names_of(filesystem):
    names = getattr(filesystem, "type_name", None) or getattr(filesystem, "protocol", None) or ()
    return (names,) if isinstance(names, str) else tuple(names)


def url_in(filesystem, scheme, path):
    """Returns the URL of `path` in a filesystem for `scheme`, with the address of the store, but without access keys."""
    bucket, _, key = path.partition("/")
    found = _options_of(filesystem)
    return str(StoreUrl(scheme[:-len("://")], bucket, key, found["endpoint"] or "", (found["region"] or "") if scheme == "s3://" else "", found["anonymous"]))


def keys_of(filesystem):
    """Returns the access keys in a filesystem for S3, {"key": text, "secret": text, "token": text}, or `None`. They must not be written anywhere."""
    if filesystem is None:
        return None
    filesystem, _ = inner(filesystem, "")
    if not is_known(filesystem) or scheme_of(filesystem) != "s3://":
        return None
    found = _options_of(filesystem)
    if found["anonymous"] or not found["key"] or not found["secret"]:
        return None
    return {name: found[name] or "" for name in ("key", "secret", "token")}


def _options_of(filesystem):
    return _options_of_pyarrow(filesystem) if getattr(filesystem, "type_name", None) else _options_of_fsspec(filesystem)


def _options_of_pyarrow(filesystem):
    """Returns the options of a filesystem for a store. Most of them are not attributes, so they are taken from the arguments that `__reduce__()` returns
    for pickle."""
    reduced: tuple[Any, ...] = filesystem.__reduce__() if type(filesystem).__reduce__ is not object.__reduce__ else ()
    options = next((one for one in (reduced[1] if len(reduced) > 1 else ()) if isinstance(one, dict)), {})
    if options.get("role_arn"):
        raise ValueError(f"RunConfig(storage_filesystem=S3FileSystem(role_arn={options['role_arn']!r})) is not supported: trainrt does not request keys of a "
                         f"role. Give access_key, secret_key and session_token of the role, or AWS_PROFILE")
    endpoint = options.get("endpoint_override") or ""
    if endpoint and "://" not in endpoint:
        endpoint = f"{options.get('scheme') or 'https'}://{endpoint}"
    is_anonymous = bool(options.get("anonymous")) or options.get("access_key") == "anonymous"
    return {"endpoint": endpoint, "region": options.get("region") or getattr(filesystem, "region", None), "anonymous": is_anonymous,
            "key": options.get("access_key"), "secret": options.get("secret_key"), "token": options.get("session_token")}


def _options_of_fsspec(filesystem):
    client = getattr(filesystem, "client_kwargs", None) or {}

    def option(name, name_of_client):
        return getattr(filesystem, name, None) or client.get(name_of_client)

    return {"endpoint": option("endpoint_url", "endpoint_url"), "region": client.get("region_name"), "anonymous": bool(getattr(filesystem, "anon", False)),
            "key": option("key", "aws_access_key_id"), "secret": option("secret", "aws_secret_access_key"), "token": option("token", "aws_session_token")}
