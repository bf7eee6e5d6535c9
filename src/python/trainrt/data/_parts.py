"""DatasetParts, the base class with the data members of a Dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Callable, Union

from ._operations import Operation
from ._sources import checked_keys

if TYPE_CHECKING:
    from ._dataset import Dataset, DatasetPipeline

Rows = Union[Sequence[int], Callable[[], Any], None]  # row numbers, or a function that returns row numbers; `None`: all rows
_READING_KEYS = ("shuffle", "shuffle_seed", "memory", "threads", "block", "window", "read_method")
_SET_BY_METHODS = {"source", "format", "subset", "subset_after", "every", "shuffle", "shuffle_seed", "split", "where", "explode", "sequence", "pack",
                   "draw_by_weight"}


class Reshape:
    """Keys of [data.NAME] that make new samples from the samples of the source, such as explode and pack, and the source rows that they use."""

    ORDER = {"where": 0, "explode": 1, "sequence": 2, "pack": 3, "draw_by_weight": 5}  # order in which the runtime applies the keys
    ORDER_OF_ROWS = 4  # position at which the runtime applies the choice of samples

    def __init__(self, keys: dict[str, str] | None = None, rows: Rows = None) -> None:
        self.keys, self.rows = dict(keys or {}), rows

    def with_key(self, name: str, text: str) -> Reshape:
        return Reshape({**self.keys, name: text}, self.rows)

    @property
    def last(self) -> int:
        """Returns the position in ORDER of the last key, or -1 if there are no keys."""
        return max((self.ORDER[name] for name in self.keys), default=-1)


class DatasetParts:
    """Base class of Dataset, with a source of samples, the numbers of the chosen rows, operations on batches, and keys of [data.NAME]."""

    def __init__(self, source: Any, rows: Rows = None, operations: Sequence[Operation] = (), keys: dict[str, str] | None = None,
                 encoding: str = "utf-8", reshape: Reshape | None = None) -> None:
        self._source = source
        self._rows = rows
        self._reshape = reshape or Reshape()  # applied first: `rows` numbers the samples that these keys make
        self._operations = tuple(operations)
        self._keys = dict(keys or {})
        self._encoding = encoding  # encoding of strings

    def _new(self, **parts: Any) -> Dataset:
        raise NotImplementedError  # Dataset overrides it

    def _pipeline(self, times: int | None) -> DatasetPipeline:
        raise NotImplementedError  # Dataset overrides it

    def _with(self, **changes: Any) -> Dataset:
        return self._new(**{"source": self._source, "rows": self._rows, "operations": self._operations, "keys": self._keys,
                            "encoding": self._encoding, "reshape": self._reshape, **changes})

    def _of_source(self, source: Any) -> Dataset:
        """Returns a Dataset of all samples of `source`, with this Dataset's keys for shuffling and reading."""
        return self._new(source=source, keys={key: text for key, text in self._keys.items() if key in _READING_KEYS})

    def _unshuffled(self) -> Dataset:
        return self._with(keys={key: text for key, text in self._keys.items() if key not in ("shuffle", "shuffle_seed")})

    def _and_then(self, operation: Operation) -> Dataset:
        return self._with(operations=(*self._operations, operation))

    def _require_not_drawn(self, method: str) -> None:
        if "draw_by_weight" in self._reshape.keys:
            raise ValueError(f"{method} after draw_by_weight() is not possible, because samples are drawn in each epoch: call it before")

    def _row_numbers(self) -> Any:
        return numbers_of(self._rows)

    def options(self, **keys: Any) -> Dataset:
        """Sets keys of the config's section [data.NAME], for example options(cast='x: f32', block=1024, memory='4 GiB'). Raises ValueError for a
        key that another method sets. Reading the dataset raises ValueError for unknown keys and invalid values."""
        others = sorted(_SET_BY_METHODS & set(keys))
        if others:
            raise ValueError(f"options({others[0]}=...) is not supported: use the method that sets this key: read_...(), filter(), filter(expr=...), limit(), "
                             f"split(), random_shuffle(), explode(), window(), pack(), draw_by_weight(), and DataConfig(datasets_to_split=...)")
        return self._with(keys={**self._keys, **checked_keys(keys)})

    def __getstate__(self) -> dict[str, Any]:
        """Calls the functions of filter() in the script's process, before the Dataset is pickled."""
        reshape = Reshape(self._reshape.keys, numbers_of(self._reshape.rows))
        return {**self.__dict__, "_rows": self._row_numbers(), "_reshape": reshape}


def numbers_of(rows: Rows) -> Any:
    """Returns the row numbers in `rows`. Calls `rows` if it is a function. `None` means all rows."""
    return rows() if callable(rows) else rows
