"""load_state(), save_state() and save_point() for trees of JAX arrays."""

from typing import Any, Optional

import numpy

from ..._client.values import kind_of
from ..._support._host_leaf import HostLeaf
from .._sessions import _framework_state
from ._arrays import JaxArray

__doctest_requires__ = {"*": ["jax"]}
_VALUES = (bool, int, float, str)


def load_state(**parts: Any) -> _framework_state.FrameworkState:
    """Names the state that checkpoints of this run hold, and loads the last checkpoint if there is one. Collective: call it once, before training begins.

    Parameters
    ----------
    **parts
        Trees, by name, of arrays (jax.Array, numpy.ndarray, random keys) and values (bool, int, float, str). If an array is sharded over the processes,
        each process saves its shards. Any other array must be equal on all ranks.

    Returns
    -------
    dict
        The parts, from the checkpoint or, in a new run, from rank 0. Each array has the sharding of the given one. The dict is true if a checkpoint was
        loaded.

    Raises
    ------
    TypeError
        If a leaf of a tree has a type that a checkpoint cannot hold.
    RuntimeError
        If it is called twice in a run.

    Examples
    --------
    >>> import jax.numpy
    >>> from trainrt.train.jax import load_state, save_state
    >>> at = load_state(params={"w": jax.numpy.zeros(2)}, epoch=0)
    >>> for epoch in range(at["epoch"], 2):
    ...     params = {"w": at["params"]["w"] + 1}
    ...     save_state(params=params, epoch=epoch + 1, metrics={"loss": 0.5})
    """
    trees = _Trees(parts)
    state = _framework_state.FrameworkState(trees.leaves, trees.values, trees)
    state.before_save(lambda: state.change(trees.refresh()))
    _framework_state.load(state)
    found = trees.restored(dict(state))
    state.clear()
    state.update(found)
    return state


def save_state(*, metrics: Optional[dict[str, Any]] = None, **parts: Any) -> None:
    """Completes an iteration: reports metrics and, if a checkpoint is due (key checkpoint.every), takes a checkpoint of all parts. Collective.

    The arrays may be donated to the next step after it returns.

    Parameters
    ----------
    metrics : dict, optional
        Metrics to report.
    **parts
        Parts of load_state() that have changed: arrays of JAX are new objects after each step.

    Raises
    ------
    ValueError
        If a name was not passed to load_state(), or a tree has another structure.
    RuntimeError
        If load_state() was not called.

    Examples
    --------
    >>> from trainrt.train.jax import load_state, save_state
    >>> at = load_state(epoch=0)
    >>> save_state(epoch=1, metrics={"loss": 0.5})
    """
    _change(parts, "save_state")
    _framework_state.save({}, metrics)


def save_point(**parts: Any) -> None:
    """Completes a step. The run may stop here, and a restart resumes from here. Takes a checkpoint only if one is due. Collective.

    Parameters
    ----------
    **parts
        Parts of load_state() that have changed.

    Raises
    ------
    ValueError, RuntimeError
        As save_state().

    Examples
    --------
    >>> from trainrt.train.jax import load_state, save_point
    >>> at = load_state(step=0)
    >>> save_point(step=1)
    """
    if parts:
        _change(parts, "save_point")
    _framework_state.step()


def _change(parts, caller):
    state = _framework_state.required(caller)
    for name, part in parts.items():
        if name not in state.source.parts:
            raise ValueError(f"{caller}({name}=...): '{name}' was not passed to load_state(), which fixes the names in checkpoints; load_state() was passed: "
                             f"{', '.join(state.source.parts)}")
        state.source.parts[name] = part


class _Trees:
    """Divides the trees passed to load_state() into arrays, which are leaves of a checkpoint, and values. Both are named by their paths in the trees."""

    def __init__(self, parts):
        self.parts = parts
        self.values, self._structure, self._arrays = {}, {}, {}
        leaves = {name: leaf for part, tree in parts.items() for name, leaf in self._flat(part, tree).items()}
        self._divide(leaves)
        self.leaves = [each for name, leaf in leaves.items() for each in self._checkpoint_leaves(name, leaf)]

    def refresh(self):
        """Updates the leaves with the arrays of the current parts, and returns the values. Raises ValueError if the structure of a tree has changed."""
        leaves = {}
        for part, tree in self.parts.items():
            before = self._structure[part]
            leaves.update(self._flat(part, tree))
            if self._structure[part] != before:
                raise ValueError(f"'{part}' has the structure {self._structure[part]}, and had {before} in load_state(); it must stay the same")
        self._divide(leaves)
        return self.values

    def restored(self, values):
        """Returns the parts, with the restored arrays and `values`."""
        import jax
        found = {}
        for part, tree in self.parts.items():
            leaves = [values[name] if name in values else self._arrays[name] for name in self._flat(part, tree)]
            found[part] = jax.tree_util.tree_unflatten(self._structure[part], leaves)
        self.parts = found
        return found

    def _flat(self, part, tree):
        """Returns the leaves of the tree, as {path: leaf}, and stores the structure of the tree."""
        import jax
        pairs, self._structure[part] = jax.tree_util.tree_flatten_with_path(tree)
        found = {}
        for path, leaf in pairs:
            name = "/".join([part, *map(_path_part, path)])
            found[name if name not in found else f"{name}~{len(found)}"] = leaf
        return found

    def _divide(self, leaves):
        self.values = {name: leaf for name, leaf in leaves.items() if isinstance(leaf, _VALUES)}
        self._arrays = {name: leaf for name, leaf in leaves.items() if name not in self.values}

    def _checkpoint_leaves(self, name, leaf):
        import jax

        def put(array):
            self._arrays[name] = array

        if name in self.values:
            return []
        if isinstance(leaf, jax.Array):
            return JaxArray(name, lambda: self._arrays[name], put).leaves()
        if isinstance(leaf, (numpy.ndarray, numpy.generic)):
            return [HostLeaf(name, leaf.shape, leaf.dtype, lambda: self._arrays[name], put)]
        raise TypeError(f"'{name}' is {kind_of(leaf)}, which a checkpoint cannot hold; leaves of a tree must be arrays of JAX or NumPy, bools, ints, "
                        f"floats or strings")


def _path_part(key):
    """Returns the text of one step of a path in a tree: the key of a dict, the index in a list, or the name of an attribute."""
    for attribute in ("key", "name", "idx"):
        if hasattr(key, attribute):
            return str(getattr(key, attribute)).replace("/", ".") or "_"
    return str(key).strip(".[]'\"").replace("/", ".") or "_"
