"""JaxTrainer: runs the train function on every rank within jax.distributed."""

import inspect
import os
from dataclasses import dataclass
from typing import Any, Callable, Optional

from ..._client.values import kind_of
from ..backend import Backend, BackendConfig
from ..data_parallel_trainer import DataParallelTrainer

__doctest_requires__ = {"JaxTrainer": ["jax"]}
_ADDRESS = "JAX_COORDINATOR_ADDRESS"
_MAX_SHUTDOWN_S = 10  # how long an exiting rank waits for other ranks, which may have failed


@dataclass
class JaxConfig(BackendConfig):
    """Options of JAX.

    Parameters
    ----------
    use_tpu : bool, default False
        Not supported; True raises ValueError.
    use_gpu : bool, default False
        Whether JAX must run on GPUs; JAX raises an error if it finds no GPU.

    Examples
    --------
    >>> from trainrt.train.jax import JaxConfig
    >>> JaxConfig().use_gpu
    False
    """

    use_tpu: bool = False
    use_gpu: bool = False

    def __post_init__(self):
        if self.use_tpu:
            raise ValueError("JaxConfig(use_tpu=True): TPUs are not supported; leave it out to run on CPUs or NVIDIA GPUs")

    @property
    def backend_cls(self):
        return _JaxBackend


class _JaxBackend(Backend):
    def on_start(self, worker_group, backend_config):
        if backend_config.use_gpu:
            os.environ.setdefault("JAX_PLATFORMS", "cuda")
        if len(worker_group) > 1:
            _initialize(_import_jax(), worker_group.rank, len(worker_group))


class JaxTrainer(DataParallelTrainer):
    """Runs a train function on every rank within jax.distributed.

    Parameters
    ----------
    train_loop_per_worker : callable
        Train function.
    jax_config : JaxConfig, optional
    **arguments
        Other arguments of DataParallelTrainer.

    Raises
    ------
    ImportError
        If JAX is not installed.
    TypeError
        If `jax_config` has the wrong type.

    Examples
    --------
    >>> from trainrt.train import ScalingConfig
    >>> from trainrt.train.jax import JaxTrainer
    >>> result = JaxTrainer(lambda: None, scaling_config=ScalingConfig(num_workers=0)).fit()
    """

    def __init__(self, train_loop_per_worker: Callable[..., Any], *, jax_config: Optional[JaxConfig] = None, **arguments: Any):
        if jax_config is not None and not isinstance(jax_config, JaxConfig):
            raise TypeError(f"jax_config={jax_config!r}: it must be a JaxConfig, not {kind_of(jax_config)}")
        _import_jax()
        super().__init__(train_loop_per_worker, backend_config=jax_config or JaxConfig(), **arguments)


def _import_jax():
    try:
        import jax
    except ImportError as error:
        raise ImportError(f"JaxTrainer needs JAX (pip install jax): {error}") from None
    return jax


def _initialize(jax, rank, size):
    """Initializes jax.distributed, unless an earlier fit() of this process did: JAX cannot be initialized twice. It is shut down when the process exits."""
    if getattr(jax.distributed, "is_initialized", lambda: False)():
        return
    if _ADDRESS not in os.environ:  # without it, JAX would train a separate model on each rank
        raise RuntimeError(f"the environment variable {_ADDRESS} is not set: the key program.env of the launch excludes JAX; set the key to all, or add jax")
    wanted = {"cluster_detection_method": "deactivate", "shutdown_timeout_seconds": _MAX_SHUTDOWN_S}
    known = inspect.signature(jax.distributed.initialize).parameters
    jax.distributed.initialize(os.environ[_ADDRESS], size, rank, **{name: value for name, value in wanted.items() if name in known})
