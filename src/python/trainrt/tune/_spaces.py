"""What a trial's values are drawn from, by Ray Tune's names."""

import math
import re

from .._support._value_json import decoded, encoded

_PLAIN = re.compile(r"[\w.,:+*/\[\] -]{1,40}(?<! )")


class Domain:
    """Values that are drawn."""

    def text(self):
        """As trainrt's [tune.space] says it."""
        raise NotImplementedError

    def value(self, text):
        """A value from its text in the record of a trial."""
        raise NotImplementedError

    def json(self):
        """What from_json() makes it of again; TypeError if its values have no form in JSON."""
        raise TypeError(f"{type(self).__name__} is no JSON")

    def __repr__(self):
        """The same in every process."""
        return f"tune.{self.text()}"


def plain_number(value):
    """Python's number of one of NumPy; other values as they are."""
    return value.item() if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0 else value


def _checked(name, lower, upper, low_most=-math.inf):
    """(lower, upper) as numbers of Python."""
    lower, upper = plain_number(lower), plain_number(upper)
    for which, number in (("lower", lower), ("upper", upper)):
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not math.isfinite(number):
            raise ValueError(f"tune.{name}({which}={number!r}): it must be a number")
    if lower >= upper:
        raise ValueError(f"tune.{name}({lower!r}, {upper!r}): lower must be below upper")
    if lower <= low_most:
        raise ValueError(f"tune.{name}({lower!r}, {upper!r}): lower must be above {low_most:g}")
    return lower, upper


def _number(value):
    return repr(float(value)) if isinstance(value, float) else str(value)


class Float(Domain):
    """Real numbers from lower to upper; multiples of q if it is given."""

    def __init__(self, kind, lower, upper, q=None):
        lower, upper = _checked(kind, lower, upper, 0 if kind == "loguniform" else -math.inf)
        q = plain_number(q)
        if q is not None and not 0 < q <= upper - lower:
            raise ValueError(f"tune.{kind}(q={q!r}): it must be above 0, and no more than upper - lower")
        self.kind, self.lower, self.upper, self.q = kind, lower, upper, q

    def text(self):
        step = "" if self.q is None else f", {_number(self.q)}"
        return f"{self.kind}({_number(self.lower)}, {_number(self.upper)}{step})"

    def value(self, text):
        return float(text)

    def json(self):
        return {"tune": self.kind, "args": [self.lower, self.upper, *([] if self.q is None else [self.q])]}


class Integer(Domain):
    """Whole numbers from lower, below upper."""

    def __init__(self, kind, lower, upper):
        lower, upper = _checked(kind, lower, upper, 0 if kind == "lograndint" else -math.inf)
        for number in (lower, upper):
            if number != int(number):
                raise ValueError(f"tune.{kind}({lower!r}, {upper!r}): {number!r} must be a whole number")
        self.kind, self.lower, self.upper = kind, int(lower), int(upper)

    def text(self):
        return f"{self.kind}({self.lower}, {self.upper})"

    def value(self, text):
        return int(text)

    def json(self):
        return {"tune": self.kind, "args": [self.lower, self.upper]}


class Categorical(Domain):
    """One of the values, which may be anything. `kind`: choice, or grid, which has each of them."""

    def __init__(self, values, kind="choice", texts=None):
        self.values, self.kind = list(values), kind
        if not self.values:
            raise ValueError(f"tune.{'grid_search' if kind == 'grid' else kind}([]): it names no value")
        self.texts = texts or _texts_of(self.values)

    def text(self):
        return f"{self.kind}({', '.join(map(_quoted, self.texts))})"

    def value(self, text):
        return self.values[self.texts.index(text)]

    def json(self, instead=()):
        """`instead`: {index: value} of those that are not recorded themselves."""
        values = [instead[index] if index in instead else value for index, value in enumerate(self.values)]
        return {"tune": self.kind, "values": encoded(values), "texts": self.texts}


class Function(Domain):
    """What a function gives, when the trial has its other values; not part of the search."""

    def __init__(self, function):
        self.function = function

    def __repr__(self):
        return f"tune.sample_from({getattr(self.function, '__qualname__', type(self.function).__name__)})"


def _texts_of(values):
    """A short text for each, all different: what the table of the trials shows."""
    texts = [value if isinstance(value, str) else repr(plain_number(value)) for value in values]
    plain = [text if _PLAIN.fullmatch(text) else f"value{number}" for number, text in enumerate(texts)]
    return plain if len(set(plain)) == len(plain) else [f"value{number}" for number in range(len(values))]


def _quoted(text):
    return f'"{text}"'


def uniform(lower, upper):
    return Float("uniform", lower, upper)


def quniform(lower, upper, q):
    return Float("quniform", lower, upper, q)


def loguniform(lower, upper, base=10):
    """The base changes nothing: the values are as likely for each."""
    del base
    return Float("loguniform", lower, upper)


def randint(lower, upper):
    return Integer("randint", lower, upper)


def lograndint(lower, upper, base=10):
    del base
    return Integer("lograndint", lower, upper)


def choice(categories):
    return Categorical(categories)


def grid_search(values):
    """As Ray Tune has it, a dict: each value is tried, with each of the other grids'."""
    return {"grid_search": list(values)}


def sample_from(func):
    """func(spec), with the trial's other values in spec.config; or func()."""
    if not callable(func):
        raise ValueError(f"tune.sample_from({func!r}): it must be a function")
    return Function(func)


def from_json(made):
    """What json() has said, also that of older versions."""
    if "texts" in made:
        return Categorical(decoded(made["values"]), made["tune"], made["texts"])
    if made["tune"] in ("choice", "grid"):
        return Categorical(*made["args"], made["tune"])
    known = {"uniform": uniform, "quniform": quniform, "loguniform": loguniform, "randint": randint, "lograndint": lograndint}
    return known[made["tune"]](*made["args"])


def _not_there(name, instead):
    def refuse(*_given, **_named):
        raise ValueError(f"tune.{name}() is not there: {instead}")
    refuse.__name__ = name
    return refuse


randn = _not_there("randn", "tune.uniform(low, high), or tune.sample_from(function)")
qrandn = _not_there("qrandn", "tune.quniform(low, high, q), or tune.sample_from(function)")
qloguniform = _not_there("qloguniform", "tune.loguniform(low, high), rounded in the train function")
qrandint = _not_there("qrandint", "tune.quniform(low, high, q)")
qlograndint = _not_there("qlograndint", "tune.lograndint(low, high), rounded in the train function")
