"""TorchTrainer: the train function on every rank, inside a process group of torch."""

import os
from dataclasses import dataclass
from typing import Optional

from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer
from . import _group, _transfer


@dataclass
class TorchConfig(BackendConfig):
    """backend: nccl on GPUs and gloo on the CPU, unless it is given. init_method: env or tcp. timeout_s: of torch's own collectives."""

    backend: Optional[str] = None
    init_method: str = "env"
    timeout_s: int = 1800

    def __post_init__(self):
        _group.check_method(self.init_method)

    @property
    def backend_cls(self):
        return _TorchBackend


class _TorchBackend(Backend):
    share_cuda_visible_devices = True

    def on_start(self, worker_group, backend_config):
        _group.begin(backend_config.backend, backend_config.init_method, backend_config.timeout_s)

    def on_training_start(self, worker_group, backend_config):
        os.environ["ACCELERATE_TORCH_DEVICE"] = str(_transfer.get_device())

    def on_shutdown(self, worker_group, backend_config):
        _group.end()


class TorchTrainer(DataParallelTrainer):
    """Ray Train's: `TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()`."""

    def __init__(self, train_loop_per_worker, *, torch_config=None, **arguments):
        if torch_config is not None and not isinstance(torch_config, TorchConfig):
            raise TypeError(f"torch_config must be a TorchConfig, not a {type(torch_config).__name__}: {torch_config!r}")
        super().__init__(train_loop_per_worker, backend_config=torch_config or TorchConfig(), **arguments)
