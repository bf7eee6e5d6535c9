"""TensorflowCheckpoint: a checkpoint with one Keras model."""

import os
from typing import Any

from .._results._model_checkpoint import ModelCheckpoint
from ..keras._model_file import load_model
from ._library import tensorflow


class TensorflowCheckpoint(ModelCheckpoint):
    """A checkpoint with a Keras model in the file `model.keras`, as ReportCheckpointCallback reports it.

    Examples
    --------
    >>> import tensorflow as tf
    >>> from trainrt.train.tensorflow import TensorflowCheckpoint
    >>> model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)])
    >>> TensorflowCheckpoint.from_model(model).get_model().count_params()
    3
    """

    MODEL_FILENAME = "model.keras"

    @classmethod
    def from_model(cls, keras_model: "tensorflow.keras.Model", *, preprocessor: Any = None) -> "TensorflowCheckpoint":
        """Returns a checkpoint with a model.

        Parameters
        ----------
        keras_model : tf.keras.Model
        preprocessor : Preprocessor, optional
            Fitted preprocessor that is stored with the model.
        """
        return cls._written(lambda folder: keras_model.save(os.path.join(folder, cls.MODEL_FILENAME)), preprocessor)

    @classmethod
    def from_h5(cls, file_path: str, *, preprocessor: Any = None) -> "TensorflowCheckpoint":
        """Raises NotImplementedError, since loading a model from an HDF5 file of Keras can run code that the file contains."""
        raise NotImplementedError(f"TensorflowCheckpoint.from_h5({file_path!r}): loading such a file can run code that it contains. If you trust it, load "
                                  "it with tf.keras.models.load_model(), and use TensorflowCheckpoint.from_model()")

    @classmethod
    def from_saved_model(cls, dir_path: str, *, preprocessor: Any = None) -> "TensorflowCheckpoint":
        """Raises NotImplementedError, since a SavedModel is a program, which loading and calling it runs."""
        raise NotImplementedError(f"TensorflowCheckpoint.from_saved_model({dir_path!r}): a SavedModel is a program. If you trust it, load it with "
                                  "tf.keras.models.load_model(), and use TensorflowCheckpoint.from_model()")

    def get_model(self) -> "tensorflow.keras.Model":
        """Returns the model; functions in the file, such as those of Lambda layers, are not loaded (`safe_mode` of Keras).

        Raises FileNotFoundError if the checkpoint has no file `model.keras`, and ValueError if it is not of the format .keras.
        """
        with self._file(self.MODEL_FILENAME) as path:
            return load_model(tensorflow.keras, path)
