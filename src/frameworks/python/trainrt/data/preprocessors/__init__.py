"""Ray Data's preprocessors over trainrt's datasets: applied lazily, to each batch as the train function takes it.

    features = Concatenator(columns=["x0", "x1"], output_column_name="x")
    train = features.transform(trainrt.data.read_csv("train.csv"))        # columns x and y
    features.transform_batch({"x0": [1.0], "x1": [2.0], "y": [3.0]})      # the same of one batch
"""

from ._concatenator import Concatenator
from ._preprocessor import Preprocessor

__all__ = ["Concatenator", "Preprocessor"]
