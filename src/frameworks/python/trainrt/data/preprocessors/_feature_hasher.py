"""FeatureHasher: columns of numbers added into a vector, at places that their names hash to."""

from .._numpy import numpy
from ._hashing import checked_width, hashed_feature
from ._preprocessor import RuntimePreprocessor, names_of, numbers_of, taken


class FeatureHasher(RuntimePreprocessor):
    """Ray Data's: output_column has num_features f64."""

    def __init__(self, columns, num_features, output_column):
        num_features = checked_width("FeatureHasher", num_features)
        super().__init__(columns=names_of("FeatureHasher", "columns", columns), num_features=num_features, output_column=output_column)
        self._places = [hashed_feature(name, num_features) for name in columns]

    def transform_columns(self, columns):
        own = [numbers_of("FeatureHasher", name, taken("FeatureHasher", name, columns)) for name in self.parameters["columns"]]
        sums = numpy.zeros((len(own[0]), self.parameters["num_features"]))
        for place, values in zip(self._places, own):
            sums[:, place] += values
        return {**columns, self.parameters["output_column"]: sums}
