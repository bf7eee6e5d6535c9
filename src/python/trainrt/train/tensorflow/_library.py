"""The library, or an error that says what is missing."""

import os

# Before TensorFlow is imported: Keras 3 does not fit() under MultiWorkerMirroredStrategy.
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")

try:
    import tensorflow
except ImportError as error:
    raise ImportError(f"trainrt.train.tensorflow needs TensorFlow (pip install tensorflow-cpu tf_keras): {error}") from None

__all__ = ["tensorflow"]
