"""validation.json of a checkpoint: the result of its validation. The file is written once, by an atomic rename."""

import json
import os

from ..._support import _metric_json, _new_file

NAME = "validation.json"
TOO_LONG = "it took longer than timeout_s"  # the error of a validation that exceeded its time limit begins with these words
_FORMAT = {"format": "trainrt validation", "version": 1}


def write(checkpoint, metrics, error=None):
    """Writes the result. `metrics`: numbers, strings and bools by name. Returns False if the checkpoint no longer exists."""
    text = json.dumps({**_FORMAT, "metrics": _metric_json.encoded(metrics), "error": error}, indent=1)
    try:
        _new_file.replace(checkpoint, NAME, lambda file: file.write(text.encode()), may_be_link=False)
    except FileNotFoundError:
        return False
    return True


def read(checkpoint):
    """Returns the metrics; {} if the validation failed. Returns `None` if the file is missing or damaged: the checkpoint must be validated."""
    found = _content(checkpoint)
    return None if found is None else _metric_json.decoded(found["metrics"])


def status(checkpoint):
    """Returns the state of a requested validation, a name of ReportedCheckpointStatus."""
    found = _content(checkpoint)
    if found is None:
        return "PENDING_VALIDATION"
    error = found.get("error")
    if error is None:
        return "VALIDATED"
    return "VALIDATION_TIMEOUT" if str(error).startswith(TOO_LONG) else "VALIDATION_FAILED"


def _content(checkpoint):
    try:
        with open(os.path.join(checkpoint, NAME), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or any(found.get(key) != value for key, value in _FORMAT.items()) or not isinstance(found.get("metrics"), dict):
        return None
    return found
