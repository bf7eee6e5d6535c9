"""Backends of the Trainer of Ray Train 1.x."""

from ..backend import BackendConfig


def backend_config(backend):
    """Returns the config of the backend with that name; a BackendConfig unchanged. Raises ValueError for other values."""
    if isinstance(backend, BackendConfig):
        return backend
    if backend == "torch":
        from ..torch import TorchConfig
        return TorchConfig()
    if backend == "tensorflow":
        from ..tensorflow import TensorflowConfig
        return TensorflowConfig()
    if backend == "horovod":
        from ..horovod import HorovodConfig
        return HorovodConfig()
    raise ValueError(f"Trainer(backend={backend!r}): it must be 'torch', 'tensorflow', 'horovod' or a BackendConfig")
