"""Seeds the random number generators. Seeds depend on the position in the training; checkpoints do not store generators."""

from __future__ import annotations

import os
import random
import sys

import torch

from . import _world


def enable_reproducibility(seed: int = 0) -> None:
    """Seeds torch, Python and NumPy, and makes torch use only deterministic algorithms. torch operations without a deterministic algorithm raise RuntimeError.

    Parameters
    ----------
    seed : int
        The seed. Loaders of prepare_data_loader() also use it in place of run.seed.

    Examples
    --------
    >>> import torch
    >>> from trainrt.train.torch import enable_reproducibility
    >>> enable_reproducibility(7)
    >>> first = torch.rand(1)
    >>> enable_reproducibility(7)
    >>> bool(first == torch.rand(1))
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    _world.choose_seed(seed)
    seed_all(seed)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"


def seed_all(seed: int) -> None:
    """Seeds torch on all devices, Python, and NumPy if the program has imported it."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
