"""Ray Train's API over trainrt: in a script of Ray Train, replace the word `ray` by `trainrt`.

    from trainrt import train
    from trainrt.train import RunConfig, ScalingConfig
    from trainrt.train.torch import TorchTrainer

    def train_func(config):
        ...
        train.report({"loss": loss}, checkpoint=train.Checkpoint.from_directory(folder))

    if __name__ == "__main__":
        TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

`python3 train.py` launches the ranks; `srun trainrt -- python3 train.py` runs the complete script on every rank.
"""

import importlib

from .._ray_names import attribute_of
from . import collective
from ._config._checkpoint import CheckpointConfig
from ._config._data import DataConfig
from ._config._failure import FailureConfig
from ._config._logging import LoggingConfig
from ._config._run import RunConfig
from ._config._scaling import ScalingConfig
from ._config._sync import SyncConfig
from ._results._checkpoint import Checkpoint
from ._results._result import Result
from ._sessions._callbacks import Callback, UserCallback
from ._sessions._context import StorageContext, TrainContext, get_context
from ._sessions._report import get_all_reported_checkpoints, get_checkpoint, get_dataset_shard, report
from ._sessions._reported_checkpoint import (
    CheckpointConsistencyMode,
    CheckpointUploadMode,
    ReportedCheckpoint,
    ReportedCheckpointStatus,
)
from ._sessions._validation import ValidationConfig, ValidationTaskConfig
from ._v1._callbacks import JsonLoggerCallback, TrainingCallback
from ._v1._functions import load_checkpoint, local_rank, save_checkpoint, world_rank, world_size
from ._v1._trainer import CheckpointStrategy, Trainer, TrainingIterator
from .backend import Backend, BackendConfig
from .data_parallel_trainer import DataParallelTrainer
from .errors import ControllerError, RunStopped, TrainingFailedError, WorkerGroupError

__all__ = ["Backend", "BackendConfig", "Callback", "Checkpoint", "CheckpointConfig", "CheckpointConsistencyMode", "CheckpointStrategy",
           "CheckpointUploadMode", "ControllerError", "DataConfig", "DataParallelTrainer", "FailureConfig", "JsonLoggerCallback",
           "LoggingConfig", "ReportedCheckpoint", "ReportedCheckpointStatus", "Result", "RunConfig", "RunStopped", "ScalingConfig",
           "StorageContext", "SyncConfig", "TRAIN_DATASET_KEY", "TrainContext", "Trainer", "TrainingCallback", "TrainingFailedError",
           "TrainingIterator", "UserCallback", "ValidationConfig", "ValidationTaskConfig", "WorkerGroupError", "collective",
           "get_all_reported_checkpoints", "get_checkpoint", "get_context", "get_dataset_shard", "load_checkpoint", "local_rank", "report",
           "save_checkpoint", "world_rank", "world_size"]

TRAIN_DATASET_KEY = "train"  # name of the dataset that a trainer reads when only one is given
# Modules that are imported at their first use.
_MODULES = ("base_trainer", "horovod", "huggingface", "jax", "keras", "lightgbm", "lightning", "tensorflow", "torch", "trainer", "xgboost")


def __getattr__(name):
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    return attribute_of("train", name)
