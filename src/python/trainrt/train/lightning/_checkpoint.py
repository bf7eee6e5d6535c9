"""LightningCheckpoint: the checkpoints in the Result of a LightningTrainer."""

import os
from typing import Any

from .._results._checkpoint import Checkpoint


class LightningCheckpoint(Checkpoint):
    """A checkpoint with a file `checkpoint.ckpt` of Lightning.

    Examples
    --------
    >>> from trainrt.train.lightning import LightningCheckpoint
    >>> LightningCheckpoint.from_directory("/tmp/model")
    Checkpoint(path=/tmp/model)
    """

    def get_model(self, model_class: Any, **arguments: Any) -> Any:
        """Returns the model: `model_class.load_from_checkpoint(file, **arguments)`. Lightning and torch read the file. From torch 2.6 on, it may contain
        tensors and plain values only, unless `weights_only=False` is passed.

        Parameters
        ----------
        model_class : type
            Subclass of LightningModule. `arguments` are those of its constructor that the file lacks.

        Raises
        ------
        TypeError
            If `model_class` is not a class.
        FileNotFoundError
            If the checkpoint has no `checkpoint.ckpt`.
        """
        if not isinstance(model_class, type) or not hasattr(model_class, "load_from_checkpoint"):
            raise TypeError(f"LightningCheckpoint.get_model({model_class!r:.80}): must be a subclass of LightningModule, not an object")
        path = os.path.join(self._existing_path(), "checkpoint.ckpt")
        if not os.path.isfile(path):
            raise FileNotFoundError(f"LightningCheckpoint.get_model(): {self.path} has no checkpoint.ckpt")
        return model_class.load_from_checkpoint(path, **arguments)
