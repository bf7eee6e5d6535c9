"""ScriptSearch: a searcher that suggests the values of trials in the script."""

from __future__ import annotations

import json
import os
from typing import Any

from ..._support import _new_file, _notes
from ..._support._value_json import NotRecordable, decoded, encoded
from .._nested_values import domains_in, merged
from ..search import Searcher
from ..search._variants import generate_variants

_FOLDER = "suggestions"  # in the directory of the sweep: {trial}.json with the config of each trial; {trial}.ended: the searcher knows the end


class ScriptSearch:
    """Asks a searcher for the config of each trial once, and records it, so that a restarted trial gets the same. Calls must be serialized.

    Parameters
    ----------
    searcher : Searcher
    param_space : dict
        Values that the searcher does not suggest. Domains that are left are drawn.
    path : str
        Directory of the sweep.
    """

    def __init__(self, searcher: Searcher, param_space: dict[str, Any], path: str) -> None:
        self._searcher, self._space, self._path = searcher, param_space, path
        self._ended: set[str] = set()
        self._has_state = True  # the searcher knows the trials of earlier starts of the script
        self.has_finished = False  # the searcher has no further suggestion

    def suggestion(self, trial_id: str) -> bytes | None:
        """Returns the config of the trial as JSON, or `None` if the searcher has no suggestion yet, or no more. Raises TypeError for a value that JSON cannot
        represent."""
        known = _text_of(self._path, trial_id)
        if known is not None:
            return known.encode()
        if self.has_finished:
            return None
        found = self._searcher.suggest(trial_id)
        self.has_finished = isinstance(found, str) and found == Searcher.FINISHED
        if not isinstance(found, dict):
            return None
        config = merged(self._space, found)
        if any(True for _ in domains_in(config)):
            config = next(made for _, made in generate_variants(config))
        return self._recorded(trial_id, config)

    def _recorded(self, trial_id: str, config: dict[str, Any]) -> bytes:
        try:
            text = json.dumps(encoded(config))
        except NotRecordable as error:
            raise TypeError(f"{type(self._searcher).__name__}.suggest({trial_id!r}): {error}, which JSON cannot represent; suggest values such as "
                            f"numbers, strings, lists and dicts, and make the object in the train function") from None
        os.makedirs(os.path.join(self._path, _FOLDER), exist_ok=True)
        _new_file.replace(os.path.join(self._path, _FOLDER), f"{trial_id}.json", lambda file: file.write(text.encode() + b"\n"))
        self._searcher.save_to_dir(self._path)
        return text.encode()

    def restore(self) -> None:
        """Restores the searcher from an earlier start of the script. Must be called first."""
        if not has_suggestions(self._path):
            return
        try:
            self._searcher.restore_from_dir(self._path)
        except (RuntimeError, NotImplementedError):
            self._has_state = False
            _notes.say(f"{type(self._searcher).__name__} has no saved state: it does not know the trials of earlier starts of the script. Define save() and "
                       f"restore() in the searcher")

    # ---- results ----

    def on_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Passes a result to the searcher, unless it is the last result of the trial."""
        if not result.get("done"):
            self._searcher.on_trial_result(trial_id, result)

    def on_end(self, trial_id: str, result: dict[str, Any] | None, error: bool) -> None:
        """Notifies the searcher that a trial has ended, once per trial."""
        if trial_id in self._ended:
            return
        self._ended.add(trial_id)
        self._searcher.on_trial_complete(trial_id, result=result or None, error=error)
        self._searcher.save_to_dir(self._path)
        os.makedirs(os.path.join(self._path, _FOLDER), exist_ok=True)
        _new_file.replace(os.path.join(self._path, _FOLDER), f"{trial_id}.ended", lambda file: file.write(b""))

    def on_earlier_end(self, trial_id: str, result: dict[str, Any] | None, error: bool) -> None:
        """Notifies the restored searcher that a trial of an earlier start of the script has ended, if the searcher does not know this yet."""
        if self._has_state and not os.path.exists(os.path.join(self._path, _FOLDER, f"{trial_id}.ended")):
            self.on_end(trial_id, result, error)


def suggested(path: str, trial_id: str) -> dict[str, Any] | None:
    """Returns the config that a searcher has suggested for a trial of the sweep in `path`, or `None` if there is no suggestion for this trial."""
    text = _text_of(path, trial_id)
    return None if text is None else decoded(json.loads(text))


def has_suggestions(path: str) -> bool:
    """Returns whether a searcher in the script has suggested values for a trial of the sweep in `path`."""
    return os.path.isdir(os.path.join(path, _FOLDER))


def without_unsuggested(path: str, trials: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the trials of the sweep in `path`, without those for which a searcher in the script had no values."""
    if not has_suggestions(path):
        return trials
    return [trial for trial in trials if trial["state"] == "failed" or _text_of(path, trial["trial"]) is not None]


def _text_of(path: str, trial_id: str) -> str | None:
    try:
        with open(os.path.join(path, _FOLDER, f"{trial_id}.json"), encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        return None
