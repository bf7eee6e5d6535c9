"""Module of Ray Train that scripts import BaseTrainer from."""

from .data_parallel_trainer import DataParallelTrainer as BaseTrainer
from .errors import TrainingFailedError

__all__ = ["BaseTrainer", "TrainingFailedError"]
