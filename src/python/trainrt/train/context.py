"""Module of Ray Train that scripts import get_context() from."""

from ._sessions._context import TrainContext, get_context

__all__ = ["TrainContext", "get_context"]
