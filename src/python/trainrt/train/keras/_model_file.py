"""Loads files that `model.save("model.keras")` of Keras has written."""

import zipfile


def load_model(keras, path):
    """Returns the model in a file of the format .keras, without functions in it, such as those of Lambda layers. `keras`: the module, also `tf.keras`.

    Raises ValueError for another format. Keras 2 accepts a SavedModel or an HDF5 file of any name, and loading these can run code.
    """
    if not zipfile.is_zipfile(path):
        raise ValueError(f"{path} is not a file of Keras' format .keras, and loading another format can run code that it contains. If you trust it, load "
                         "it with keras.models.load_model() in `with checkpoint.as_directory() as path:`")
    return keras.models.load_model(path, safe_mode=True)
