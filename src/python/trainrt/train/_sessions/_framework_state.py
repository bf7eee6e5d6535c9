"""FrameworkState: the state that checkpoints hold for TensorFlow, Keras and JAX, and the common parts of their load_state(), save_state() and
save_point()."""

from ... import _client
from ..._client.values import kind_of
from . import _current
from ._report import report

_VALUES = (bool, int, float, str)
_loaded = None  # run directory and FrameworkState of the last load(), or `None`


class FrameworkState(dict):
    """The values of a training by name, and the leaves (tensors) that a checkpoint holds with them.

    The values are those of the checkpoint or, in a new run, those passed to load_state(). The dict is true if a checkpoint was loaded.

    Parameters: `leaves`, objects with `add_to(state)`, such as HostLeaf; `values`, bools, ints, floats and strings by name; `source`, the framework's
    objects that leaves and values were taken from.
    """

    def __init__(self, leaves, values, source):
        super().__init__(values)
        self.source = source
        self.restored = False
        self._names = set(values)
        self._leaves, self._before_save = leaves, []
        self._state = None

    def __bool__(self):
        return self.restored

    def before_save(self, function):
        """Registers a function that is called before each checkpoint, to update the values and leaves."""
        self._before_save.append(function)

    def attach(self, ctx):
        """Registers values and leaves with the runtime. Loads the last checkpoint; in a new run, copies those of rank 0 to all ranks. Collective."""
        self._state = state = _client.State()
        for leaf in self._leaves:
            leaf.add_to(state)
        for name, value in self.items():
            state[name] = value
        for function in self._before_save:
            state.before_save(function)
        self.restored = ctx.restore(state)
        if self.restored:
            self.update({name: state[name] for name in self})

    def change(self, values):
        """Sets values. Raises ValueError for a name that load_state() was not given."""
        for name, value in values.items():
            if name not in self._names:
                raise ValueError(f"the value '{name}' was not passed to load_state(), which fixes the names in checkpoints; it was passed: "
                                 f"{', '.join(sorted(self._names)) or '(no values)'}")
            if self._state is not None:
                self._state[name] = value
                value = self._state[name]
            self[name] = value


def checked_values(values):
    """Returns `values`. Raises TypeError if a value cannot be saved in a checkpoint."""
    for name, value in values.items():
        if not isinstance(value, _VALUES) and not hasattr(value, "item"):
            raise TypeError(f"'{name}' is {kind_of(value)}, which a checkpoint cannot hold here; it must be a bool, int, float or str")
    return values


def runtime():
    """Returns the Context of this rank, or `None` in a process that trainrt did not start."""
    return _current.session().runtime


def load(state):
    """Implements load_state(): attaches `state` and returns it. Raises RuntimeError at a second call in a run. Collective."""
    global _loaded
    ctx = runtime()
    if loaded() is not None and ctx is not None:
        raise RuntimeError("load_state() was called twice in this run; name everything in one call")
    if ctx is not None:
        state.attach(ctx)
    _loaded = (_run_dir(ctx), state)
    return state


def loaded():
    """Returns the FrameworkState of this run, or `None`."""
    return _loaded[1] if _loaded is not None and _loaded[0] == _run_dir(runtime()) else None


def required(caller):
    """Returns the FrameworkState of this run. Raises RuntimeError, which names `caller`, if load_state() was not called."""
    if loaded() is None:
        raise RuntimeError(f"{caller}(): call load_state() first; it names the values and tensors in checkpoints, and loads the last checkpoint")
    return loaded()


def save(values, metrics):
    """Implements save_state(): sets `values` and reports `metrics`. Collective."""
    required("save_state").change(values)
    report(metrics or {})


def step(values=None):
    """Implements save_point(): sets `values`. The runtime may then save a checkpoint and stop the run. Collective."""
    if values:
        required("save_point").change(values)
    ctx = runtime()
    if ctx is not None:
        ctx.step()


def _run_dir(ctx):
    return ctx.run_dir if ctx is not None else None
