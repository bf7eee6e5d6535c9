"""The pipe by which this process gives the access keys of a store to a child process. They are in no file, argument or environment variable."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping


@contextlib.contextmanager
def key_pipe(keys: Mapping[str, str] | None) -> Iterator[tuple[dict[str, str], tuple[int, ...]]]:
    """Yields the environment variables and the descriptors by which a child process of trainrt reads `keys` from a pipe. Both are empty without keys."""
    if keys is None:
        yield {}, ()
        return
    reading, writing = os.pipe()
    try:
        with open(writing, "wb") as pipe:
            pipe.write(json.dumps(keys).encode())
        yield {"TRAINRT_STORE_KEYS_FD": str(reading)}, (reading,)
    finally:
        os.close(reading)
