"""The file system of pyarrow for paths of this machine, for the attributes `filesystem` of Ray Train."""

from __future__ import annotations

import functools
from typing import Any


@functools.lru_cache(maxsize=1)
def filesystem() -> Any:
    """Returns a pyarrow.fs.LocalFileSystem, or `None` if pyarrow is not installed."""
    try:
        from pyarrow import fs
    except ImportError:
        return None
    return fs.LocalFileSystem()


def is_local(given: Any) -> bool:
    """Returns whether `given` is `None`, or a file system of pyarrow or fsspec for local files."""
    names = getattr(given, "type_name", None) or getattr(given, "protocol", None) or ()
    return given is None or bool({"local", "file"} & set((names,) if isinstance(names, str) else names))
