"""TorchCheckpoint: a checkpoint with the weights of one model."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import torch
from torch.nn.modules.utils import consume_prefix_in_state_dict_if_present

from .._results._model_checkpoint import ModelCheckpoint


class TorchCheckpoint(ModelCheckpoint):
    """A checkpoint with the `state_dict()` of a model in the file `model.pt`.

    Unlike Ray's class, it never stores a pickled module: get_model() needs the model, and loads only tensors and plain values (`weights_only`).

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import TorchCheckpoint
    >>> model = torch.nn.Linear(2, 1)
    >>> checkpoint = TorchCheckpoint.from_model(model)
    >>> torch.equal(checkpoint.get_model(torch.nn.Linear(2, 1)).weight, model.weight)
    True
    """

    MODEL_FILENAME = "model.pt"

    @classmethod
    def from_state_dict(cls, state_dict: Mapping[str, Any], *, preprocessor: Any = None) -> TorchCheckpoint:
        """Returns a checkpoint with a state_dict. The prefix `module.` of DistributedDataParallel is removed from its names.

        Parameters
        ----------
        state_dict : mapping of str to tensor
        preprocessor : Preprocessor, optional
            Fitted preprocessor that is stored with the model.
        """
        state = dict(state_dict)
        consume_prefix_in_state_dict_if_present(state, "module.")
        return cls._written(lambda folder: torch.save(state, os.path.join(folder, cls.MODEL_FILENAME)), preprocessor)

    @classmethod
    def from_model(cls, model: torch.nn.Module, *, preprocessor: Any = None) -> TorchCheckpoint:
        """Returns a checkpoint with `model.state_dict()`; see from_state_dict()."""
        return cls.from_state_dict(model.state_dict(), preprocessor=preprocessor)

    def get_model(self, model: torch.nn.Module | None = None) -> torch.nn.Module:
        """Loads the weights into `model`, and returns it.

        Parameters
        ----------
        model : torch.nn.Module
            Model with the names and shapes of the checkpoint.

        Raises
        ------
        RuntimeError
            If `model` is missing, or does not match the checkpoint.
        FileNotFoundError
            If the checkpoint has no file `model.pt`.
        ValueError
            If the file has objects other than tensors and plain values.
        """
        if model is None:
            raise RuntimeError("TorchCheckpoint.get_model(): the checkpoint has a state_dict only. Pass a model to load it into: get_model(Net())")
        try:
            with self._file(self.MODEL_FILENAME) as path:
                state = torch.load(path, map_location="cpu", weights_only=True)
        except OSError:
            raise
        except Exception as error:
            raise ValueError(f"TorchCheckpoint.get_model(): {self.path}/{self.MODEL_FILENAME} cannot be loaded as tensors and plain values: {error}") from None
        model.load_state_dict(state)
        return model
