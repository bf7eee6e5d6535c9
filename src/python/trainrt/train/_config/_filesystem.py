"""Filesystem objects of fsspec and pyarrow.fs: which store they mean, and where it is. Nothing is read or written by them."""

import os

STORES = ("s3://", "gs://")
_SCHEMES = {"s3": "s3://", "s3a": "s3://", "gs": "gs://", "gcs": "gs://", "file": "", "local": ""}


def scheme_of(filesystem):
    """"s3://", "gs://", or "" for local files. fsspec's say it by `protocol`, pyarrow's by `type_name`."""
    names = getattr(filesystem, "type_name", None) or getattr(filesystem, "protocol", None) or ()
    names = (names,) if isinstance(names, str) else tuple(names)
    for name in names:
        if name in _SCHEMES:
            return _SCHEMES[name]
    what = f"{type(filesystem).__name__}, of {' or '.join(map(repr, names))}," if names else f"{filesystem!r}, which has neither protocol nor type_name,"
    raise ValueError(f"RunConfig(storage_filesystem={what} is not known here; known are those of fsspec and pyarrow.fs for S3, Google's store and local "
                     f"files. Give storage_path alone: a folder that all nodes see, or {' or '.join(STORES)}BUCKET/PREFIX. Another kind of store is a "
                     f"storage plug-in of trainrt: one file in src/io/storages")


def settings_of(filesystem):
    """{key of [storage]: value} of a filesystem for S3. Keys and secrets are no part of it: they are stored nowhere."""
    if scheme_of(filesystem) != "s3://":
        return {}
    found = _of_pyarrow(filesystem) if getattr(filesystem, "type_name", None) else _of_fsspec(filesystem)
    if found["key"] and not os.environ.get("AWS_ACCESS_KEY_ID") and not os.environ.get("AWS_PROFILE"):
        raise ValueError("RunConfig(storage_filesystem=...): it has keys of its own, which are not taken over, since they would have to be stored: set "
                         "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE")
    return {"storage.s3_endpoint": found["endpoint"] or None, "storage.s3_region": found["region"] or None,
            "storage.s3_anonymous": "true" if found["anonymous"] else None}


def _of_pyarrow(filesystem):
    """Its endpoint is no attribute, but what pickle would keep of it has it."""
    made = filesystem.__reduce__() if type(filesystem).__reduce__ is not object.__reduce__ else ()
    given = next((one for one in (made[1] if len(made) > 1 else ()) if isinstance(one, dict)), {})
    endpoint = given.get("endpoint_override") or ""
    if endpoint and "://" not in endpoint:
        endpoint = f"{given.get('scheme') or 'https'}://{endpoint}"
    return {"endpoint": endpoint, "region": given.get("region") or getattr(filesystem, "region", None), "anonymous": given.get("anonymous", False),
            "key": given.get("access_key")}


def _of_fsspec(filesystem):
    client = getattr(filesystem, "client_kwargs", None) or {}
    return {"endpoint": getattr(filesystem, "endpoint_url", None) or client.get("endpoint_url"), "region": client.get("region_name"),
            "anonymous": bool(getattr(filesystem, "anon", False)), "key": getattr(filesystem, "key", None) or client.get("aws_access_key_id")}
