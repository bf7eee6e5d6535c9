"""Collectives between the ranks of a run. Every rank calls them in the same order."""

from typing import TypeVar

from .._sessions import _current

T = TypeVar("T")


def barrier() -> None:
    """Waits until all ranks have called it.

    Examples
    --------
    >>> from trainrt.train import collective
    >>> collective.barrier()
    """
    _current.session().barrier()


def broadcast_from_rank_zero(data: T) -> T:
    """Returns the object of rank 0 on all ranks.

    Parameters
    ----------
    data : object
        Small object that can be pickled. The value of rank 0 counts.

    Returns
    -------
    object

    Raises
    ------
    TypeError
        On all ranks, if rank 0's object cannot be pickled.

    Examples
    --------
    >>> from trainrt.train import collective
    >>> collective.broadcast_from_rank_zero({"lr": 0.1})
    {'lr': 0.1}
    """
    return _current.session().broadcast(data)
