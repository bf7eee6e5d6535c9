"""Ray Train's module of this name, for scripts that import from it."""

from ._sessions._train_context import TrainContext, get_context

__all__ = ["TrainContext", "get_context"]
