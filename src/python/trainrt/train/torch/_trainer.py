"""TorchTrainer and TorchConfig, which run a train function on every rank with torch's process group."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Callable

from ..._client.values import kind_of
from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer
from . import _accelerate_state, _group, _transfer


@dataclass
class TorchConfig(BackendConfig):
    """Configuration of torch's process group in a TorchTrainer.

    Parameters
    ----------
    backend : {"nccl", "gloo", "trainrt"}, optional
        Backend of torch.distributed. Default: nccl on GPUs, gloo on the CPU.
    init_method : {"env", "tcp"}
        Method by which torch connects the ranks, as in torch.distributed.init_process_group().
    timeout_s : int
        Timeout of torch's collectives, in seconds.

    Examples
    --------
    >>> from trainrt.train.torch import TorchConfig
    >>> TorchConfig(backend="gloo").timeout_s
    1800
    """

    backend: str | None = None
    init_method: str = "env"
    timeout_s: int = 1800

    def __post_init__(self) -> None:
        _group.check_method(self.init_method)

    @property
    def backend_cls(self) -> type[Backend]:
        return _TorchBackend


class _TorchBackend(Backend):
    share_cuda_visible_devices = True

    def on_start(self, worker_group, backend_config):
        _group.begin(backend_config.backend, backend_config.init_method, backend_config.timeout_s)

    def on_training_start(self, worker_group, backend_config):
        os.environ["ACCELERATE_TORCH_DEVICE"] = str(_transfer.get_device())
        _accelerate_state.begin()

    def on_shutdown(self, worker_group, backend_config):
        _accelerate_state.end()
        _group.end()


class TorchTrainer(DataParallelTrainer):
    """Trainer that runs a torch train function on every rank, in torch's process group.

    Parameters
    ----------
    train_loop_per_worker : function
        Function that runs on every rank. If it has a parameter, it is called with train_loop_config.
    torch_config : TorchConfig, optional
        Configuration of torch's process group.
    arguments
        Arguments of DataParallelTrainer.

    Examples
    --------
    >>> from trainrt import train
    >>> from trainrt.train.torch import TorchTrainer
    >>> def train_func():
    ...     train.report({"loss": 0.5})
    >>> TorchTrainer(train_func, scaling_config=train.ScalingConfig(num_workers=0)).fit().metrics["loss"]
    0.5
    """

    def __init__(self, train_loop_per_worker: Callable[..., Any], *, torch_config: TorchConfig | None = None, **arguments: Any) -> None:
        if torch_config is not None and not isinstance(torch_config, TorchConfig):
            raise TypeError(f"torch_config must be a TorchConfig, not {kind_of(torch_config)}: {torch_config!r}")
        super().__init__(train_loop_per_worker, backend_config=torch_config or TorchConfig(), **arguments)
