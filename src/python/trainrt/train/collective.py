"""Between the ranks of a run: barrier() and broadcast_from_rank_zero(). Every rank calls them, in the same order."""

from ._sessions import _session


def barrier():
    """Returns when all ranks have called it. With one rank, at once."""
    _session.current().barrier()


def broadcast_from_rank_zero(data):
    """What rank 0 gives, on every rank: small data that can be pickled."""
    return _session.current().broadcast(data)
