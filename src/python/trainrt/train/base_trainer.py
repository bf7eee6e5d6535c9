"""Ray Train's module of this name, for scripts that import from it."""

from .data_parallel_trainer import DataParallelTrainer as BaseTrainer
from .errors import TrainingFailedError

__all__ = ["BaseTrainer", "TrainingFailedError"]
