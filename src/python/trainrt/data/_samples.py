"""Methods of Dataset that make samples of samples. All but flat_map() are keys of [data.NAME]: the runtime makes the samples as it reads."""

from ._arguments import check_ignored
from ._columns import stacked
from ._operations import Call
from ._sources import MadeSource
from ._whole_number import whole_number

_ORDER = {"where": 0, "explode": 1, "sequence": 2, "pack": 3, "draw_by_weight": 5}  # in which the runtime applies these keys
_ORDER_OF_ROWS = 4
_METHODS = {"where": "filter", "sequence": "window"}  # the methods of keys with another name
_READING_KEYS = ("shuffle", "shuffle_seed", "memory", "threads", "block", "window", "read_method")


class Reshape:
    """The keys of such operations, in their order, and the rows of the source to which they are applied (None: all)."""

    def __init__(self, keys=None, rows=None):
        self.keys, self.rows = dict(keys or {}), rows

    def with_key(self, name, text):
        return Reshape({**self.keys, name: text}, self.rows)

    @property
    def last(self):
        """The position in _ORDER of the last key; -1 without keys."""
        return max((_ORDER[name] for name in self.keys), default=-1)

    def is_drawn(self):
        return "draw_by_weight" in self.keys


class ReshapeMethods:
    """Part of Dataset. The runtime applies filter(expr=...), explode(), window(), pack(), a choice of samples, and draw_by_weight() in this order.
    In another order, or after map() and similar methods, all samples are computed once in the script's process, when they are first needed."""

    def flat_map(self, fn, *, fn_args=None, fn_kwargs=None, fn_constructor_args=None, fn_constructor_kwargs=None, concurrency=None, **resources):
        """Replaces each sample by the samples that `fn(row)` returns, a list of dicts; arguments as of map(), except that `concurrency` is ignored.
        All samples are computed once, in the script's process, before the first is used, and written where the ranks read them. Counting or
        reading samples raises TypeError if `fn` returns another type."""
        del concurrency
        check_ignored("flat_map", resources)
        call = Call("flat_map", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._computed_here("flat_map()", lambda rows: (new for row in rows for new in _checked_rows(call(row), call.name)), call.name)

    def _keep_where(self, condition):
        """Returns the samples that meet the condition. Consecutive conditions are combined, since there is one key `where`."""
        if not isinstance(condition, str) or not condition.strip() or "\n" in condition:
            raise ValueError(f"filter(expr={condition!r}): expected a condition in one line, such as \"x > 0 and city == 'Bern'\"")
        before = self._reshape.keys.get("where")
        if before and self._reshape.last == _ORDER["where"] and self._rows is None and not self._operations:
            return self._with(reshape=self._reshape.with_key("where", f"({before}) and ({condition.strip()})"))
        return self._with_reshape_key("where", condition.strip())

    def explode(self, column):
        """Makes one sample of each element of the lists in `column`; the other columns are repeated. A sample with an empty list makes no sample."""
        return self._with_reshape_key("explode", _column_name("explode", column))

    def pack(self, column, length, separator=None):
        """Concatenates the lists of numbers in `column`, such as documents of tokens, with the number `separator` after each, and cuts them
        into samples of `length` values. It becomes the only column. Values that do not fill the last sample are left out."""
        between = "" if separator is None else f" separator={whole_number('pack(separator=...)', separator)}"
        return self._with_reshape_key("pack", f"{_column_name('pack', column)} {whole_number('pack(length=...)', length, 1)}{between}")

    def window(self, length, stride=1, within=None, pad=False):
        """Makes samples of `length` neighbours: columns get the shape [length, ...]. The next sample starts `stride` samples later.

        within: a column of integers or text; only samples with the same value in it are neighbours, wherever they are stored.
        pad: True fills incomplete samples with zeros, and the new column `count` has the number of real ones; otherwise they are left out."""
        group = "" if within is None else f" within={_column_name('window', within)}"
        size, step = whole_number("window(length=...)", length, 1), whole_number("window(stride=...)", stride, 1)
        return self._with_reshape_key("sequence", f"{size} stride={step}{group}{' pad' if pad else ''}")

    def draw_by_weight(self, column):
        """Draws the samples of each epoch in proportion to `column`, with replacement; the number of samples stays. Only operations that change
        values may follow: others raise ValueError."""
        return self._with_reshape_key("draw_by_weight", _column_name("draw_by_weight", column))

    def join(self, *args, **kwargs):
        """Always raises NotImplementedError: join the tables before the run, with DuckDB or pandas."""
        del args, kwargs
        raise NotImplementedError("Dataset.join() was removed: join the tables before the run, with DuckDB or pandas, and read the joined file "
                                  "(read_parquet(), read_csv(), ...)")

    def _with_reshape_key(self, name, text):
        method = f"{_METHODS.get(name, name)}()"
        self._require_not_drawn(method)
        order = _ORDER[name]
        rows_come_first = not self._reshape.keys or self._rows is None or order > _ORDER_OF_ROWS
        is_possible = order > self._reshape.last and rows_come_first and not self._operations
        base = self if is_possible else self._computed_here(method, lambda rows: rows, method)
        if base._reshape.keys:
            return base._with(reshape=base._reshape.with_key(name, text))
        return base._with(reshape=Reshape({name: text}, base._rows), rows=None)

    def _require_not_drawn(self, method):
        if self._reshape.is_drawn():
            raise ValueError(f"{method} after draw_by_weight() is not possible, because samples are drawn in each epoch: call it before")

    def _computed_here(self, method, make, name):
        """Returns the Dataset of make(rows), whose rows this process computes when they are first needed. `name` describes them in messages."""
        from ._dataset import Dataset, _without_shuffle
        self._require_not_drawn(method)
        if any(operation.is_random for operation in self._operations):
            raise ValueError(f"{method} after map(random=True) is not possible, because its samples change in each epoch: call it before")
        before = self._with(keys=_without_shuffle(self._keys))

        def columns():
            rows = list(make(before.iter_rows()))
            return stacked(rows, name) if rows else {}

        return Dataset(MadeSource(columns, f"{method} of {before!r}"), keys={key: text for key, text in self._keys.items() if key in _READING_KEYS})


def _column_name(method, column):
    """Returns `column` if the runtime's keys can contain it; otherwise raises ValueError."""
    if not isinstance(column, str) or not column or any(letter.isspace() or letter in ",=" for letter in column):
        raise ValueError(f"{method}({column!r}): it must be a column's name without spaces, commas and '='; rename_columns() gives it one")
    return column


def _checked_rows(rows, method):
    if isinstance(rows, dict) or not hasattr(rows, "__iter__"):
        raise TypeError(f"{method} returned a {type(rows).__name__}; it must be a list of dicts")
    return rows
