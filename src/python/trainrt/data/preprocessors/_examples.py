"""Examples of the generated classes, which with_examples() adds to their docstrings."""

from __future__ import annotations

from typing import Any

_NUMBERS = '[{"x": 1.0}, {"x": 3.0}]'
_TEXTS = '[{"x": "b"}, {"x": "a"}]'
_WORDS = '[{"x": "a b a"}]'
_PAIR = '[{"x": 3.0, "y": 4.0}]'
# {name: (arguments, samples, transformed samples)}
EXAMPLES = {
    "Categorizer": ('columns=["x"]', _TEXTS, "[{'x': 1}, {'x': 0}]"),
    "Concatenator": ('columns=["x", "y"]', _PAIR, "[{'concat_out': array([3., 4.])}]"),
    "CountVectorizer": ('columns=["x"]', _WORDS, "[{'x': array([2, 1])}]"),
    "CustomKBinsDiscretizer": ('columns=["x"], bins=[0, 2, 4]', _NUMBERS, "[{'x': 0}, {'x': 1}]"),
    "FeatureHasher": ('columns=["x", "y"], num_features=4, output_column="hashed"', _PAIR,
                      "[{'x': 3.0, 'y': 4.0, 'hashed': array([0., 3., 4., 0.])}]"),
    "HashingVectorizer": ('columns=["x"], num_features=4', _WORDS, "[{'x': array([0, 1, 0, 2])}]"),
    "LabelEncoder": ('label_column="x"', _TEXTS, "[{'x': 1}, {'x': 0}]"),
    "MaxAbsScaler": ('columns=["x"]', '[{"x": 1.0}, {"x": -4.0}]', "[{'x': 0.25}, {'x': -1.0}]"),
    "MinMaxScaler": ('columns=["x"]', '[{"x": 1.0}, {"x": 3.0}, {"x": 2.0}]', "[{'x': 0.0}, {'x': 1.0}, {'x': 0.5}]"),
    "MultiHotEncoder": ('columns=["x"]', '[{"x": [1, 2]}, {"x": [2, 2]}]', "[{'x': array([1, 1])}, {'x': array([0, 2])}]"),
    "Normalizer": ('columns=["x", "y"]', _PAIR, "[{'x': 0.6, 'y': 0.8}]"),
    "OneHotEncoder": ('columns=["x"]', _TEXTS, "[{'x': array([0, 1], dtype=uint8)}, {'x': array([1, 0], dtype=uint8)}]"),
    "OrdinalEncoder": ('columns=["x"]', _TEXTS, "[{'x': 1}, {'x': 0}]"),
    "PowerTransformer": ('columns=["x"], power=2', _NUMBERS, "[{'x': 1.5}, {'x': 7.5}]"),
    "RobustScaler": ('columns=["x"]', '[{"x": 1.0}, {"x": 2.0}, {"x": 5.0}]', "[{'x': -0.5}, {'x': 0.0}, {'x': 1.5}]"),
    "SimpleImputer": ('columns=["x"]', '[{"x": 1.0}, {"x": None}, {"x": 3.0}]', "[{'x': 1.0}, {'x': 2.0}, {'x': 3.0}]"),
    "StandardScaler": ('columns=["x"]', _NUMBERS, "[{'x': -1.0}, {'x': 1.0}]"),
    "UniformKBinsDiscretizer": ('columns=["x"], bins=2', _NUMBERS, "[{'x': 0}, {'x': 1}]"),
}


def with_examples(module: Any) -> None:
    """Adds the example of each class of the module to its docstring."""
    for name, (arguments, samples, results) in EXAMPLES.items():
        getattr(module, name).__doc__ += f"""
    Examples
    --------
    >>> from trainrt import data
    >>> from trainrt.data.preprocessors import {name}
    >>> dataset = data.from_items({samples})
    >>> {name}({arguments}).fit_transform(dataset).take_all()
    {results}
    """
