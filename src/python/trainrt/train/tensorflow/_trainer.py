"""TensorflowTrainer: the train function on every rank, which TF_CONFIG calls a worker."""

import os
from dataclasses import dataclass

from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer


@dataclass
class TensorflowConfig(BackendConfig):
    """Nothing to say: the runtime sets TF_CONFIG."""

    @property
    def backend_cls(self):
        return _TensorflowBackend


class _TensorflowBackend(Backend):
    def on_start(self, worker_group, backend_config):
        if len(worker_group) > 1 and "TF_CONFIG" not in os.environ:
            raise RuntimeError("TF_CONFIG is not set, so that each rank would train alone: it was removed, or program.environments leaves "
                               "out tensorflow")


class TensorflowTrainer(DataParallelTrainer):
    """Ray Train's: `TensorflowTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()`."""

    def __init__(self, train_loop_per_worker, *, tensorflow_config=None, **arguments):
        if tensorflow_config is not None and not isinstance(tensorflow_config, TensorflowConfig):
            raise TypeError(f"tensorflow_config must be a TensorflowConfig, not a {type(tensorflow_config).__name__}: {tensorflow_config!r}")
        super().__init__(train_loop_per_worker, backend_config=tensorflow_config or TensorflowConfig(), **arguments)
