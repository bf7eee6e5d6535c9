"""Events of trials, which rank 0 of a trial sends to the script of the Tuner, and which the script answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from .._support._exchange import Exchange
from .._support._exchange_client import ExchangeClient

_EVENT = "trial event "  # before the JSON of an event, in the name of a value


class EventExchange(Exchange):
    """An Exchange that passes events to a function.

    Parameters
    ----------
    hosts : sequence of str
        As of Exchange.
    on_event : function
        Is called with each event, a dict, in threads. Returns the answer. Must not raise.
    """

    def __init__(self, hosts: Sequence[str], on_event: Callable[[dict[str, Any]], bool]) -> None:
        self._on_event = on_event
        super().__init__(hosts)

    def get(self, name: str) -> bytes | None:
        if not name.startswith(_EVENT):
            return super().get(name)
        return b"1" if self._on_event(json.loads(name[len(_EVENT):])) else b"0"


class TrialEvents:
    """The events of one trial. The methods wait for the script, and raise ScriptUnreachable if it cannot be reached."""

    def __init__(self, script: ExchangeClient, trial: str) -> None:
        self._script, self._trial = script, trial

    def started(self, texts: dict[str, str], is_restored: bool) -> None:
        """Sends the start of the trial, with its values {name: text}."""
        self._send(kind="start", texts=texts, is_restored=is_restored)

    def result(self, metrics: dict[str, Any], iteration: int, seconds: float) -> bool:
        """Sends the metrics of a report, before it is recorded. Returns whether a stopper ends the trial with it."""
        return self._send(kind="result", metrics=metrics, iteration=iteration, seconds=seconds)

    def saved(self) -> None:
        """Sends that the newest report has committed a checkpoint."""
        self._send(kind="saved")

    def _send(self, **event: Any) -> bool:
        return self._script.get(_EVENT + json.dumps({"trial": self._trial, **event})) == b"1"
