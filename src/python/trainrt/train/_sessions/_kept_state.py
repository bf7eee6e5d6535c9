"""What the checkpoints of a run hold of frameworks other than torch: leaves, and values; one for each run."""

from ... import _client
from . import _session
from ._report import report

_VALUES = (bool, int, float, str)
_kept = None  # (the run, its KeptState)


class KeptState(dict):
    """The values: of a checkpoint, or, in a new run, those that load_state() was given. True if there was a checkpoint."""

    def __init__(self, leaves, values):
        super().__init__(values)
        self.restored = False
        self._names = set(values)
        self._leaves, self._before_save = leaves, []
        self._state = None

    def before_save(self, function):
        """It is called before each checkpoint is taken, to bring up to date what it holds."""
        self._before_save.append(function)

    def __bool__(self):
        return self.restored

    def attach(self, ctx):
        """Names everything for the runtime, and fills it from the last checkpoint; in a new run with what rank 0 has. Collective."""
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
        for name, value in values.items():
            if name not in self._names:
                raise ValueError(f"the value '{name}' was not given to load_state(): a checkpoint's names are fixed when it is loaded")
            if self._state is not None:
                self._state[name] = value
                value = self._state[name]
            self[name] = value


def checked_values(values):
    """Those of load_state()."""
    for name, value in values.items():
        if not isinstance(value, _VALUES) and not hasattr(value, "item"):
            raise TypeError(f"'{name}' is a {type(value).__name__}, which has no form in a checkpoint here: it must be a bool, an int, a float or a str")
    return values


def runtime():
    """The Context of this rank; None in a process that trainrt did not start."""
    return _session.current().runtime


def keep(kept):
    """load_state(): once in a run, before its first report. Collective."""
    global _kept
    ctx = runtime()
    if current() is not None and ctx is not None:
        raise RuntimeError("load_state() was called a second time in this run: name everything in one call")
    if ctx is not None:
        kept.attach(ctx)
    _kept = (_run(ctx), kept)
    return kept


def current():
    """The KeptState of this run, or None."""
    return _kept[1] if _kept is not None and _kept[0] == _run(runtime()) else None


def of_this_run(caller):
    if current() is None:
        raise RuntimeError(f"{caller}() needs load_state() before: it says what the checkpoints of this run hold, and loads the last one")
    return current()


def save(values, metrics):
    """save_state(): the end of an iteration. Collective."""
    of_this_run("save_state").change(values)
    report(metrics or {})


def step(values=None):
    """save_point(): a step is complete. Collective."""
    if values:
        of_this_run("save_point").change(values)
    ctx = runtime()
    if ctx is not None:
        ctx.step()


def _run(ctx):
    return ctx.run_dir if ctx is not None else None
