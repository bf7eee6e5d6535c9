"""JaxTrainer: the train function on every rank, within jax.distributed."""

import inspect
import os
from dataclasses import dataclass

from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer

_ADDRESS = "JAX_COORDINATOR_ADDRESS"
_END_S = 10  # the most that a rank waits at its end for others, which may be dead


def _jax():
    try:
        import jax
    except ImportError as error:
        raise ImportError(f"JaxTrainer needs JAX (pip install jax): {error}") from None
    return jax


@dataclass
class JaxConfig(BackendConfig):
    """use_gpu: JAX shall run on GPUs, or say that there are none. There are no TPUs here."""

    use_tpu: bool = False
    use_gpu: bool = False

    def __post_init__(self):
        if self.use_tpu:
            raise ValueError("JaxConfig(use_tpu=True): trainrt starts ranks on CPUs and NVIDIA GPUs only")

    @property
    def backend_cls(self):
        return _JaxBackend


class _JaxBackend(Backend):
    def on_start(self, worker_group, backend_config):
        if backend_config.use_gpu:
            os.environ.setdefault("JAX_PLATFORMS", "cuda")
        if len(worker_group) > 1:
            _begin(_jax(), worker_group.rank, len(worker_group))


def _begin(jax, rank, size):
    """Once in a process: JAX cannot begin a second time, so it stays for a second fit(), and ends with the process."""
    if getattr(jax.distributed, "is_initialized", lambda: False)():
        return
    if _ADDRESS not in os.environ:  # JAX would train one model on each rank
        raise RuntimeError(f"{_ADDRESS} is not set: the launch left JAX out of program.env, which must be auto or name jax")
    wanted = {"cluster_detection_method": "deactivate", "shutdown_timeout_seconds": _END_S}
    known = inspect.signature(jax.distributed.initialize).parameters
    jax.distributed.initialize(os.environ[_ADDRESS], size, rank, **{name: value for name, value in wanted.items() if name in known})


class JaxTrainer(DataParallelTrainer):
    """Ray Train's: `JaxTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()`."""

    def __init__(self, train_loop_per_worker, *, jax_config=None, **arguments):
        if jax_config is not None and not isinstance(jax_config, JaxConfig):
            raise TypeError(f"jax_config must be a JaxConfig, not a {type(jax_config).__name__}: {jax_config!r}")
        _jax()
        super().__init__(train_loop_per_worker, backend_config=jax_config or JaxConfig(), **arguments)
