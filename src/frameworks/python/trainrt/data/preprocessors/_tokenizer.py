"""Tokenizer: the words of a text."""

from .._numpy import numpy
from ._preprocessor import Columnwise
from ._tokens import only_spaces, words_of


class Tokenizer(Columnwise):
    """Ray Data's: lists of words. By transform_batch() alone: a dataset's columns hold no lists of texts, and CountVectorizer and
    HashingVectorizer take texts as they are."""

    def __init__(self, columns, tokenization_fn=None, output_columns=None):
        only_spaces("Tokenizer", tokenization_fn)
        super().__init__(columns, output_columns)

    def transform(self, ds, **others):
        raise TypeError("Tokenizer.transform(): a dataset's columns hold no lists of texts; CountVectorizer and HashingVectorizer take texts as they are, "
                        "and transform_batch() gives the words of a batch")

    def convert(self, name, column):
        lists = numpy.empty(len(column), object)
        for number, words in enumerate(words_of("Tokenizer", name, column)):
            lists[number] = words
        return lists
