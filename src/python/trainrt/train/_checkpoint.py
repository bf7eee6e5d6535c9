"""Module of Ray Train that scripts import Checkpoint from."""

from ._results._checkpoint import Checkpoint

__all__ = ["Checkpoint"]
