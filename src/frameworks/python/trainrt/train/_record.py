"""trainer.json of a run directory: what the Trainer was made with, as far as JSON can say it. restore() reads it."""

import json
import os
from dataclasses import asdict

from .. import _new_file

_NAME = "trainer.json"


def _json_or_none(value):
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return None
    return value


def _place_of(function):
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return {"module": module, "qualname": name} if module and name else None


def write(run_dir, trainer):
    """All or nothing. Rank 0 does it."""
    scaling = asdict(trainer.scaling_config) if trainer.scaling_config is not None else None
    text = json.dumps({"format": "trainrt trainer 1", "trainer": type(trainer).__name__, "function": _place_of(trainer.train_loop_per_worker),
                       "train_loop_config": _json_or_none(trainer.train_loop_config), "scaling_config": _json_or_none(scaling),
                       "metadata": _json_or_none(trainer.metadata)}, indent=2)
    _new_file.replace(run_dir, _NAME, lambda file: file.write(text.encode() + b"\n"))


def read(run_dir):
    """{} if there is none."""
    try:
        with open(os.path.join(run_dir, _NAME), encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
