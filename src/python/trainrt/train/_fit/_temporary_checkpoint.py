"""A checkpoint in a temporary directory of this node, which a run or the trials of a sweep resume from: `Checkpoint.from_dict()` and `from_model()`."""

import contextlib
import copy
import os

from ..._support import _private_folder


def placed_in(trainer, folder):
    """Returns `trainer`. If its `resume_from_checkpoint` is in a temporary directory of this node, copies the checkpoint into `folder` and returns a copy of
    the trainer that uses this copy. `folder`: a directory that all nodes see, and that the caller removes."""
    first = getattr(trainer, "resume_from_checkpoint", None)
    if first is None or not first._is_temporary:
        return trainer
    made = copy.copy(trainer)
    made.resume_from_checkpoint = type(first)(first.to_directory(os.path.join(folder, "first_checkpoint")))
    return made


@contextlib.contextmanager
def placed(trainer, storage):
    """Context manager that returns the result of placed_in() for a new folder in the storage path of the run. The folder is removed at the end."""
    first = trainer.resume_from_checkpoint
    if first is None or not first._is_temporary:
        yield trainer
        return
    folder = _private_folder.make(storage)
    try:
        yield placed_in(trainer, folder)
    finally:
        _private_folder.remove(folder)
