"""What makes other samples of a Dataset's. All but flat_map are keys of [data.NAME]: the runtime makes the samples as it reads them."""

from ._columns import rows_of, stacked
from ._operations import Call
from ._sources import MadeSource
from ._whole_number import whole_number

_PLACES = {"where": 0, "explode": 1, "join": 2, "sequence": 3, "pack": 4, "draw_by_weight": 6}  # the order in which the runtime applies them
_PLACE_OF_ROWS = 5
_OF_READING = ("shuffle", "shuffle_seed", "memory", "threads", "block", "window", "read")


class Made:
    """The keys of such operations, in their order, and which rows they start from."""

    def __init__(self, keys=None, rows=None, joins=()):
        self.keys, self.rows, self.joins = dict(keys or {}), rows, tuple(joins)

    def with_key(self, name, text, join=None):
        return Made({**self.keys, name: text}, self.rows, (*self.joins, join) if join else self.joins)

    @property
    def last(self):
        return max((_PLACES[name] for name in self.keys), default=-1)

    def is_drawn(self):
        return "draw_by_weight" in self.keys

    def config(self, name_of):
        """name_of(dataset): the section of a joined one."""
        if not self.joins:
            return self.keys
        return {**self.keys, "join": ", ".join(f"{name_of(other)} on {key}{inner}" for other, key, inner in self.joins)}


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

    def _keep_where(self, condition):
        """The samples that meet the condition. Conditions directly after each other become one, since there is one key `where`."""
        if not isinstance(condition, str) or not condition.strip() or "\n" in condition:
            raise ValueError(f"filter(expr={condition!r}): expected a condition in one line, such as \"x > 0 and city == 'Bern'\"")
        before = self._made.keys.get("where")
        if before and self._made.last == _PLACES["where"] and self._rows is None and not self._operations:
            return self._with(made=self._made.with_key("where", f"({before}) and ({condition.strip()})"))
        return self._and_make("where", condition.strip())

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

    def join(self, ds, join_type="inner", num_partitions=None, on=("id",), right_on=None, left_suffix=None, right_suffix=None, **others):
        """The columns of `ds` beside those here, by a column `on` of whole numbers or texts that both have, or several that make a key together;
        in `ds` each key stands once.
        join_type "inner" leaves out the samples without one; with "left_outer" they have NaN, or a text or list of nothing, and columns of whole
        numbers in `ds` are refused; with "strict" such a sample is an error where it is read. num_partitions changes nothing."""
        del num_partitions
        others = sorted(set(others) - {"partition_size_hint", "aggregator_ray_remote_args", "validate_schemas"})
        if others:
            raise TypeError(f"join() got an unexpected argument: {', '.join(others)}")
        if not isinstance(ds, MakesSamples):
            raise TypeError(f"join() takes another Dataset, not a {type(ds).__name__}")
        kind = getattr(join_type, "value", join_type)
        word = {"inner": " inner", "left_outer": " left", "strict": ""}.get(kind)
        if word is None:
            raise ValueError(f"join(join_type={join_type!r}): there are 'inner', 'left_outer', and 'strict', where a sample that matches none is an error; "
                             f"a join has no samples but those of the dataset that it is called of")
        keys = (on,) if isinstance(on, str) else tuple(on)
        if not keys or (right_on is not None and tuple([right_on] if isinstance(right_on, str) else right_on) != keys):
            raise ValueError(f"join(on={on!r}, right_on={right_on!r}): columns of the same names in both; rename_columns() gives them")
        if left_suffix is not None or right_suffix is not None:
            raise ValueError("join(left_suffix=..., right_suffix=...): columns of one name are refused; rename_columns() or drop_columns() before")
        if ds is self:
            raise ValueError("join() of a dataset with itself")
        return self._and_make("join", "", (ds._to_join(), " and ".join(_word("join", key) for key in keys), word))

    def _to_join(self):
        if self._made.is_drawn():
            raise ValueError("join() with a dataset whose samples are drawn by weight: each value stands in one sample")
        whole = self._settled("join()") if self._operations else self
        return whole._with(keys={key: text for key, text in whole._keys.items() if key not in ("shuffle", "shuffle_seed")})

    def _and_make(self, name, text, join=None):
        """The runtime has one order of these; what is asked for in another one is made here first."""
        self._require_not_drawn(name)
        place = _PLACES[name]
        is_next = place > self._made.last or (name == "join" and self._made.last == place)
        rows_come_first = not self._made.keys or self._rows is None or place > _PLACE_OF_ROWS
        base = self if is_next and rows_come_first and not self._operations else self._settled(f"{name}()")
        if base._made.keys:
            return base._with(made=base._made.with_key(name, text, join))
        return base._with(made=Made(rows=base._rows).with_key(name, text, join), rows=None)

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
