"""trainer.json of a run directory: what the Trainer was made with, as far as JSON can say it (_value_json). restore() reads it.

It carries a code that only this user's processes can make (_user_key), over all that it holds. Without a valid code restore() takes no
function from it.
"""

import hashlib
import json
import os
import sys
from dataclasses import asdict

from ..._support import _new_file
from ..._support import _notes, _user_key, _value_json

_NAME, _CODE = "trainer.json", "code"
_CONFIG, _WHY_NO_CONFIG = "train_loop_config", "train_loop_config_missing"


def _json_or_none(value):
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return None
    return value


def _place_of(function):
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return {"module": module, "qualname": name} if module and name else None


def program_of(module):
    """The file that the module of that name was loaded from, in this process; None if it has none."""
    path = getattr(sys.modules.get("__main__" if module == "__mp_main__" else module), "__file__", None)
    return os.path.realpath(path) if path else None


def _config_fields(config):
    try:
        return {_CONFIG: _value_json.encoded(config, "train_loop_config")}
    except _value_json.NotRecordable as error:
        _notes.say(f"{error}, which trainer.json cannot hold: Trainer.restore() will need train_loop_config again")
        return {_CONFIG: None, _WHY_NO_CONFIG: str(error)}


def config_in(record):
    """(the train_loop_config, why the record lacks it). The reason is None if it does not."""
    try:
        return _value_json.decoded(record.get(_CONFIG)), record.get(_WHY_NO_CONFIG)
    except (ValueError, ImportError, RecursionError) as error:
        return None, f"that of {_NAME} cannot be read: {error}"


def write(run_dir, trainer):
    """All or nothing. Rank 0 does it."""
    scaling = asdict(trainer.scaling_config) if trainer.scaling_config is not None else None
    place = _place_of(trainer.train_loop_per_worker)
    record = {"format": "trainrt trainer 1", "trainer": type(trainer).__name__, "function": place,
              "program": program_of(place["module"]) if place else None, **_config_fields(trainer.train_loop_config),
              "scaling_config": _json_or_none(scaling), "metadata": _json_or_none(trainer.metadata)}
    record["program_digest"] = _digest_of(record["program"])
    text = json.dumps({**record, _CODE: _user_key.code_of(_signed(record))}, indent=2)
    _new_file.replace(run_dir, _NAME, lambda file: file.write(text.encode() + b"\n"))


def _digest_of(path):
    """Of the file's bytes; None if there is no file."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except (OSError, TypeError):
        return None


def note_changed_code(run_dir, trainer):
    """A line, if the file with the train function has changed since the run was trained."""
    place = _place_of(trainer.train_loop_per_worker)
    program = program_of(place["module"]) if place else None
    record = read(run_dir)
    before, now = record.get("program_digest"), _digest_of(program)
    if before and now and before != now and record.get("program") == program:
        _notes.say(f"warning: {program} has changed since the run in {run_dir} finished, whose results are of the old code; "
                   f"RunConfig(name=...) with another name trains with the new code")


def _signed(record):
    """The bytes that the code is of: the same for the record that is written and for the one that is read."""
    as_read = json.loads(json.dumps({name: value for name, value in record.items() if name != _CODE}))
    return json.dumps(as_read, sort_keys=True).encode()


def read(run_dir):
    """{} if there is none."""
    try:
        with open(os.path.join(run_dir, _NAME), encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def reason_against(record):
    """Why what read() returned is not certain to be from this user's processes; None if it is."""
    try:
        return _user_key.reason_against(record.get(_CODE), _signed(record))
    except RecursionError:
        return "it is nested too deep"
