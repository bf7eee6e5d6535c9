"""The words of texts."""


def only_spaces(of, tokenization_fn):
    if tokenization_fn is not None:
        raise ValueError(f"{of}(tokenization_fn=...) is not offered, since no function can be kept as JSON: words stand between spaces; change the texts "
                         f"by map() before")


def words_of(of, name, column):
    """Lists of words, those between single spaces, as Ray's."""
    for text in column.tolist():
        if not isinstance(text, str):
            raise TypeError(f"{of}: column '{name}' holds numbers; it must hold texts")
        yield text.split(" ")
