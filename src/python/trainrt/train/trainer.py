"""Module of Ray Train that scripts import BaseTrainer from."""

from .base_trainer import BaseTrainer

__all__ = ["BaseTrainer"]
