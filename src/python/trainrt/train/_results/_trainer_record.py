"""trainer.json of a run directory: the arguments of the Trainer, as far as JSON can hold them. `restore()` reads it.

The record has a code that only processes of this user can compute (`_user_key`), over its complete content. Without a valid code
`restore()` takes from it no function, no options of the RunConfig or the backend, and no mirror.
"""

import hashlib
import json
import os
import sys
from dataclasses import asdict

from ..._support import _new_file, _notes, _this_process, _user_key, _value_json
from . import _run_directory

_NAME, _CODE = "trainer.json", "code"
_CONFIG, _CONFIG_MISSING = "train_loop_config", "train_loop_config_missing"


def write(run_dir, trainer):
    """Writes the record of `trainer`, and params.json, by atomic renames. Only rank 0 calls it."""
    scaling = asdict(trainer.scaling_config) if trainer.scaling_config is not None else None
    function = _function_name(trainer.train_loop_per_worker)
    record = {"format": "trainrt trainer 1", "trainer": type(trainer).__name__, "function": function,
              "program": file_of_module(function["module"]) if function else None, **_config_fields(trainer.train_loop_config),
              "scaling_config": _json_or_none(scaling), "metadata": _json_or_none(trainer.metadata), **trainer.config_record()}
    record["program_digest"] = _file_digest(record["program"])
    record["worker"] = {"attempt": _run_directory.last_attempt(run_dir).get("attempt"), **_this_process.facts()}
    record["earlier_workers"] = _workers_before(run_dir, record["worker"])
    text = json.dumps({**record, _CODE: _user_key.code_of(_signed_bytes(record))}, indent=2)
    _new_file.replace(run_dir, _NAME, lambda file: file.write(text.encode() + b"\n"))
    params = _params_text(trainer.params())
    if params is not None:
        _new_file.replace(run_dir, "params.json", lambda file: file.write(params.encode() + b"\n"))


def read(run_dir):
    """Returns the record, or {} if the file is missing or damaged. Does not verify its authentication code."""
    try:
        with open(os.path.join(run_dir, _NAME), encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) else {}


def workers_in(record):
    """Returns host, address and process ID of rank 0 for each attempt, newest first. `record` is a result of read()."""
    earlier = record.get("earlier_workers")
    return [each for each in (record.get("worker"), *(earlier if isinstance(earlier, list) else ())) if isinstance(each, dict)]


def _workers_before(run_dir, worker):
    """Returns the workers of earlier attempts that the record of this run has, newest first. Returns [] if its authentication code is not valid."""
    before = read(run_dir)
    if not before or reason_against(before) is not None:
        return []
    return [each for each in workers_in(before) if each.get("attempt") != worker["attempt"]]


def config_in(record):
    """Returns (train_loop_config of a record, reason why the record lacks it). The reason is `None` if the record has a config."""
    try:
        return _value_json.decoded(record.get(_CONFIG)), record.get(_CONFIG_MISSING)
    except (ValueError, ImportError, RecursionError) as error:
        return None, f"the config in {_NAME} cannot be read: {error}"


def has_config(record):
    """Returns whether a record states the train_loop_config, which may be `None`."""
    return _CONFIG in record and record.get(_CONFIG_MISSING) is None


def reason_against(record):
    """Returns the reason why the authentication code of a record from read() is not valid; `None` if it is valid."""
    try:
        return _user_key.reason_against(record.get(_CODE), _signed_bytes(record))
    except RecursionError:
        return "its values are nested too deeply"


def file_of_module(module):
    """Returns the real path of the file that this process loaded the module from, or `None` if it has no file."""
    path = getattr(sys.modules.get("__main__" if module == "__mp_main__" else module), "__file__", None)
    return os.path.realpath(path) if path else None


def note_changed_code(run_dir, trainer):
    """Prints a warning if the file with the train function changed after the run finished."""
    function = _function_name(trainer.train_loop_per_worker)
    program = file_of_module(function["module"]) if function else None
    record = read(run_dir)
    before, now = record.get("program_digest"), _file_digest(program)
    if before and now and before != now and record.get("program") == program:
        _notes.warn(f"{program} has changed since the run in {run_dir} finished. The results are those of the old code; to train with the "
                   f"new code, choose another RunConfig(name=...)")


def _function_name(function):
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    return {"module": module, "qualname": name} if module and name else None


def _config_fields(config):
    try:
        return {_CONFIG: _value_json.encoded(config, "train_loop_config")}
    except _value_json.NotRecordable as error:
        _notes.say(f"{error}, which {_NAME} cannot hold. Trainer.restore() will need train_loop_config again")
        return {_CONFIG: None, _CONFIG_MISSING: str(error)}


def _params_text(params):
    """Returns the text of params.json, with repr() for objects that JSON cannot hold. Returns `None` if `params` contains a reference to itself."""
    def as_json(value):
        return value.item() if hasattr(value, "item") and getattr(value, "size", None) == 1 else repr(value)

    try:
        return json.dumps(params, indent=2, default=as_json, skipkeys=True)
    except (ValueError, RecursionError):
        return None


def _json_or_none(value):
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return None
    return value


def _file_digest(path):
    """Returns the SHA-256 digest of a file, or `None` if it cannot be read."""
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except (OSError, TypeError):
        return None


def _signed_bytes(record):
    """Returns the bytes from which the authentication code is computed. They are equal before the record is written and after it is read."""
    as_read = json.loads(json.dumps({name: value for name, value in record.items() if name != _CODE}))
    return json.dumps(as_read, sort_keys=True).encode()
