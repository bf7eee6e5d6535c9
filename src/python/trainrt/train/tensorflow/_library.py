"""Imports TensorFlow, or raises ImportError with the command that installs it."""

import os

# Must be set before TensorFlow is imported: fit() of Keras 3 does not support MultiWorkerMirroredStrategy.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

try:
    import tensorflow
except ImportError as error:
    raise ImportError(f"trainrt.train.tensorflow needs TensorFlow (pip install tensorflow-cpu tf_keras): {error}") from None

__all__ = ["tensorflow"]
