"""Functions of Ray Train 1.x that a train function calls. `report(loss=...)` is `trainrt.train.report()`."""

import math
import tempfile
from typing import Any, Optional

from ..._support import _plain_tree
from .._results._checkpoint import Checkpoint
from .._sessions import _current
from . import _callbacks


def world_rank() -> int:
    """Returns the number of this rank, from 0.

    Examples
    --------
    >>> from trainrt import train
    >>> train.world_rank()
    0
    """
    return _current.session().world_rank


def local_rank() -> int:
    """Returns the number of this rank on its node, from 0.

    Examples
    --------
    >>> from trainrt import train
    >>> train.local_rank()
    0
    """
    return _current.session().local_rank


def world_size() -> int:
    """Returns the number of ranks.

    Examples
    --------
    >>> from trainrt import train
    >>> train.world_size()
    1
    """
    return _current.session().world_size


def save_checkpoint(**values: Any) -> None:
    """Reports the values of rank 0 as a checkpoint. Its finite numbers are also the metrics of this report. Collective.

    Parameters
    ----------
    **values
        Numbers, strings, bytes, `None`, NumPy arrays, torch tensors, and dicts, lists and tuples of these. They are saved without pickle.

    Raises
    ------
    TypeError
        If a value has another type.

    Examples
    --------
    >>> from trainrt import train
    >>> train.save_checkpoint(epoch=3, weights=[0.5, 1.5])
    >>> train.load_checkpoint()["epoch"]
    3
    """
    session = _current.session()
    numbers = {name: value for name, value in values.items()
               if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)}
    with tempfile.TemporaryDirectory(prefix="trainrt_v1_") as folder:
        checkpoint = None
        if session.world_rank == 0:
            _plain_tree.save(folder, values)
            checkpoint = Checkpoint(folder)
            counters = _callbacks.counters_of(session.spec.callbacks)
            if counters:
                checkpoint.set_metadata(counters)
        session.report(numbers, checkpoint)


def load_checkpoint() -> Optional[dict[str, Any]]:
    """Returns the values of the newest `save_checkpoint()`; before the first, the `checkpoint` argument of `Trainer.run()`, or `None`.

    Examples
    --------
    >>> from trainrt import train
    >>> train.save_checkpoint(epoch=3)
    >>> train.load_checkpoint()
    {'epoch': 3}
    """
    checkpoint = _current.session().get_checkpoint()
    return None if checkpoint is None else _plain_tree.load(checkpoint.path)
