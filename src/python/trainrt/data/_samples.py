"""Methods of Dataset that make samples of samples. All but flat_map() are keys of [data.NAME]: the runtime makes the samples as it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable

from ._arguments import check_ignored
from ._columns import stacked
from ._integers import checked_integer
from ._operations import Call
from ._parts import DatasetParts, Reshape
from ._sources import MadeSource

if TYPE_CHECKING:
    from ._dataset import Dataset

_METHODS = {"where": "filter", "sequence": "window"}  # the methods of keys with another name


class ReshapeMethods(DatasetParts):
    """Part of Dataset. The runtime applies filter(expr=...), explode(), window(), pack(), a choice of samples, and draw_by_weight() in this order.
    In another order, or after map() and similar methods, all samples are computed once in the script's process, when they are first needed."""

    def flat_map(self, fn: Callable[..., Any], *, fn_args: Sequence | None = None, fn_kwargs: Mapping[str, Any] | None = None,
                 fn_constructor_args: Sequence | None = None, fn_constructor_kwargs: Mapping[str, Any] | None = None, concurrency: Any = None,
                 **resources: Any) -> Dataset:
        """Replaces each sample by the samples that `fn(row)` returns, a list of dicts; arguments as of map(), except that `concurrency` is ignored.
        All samples are computed once, in the script's process, before the first is used, and written where the ranks read them. Counting or
        reading samples raises TypeError if `fn` returns another type."""
        del concurrency
        check_ignored("flat_map", resources)
        call = Call("flat_map", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._computed_here("flat_map()", lambda rows: (new for row in rows for new in _checked_rows(call(row), call.name)), call.name)

    def _keep_where(self, condition: str) -> Dataset:
        """Returns the samples that meet the condition. Consecutive conditions are combined, since there is one key `where`."""
        if not isinstance(condition, str) or not condition.strip() or "\n" in condition:
            raise ValueError(f"filter(expr={condition!r}): expected a condition in one line, such as \"x > 0 and city == 'Bern'\"")
        before = self._reshape.keys.get("where")
        if before and self._reshape.last == Reshape.ORDER["where"] and self._rows is None and not self._operations:
            return self._with(reshape=self._reshape.with_key("where", f"({before}) and ({condition.strip()})"))
        return self._with_reshape_key("where", condition.strip())

    def explode(self, column: str) -> Dataset:
        """Makes one sample of each element of the lists in `column`; the other columns are repeated. A sample with an empty list makes no sample."""
        return self._with_reshape_key("explode", _column_name("explode", column))

    def pack(self, column: str, length: int, separator: int | None = None) -> Dataset:
        """Concatenates the lists of numbers in `column`, such as documents of tokens, with the number `separator` after each, and cuts them
        into samples of `length` values. It becomes the only column. Values that do not fill the last sample are left out."""
        between = "" if separator is None else f" separator={checked_integer('pack(separator=...)', separator)}"
        return self._with_reshape_key("pack", f"{_column_name('pack', column)} {checked_integer('pack(length=...)', length, 1)}{between}")

    def window(self, length: int, stride: int = 1, within: str | None = None, pad: bool = False) -> Dataset:
        """Makes samples of `length` neighbours: columns get the shape [length, ...]. The next sample starts `stride` samples later.

        within: a column of integers or text; only samples with the same value in it are neighbours, wherever they are stored.
        pad: True fills incomplete samples with zeros, and the new column `count` has the number of real ones; otherwise they are left out."""
        group = "" if within is None else f" within={_column_name('window', within)}"
        size, step = checked_integer("window(length=...)", length, 1), checked_integer("window(stride=...)", stride, 1)
        return self._with_reshape_key("sequence", f"{size} stride={step}{group}{' pad' if pad else ''}")

    def draw_by_weight(self, column: str) -> Dataset:
        """Draws the samples of each epoch in proportion to `column`, with replacement; the number of samples stays. Only operations that change
        values may follow: others raise ValueError."""
        return self._with_reshape_key("draw_by_weight", _column_name("draw_by_weight", column))

    def join(self, *args: Any, **kwargs: Any) -> Dataset:
        """Always raises NotImplementedError: join the tables before the run, with DuckDB or pandas."""
        del args, kwargs
        raise NotImplementedError("Dataset.join() was removed: join the tables before the run, with DuckDB or pandas, and read the joined file "
                                  "(read_parquet(), read_csv(), ...)")

    def _with_reshape_key(self, name: str, text: str) -> Dataset:
        method = f"{_METHODS.get(name, name)}()"
        self._require_not_drawn(method)
        order = Reshape.ORDER[name]
        rows_come_first = not self._reshape.keys or self._rows is None or order > Reshape.ORDER_OF_ROWS
        is_possible = order > self._reshape.last and rows_come_first and not self._operations
        base: Any = self if is_possible else self._computed_here(method, lambda rows: rows, method)
        if base._reshape.keys:
            return base._with(reshape=base._reshape.with_key(name, text))
        return base._with(reshape=Reshape({name: text}, base._rows), rows=None)

    def _computed_here(self, method: str, make: Callable[[Any], Any], name: str) -> Dataset:
        """Returns the Dataset of make(rows), whose rows this process computes when they are first needed. `name` describes them in messages."""
        self._require_not_drawn(method)
        if any(operation.is_random for operation in self._operations):
            raise ValueError(f"{method} after map(random=True) is not possible, because its samples change in each epoch: call it before")
        before = self._unshuffled()

        def columns():
            rows = list(make(before.iter_rows()))
            return stacked(rows, name) if rows else {}

        return self._of_source(MadeSource(columns, f"{method} of {before!r}"))


def _column_name(method, column):
    """Returns `column` if the runtime's keys can contain it; otherwise raises ValueError."""
    if not isinstance(column, str) or not column or any(letter.isspace() or letter in ",=" for letter in column):
        raise ValueError(f"{method}({column!r}): it must be a column's name without spaces, commas and '='; rename_columns() gives it one")
    return column


def _checked_rows(rows, method):
    if isinstance(rows, dict) or not hasattr(rows, "__iter__"):
        raise TypeError(f"{method} returned a {type(rows).__name__}; it must be a list of dicts")
    return rows
