"""Who this process is, started by trainrt or not, and the seeds that follow from it."""

import hashlib

from .._sessions import _current

_chosen_seed = None  # of enable_reproducibility()


def runtime():
    """The Context of this rank; None in a process that trainrt did not start."""
    return _current.session().runtime


def world_rank():
    return _current.session().world_rank


def world_size():
    return _current.session().world_size


def choose_seed(seed):
    global _chosen_seed
    _chosen_seed = int(seed)


def base_seed():
    """Of the whole run: the same after any restart."""
    if _chosen_seed is not None:
        return _chosen_seed
    ctx = runtime()
    return ctx.seed if ctx else 0


def derived_seed(*parts):
    """63 bits from numbers and texts: the same in every process and version of Python."""
    digest = hashlib.blake2b("/".join(map(str, parts)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1
