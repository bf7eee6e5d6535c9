"""load_state(), save_state() and save_point(): a training in torch in sharded checkpoints, without pickle."""

from __future__ import annotations

from typing import Any

import torch

from ... import _client
from .._sessions._report import report
from . import _world
from ._contents import Contents

_loaded: tuple[Any, Loaded] | None = None  # (run directory, Loaded)


class Loaded(dict):
    """The values of the checkpoint, or, in a new run, those that load_state() was given. It is true if there was a checkpoint."""

    def __init__(self, contents: Contents) -> None:
        super().__init__(contents.values)
        self.contents = contents
        self.restored = False
        self._state: Any = None

    def __bool__(self) -> bool:
        return self.restored

    def attach(self, ctx: _client.Context) -> None:
        """Adds everything to the run's State, and fills it from the last checkpoint. Collective."""
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
        else:  # the arrays have the values of rank 0
            for leaf in self.contents.leaves:
                leaf.put_back()

    def change(self, values: dict[str, Any]) -> None:
        """Sets values by name."""
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
    """Defines the content of the run's checkpoints, and loads the last one into module, optimizer and scheduler. Collective; once, before the
    training.

    Parameters
    ----------
    module, optimizer, scheduler
        Of any class; also in DDP, FullyShardedDataParallel or fully_shard().
    sums : dict, optional
        {name: tensor}: this rank's parts of sums over all ranks (of losses since the last report, for example).
    parts
        Other parts of the training, by name: modules, optimizers, objects with state_dict() and load_state_dict() (a loader of
        prepare_data_loader(), a GradScaler), tensors, and initial values (bool, int, float, str).

    Returns
    -------
    dict
        The values. It is true if there was a checkpoint.

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
    ...     save_point()                                # the run may stop here without a loss
    ...     save_state(model, optimizer, epoch=epoch + 1, metrics={"loss": loss.item()})
    >>> at["epoch"]
    2
    """
    global _loaded
    ctx = _world.runtime()
    if _loaded is not None and _loaded[0] == _run(ctx) and ctx is not None:
        raise RuntimeError("load_state() was called a second time in this run: pass everything in one call")
    loaded = Loaded(Contents({"model": module, "optimizer": optimizer, "scheduler": scheduler, **parts}, sums))
    if ctx is not None:
        loaded.attach(ctx)
    _loaded = (_run(ctx), loaded)
    return loaded


def save_state(module: torch.nn.Module, optimizer: Any = None, scheduler: Any = None, *, metrics: dict[str, Any] | None = None, **parts: Any) -> None:
    """Ends an iteration: reports its metrics, and takes a checkpoint of everything that load_state() was given, if one is due. Collective.

    It returns when the objects may change again, while the checkpoint is being written.

    Parameters
    ----------
    module, optimizer, scheduler
        As passed to load_state().
    metrics : dict, optional
        As of trainrt.train.report().
    parts
        Values that have changed, by name, and other objects of load_state(), which may be left out.

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


def save_point() -> None:
    """Marks the end of a step: the run may stop here, and resumes here. It takes some microseconds, and no checkpoint unless one is due. Collective.

    Examples
    --------
    >>> from trainrt.train.torch import save_point
    >>> save_point()
    """
    ctx = _world.runtime()
    if ctx is not None:
        if _loaded is not None and _loaded[0] == _run(ctx):
            _loaded[1].contents.exchange()
        ctx.step()


def _loaded_late(module: Any, optimizer: Any, scheduler: Any, parts: dict[str, Any]) -> Loaded:
    """Defines the content of checkpoints in save_state(). Raises RuntimeError if there is a checkpoint."""
    loaded = load_state(module, optimizer, scheduler, **parts)
    if loaded:
        raise RuntimeError("save_state() has found a checkpoint of this run that the program has not loaded: call load_state() before the training")
    return loaded


def _run(ctx: Any) -> str | None:
    return ctx.run_dir if ctx is not None else None
