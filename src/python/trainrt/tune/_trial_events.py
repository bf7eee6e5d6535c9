"""Events of trials, which rank 0 of a trial sends to the script of the Tuner, and which the script answers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

from .._support._exchange import Exchange
from .._support._exchange_client import ExchangeClient
from .._support._value_json import decoded

_EVENT = "trial event "  # a rank requests a value under this name, followed by an event as JSON
_MAX_WAIT_S = 86400  # maximum time that a trial waits for a suggestion
_PAUSE_S = 0.5  # time between two requests for a suggestion


class EventExchange(Exchange):
    """An Exchange that passes events to a function.

    Parameters
    ----------
    hosts : sequence of str
        Argument of Exchange.
    on_event : function
        Called with each event, a dict, by any thread. Returns the answer: a bool, or JSON. Must not raise an exception.
    """

    def __init__(self, hosts: Sequence[str], on_event: Callable[[dict[str, Any]], bool | bytes]) -> None:
        self._on_event = on_event
        super().__init__(hosts)

    def get(self, name: str) -> bytes | None:
        if not name.startswith(_EVENT):
            return super().get(name)
        answer = self._on_event(json.loads(name[len(_EVENT):]))
        return answer if isinstance(answer, bytes) else b"1" if answer else b"0"


class TrialEvents:
    """The events of one trial. The methods wait for the script, and raise ScriptUnreachable if it cannot be reached."""

    def __init__(self, script: ExchangeClient, trial: str) -> None:
        self._script, self._trial = script, trial

    def started(self, texts: dict[str, str], is_restored: bool) -> None:
        """Sends the start of the trial, with its values {name: text}."""
        self._send(kind="start", texts=texts, is_restored=is_restored)

    def result(self, metrics: dict[str, Any], iteration: int, seconds: float) -> bool:
        """Sends the metrics of a report, before the report is recorded. Returns whether the trial ends with this report."""
        return self._send(kind="result", metrics=metrics, iteration=iteration, seconds=seconds)

    def saved(self) -> None:
        """Notifies the script that the checkpoint of the newest report was committed."""
        self._send(kind="saved")

    def suggest(self) -> bytes | None:
        """Asks the searcher in the script once. Returns the config of the trial as JSON, or another text if the searcher has no suggestion yet."""
        return self._ask(kind="suggest")

    def suggestion(self, ask: Callable[[], bytes | None], stop_point: Callable[[], None]) -> dict[str, Any]:
        """Returns the config that the searcher in the script suggests. Waits about a day for it. Calls `ask()`, which returns the answer of suggest(), and
        `stop_point()`, which ends the trial if the sweep stops, every half second: the same number of times on all ranks. Raises TimeoutError."""
        for _ in range(int(_MAX_WAIT_S / _PAUSE_S)):
            answer = ask()
            if answer is not None and answer.startswith(b"{"):
                return decoded(json.loads(answer))
            stop_point()
            time.sleep(_PAUSE_S)
        raise TimeoutError(f"the searcher of the Tuner has suggested no values for {self._trial} within {_MAX_WAIT_S} s; if it has no more values, suggest() "
                           f"must return Searcher.FINISHED")

    def _send(self, **event: Any) -> bool:
        return self._ask(**event) == b"1"

    def _ask(self, **event: Any) -> bytes | None:
        return self._script.get(_EVENT + json.dumps({"trial": self._trial, **event}))
