"""Functions that return the rank, the number of ranks and the seeds of this process; defaults in a process that trainrt has not started."""

from __future__ import annotations

import hashlib
from typing import Any

from .._sessions import _current

_chosen_seed: int | None = None  # argument of enable_reproducibility()


def runtime() -> Any:
    """Returns the Context of this rank, or `None` in a process that trainrt did not start."""
    return _current.session().runtime


def world_rank() -> int:
    return _current.session().world_rank


def world_size() -> int:
    return _current.session().world_size


def choose_seed(seed: int) -> None:
    """Makes base_seed() return `seed` in place of run.seed."""
    global _chosen_seed
    _chosen_seed = int(seed)


def base_seed() -> int:
    """Returns the seed from which all other seeds are derived: that of choose_seed() or, if it was not called, run.seed. A restart does not change run.seed."""
    if _chosen_seed is not None:
        return _chosen_seed
    ctx = runtime()
    return ctx.seed if ctx else 0


def derived_seed(*parts: object) -> int:
    """Returns a 63-bit hash of `parts`, numbers and strings, for use as a seed. The hash is equal in all processes and Python versions."""
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
