"""AccelerateTrainer of Ray 2.4 to 2.7: a TorchTrainer that applies a configuration of `accelerate config`."""

from ._trainer import AccelerateTrainer

__all__ = ["AccelerateTrainer"]
