"""Ray Tune's API: a script of Ray Tune works after the word `ray` in it is replaced with `trainrt`.

    from trainrt import tune

    def train(config):
        for epoch in range(10):
            tune.report({"loss": (config["lr"] - 0.1) ** 2 / (epoch + 1)})

    if __name__ == "__main__":
        tuner = tune.Tuner(train, param_space={"lr": tune.loguniform(1e-4, 1)},
                           tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=20, scheduler=tune.schedulers.ASHAScheduler()))
        print(tuner.fit().get_best_result().config)

`python3 tune.py` runs the trials on this machine; in a Slurm job each trial is a job step. src/tune/README.md describes sweeps.
"""

from .._ray_names import names_of
from ..train import Checkpoint, CheckpointConfig, FailureConfig, Result, RunConfig, SyncConfig, get_checkpoint, get_context, report
from ..train._config._resources import PlacementGroupFactory, resource_dict_to_pg_factory
from . import experiment, logger, schedulers, search, stopper, trainable, utils
from ._analysis import ExperimentAnalysis
from ._callback import Callback
from ._class_trainable import Trainable
from ._experiment import Experiment
from ._registry import register_trainable
from ._reporters import CLIReporter, JupyterNotebookReporter, ProgressReporter
from ._results import ResultGrid
from ._run import run, run_experiments
from ._spaces import (
    choice,
    grid_search,
    lograndint,
    loguniform,
    qlograndint,
    qloguniform,
    qrandint,
    qrandn,
    quniform,
    randint,
    randn,
    sample_from,
    uniform,
)
from ._trainable import with_parameters, with_resources
from ._tune_config import ResumeConfig, TuneConfig
from ._tuner import Tuner
from .error import TuneError
from .schedulers import create_scheduler
from .search import create_searcher
from .stopper import Stopper

__getattr__ = names_of(__name__)
__all__ = ["CLIReporter", "Callback", "Checkpoint", "CheckpointConfig", "Experiment", "ExperimentAnalysis", "FailureConfig",
           "JupyterNotebookReporter", "PlacementGroupFactory", "ProgressReporter", "Result", "ResultGrid", "ResumeConfig",
           "RunConfig", "Stopper", "SyncConfig", "Trainable", "TuneConfig",
           "TuneError", "Tuner", "choice", "create_scheduler", "create_searcher", "experiment", "get_checkpoint", "get_context",
           "grid_search", "logger", "lograndint", "loguniform", "qlograndint", "qloguniform", "qrandint", "qrandn", "quniform", "randint",
           "randn", "register_trainable", "report", "resource_dict_to_pg_factory", "run", "run_experiments", "sample_from", "schedulers", "search", "stopper",
           "trainable", "uniform", "utils", "with_parameters", "with_resources"]
