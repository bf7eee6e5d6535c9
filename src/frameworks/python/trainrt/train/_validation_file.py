"""validation.json of a checkpoint: what its validation has found. It appears as a whole, once."""

import json
import math
import os

NAME = "validation.json"
_FORMAT = {"format": "trainrt validation", "version": 1}


def write(checkpoint, metrics, error=None):
    """`metrics`: numbers, texts and truth values by name. False if the checkpoint has gone meanwhile."""
    plain = {name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in metrics.items()}
    aside = os.path.join(checkpoint, f".{NAME}.{os.getpid()}")
    try:
        with open(aside, "w", encoding="utf-8") as file:
            json.dump({**_FORMAT, "metrics": plain, "error": error}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, os.path.join(checkpoint, NAME))
    except FileNotFoundError:
        return False
    _sync(checkpoint)
    return True


def _sync(folder):
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read(checkpoint):
    """The metrics that were found, {} of a validation that failed; None if there is none yet, or one that is damaged, to be done again."""
    try:
        with open(os.path.join(checkpoint, NAME), encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError):
        return None
    if not isinstance(found, dict) or any(found.get(key) != value for key, value in _FORMAT.items()) or not isinstance(found.get("metrics"), dict):
        return None
    return {name: math.nan if value is None else value for name, value in found["metrics"].items()}
