"""load_state() and save_state(): a training in torch in the sharded checkpoints of trainrt, without pickle."""

from ... import _client
from .._sessions._report import report
from . import _world
from ._contents import Contents

_loaded = None  # (the run, its Loaded)


class Loaded(dict):
    """The values of a checkpoint, or, in a new run, those that load_state() was given. True if there was a checkpoint."""

    def __init__(self, contents):
        super().__init__(contents.values)
        self.contents = contents
        self.restored = False
        self._state = None

    def __bool__(self):
        return self.restored

    def attach(self, ctx):
        """Names everything for the runtime, and fills it from the last checkpoint. Collective."""
        self._state = state = _client.State()
        self.contents.meet()
        for leaf in self.contents.refresh():
            leaf.add_to(state)
        for name, value in {**self.contents.texts(), **self}.items():
            state[name] = value
        state.before_save(self._bring_up_to_date)
        self.restored = ctx.restore(state)
        if self.restored:
            self.contents.take({name: state[name] for name in self.contents.texts()})
            self.update({name: state[name] for name in self})
        else:  # rank 0's count
            for leaf in self.contents.leaves:
                leaf.put_back()

    def change(self, values):
        for name, value in values.items():
            if self._state is not None:
                self._state[name] = value
            self[name] = value

    def _bring_up_to_date(self):
        for leaf in self.contents.refresh():
            self._state._replace_array(leaf.key, leaf.array)
        for name, text in self.contents.texts().items():
            self._state[name] = text


def load_state(module, optimizer=None, scheduler=None, *, sums=None, **parts):
    """Says what the checkpoints of this run hold, and loads the last one, if there is one: module, optimizer and scheduler in place. Once, before
    training begins, on all ranks.

        at = load_state(model, optimizer, scheduler, data=loader, epoch=0)      # `if at:` it was restored
        for epoch in range(at["epoch"], 10):
            for x, y in loader:                                                  # behind the batches that were seen
                ...
                save_point()                                                     # here the run may stop, and lose nothing
            save_state(model, optimizer, scheduler, data=loader, epoch=epoch + 1, metrics={"loss": loss})

    parts: what else belongs to the training, by name: further modules and optimizers, anything with state_dict() and load_state_dict() of numbers
    and texts (a loader of prepare_data_loader(), a GradScaler), tensors, and values (bool, int, float, str) with which a new run begins.
    sums: {name: tensor}, this rank's part of a sum over all ranks, of losses since the last report, say.
    """
    global _loaded
    ctx = _world.runtime()
    if _loaded is not None and _loaded[0] == _run(ctx) and ctx is not None:
        raise RuntimeError("load_state() was called a second time in this run: name everything in one call")
    loaded = Loaded(Contents({"model": module, "optimizer": optimizer, "scheduler": scheduler, **parts}, sums))
    if ctx is not None:
        loaded.attach(ctx)
    _loaded = (_run(ctx), loaded)
    return loaded


def save_state(module, optimizer=None, scheduler=None, *, metrics=None, **parts):
    """The end of an iteration: reports its metrics as trainrt.train.report() does, and a checkpoint is taken of all that load_state() was given, if one is due
    (checkpoint.every: at each report). Returns when everything may change again; the checkpoint is written meanwhile. Values that
    have changed are given by name. Collective."""
    loaded = _loaded[1] if _loaded is not None and _loaded[0] == _run(_world.runtime()) else _begun(module, optimizer, scheduler, parts)
    loaded.change(loaded.contents.is_of({"model": module, "optimizer": optimizer, "scheduler": scheduler, **parts}))
    loaded.contents.meet()
    report(metrics or {})


def save_point():
    """A step is complete: here the run may stop, and it goes on from here when it is started again. Costs some microseconds; takes no
    checkpoint unless one is due. Collective."""
    ctx = _world.runtime()
    if ctx is not None:
        if _loaded is not None and _loaded[0] == _run(ctx):
            _loaded[1].contents.meet()
        ctx.step()


def _begun(module, optimizer, scheduler, parts):
    loaded = load_state(module, optimizer, scheduler, **parts)
    if loaded:
        raise RuntimeError("save_state() has found a checkpoint of this run, which the program has not loaded: call load_state() before training begins")
    return loaded


def _run(ctx):
    return ctx.run_dir if ctx is not None else None
