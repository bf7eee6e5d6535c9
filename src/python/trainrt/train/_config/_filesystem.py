"""Determines the storage and its address from a filesystem object of fsspec or pyarrow.fs. Reads and writes nothing through the object."""

import os

from ..._support._object_store import STORES

_SCHEMES = {"s3": "s3://", "s3a": "s3://", "gs": "gs://", "gcs": "gs://", "file": "", "local": ""}


def scheme_of(filesystem):
    """Returns "s3://", "gs://", or "" for local files, by `protocol` (fsspec) or `type_name` (pyarrow). Raises ValueError for others."""
    names = getattr(filesystem, "type_name", None) or getattr(filesystem, "protocol", None) or ()
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name in _SCHEMES:
            return _SCHEMES[name]
    shown = f"{type(filesystem).__name__} of {' or '.join(map(repr, names))}" if names else f"{filesystem!r}, without protocol and type_name"
    raise ValueError(f"RunConfig(storage_filesystem={shown}) is not supported; it must be a filesystem of fsspec or pyarrow.fs for S3, Google Cloud Storage "
                     f"or local files. Or leave it out and give storage_path alone: a directory that all nodes see, or "
                     f"{' or '.join(STORES)}BUCKET/PREFIX. Another storage needs a storage plug-in of trainrt, a file in src/io/storages")


def settings_of(filesystem):
    """Returns {key of [storage]: value} of a filesystem for S3, else {}. Leaves out access keys, because settings are stored. Raises
    ValueError if the filesystem has access keys and the environment lacks them."""
    if scheme_of(filesystem) != "s3://":
        return {}
    found = _s3_options_of_pyarrow(filesystem) if getattr(filesystem, "type_name", None) else _s3_options_of_fsspec(filesystem)
    if found["key"] and not os.environ.get("AWS_ACCESS_KEY_ID") and not os.environ.get("AWS_PROFILE"):
        raise ValueError("RunConfig(storage_filesystem=...): its access keys are not used, since they would have to be stored. Set "
                         "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
    return {"storage.s3_endpoint": found["endpoint"] or None, "storage.s3_region": found["region"] or None,
            "storage.s3_anonymous": "true" if found["anonymous"] else None}


def _s3_options_of_pyarrow(filesystem):
    """Returns the S3 options of a filesystem. The endpoint is not an attribute, so it is taken from the arguments that `__reduce__()` returns for
    pickle."""
    reduced = filesystem.__reduce__() if type(filesystem).__reduce__ is not object.__reduce__ else ()
    options = next((one for one in (reduced[1] if len(reduced) > 1 else ()) if isinstance(one, dict)), {})
    endpoint = options.get("endpoint_override") or ""
    if endpoint and "://" not in endpoint:
        endpoint = f"{options.get('scheme') or 'https'}://{endpoint}"
    return {"endpoint": endpoint, "region": options.get("region") or getattr(filesystem, "region", None), "anonymous": options.get("anonymous", False),
            "key": options.get("access_key")}


def _s3_options_of_fsspec(filesystem):
    client = getattr(filesystem, "client_kwargs", None) or {}
    return {"endpoint": getattr(filesystem, "endpoint_url", None) or client.get("endpoint_url"), "region": client.get("region_name"),
            "anonymous": bool(getattr(filesystem, "anon", False)), "key": getattr(filesystem, "key", None) or client.get("aws_access_key_id")}
