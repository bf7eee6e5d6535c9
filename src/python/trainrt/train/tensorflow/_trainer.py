"""TensorflowTrainer: runs the train function on every rank, as a worker of TF_CONFIG."""

import os
from dataclasses import dataclass
from typing import Any, Callable, Optional

from ..._client.values import kind_of
from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer


@dataclass
class TensorflowConfig(BackendConfig):
    """Has no options: the runtime sets TF_CONFIG.

    Examples
    --------
    >>> from trainrt.train.tensorflow import TensorflowConfig
    >>> TensorflowConfig()
    TensorflowConfig()
    """

    @property
    def backend_cls(self):
        return _TensorflowBackend


class _TensorflowBackend(Backend):
    def on_start(self, worker_group, backend_config):
        if len(worker_group) > 1 and "TF_CONFIG" not in os.environ:
            raise RuntimeError("the environment variable TF_CONFIG is not set, so each rank would train a separate model. It was removed, or the key "
                               "program.env of the launch excludes TensorFlow; set the key to all, or add tensorflow")


class TensorflowTrainer(DataParallelTrainer):
    """Runs a train function on every rank, as a worker of TensorFlow's MultiWorkerMirroredStrategy.

    Parameters
    ----------
    train_loop_per_worker : callable
        Train function.
    tensorflow_config : TensorflowConfig, optional
    **arguments
        Other arguments of DataParallelTrainer.

    Raises
    ------
    TypeError
        If `tensorflow_config` has the wrong type.

    Examples
    --------
    >>> from trainrt.train import ScalingConfig
    >>> from trainrt.train.tensorflow import TensorflowTrainer
    >>> result = TensorflowTrainer(lambda: None, scaling_config=ScalingConfig(num_workers=0)).fit()
    """

    def __init__(self, train_loop_per_worker: Callable[..., Any], *, tensorflow_config: Optional[TensorflowConfig] = None, **arguments: Any):
        if tensorflow_config is not None and not isinstance(tensorflow_config, TensorflowConfig):
            raise TypeError(f"tensorflow_config={tensorflow_config!r}: it must be a TensorflowConfig, not {kind_of(tensorflow_config)}")
        super().__init__(train_loop_per_worker, backend_config=tensorflow_config or TensorflowConfig(), **arguments)
