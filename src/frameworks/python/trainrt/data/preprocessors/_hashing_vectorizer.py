"""HashingVectorizer: counts of a text's words, at places that they hash to."""

import functools

from .._numpy import numpy
from ._hashing import checked_width, hashed_feature
from ._preprocessor import Columnwise
from ._tokens import only_spaces, words_of

_hashed = functools.lru_cache(1 << 16)(hashed_feature)


class HashingVectorizer(Columnwise):
    """Ray Data's: num_features counts, as i64."""

    def __init__(self, columns, num_features, tokenization_fn=None, *, output_columns=None):
        only_spaces("HashingVectorizer", tokenization_fn)
        super().__init__(columns, output_columns, num_features=checked_width("HashingVectorizer", num_features))

    def convert(self, name, column):
        width = self.parameters["num_features"]
        counts = numpy.zeros((len(column), width), "i8")
        for row, words in zip(counts, words_of("HashingVectorizer", name, column)):
            for word in words:
                row[_hashed(word, width)] += 1
        return counts
