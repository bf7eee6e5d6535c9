"""CountVectorizer: how often each known word is in a text."""

from .._numpy import numpy
from ._preprocessor import Columnwise
from ._tokens import only_spaces, words_of


class CountVectorizer(Columnwise):
    """Ray Data's: counts, as i64, of the max_features most frequent words, the most frequent first; of words that are as frequent, the first
    in the alphabet. stats_: token_counts(COLUMN), {word: count}, in that order."""

    learns = True

    def __init__(self, columns, tokenization_fn=None, max_features=None, *, output_columns=None):
        only_spaces("CountVectorizer", tokenization_fn)
        super().__init__(columns, output_columns, max_features=max_features)

    def _use_stats(self):
        self._places = {name: {word: place for place, (word, _) in enumerate(self._stats[f"token_counts({name})"])} for name in self.columns}

    @property
    def stats_(self):
        self._require_fitted()
        return {key: dict(map(tuple, counts)) for key, counts in self._stats.items()}

    def convert(self, name, column):
        places = self._places[name]
        counts = numpy.zeros((len(column), len(places)), "i8")
        for row, words in zip(counts, words_of("CountVectorizer", name, column)):
            for word in words:
                if word in places:
                    row[places[word]] += 1
        return counts
