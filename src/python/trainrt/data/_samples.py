"""Methods of Dataset that make new samples out of samples. flat_map() calls Python; the runtime executes all other methods while it reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Callable

from .._client.values import kind_of
from .._support import _notes
from ._operations import Call
from ._parts import DatasetParts, Reshape
from ._sources import MadeSource
from ._values._arguments import check_ignored, checked_integer
from ._values._columns import stacked

if TYPE_CHECKING:
    from ._dataset import Dataset, DatasetPipeline

_METHODS = {"where": "filter", "sequence": "window"}  # {key of [data.NAME]: method that sets the key}, if the names differ


class ReshapeMethods(DatasetParts):
    """Base class of Dataset with methods that make new samples. The runtime applies filter(expr=...), explode(), window(), pack(), a choice of
    samples, and draw_by_weight() in this order. If a script calls these methods in another order, or after map(), the script's process computes all
    samples once, when samples are first needed."""

    def flat_map(self, fn: Callable[..., Any], *, fn_args: Sequence | None = None, fn_kwargs: Mapping[str, Any] | None = None,
                 fn_constructor_args: Sequence | None = None, fn_constructor_kwargs: Mapping[str, Any] | None = None, concurrency: Any = None,
                 **resources: Any) -> Dataset:
        """Replaces each sample by the list of samples (dicts) that `fn(row)` returns. The arguments are those of map(); `concurrency` is ignored.
        The script's process computes all samples once, before the first sample is used, and writes the samples into a file that the ranks read.
        Counting or reading samples raises TypeError if `fn` returns another type."""
        del concurrency
        check_ignored("flat_map", resources)
        call = Call("flat_map", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._computed_here("flat_map()", lambda rows: (new for row in rows for new in _checked_rows(call(row), call.name)), call.name)

    def _keep_where(self, condition: str) -> Dataset:
        """Returns a Dataset of the samples that meet the condition. Consecutive conditions are combined into one key `where`."""
        if not isinstance(condition, str) or not condition.strip() or "\n" in condition:
            raise ValueError(f"filter(expr={condition!r}): expected a condition in one line, such as \"x > 0 and city == 'Bern'\"")
        before = self._reshape.keys.get("where")
        if before and self._reshape.last == Reshape.ORDER["where"] and self._rows is None and not self._operations:
            return self._with(reshape=self._reshape.with_key("where", f"({before}) and ({condition.strip()})"))
        return self._with_reshape_key("where", condition.strip())

    def explode(self, column: str) -> Dataset:
        """Makes one sample from each element of the lists in `column`. The new samples have copies of the other columns. Drops samples with an empty list."""
        return self._with_reshape_key("explode", _column_name("explode", column))

    def pack(self, column: str, length: int, separator: int | None = None) -> Dataset:
        """Concatenates the lists of numbers in `column`, such as tokens of documents, and cuts the result into samples of `length` values. The number
        `separator` is added after each list. The result has no other columns. Values that do not fill the last sample are left out."""
        between = "" if separator is None else f" separator={checked_integer('pack(separator=...)', separator)}"
        return self._with_reshape_key("pack", f"{_column_name('pack', column)} {checked_integer('pack(length=...)', length, 1)}{between}")

    def repeat(self, times: int | None = None) -> DatasetPipeline:
        """Returns a DatasetPipeline, as in Ray 1.x: its iterators go through `times` epochs, without an end if `times` is `None`. Raises TypeError or
        ValueError unless `times` is an integer from 1 on."""
        return self._pipeline(None if times is None else checked_integer("repeat()", times, 1))

    def window(self, length: int | None = None, stride: int = 1, within: str | None = None, pad: bool = False, *, blocks_per_window: int | None = None,
               bytes_per_window: int | None = None) -> Dataset:
        """Combines `length` consecutive samples into one window; columns get the shape [length, ...]. Windows start `stride` samples apart.

        within: column of integers or strings. A window contains only samples with equal values in this column; they need not be stored together.
        pad: True fills incomplete windows with zeros, and adds the column `count` with the number of samples in each window. False drops
        incomplete windows.
        blocks_per_window, bytes_per_window: without `length`, return a DatasetPipeline of one epoch, as in Ray 1.x. Its window is the complete dataset,
        since samples are not stored in blocks; a note is printed."""
        if length is None and (blocks_per_window is not None or bytes_per_window is not None):
            _notes.say("window(blocks_per_window=...) and window(bytes_per_window=...) change nothing: a window is the complete dataset, since samples are "
                       "not stored in blocks; random_shuffle_each_window() shuffles all samples")
            return self._pipeline(1)
        if blocks_per_window is not None or bytes_per_window is not None:
            raise TypeError("window() takes either the length of a window of samples, or blocks_per_window or bytes_per_window of Ray 1.x")
        group = "" if within is None else f" within={_column_name('window', within)}"
        size, step = checked_integer("window(length=...)", length, 1), checked_integer("window(stride=...)", stride, 1)
        return self._with_reshape_key("sequence", f"{size} stride={step}{group}{' pad' if pad else ''}")

    def draw_by_weight(self, column: str) -> Dataset:
        """Draws the samples of each epoch at random, with replacement, and probabilities in proportion to `column`. The number of samples does not
        change. Later methods that choose samples or make new samples raise ValueError."""
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
        """Returns a Dataset of the samples that make(rows) returns. This process calls make() when samples are first needed. `name` is for messages."""
        self._require_not_drawn(method)
        if any(operation.is_random for operation in self._operations):
            raise ValueError(f"{method} after map(random=True) is not possible, because its samples change in each epoch: call it before")
        before: Any = self._unshuffled()

        def columns():
            rows = list(make(before._local().iter_rows()))
            return stacked(rows, name) if rows else {}

        return self._of_source(MadeSource(columns, f"{method} of {before!r}"))


def _column_name(method, column):
    """Returns `column`. Raises ValueError if the column's name contains characters that keys of [data.NAME] do not support."""
    if not isinstance(column, str) or not column or any(letter.isspace() or letter in ",=" for letter in column):
        raise ValueError(f"{method}({column!r}): it must be a column's name without spaces, commas and '='; rename_columns() gives it one")
    return column


def _checked_rows(rows, method):
    if isinstance(rows, dict) or not hasattr(rows, "__iter__"):
        raise TypeError(f"{method} returned {kind_of(rows)}; it must be a list of dicts")
    return rows
