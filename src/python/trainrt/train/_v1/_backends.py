"""Backends of the Trainer of Ray Train 1.x."""

import importlib

from ..backend import BackendConfig

_CONFIGS = {"torch": "TorchConfig", "tensorflow": "TensorflowConfig", "horovod": "HorovodConfig"}  # {module of trainrt.train: class in it}


def checked_backend(backend):
    """Returns the name of a backend or the BackendConfig unchanged. Raises ValueError for other values. Imports no framework."""
    if isinstance(backend, BackendConfig) or (isinstance(backend, str) and backend in _CONFIGS):
        return backend
    raise ValueError(f"Trainer(backend={backend!r}): it must be 'torch', 'tensorflow', 'horovod' or a BackendConfig")


def backend_config(backend):
    """Returns the config of the backend with that name; a BackendConfig unchanged. Raises ImportError if its framework is not installed."""
    if isinstance(backend, BackendConfig):
        return backend
    return getattr(importlib.import_module(f"..{backend}", __package__), _CONFIGS[backend])()
