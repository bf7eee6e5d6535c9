"""Ray Train's module of this name, for scripts that import from it."""

from .base_trainer import BaseTrainer

__all__ = ["BaseTrainer"]
