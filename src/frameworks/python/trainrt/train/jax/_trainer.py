"""JaxTrainer: the train function on every rank, within jax.distributed."""

import os
from dataclasses import dataclass

from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer


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
            _jax().distributed.initialize(os.environ["JAX_COORDINATOR_ADDRESS"], len(worker_group), worker_group.rank)

    def on_shutdown(self, worker_group, backend_config):
        if len(worker_group) > 1:
            _jax().distributed.shutdown()


class JaxTrainer(DataParallelTrainer):
    """Ray Train's: `JaxTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()`."""

    def __init__(self, train_loop_per_worker, *, jax_config=None, **arguments):
        if jax_config is not None and not isinstance(jax_config, JaxConfig):
            raise TypeError(f"jax_config must be a JaxConfig, not a {type(jax_config).__name__}: {jax_config!r}")
        _jax()
        super().__init__(train_loop_per_worker, backend_config=jax_config or JaxConfig(), **arguments)
