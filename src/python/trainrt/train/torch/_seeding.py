"""Random numbers that follow from where the training stands, so that they need no storing."""

import os
import random
import sys

import torch

from . import _world


def enable_reproducibility(seed=0):
    """Seeds torch, Python and NumPy, and lets torch use deterministic algorithms only: an operation that has none raises an error. Loaders of
    prepare_data_loader() derive their orders and their workers' seeds from `seed` from now on, in place of run.seed."""
    _world.choose_seed(seed)
    seed_all(seed)
    torch.use_deterministic_algorithms(True)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"


def seed_all(seed):
    """torch on all devices, Python, and NumPy if the program uses it."""
    torch.manual_seed(seed)
    random.seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(seed % 2**32)
