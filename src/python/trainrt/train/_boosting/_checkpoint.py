"""BoosterCheckpoint: base class of the checkpoints with one booster."""

import os
from typing import Any, TypeVar, Union

from .._results._model_checkpoint import ModelCheckpoint

Kind = TypeVar("Kind", bound="BoosterCheckpoint")


class BoosterCheckpoint(ModelCheckpoint):
    """A checkpoint that contains a booster, in the file that the RayTrainReportCallback of its library writes."""

    _callback: Any = None  # RayTrainReportCallback of the library
    MODEL_FILENAME = ""

    @classmethod
    def from_model(cls: type[Kind], booster: Any, *, preprocessor: Any = None, path: Union[str, "os.PathLike[str]", None] = None) -> Kind:
        """Returns a checkpoint with a booster.

        Parameters
        ----------
        booster : Booster of the library
        preprocessor : Preprocessor, optional
            Fitted preprocessor that is stored with the model.
        path : str or path-like, optional
            Directory of the checkpoint. By default, it is temporary and removed with the returned object.
        """
        return cls._written(lambda folder: booster.save_model(os.path.join(folder, cls.MODEL_FILENAME)), preprocessor, path)

    def get_model(self) -> Any:
        """Returns the booster. Raises FileNotFoundError if the checkpoint has no file of a booster."""
        with self._file(self.MODEL_FILENAME):
            return self._callback.get_model(self)
