"""Ray Train's API over trainrt: a script of Ray Train runs here when the word `ray` in it becomes `trainrt`.

    from trainrt import train
    from trainrt.train import RunConfig, ScalingConfig
    from trainrt.train.torch import TorchTrainer

    def train_func(config):
        ...
        train.report({"loss": loss}, checkpoint=train.Checkpoint.from_directory(folder))

    if __name__ == "__main__":
        TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

`python3 train.py` starts the ranks; `srun trainrt -- python3 train.py` runs the whole script on every rank.
"""

import importlib

from . import collective
from ._config._callbacks import Callback, UserCallback
from ._results._checkpoint import Checkpoint
from ._config._checkpoint_config import CheckpointConfig
from ._sessions._train_context import StorageContext, TrainContext, get_context
from ._config._data_config import DataConfig
from ._config._failure_config import FailureConfig
from ._sessions._report import (CheckpointConsistencyMode, CheckpointUploadMode, ReportedCheckpoint, get_all_reported_checkpoints, get_checkpoint, get_dataset_shard, report)
from ._results._result import Result
from ._config._run_config import RunConfig
from ._config._scaling_config import ScalingConfig
from ._config._sync_config import SyncConfig
from ._v1._v1_callbacks import JsonLoggerCallback, TrainingCallback
from ._v1._v1_functions import load_checkpoint, local_rank, save_checkpoint, world_rank, world_size
from ._config._validation_config import ValidationConfig, ValidationTaskConfig
from ._v1._v1_trainer import CheckpointStrategy, Trainer, TrainingIterator
from .backend import Backend, BackendConfig
from .data_parallel_trainer import DataParallelTrainer
from .errors import ControllerError, RunStopped, TrainingFailedError, WorkerGroupError

__all__ = ["Backend", "BackendConfig", "Callback", "Checkpoint", "CheckpointConfig", "CheckpointConsistencyMode", "CheckpointStrategy",
           "CheckpointUploadMode", "ControllerError", "DataConfig", "DataParallelTrainer", "FailureConfig", "JsonLoggerCallback",
           "ReportedCheckpoint", "Result", "RunConfig", "RunStopped", "ScalingConfig", "StorageContext", "SyncConfig", "TrainContext", "Trainer",
           "TrainingCallback", "TrainingFailedError", "TrainingIterator", "UserCallback", "ValidationConfig", "ValidationTaskConfig",
           "WorkerGroupError", "collective",
           "get_all_reported_checkpoints", "get_checkpoint", "get_context", "get_dataset_shard", "load_checkpoint", "local_rank", "report",
           "save_checkpoint", "world_rank", "world_size"]

_MODULES = ("horovod", "huggingface", "jax", "keras", "lightgbm", "lightning", "tensorflow", "torch", "xgboost")  # imported when they are asked for


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
