"""Helpers of the functions for trackers such as MLflow: the run of this process, and an object for ranks that do not log."""

from __future__ import annotations

from typing import Any

from ...train._sessions import _current


def session_of_run() -> Any:
    """Returns the session of the run of this process, or `None` if trainrt has not started this process and no train function runs in it."""
    return _current.session() if _current.is_rank_program() or _current.is_running() else None


def is_silent(rank_zero_only: bool) -> bool:
    """Returns whether this rank does not log."""
    session = session_of_run()
    return rank_zero_only and session is not None and session.world_rank != 0


class NoTracker:
    """Replaces a tracker on ranks that do not log. All attributes and results of calls are NoTracker objects, too, and it may be used in a `with`."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return NoTracker()

    def __call__(self, *arguments: Any, **options: Any) -> NoTracker:
        return NoTracker()

    def __enter__(self) -> NoTracker:
        return self

    def __exit__(self, *error: Any) -> None:
        pass
