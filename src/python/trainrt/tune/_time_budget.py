"""The time limit of a sweep."""

from __future__ import annotations

import threading
from typing import Any

from .._support import _notes


class TimeBudget:
    """Stops the sweep after `seconds`; `None`: never."""

    def __init__(self, seconds: Any, processes: Any) -> None:
        self.is_over = False
        self._processes = processes
        self._timer: threading.Timer | None = None
        if seconds:
            self._timer = threading.Timer(seconds, self._stop)
            self._timer.daemon = True
            self._timer.start()

    def _stop(self) -> None:
        self.is_over = True
        _notes.say("TuneConfig(time_budget_s=...) has elapsed: the trials stop and save")
        self._processes.ask_to_stop()

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
