"""TransformersCheckpoint: the checkpoints in the Result of a TransformersTrainer."""

import os
import tempfile
from typing import Any, Optional, Union

from ..._results import _checkpoint_values
from ..._results._checkpoint import Checkpoint


class TransformersCheckpoint(Checkpoint):
    """A checkpoint with the files of a Transformers model.

    Examples
    --------
    >>> from trainrt.train.huggingface import TransformersCheckpoint
    >>> TransformersCheckpoint.from_directory("/tmp/model")
    Checkpoint(filesystem=local, path=/tmp/model)
    """

    @classmethod
    def from_model(cls, model: Any, tokenizer: Any = None, *, path: "Optional[Union[str, os.PathLike[str]]]" = None) -> "TransformersCheckpoint":
        """Returns a checkpoint with a model and, optionally, a tokenizer, as `save_pretrained()` writes them.

        Parameters
        ----------
        model : transformers.PreTrainedModel
        tokenizer : transformers.PreTrainedTokenizerBase, optional
        path : str or path-like, optional
            Directory for the files. Default: a temporary directory that is removed with the TransformersCheckpoint.

        Raises
        ------
        TypeError
            If the model has no `save_pretrained()`.
        """
        if not hasattr(model, "save_pretrained"):
            raise TypeError(f"TransformersCheckpoint.from_model({type(model).__name__}): must be a transformers.PreTrainedModel; save the state_dict() of "
                            f"other models: Checkpoint.from_dict({{'model': model.state_dict()}})")
        folder = os.fspath(path) if path is not None else tempfile.mkdtemp(prefix="trainrt_model_")
        checkpoint = cls(folder)
        if path is None:
            _checkpoint_values.remove_with(checkpoint, folder)
        for each in filter(None, (model, tokenizer)):
            each.save_pretrained(folder)
        return checkpoint

    def get_model(self, model: Any, **arguments: Any) -> Any:
        """Returns the model of this checkpoint: `model.from_pretrained(folder, **arguments)`.

        Parameters
        ----------
        model : type
            A class of Transformers, such as `AutoModelForCausalLM`.

        Raises
        ------
        TypeError
            If `model` has no `from_pretrained()`, or is not a class.
        """
        if not isinstance(model, type) or not hasattr(model, "from_pretrained"):
            raise TypeError(f"TransformersCheckpoint.get_model({model!r:.80}): must be a class of Transformers, such as AutoModelForCausalLM. To load the "
                            f"weights in another way, read the files of the checkpoint: `with checkpoint.as_directory() as path:`")
        return self._loaded(model, arguments)

    def get_tokenizer(self, tokenizer: Any, **arguments: Any) -> Any:
        """Returns the tokenizer of this checkpoint: `tokenizer.from_pretrained(folder, **arguments)`."""
        return self._loaded(tokenizer, arguments)

    def _loaded(self, kind, arguments):
        with self.as_directory() as folder:
            return kind.from_pretrained(folder, **arguments)
