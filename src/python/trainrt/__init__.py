"""trainrt for training programs in Python. With `[train] program = python3 train.py` in the config, train.py is:

    import numpy, trainrt

    ctx = trainrt.context()                          # connects the program with its rank
    weights = numpy.zeros(8, numpy.float32)

    state = trainrt.State()                          # names everything that a checkpoint holds
    state.tensor("weights", weights)                 # NumPy, array.array, or torch: filled in place by restore()
    state["epoch"] = state["batch"] = 0
    ctx.restore(state)                               # loads the last checkpoint, if one exists

    while state["epoch"] < ctx.config("epochs", 10):
        while state["batch"] < 100:                  # a restart resumes at the next batch
            ...                                      # the gradient of this rank's batch, seeded by ctx.step_seed
            ctx.all_reduce(gradient, "mean")
            ...                                      # the update, in place
            state["batch"] += 1
            ctx.step()                               # the state is consistent: the run may stop here
        state["batch"] = 0
        state["epoch"] += 1                          # the state must be complete before report()
        ctx.report({"loss": loss})                   # mean over the ranks; saves a checkpoint if one is due

restore(), step(), report(), stop_point(), save(), all_reduce(), broadcast(), all_gather() and barrier() are collective: all
ranks must call them in the same order. When the run stops (a signal, the end of the job's time), the call saves a checkpoint and raises
Stop, which the program must not catch. An uncaught exception ends the run on all ranks, with its traceback in error.txt.

Needs Python 3.9 on Linux. NumPy and torch are optional.
"""

from __future__ import annotations

import importlib
from typing import Any

from . import _ray_names
from ._client import Context, Number, State, Stop, context, ratio
from ._cluster import available_resources, cluster_resources, init, is_initialized, shutdown
from ._version import __version__

__all__ = ["Context", "Number", "State", "Stop", "__version__", "available_resources", "cluster_resources", "context", "init", "is_initialized",
           "ratio", "shutdown"]


def _open_shard(ctx: Context, *arguments: Any) -> Any:
    from .data._shards import open_shard  # needs NumPy
    return open_shard(ctx, *arguments)


Context._open_shard = _open_shard
_ray_names.add_ray_modules()
_MODULES = ("actor", "air", "cloudpickle", "data", "train", "tune")  # imported at their first use


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    return _ray_names.attribute_of("", name)
