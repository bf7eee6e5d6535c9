"""What is done to the batches of a dataset on their way to the train function: each takes {name: array}, and returns the same."""

from ._columns import columns_of, rows_of, stacked
from ._numpy import numpy


def applied(operations, batch, draws):
    """What all of them make of a batch. draws: a number of 64 bits for each sample, if one of them is random."""
    for number, operation in enumerate(operations):
        batch = operation(batch, [(draw, number) for draw in draws]) if operation.is_random else operation(batch)
    return batch


class Call:
    """A function of the user, or a class whose objects are called: one is made in each process, when it is first needed."""

    def __init__(self, what, function, args=(), kwargs=None, constructor_args=(), constructor_kwargs=None):
        if not callable(function):
            raise TypeError(f"{what}() takes a function, not {function!r}")
        self._function, self._args, self._kwargs = function, tuple(args or ()), dict(kwargs or {})
        self._constructor_args, self._constructor_kwargs = tuple(constructor_args or ()), dict(constructor_kwargs or {})
        self.name = f"{what}({getattr(function, '__qualname__', type(function).__name__)})"
        self._made = None

    def __call__(self, *values):
        if self._made is None:
            is_class = isinstance(self._function, type)
            self._made = self._function(*self._constructor_args, **self._constructor_kwargs) if is_class else self._function
        return self._made(*values, *self._args, **self._kwargs)

    def __getstate__(self):
        return {**self.__dict__, "_made": None}


class Operation:
    """{name: array} -> the same. Of a random one the second argument holds what the samples' random numbers hang on, one for each."""

    is_random = False
    workers = 0  # processes that it asks for
    name = ""


class _OfUser(Operation):
    def __init__(self, call, workers, is_random):
        self._call, self.workers, self.is_random = call, workers, is_random
        self.name = call.name


class MapBatches(_OfUser):
    def __init__(self, call, batch_format, workers=0, is_random=False):
        super().__init__(call, workers, is_random)
        self._batch_format = checked_format(batch_format)

    def __call__(self, batch, draws=()):
        generators = [numpy.random.default_rng(draws[0] if draws else 0)] if self.is_random else []
        return columns_of(self._call(formatted(batch, self._batch_format), *generators), self.name)


class Map(_OfUser):
    def __init__(self, call, workers=0, is_random=False):
        super().__init__(call, workers, is_random)

    def __call__(self, batch, draws=()):
        if self.is_random:
            rows = [self._call(row, numpy.random.default_rng(draw)) for row, draw in zip(rows_of(batch), draws)]
        else:
            rows = [self._call(row) for row in rows_of(batch)]
        return stacked(rows, self.name) if rows else batch


class AddColumn(Operation):
    def __init__(self, name, call):
        self._name, self._call = name, call

    def __call__(self, batch):
        return columns_of({**batch, self._name: self._call(formatted(batch, "pandas"))}, self._call.name)


class Select(Operation):
    def __init__(self, names):
        self._names = names

    def __call__(self, batch):
        return {name: _column(batch, name) for name in self._names}


class Drop(Operation):
    def __init__(self, names):
        self._names = names

    def __call__(self, batch):
        for name in self._names:
            _column(batch, name)
        return {name: column for name, column in batch.items() if name not in self._names}


class Rename(Operation):
    def __init__(self, names):
        self._names = names

    def __call__(self, batch):
        for name in self._names:
            _column(batch, name)
        renamed = {self._names.get(name, name): column for name, column in batch.items()}
        if len(renamed) < len(batch):
            raise ValueError(f"rename_columns({self._names}): two columns would have one name; drop_columns() leaves one out before")
        return renamed


def _column(batch, name):
    if name not in batch:
        raise KeyError(f"there is no column '{name}'; there are: {', '.join(batch)}")
    return batch[name]


def checked_format(name):
    if name in (None, "default", "numpy"):
        return "numpy"
    if name == "pandas":
        return name
    raise ValueError(f"batch_format={name!r}: it must be 'numpy' (a dict of arrays), or 'pandas' (a DataFrame)")


def formatted(batch, batch_format):
    if batch_format != "pandas":
        return batch
    import pandas
    return pandas.DataFrame({name: column if column.ndim == 1 else list(column) for name, column in batch.items()})


def keeps(call):
    """Which rows of a batch the function keeps, as truth values."""
    def kept(batch):
        return numpy.fromiter((bool(call(row)) for row in rows_of(batch)), bool)
    return kept
