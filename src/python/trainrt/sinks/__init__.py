"""Programs that metrics.sinks can name, each of which hands a run's reports to a tracker:

    [metrics]
    sinks = csv, hdf5, progress, wandb
    [sink.wandb]
    program = python3 -m trainrt.sinks.wandb

`wandb`, `comet` and `mlflow` use the trackers' own libraries, which must be installed. serve() is there for such a program of one's own."""
from ._serve import Begin, serve

__all__ = ["Begin", "serve"]
