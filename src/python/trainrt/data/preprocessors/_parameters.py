"""Checks the arguments of preprocessors against the rows of the C++ table of preprocessors."""

import math
from typing import Any, Callable, NamedTuple

from .._values._arguments import checked_integer
from .._values._numpy import numpy

ELEMENT_TYPES = {"f64": "f8", "f32": "f4", "i64": "i8", "i32": "i4", "i16": "i2", "i8": "i1", "u8": "u1"}


class Parameter(NamedTuple):
    """Specification of an argument of a preprocessor, a row of the C++ table (data::ParameterSpec)."""
    name: str
    type: str
    is_optional: bool = False  # whether the argument may be `None`
    same_as: str = ""  # name of another argument whose value is the default
    choices: tuple = ()
    maximum: int = 0
    is_ignored: bool = False  # whether the argument has no effect and is not saved in JSON
    is_later: bool = False  # whether JSON lacks the argument if it is `None`, so that earlier versions can read the JSON


def simple_split_tokenizer(value):
    """Returns the words of a text, which are separated by single spaces."""
    return value.split(" ")


# {argument: function that returns the value of the attribute if the argument is `None`}
_DEFAULTS: dict[str, Callable[[], Any]] = {"max_categories": dict, "tokenization_fn": lambda: simple_split_tokenizer}


def shown_parameters(parameters, given):
    """Return {name: value} for the attributes of a preprocessor: the caller's arguments, and Ray's defaults for the arguments that are None."""
    shown: dict = {}
    for each in parameters:
        value = given[each.name]
        if value is None and each.same_as:
            value = shown[each.same_as]
        elif value is None and each.name in _DEFAULTS:
            value = _DEFAULTS[each.name]()
        shown[each.name] = tuple(value) if each.type == "numbers" and isinstance(value, list) else value
    return shown


def checked_parameters(of, parameters, given):
    """Return the arguments of the preprocessor `of` as values for JSON. Raise ValueError for an invalid argument."""
    made = {}
    for each in parameters:
        value = given[each.name]
        if value is None and each.same_as:
            made[each.name] = made[each.same_as]
        elif value is None and each.is_optional:
            made[each.name] = None
        else:
            made[each.name] = _checked(of, each, value)
        if each.same_as and _count(made[each.name]) != _count(made[each.same_as]):
            raise ValueError(f"Invalid output_columns: Got len(columns) != len(output_columns). The length of columns and output_columns must match. {of}: "
                             f"{each.name} has {_count(made[each.name])} names, but there are {_count(made[each.same_as])} columns")
    return {each.name: made[each.name] for each in parameters
            if not each.is_ignored and each.type != "python_only" and not (each.is_later and made[each.name] is None)}


def checked_bins(bins):
    """Return whether `bins` is an integer, a dict of integers, or a string of a config file that is an integer."""
    several = bins.values() if isinstance(bins, dict) else [bins]
    return all((isinstance(each, int) and not isinstance(each, bool)) or hasattr(each, "__index__") or (isinstance(each, str) and each.strip().isdigit())
               for each in several)


def _checked(of, parameter, value):
    if parameter.type == "python_only":
        return value
    convert, valid = _TYPES[parameter.type]
    try:
        return convert(parameter, value)
    except (TypeError, ValueError, OverflowError):
        unknown = f"{parameter.name.title()} {value} is not supported. Supported values are: {', '.join(map(repr, parameter.choices))}. "
        raise ValueError(f"{unknown if parameter.choices else ''}{of}({parameter.name}={value!r}) is invalid: the value must be "
                         f"{valid.format(choices=', '.join(map(repr, parameter.choices)), maximum=parameter.maximum)}") from None


def _count(names):
    return 1 if isinstance(names, str) else len(names)


def _require(is_valid):
    if not is_valid:
        raise ValueError


def _name(_, value):
    _require(isinstance(value, str) and value)
    return value


def _names(_, value):
    _require(not isinstance(value, str))
    names = list(value)
    _require(names and all(isinstance(name, str) for name in names) and len(set(names)) == len(names))
    return names


def _name_or_names(parameter, value):
    return _name(parameter, value) if isinstance(value, str) else _names(parameter, value)


def _choice(parameter, value):
    _require(isinstance(value, str) and value in parameter.choices)
    return value


def _flag(_, value):
    _require(isinstance(value, (bool, numpy.bool_)))
    return bool(value)


def _number(_, value):
    _require(math.isfinite(float(value)))
    return float(value)


def _numbers(parameter, value):
    """Return a list of numbers. `value` is a list, or a string as in a config file: '0.1, 0.9'."""
    return [_number(parameter, each) for each in (value.split(",") if isinstance(value, str) else value)]


def _integer(parameter, value):
    return checked_integer(parameter.name, int(value) if isinstance(value, str) else value, 1, parameter.maximum or None)


def _per_column(convert):
    def converted(parameter, value):
        if isinstance(value, dict):
            return {_name(parameter, name): convert(parameter, each) for name, each in value.items()}
        number = convert(parameter, value)
        return value if isinstance(value, str) else number  # C++ saves the string of a config file in JSON
    return converted


def _limits(parameter, value):
    _require(isinstance(value, dict))
    return {_name(parameter, name): _integer(parameter, limit) for name, limit in value.items()} or None


def _scalar(_, value):
    value = value.item() if isinstance(value, numpy.generic) else value
    _require(isinstance(value, (bool, int, float, str)))
    return value


def _element_type(_, value):
    """Return the runtime's name of an element type, for example 'f32' for numpy.float32 or 'float32'."""
    if isinstance(value, str) and value in ELEMENT_TYPES:
        return value
    kind = numpy.dtype(value).str[1:]
    _require(kind in ELEMENT_TYPES.values())
    return next(name for name, known in ELEMENT_TYPES.items() if known == kind)


_INTEGER = "an int from 1 to {maximum}"
_TYPES = {
    "name": (_name, "a name"),
    "names": (_names, "a list of column names without duplicates"),
    "name_or_names": (_name_or_names, "a column name"),
    "choice": (_choice, "one of {choices}"),
    "flag": (_flag, "True or False"),
    "number": (_number, "a finite number"),
    "numbers": (_numbers, "a list of finite numbers"),
    "integer": (_integer, _INTEGER),
    "integer_per_column": (_per_column(_integer), _INTEGER + ", or a dict with one for each column"),
    "numbers_per_column": (_per_column(_numbers), "a list of finite numbers, or a dict with one for each column"),
    "category_limits": (_limits, "a dict from column names to ints of at least 1, such as {{'city': 10}}"),
    "scalar": (_scalar, "a number, a string or a bool"),
    "element_type": (_element_type, "one of " + ", ".join(ELEMENT_TYPES) + ", or a NumPy type of these"),
}
