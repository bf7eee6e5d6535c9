"""What makes other samples of a Dataset's. All but flat_map are keys of [data.NAME]: the runtime makes the samples as it reads them."""

from ._columns import rows_of, stacked
from ._operations import Call
from ._sources import MadeSource
from ._whole_number import whole_number

_PLACES = {"explode": 0, "sequence": 1, "pack": 2, "draw_by_weight": 4}  # in which the runtime applies them
_PLACE_OF_ROWS = 3
_OF_READING = ("shuffle", "shuffle_seed", "memory", "threads", "block", "window", "read")


class Made:
    """The keys of such operations, in their order, and which rows they start from."""

    def __init__(self, keys=None, rows=None):
        self.keys, self.rows = dict(keys or {}), rows

    def with_key(self, name, text):
        return Made({**self.keys, name: text}, self.rows)

    @property
    def last(self):
        return max((_PLACES[name] for name in self.keys), default=-1)

    def is_drawn(self):
        return "draw_by_weight" in self.keys


class MakesSamples:
    """The methods of Dataset."""

    def flat_map(self, fn, *, fn_args=None, fn_kwargs=None, fn_constructor_args=None, fn_constructor_kwargs=None, concurrency=None, **resources):
        """fn(row) -> rows, a list of dicts: any number of samples of each. All are made once, before the first of them is used, where the
        script runs, and written where the ranks read them."""
        from ._dataset import _check_resources
        del concurrency
        _check_resources("flat_map", resources)
        call = Call("flat_map", fn, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        return self._made_here("flat_map()", lambda rows: (made for row in rows for made in _several(call(row), call.name)), call.name)

    def explode(self, column):
        """One sample for each element of the lists in a column; the others are repeated."""
        return self._and_make("explode", _word("explode", column))

    def pack(self, column, length, separator=None):
        """The values of a column of lists, documents of tokens say, one behind the other, with `separator` after each, cut into samples of
        `length` values: the only column then."""
        between = "" if separator is None else f" separator={whole_number('pack(separator=...)', separator)}"
        return self._and_make("pack", f"{_word('pack', column)} {whole_number('pack(length=...)', length, 1)}{between}")

    def window(self, length, stride=1, within=None, pad=False):
        """Samples of `length` neighbours: each column gets that axis in front. The next one begins `stride` samples further. within: a
        column; neighbours are those of one value of it, wherever they lie. pad=True: zeros fill up the last ones, and the column
        `count` has how many are none of these; else what fills none is left out."""
        group = "" if within is None else f" within={_word('window', within)}"
        size, step = whole_number("window(length=...)", length, 1), whole_number("window(stride=...)", stride, 1)
        return self._and_make("sequence", f"{size} stride={step}{group}{' pad' if pad else ''}")

    def draw_by_weight(self, column):
        """Each epoch draws as many samples as there are, in proportion to this column, with repetition. Nothing but what changes values
        comes behind it."""
        return self._and_make("draw_by_weight", _word("draw_by_weight", column))

    def join(self, *args, **kwargs):
        """Always raises NotImplementedError: join the tables before the run, with DuckDB or pandas."""
        del args, kwargs
        raise NotImplementedError("Dataset.join() was removed: join the tables before the run, with DuckDB or pandas, and read the joined file "
                                  "(read_parquet(), read_csv(), ...)")

    def _and_make(self, name, text):
        """The runtime has one order of these; what is asked for in another one is made here first."""
        self._require_not_drawn(name)
        place = _PLACES[name]
        rows_come_first = not self._made.keys or self._rows is None or place > _PLACE_OF_ROWS
        base = self if place > self._made.last and rows_come_first and not self._operations else self._settled(f"{name}()")
        if base._made.keys:
            return base._with(made=base._made.with_key(name, text))
        return base._with(made=Made(rows=base._rows).with_key(name, text), rows=None)

    def _require_not_drawn(self, what):
        if self._made.is_drawn():
            raise ValueError(f"{what} behind draw_by_weight(), which says how often each sample of an epoch comes: do it before")

    def _settled(self, what):
        """With what was made of the samples so far as its source: made once, by this process."""
        return self._made_here(what, lambda rows: rows, what)

    def _made_here(self, what, make, name):
        from ._dataset import Dataset, _without_shuffle
        self._require_not_drawn(what)
        if any(operation.is_random for operation in self._operations):
            raise ValueError(f"{what} behind map(random=True), whose samples are others in each epoch: do it before")
        before = self._with(keys=_without_shuffle(self._keys))

        def columns():
            rows = list(make(before.iter_rows()))
            return stacked(rows, name) if rows else {}

        return Dataset(MadeSource(columns, f"{what} of {before!r}"), keys={key: text for key, text in self._keys.items() if key in _OF_READING})


def _word(what, column):
    """The runtime has it between spaces."""
    if not isinstance(column, str) or not column or any(letter.isspace() or letter in ",=" for letter in column):
        raise ValueError(f"{what}({column!r}): the name of a column, without spaces, commas and '='; rename_columns() gives it one")
    return column


def _several(made, what):
    if isinstance(made, dict) or not hasattr(made, "__iter__"):
        raise TypeError(f"{what} returned a {type(made).__name__}; it must be a list of dicts")
    return made
