"""Ray Train's functions for PyTorch. A process that trainrt has not started can call them too, and is then the only rank.

    def train_func():
        model = prepare_model(Net())                                       # in DDP on several ranks
        loader = prepare_data_loader(DataLoader(data, batch_size=64, shuffle=True))
        optimizer = torch.optim.AdamW(model.parameters())
        at = load_state(model, optimizer, data=loader, epoch=0)            # the last checkpoint, if there is one
        for epoch in range(at["epoch"], 10):
            for x, y in loader:                                            # after a restart: the rest of the epoch
                ...
                save_point()                                               # the run may stop here and lose nothing
            save_state(model, optimizer, data=loader, epoch=epoch + 1, metrics={"loss": loss.item()})

    TorchTrainer(train_func, scaling_config=ScalingConfig(num_workers=2)).fit()

Ray Train does not have load_state(), save_state() and save_point(). Their checkpoints store tensors by name, without pickle, and can be loaded
on any number of ranks. Ray Train's report() with a directory of files is also supported. Importing this package registers the backend of
torch.distributed.init_process_group("trainrt"). Requires torch 1.13 or later.
"""

from __future__ import annotations

import importlib
from typing import Any

from ..._ray_names import attribute_of
from . import _process_group
from ._amp import accelerate, backward, prepare_optimizer
from ._checkpoint import TorchCheckpoint
from ._exact import NotExact, check_exact
from ._loader import prepare_data_loader
from ._prepare import prepare_model
from ._seeding import enable_reproducibility
from ._state import load_state, save_point, save_state
from ._trainer import TorchConfig, TorchTrainer
from ._transfer import get_device, get_devices

__all__ = ["NotExact", "TorchCheckpoint", "TorchConfig", "TorchTrainer", "accelerate", "backward", "check_exact", "enable_reproducibility",
           "get_device", "get_devices", "load_state", "prepare_data_loader", "prepare_model", "prepare_optimizer", "save_point", "save_state"]

_process_group.register()

_OF_DCP = {"CheckpointReader": "_dcp_reader", "CheckpointWriter": "_dcp_writer"}  # imported on first use: torch.distributed.checkpoint imports slowly


def __getattr__(name: str) -> Any:
    if name not in _OF_DCP:
        return attribute_of("train.torch", name)
    return getattr(_dcp_module(name), name)


def _dcp_module(name: str) -> Any:
    try:
        import torch.distributed.checkpoint.staging  # noqa: F401
    except ImportError:
        import torch
        raise ImportError(f"trainrt.train.torch.{name} needs torch 2.4 or later, and this is {torch.__version__}: use save_state() and "
                          f"load_state()") from None
    return importlib.import_module(f"{__name__}.{_OF_DCP[name]}")
