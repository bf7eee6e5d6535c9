"""The functions of Ray Train 1.x that a train function calls; report(loss=...) is report()'s own."""

import math
import tempfile

from ..._support import _plain_tree
from .._sessions import _session
from .._results._checkpoint import Checkpoint


def world_rank():
    return _session.current().world_rank


def local_rank():
    return _session.current().local_rank


def world_size():
    return _session.current().world_size


def save_checkpoint(**values):
    """Reports rank 0's values as a checkpoint; every rank calls it. The numbers among them count as the metrics of this report."""
    session = _session.current()
    numbers = {name: value for name, value in values.items()
               if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)}
    with tempfile.TemporaryDirectory(prefix="trainrt_v1_") as folder:
        checkpoint = None
        if session.world_rank == 0:
            _plain_tree.save(folder, values)
            checkpoint = Checkpoint(folder)
        session.report(numbers, checkpoint)


def load_checkpoint():
    """The values of the newest save_checkpoint(), else the `checkpoint` of Trainer.run(), else None."""
    checkpoint = _session.current().get_checkpoint()
    return None if checkpoint is None else _plain_tree.load(checkpoint.path)
