"""Rank and seeds of this process, which trainrt may have started or not."""

from __future__ import annotations

import hashlib
from typing import Any

from .._sessions import _current

_chosen_seed: int | None = None  # of enable_reproducibility()


def runtime() -> Any:
    """Returns the Context of this rank, or None in a process that trainrt did not start."""
    return _current.session().runtime


def world_rank() -> int:
    return _current.session().world_rank


def world_size() -> int:
    return _current.session().world_size


def choose_seed(seed: int) -> None:
    """Replaces run.seed as the base of all seeds."""
    global _chosen_seed
    _chosen_seed = int(seed)


def base_seed() -> int:
    """Returns the seed of the run, which is the same after a restart."""
    if _chosen_seed is not None:
        return _chosen_seed
    ctx = runtime()
    return ctx.seed if ctx else 0


def derived_seed(*parts: object) -> int:
    """Returns a seed of 63 bits from numbers and strings, the same in every process and version of Python."""
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
