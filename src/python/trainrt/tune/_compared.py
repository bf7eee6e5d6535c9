"""Compared: the base class of searchers and schedulers."""

from __future__ import annotations

from typing import Any


class Compared:
    """Base class of objects that compare trials by a metric and may have a state."""

    _metric: Any = None
    _mode: Any = None

    @property
    def metric(self) -> Any:
        """Name of the metric."""
        return self._metric

    @property
    def mode(self) -> Any:
        """"min" or "max"."""
        return self._mode

    def save(self, checkpoint_path: str) -> None:
        """Saves the state into a file."""
        raise NotImplementedError(f"{type(self).__name__} does not define save()")

    def restore(self, checkpoint_path: str) -> None:
        """Restores the state from a file of save()."""
        raise NotImplementedError(f"{type(self).__name__} does not define restore()")
