"""LabelEncoder: the number of a label."""

from ._encoding import UNKNOWN, Encoding


class LabelEncoder(Encoding):
    """Ray Data's: numbers from 0 on, as i64. A label that was not there at fit() is an error; Ray gives NaN."""

    def __init__(self, label_column, *, output_column=None):
        if not isinstance(label_column, str):
            raise ValueError(f"LabelEncoder(label_column={label_column!r}): it must be the name of a column")
        super().__init__([label_column], [output_column or label_column])
        self.parameters = {"label_column": label_column, "output_column": output_column or label_column}

    @property
    def columns(self):
        return [self.parameters["label_column"]]

    @property
    def output_columns(self):
        return [self.parameters["output_column"]]

    def convert(self, name, column):
        codes = self.codes(name, column)
        if (codes == UNKNOWN).any():
            value = column.tolist()[int((codes == UNKNOWN).argmax())]
            raise ValueError(f"LabelEncoder: column '{name}' holds {value!r}, which was not there when the encoder was fitted")
        return codes

    def inverse_transform_batch(self, data):
        """The labels of numbers, of one batch as transform_batch() makes it: a dict, or a DataFrame with its index."""
        self._require_fitted()
        output, labels = self.output_columns[0], list(self._numbers[self.columns[0]])
        found = [labels[int(number)] for number in data[output]]
        return {**data, self.columns[0]: found} if isinstance(data, dict) else data.assign(**{self.columns[0]: found})
