"""load_state(), save_state() and save_point(), which save and load the state of a torch training in sharded checkpoints, without pickle."""

from __future__ import annotations

from typing import Any

import torch

from ... import _client
from ..._support import _notes
from .._sessions._report import report
from . import _world
from ._contents import Contents
from ._loader import PreparedDataLoader, running_loaders

_loaded: tuple[Any, Loaded] | None = None  # (run directory, Loaded)


class Loaded(dict):
    """A dict {name: value} with the values of the checkpoint or, in a new run, the arguments of load_state(). bool() returns whether a checkpoint was
    loaded."""

    def __init__(self, contents: Contents) -> None:
        super().__init__(contents.values)
        self.contents = contents
        self.restored = False
        self._state: Any = None

    def __bool__(self) -> bool:
        return self.restored

    def attach(self, ctx: _client.Context) -> None:
        """Adds all tensors and values to the run's State, and loads the last checkpoint into them. Collective."""
        self._state = state = _client.State()
        self.contents.exchange()
        for leaf in self.contents.refresh():
            leaf.add_to(state)
        for name, value in {**self.contents.texts(), **self}.items():
            state[name] = value
        state.before_save(self._refresh)
        self.restored = ctx.restore(state)
        if self.restored:
            self.contents.take({name: state[name] for name in self.contents.texts()})
            self.update({name: state[name] for name in self})
        else:  # the arrays now contain rank 0's values
            for leaf in self.contents.leaves:
                leaf.put_back()

    def change(self, values: dict[str, Any]) -> None:
        """Sets the values in this dict and in the run's State."""
        for name, value in values.items():
            if self._state is not None:
                self._state[name] = value
            self[name] = value

    def _refresh(self) -> None:
        for leaf in self.contents.refresh():
            self._state._replace_array(leaf.key, leaf.array)
        for name, text in self.contents.texts().items():
            self._state[name] = text


def load_state(module: torch.nn.Module, optimizer: Any = None, scheduler: Any = None, *, sums: dict[str, torch.Tensor] | None = None,
               **parts: Any) -> Loaded:
    """Defines the content of the run's checkpoints, and loads the last checkpoint. Collective; call it once, before the training.

    Parameters
    ----------
    module, optimizer, scheduler
        Objects to save and load, of any class. The module may be in DDP or FullyShardedDataParallel, or sharded by fully_shard().
    sums : dict, optional
        {name: tensor}. The checkpoint stores the sum of the tensors over all ranks, for example of losses since the last report.
    parts
        Further objects to save and load, by name: modules, optimizers, tensors, and objects with state_dict() and load_state_dict(), such as a
        loader of prepare_data_loader() or a GradScaler. Also initial values by name: bool, int, float or str.

    Returns
    -------
    dict
        {name: value} of the values in `parts`, from the checkpoint if there is one. bool() of the result is True if a checkpoint was loaded.

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import load_state, save_point, save_state
    >>> model = torch.nn.Linear(2, 1)
    >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    >>> at = load_state(model, optimizer, epoch=0)
    >>> for epoch in range(at["epoch"], 2):
    ...     loss = model(torch.ones(4, 2)).square().mean()
    ...     optimizer.zero_grad()
    ...     loss.backward()
    ...     optimizer.step()
    ...     save_point()                                # the run may stop here and lose nothing
    ...     save_state(model, optimizer, epoch=epoch + 1, metrics={"loss": loss.item()})
    >>> at["epoch"]
    2
    """
    global _loaded
    ctx = _world.runtime()
    if _loaded is not None and _loaded[0] == _run(ctx) and ctx is not None:
        raise RuntimeError("load_state() was called a second time in this run: pass everything in one call")
    for part in parts.values():
        if isinstance(part, PreparedDataLoader):
            part.is_in_state = True
    loaded = Loaded(Contents({"model": module, "optimizer": optimizer, "scheduler": scheduler, **parts}, sums))
    if ctx is not None:
        loaded.attach(ctx)
    _loaded = (_run(ctx), loaded)
    return loaded


def save_state(module: torch.nn.Module, optimizer: Any = None, scheduler: Any = None, *, metrics: dict[str, Any] | None = None, **parts: Any) -> None:
    """Ends an iteration: reports the metrics and, if a checkpoint is due, saves all objects of load_state(). Collective.

    Returns when the program may change the objects again; the checkpoint is written in the background.

    Parameters
    ----------
    module, optimizer, scheduler
        As passed to load_state().
    metrics : dict, optional
        Metrics of the iteration, as in trainrt.train.report().
    parts
        Changed values by name. Other objects that were passed to load_state() may be passed again.

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import load_state, save_state
    >>> model = torch.nn.Linear(2, 1)
    >>> at = load_state(model)
    >>> save_state(model, metrics={"loss": 0.5})
    """
    loaded = _loaded[1] if _loaded is not None and _loaded[0] == _run(_world.runtime()) else _loaded_late(module, optimizer, scheduler, parts)
    loaded.change(loaded.contents.checked_values({"model": module, "optimizer": optimizer, "scheduler": scheduler, **parts}))
    loaded.contents.exchange()
    report(metrics or {})


def save_point(**parts: Any) -> None:
    """Marks the end of a step, at which the run may save a checkpoint, stop and later resume. Takes microseconds if no checkpoint is due. Collective.

    Parameters
    ----------
    parts
        Changed values by name, as in save_state(): for example, the number of the next batch in a script without prepare_data_loader().

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import load_state, save_point
    >>> at = load_state(torch.nn.Linear(2, 1), batch=0)
    >>> for batch in range(at["batch"], 3):
    ...     save_point(batch=batch + 1)                 # after a restart, the loop continues with the next batch
    """
    ctx = _world.runtime()
    loaded = _loaded[1] if _loaded is not None and _loaded[0] == _run(ctx) else None
    if parts and loaded is None:
        raise RuntimeError(f"save_point() was given '{next(iter(parts))}', but load_state() has not been called in this run: call it before the training")
    if loaded is not None:
        loaded.change(loaded.contents.checked_values(parts, "save_point"))
    if ctx is not None:
        if loaded is not None:
            _warn_of_loaders()
            loaded.contents.exchange()
        ctx.step()


def _warn_of_loaders() -> None:
    """Prints a warning, once, if a loop over a loader is running whose position is not saved."""
    if any(not loader.is_in_state for loader in running_loaders()):
        _notes.warn("save_point(): load_state() did not get the loader of prepare_data_loader(), so its position is not saved. If the run stops within an "
                    "epoch, the next start repeats the epoch. Pass the loader: load_state(..., data=loader), save_state(..., data=loader)")


def _loaded_late(module: Any, optimizer: Any, scheduler: Any, parts: dict[str, Any]) -> Loaded:
    """Calls load_state() for a program that called only save_state(). Raises RuntimeError if the run already has a checkpoint."""
    loaded = load_state(module, optimizer, scheduler, **parts)
    if loaded:
        raise RuntimeError("save_state() has found a checkpoint of this run that the program has not loaded: call load_state() before the training")
    return loaded


def _run(ctx: Any) -> str | None:
    return ctx.run_dir if ctx is not None else None
