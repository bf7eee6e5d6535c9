"""trainrt for training programs in Python: `[train] program = python3 train.py` in the config, and in train.py

    import numpy, trainrt

    ctx = trainrt.context()                          # once, early; it connects the program with its rank
    weights = numpy.zeros(8, numpy.float32)

    state = trainrt.State()                          # names all that a checkpoint holds
    state.tensor("weights", weights)                 # NumPy, array.array, or torch: filled in place by restore()
    state["epoch"] = state["batch"] = 0
    ctx.restore(state)                               # loads the last checkpoint, if there is one

    while state["epoch"] < ctx.config("epochs", 10):
        while state["batch"] < 100:                  # after a restart: from where it was
            ...                                      # the gradient of this rank's batch, seeded by ctx.step_seed
            ctx.all_reduce(gradient, "mean")
            ...                                      # the update, in place
            state["batch"] += 1
            ctx.step()                               # the state is consistent: here the run may stop, and lose nothing
        state["batch"] = 0
        state["epoch"] += 1                          # the state is complete before it is reported
        ctx.report({"loss": loss})                   # mean over the ranks; a checkpoint if one is due

restore(), step(), report(), stop_point(), save(), all_reduce(), broadcast(), all_gather() and barrier() are collective: every
rank calls them in the same order. When the run stops (a signal, the end of the job's time), the call takes the checkpoint and
raises Stop: let it pass. An exception that nobody catches ends the run on all ranks, with its traceback in error.txt.

Needs Python 3.9 on Linux, and nothing else: NumPy and torch are recognised by what their arrays offer.
"""

import importlib
from typing import Any

from ._client import Context, Number, State, Stop, context, ratio
from ._cluster import available_resources, cluster_resources, init, is_initialized, shutdown
from ._version import __version__

__all__ = ["Context", "Number", "State", "Stop", "__version__", "available_resources", "cluster_resources", "context", "init", "is_initialized",
           "ratio", "shutdown"]


def _open_shard(ctx: Context, *arguments: Any) -> Any:
    from .data._shards import open_shard  # needs NumPy
    return open_shard(ctx, *arguments)


Context._open_shard = _open_shard
_MODULES = ("air", "data", "train", "tune")  # imported when they are asked for


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
