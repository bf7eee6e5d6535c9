"""load_state() and save_state() of trees of arrays of JAX."""

import numpy

from .._sessions import _framework_state
from ..._support._host_leaf import HostLeaf
from ._arrays import JaxArray

_VALUES = (bool, int, float, str)


class _Trees:
    """The parts of a checkpoint: trees of arrays as they are now, under the names of their places."""

    def __init__(self, parts):
        self.parts = parts
        self.values, self._form, self._now = {}, {}, {}
        leaves = {name: leaf for part, tree in parts.items() for name, leaf in self._flat(part, tree).items()}
        self._take(leaves)
        self.leaves = [each for name, leaf in leaves.items() for each in self._leaves_of(name, leaf)]

    def refresh(self):
        """Looks at the trees that save_state() and save_point() were given last. Returns the values in them."""
        leaves = {}
        for part, tree in self.parts.items():
            before = self._form[part]
            leaves.update(self._flat(part, tree))
            if self._form[part] != before:
                raise ValueError(f"'{part}' is another tree now than it was in load_state(): {self._form[part]}, and was {before}")
        self._take(leaves)
        return self.values

    def restored(self, values):
        """The parts with what the checkpoint has."""
        import jax
        found = {}
        for part, tree in self.parts.items():
            leaves = [values[name] if name in values else self._now[name] for name in self._flat(part, tree)]
            found[part] = jax.tree_util.tree_unflatten(self._form[part], leaves)
        self.parts = found
        return found

    def _flat(self, part, tree):
        """{name: leaf}; and keeps the form."""
        import jax
        pairs, self._form[part] = jax.tree_util.tree_flatten_with_path(tree)
        found = {}
        for path, leaf in pairs:
            name = "/".join([part, *map(_word, path)])
            found[name if name not in found else f"{name}~{len(found)}"] = leaf
        return found

    def _take(self, leaves):
        self.values = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, _VALUES)}
        self._now = {name: leaf for name, leaf in leaves.items() if name not in self.values}

    def _leaves_of(self, name, leaf):
        import jax

        def put(array):
            self._now[name] = array

        if name in self.values:
            return []
        if isinstance(leaf, jax.Array):
            return JaxArray(name, lambda: self._now[name], put).leaves()
        if isinstance(leaf, (numpy.ndarray, numpy.generic)):
            return [HostLeaf(name, leaf.shape, leaf.dtype, lambda: self._now[name], put)]
        raise TypeError(f"'{name}' is a {type(leaf).__name__}, which has no form in a checkpoint: leaves of a tree must be arrays of JAX or NumPy, bool, int, "
                        f"float or str")


def _word(key):
    """Of one step in a tree: the key of a dict, the number in a list, the name of an attribute."""
    for attribute in ("key", "name", "idx"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute)).replace("/", ".") or "_"
    return str(key).strip(".[]'\"").replace("/", ".") or "_"


def load_state(**parts):
    """Says what the checkpoints of this run hold, and loads the last one, if there is one. Once, before training begins, on all ranks.

        at = load_state(params=params, opt_state=optimizer.init(params), epoch=0)        # `if at:` it was restored
        params, opt_state = at["params"], at["opt_state"]

    parts: trees of arrays (jax.Array, numpy.ndarray, random keys) and of values (bool, int, float, str), by name. It returns them: as the checkpoint has them,
    each array with the sharding that the given one has; in a new run as rank 0 has them. An array that is sharded over the processes is saved by all of them, each its
    shards; any other must be the same on every rank.
    """
    trees = _Trees(parts)
    kept = _framework_state.KeptState(trees.leaves, trees.values)
    kept.trees = trees
    kept.before_save(lambda: kept.change(trees.refresh()))
    _framework_state.keep(kept)
    found = trees.restored(dict(kept))
    kept.clear()
    kept.update(found)
    return kept


def save_state(*, metrics=None, **parts):
    """The end of an iteration: reports its metrics, and a checkpoint is taken of all that load_state() was given, if one is due (checkpoint.every: at each
    report). What has changed is given by name: arrays of JAX are new ones after each step. Returns when they may be donated to the next. Collective."""
    _now(parts, "save_state")
    _framework_state.save({}, metrics)


def save_point(**parts):
    """A step is complete, and this is what has changed: here the run may stop, and it goes on from here when it is started again. Takes no checkpoint unless one is
    due. Collective."""
    if parts:
        _now(parts, "save_point")
    _framework_state.step()


def _now(parts, caller):
    kept = _framework_state.of_this_run(caller)
    for name, part in parts.items():
        if name not in kept.trees.parts:
            raise ValueError(f"{caller}() was given '{name}', which load_state() was not: a checkpoint's names are fixed when it is loaded")
        kept.trees.parts[name] = part
