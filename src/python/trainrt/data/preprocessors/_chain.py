"""Chain, a sequence of preprocessors, and Tokenizer, which exists in Python only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._values._columns import NotStorableError
from .._values._numpy import numpy
from ._fit import stages_learned_from
from ._parameters import Parameter
from ._preprocessor import VERSION, Preprocessor, taken
from ._runtime import RuntimePreprocessor


class Chain(RuntimePreprocessor):
    """A sequence of preprocessors, like Ray Data's Chain. Each preprocessor is fitted to the output of the preceding preprocessors.

    Parameters
    ----------
    *preprocessors : Preprocessor
        One preprocessor or several.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.preprocessors import Chain, MinMaxScaler, SimpleImputer
    >>> chain = Chain(SimpleImputer(columns=["x"]), MinMaxScaler(columns=["x"]))
    >>> chain.fit_transform(data.from_items([{"x": 1.0}, {"x": None}, {"x": 3.0}])).take_all()
    [{'x': 0.0}, {'x': 0.5}, {'x': 1.0}]
    """

    _parameters = ()

    def __init__(self, *preprocessors: Preprocessor) -> None:
        if not preprocessors or not all(isinstance(each, Preprocessor) for each in preprocessors):
            raise ValueError(f"Chain{preprocessors!r}: the arguments must be preprocessors, at least one")
        super().__init__()
        self.preprocessors = preprocessors

    def fit_status(self) -> Preprocessor.FitStatus:
        status, found = Preprocessor.FitStatus, [each.fit_status() for each in self.preprocessors]
        found = [each for each in found if each != status.NOT_FITTABLE]
        if not found:
            return status.NOT_FITTABLE
        if all(each == status.FITTED for each in found):
            return status.FITTED
        return status.NOT_FITTED if all(each == status.NOT_FITTED for each in found) else status.PARTIALLY_FITTED

    def _fit(self, ds: Any) -> None:
        stages = self._stages()
        if all(isinstance(each, RuntimePreprocessor) and not each._is_python_only() for each in stages):
            try:
                learned = stages_learned_from(ds, self._unfitted(), self.needed_columns())
                for each, stats in zip(stages, learned):
                    each._check_fit()
                    if each.needs_fit:
                        each._take_stats(stats)
                return
            except NotStorableError:
                pass  # the stages are fitted one after another, and some of them in this process
        for each in self.preprocessors:
            ds = each.fit(ds).transform(ds)

    def _stages(self) -> list[Any]:
        return [stage for each in self.preprocessors for stage in (each._stages() if isinstance(each, Chain) else [each])]

    def needed_columns(self) -> Any:
        return None  # all columns: a preprocessor may use the output of another preprocessor

    def transform_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        for each in self.preprocessors:
            columns = each.transform_columns(columns)
        return columns

    @property
    def stats_(self) -> dict[str, Any]:
        return {key: value for each in self.preprocessors for key, value in getattr(each, "stats_", {}).items()}

    def get_input_columns(self) -> list[str]:
        return self.preprocessors[0].get_input_columns()

    def get_output_columns(self) -> list[str]:
        return self.preprocessors[-1].get_output_columns()

    def _described(self, part: Callable[[Any], Any]) -> dict[str, Any]:
        for each in self.preprocessors:
            if not isinstance(each, RuntimePreprocessor):
                raise TypeError(f"a Chain that contains {type(each).__name__}, which is not a preprocessor of trainrt, cannot be saved as JSON: leave it out "
                                f"of the Chain, or pickle the Chain yourself")
        return {"preprocessor": "Chain", "version": VERSION, "parameters": {"preprocessors": [part(each) for each in self.preprocessors]}}

    def _unfitted(self) -> dict[str, Any]:
        return self._described(lambda each: each._unfitted() if isinstance(each, Chain) else each._description())

    def to_dict(self) -> dict[str, Any]:
        return self._described(lambda each: each.to_dict())

    @classmethod
    def _from(cls, parameters: dict[str, Any], stats: Any) -> Any:
        stages = parameters.get("preprocessors")
        if not isinstance(stages, list):
            raise ValueError("Chain: \"preprocessors\" must be a list")
        return cls(*map(Preprocessor.from_dict, stages))

    def __repr__(self) -> str:
        return f"Chain({', '.join(map(repr, self.preprocessors))})"


class Tokenizer(RuntimePreprocessor):
    """Replaces each text by the list of its words. A Tokenizer exists only in Python: it cannot be saved as JSON, nor be used in config files or C++. For token
    ids, make token files once with jobs/python/token_files.py.

    Parameters
    ----------
    columns : list of str
        Names of the columns to transform.
    tokenization_fn : callable, optional
        Function that returns the list of the words of a text; by default, words are separated by single spaces.
    output_columns : list of str, optional
        Names of the new columns, one for each of `columns`; by default, each replaces its column.

    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.preprocessors import Tokenizer
    >>> Tokenizer(columns=["x"]).transform(data.from_items([{"x": "a b"}])).take_all()
    [{'x': ['a', 'b']}]
    """

    _parameters = (Parameter("columns", "names"), Parameter("tokenization_fn", "python_only", is_optional=True),
                   Parameter("output_columns", "names", is_optional=True, same_as="columns"))

    def __init__(self, columns: list[str], tokenization_fn: Callable[[str], Any] | None = None, *, output_columns: list[str] | None = None) -> None:
        super().__init__(columns=columns, tokenization_fn=tokenization_fn, output_columns=output_columns)

    def _is_python_only(self) -> bool:
        return True

    def transform_columns(self, columns: dict[str, Any]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, output in zip(self.columns, self.parameters["output_columns"]):
            made[output] = numpy.empty(len(columns[name]) if name in columns else 0, object)
            for row, text in enumerate(taken("Tokenizer", name, columns)):
                made[output][row] = None if text is None else self.tokenization_fn(text)
        return {**columns, **made}

    @classmethod
    def _from(cls, parameters: dict[str, Any], stats: Any) -> Any:
        raise ValueError("the preprocessor Tokenizer was removed from JSON: make token files once with jobs/python/token_files.py (Hugging Face tokenizers)")
