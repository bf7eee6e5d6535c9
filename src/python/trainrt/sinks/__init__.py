"""Programs that send the reports of a run to a tracker. The config names them:

    [metrics]
    sinks = csv, hdf5, progress, wandb
    [sink.wandb]
    program = python3 -m trainrt.sinks.wandb

`wandb`, `comet` and `mlflow` use the libraries of the trackers, which must be installed. A program for another tracker calls serve()."""

from __future__ import annotations

from ._serve import Begin, serve

__all__ = ["Begin", "serve"]
