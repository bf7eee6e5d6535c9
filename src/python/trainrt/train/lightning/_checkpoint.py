"""LightningCheckpoint: the checkpoints in the Result of a LightningTrainer."""

import inspect
import os
from typing import Any

from .._results._checkpoint import Checkpoint


class LightningCheckpoint(Checkpoint):
    """A checkpoint with a file `checkpoint.ckpt` of Lightning.

    Examples
    --------
    >>> from trainrt.train.lightning import LightningCheckpoint
    >>> LightningCheckpoint.from_directory("/tmp/model")
    Checkpoint(filesystem=local, path=/tmp/model)
    """

    def get_model(self, model_class: Any, **arguments: Any) -> Any:
        """Returns the model: `model_class.load_from_checkpoint(file, **arguments)`. Lightning and torch read the file. It may contain tensors and plain
        values only, unless `weights_only=False` is passed.

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
        RuntimeError
            If Lightning is older than 2.6, which unpickles the file, and `weights_only=False` is not passed.
        """
        if not isinstance(model_class, type) or not hasattr(model_class, "load_from_checkpoint"):
            raise TypeError(f"LightningCheckpoint.get_model({model_class!r:.80}): must be a subclass of LightningModule, not an object")
        if "weights_only" in inspect.signature(model_class.load_from_checkpoint).parameters:
            arguments.setdefault("weights_only", True)
        elif arguments.pop("weights_only", None) is not False:
            raise RuntimeError("LightningCheckpoint.get_model(): Lightning before 2.6 unpickles the file, which can run code that it contains. Install "
                               "Lightning 2.6 or newer, or pass weights_only=False if you trust the file")
        with self.as_directory() as folder:
            path = os.path.join(folder, "checkpoint.ckpt")
            if not os.path.isfile(path):
                raise FileNotFoundError(f"LightningCheckpoint.get_model(): {self.path} has no checkpoint.ckpt")
            return model_class.load_from_checkpoint(path, **arguments)
