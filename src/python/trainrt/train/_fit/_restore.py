"""Trainer.restore(path): the run in a directory goes on."""

import os
from dataclasses import fields, replace

from . import _named_function
from .._config import _paths
from .._results import _record, _run_directory
from .._config._run_config import RunConfig
from .._config._scaling_config import ScalingConfig


def _directory(path):
    text = os.fspath(path)
    return os.path.abspath(os.path.expanduser(text[len("file://"):] if text.startswith("file://") else text))


def can_restore(path):
    return _run_directory.run_record(_directory(path)) is not None


def restored(kind, path, function, config, arguments):
    """A `kind` of Trainer for that run."""
    run_dir = _directory(path)
    if not can_restore(run_dir):
        raise ValueError(f"{kind.__name__}.restore({run_dir!r}): no run is there (can_restore() tells); give the directory of a run, "
                         f"storage_path/name")
    record = _record.read(run_dir)
    given = arguments.pop("run_config", None) or RunConfig()
    run_config = replace(given, stop=given.stop if given.stop is not None else _stop(run_dir), name=os.path.basename(run_dir), storage_path=_paths.Written(os.path.dirname(run_dir)))
    given = {"scaling_config": _scaling(record), "metadata": record.get("metadata") or None}
    given.update((name, value) for name, value in arguments.items() if value is not None)
    trainer = kind(function or _recorded_function(kind, run_dir, record), run_config=run_config,
                   train_loop_config=config if config is not None else _recorded_config(kind, run_dir, record), **given)
    trainer._config_is_unknown = trainer.train_loop_config is None
    return trainer


def _recorded_config(kind, run_dir, record):
    config, reason = _record.config_in(record)
    if reason is not None:
        raise ValueError(f"{kind.__name__}.restore({run_dir!r}, train_loop_config=...): give the train_loop_config again: {reason}")
    return config


def _stop(run_dir):
    """As the run had it, if a RunConfig can say it."""
    rules = {key[len("stop."):]: text[3:] for key, text in _run_directory.stop_rules(run_dir).items() if text.startswith(">= ")}
    return {name: int(number) if number.lstrip("-").isdigit() else float(number) for name, number in rules.items()} or None


def _scaling(record):
    recorded = record.get("scaling_config")
    if not recorded:
        return None
    known = {each.name for each in fields(ScalingConfig)}
    return ScalingConfig(**{name: value for name, value in recorded.items() if name in known})


def _recorded_function(kind, run_dir, record):
    """The train function that the record names, if this user's processes wrote it; nothing is imported to find it."""
    again = f"{kind.__name__}.restore({run_dir!r}, train_loop_per_worker=...): give the train function again"
    place = record.get("function")
    module, name = (place.get("module"), place.get("qualname")) if isinstance(place, dict) else (None, None)
    if not isinstance(module, str) or not isinstance(name, str):
        raise ValueError(f"{again}; the run does not say which it was")
    reason = _record.reason_against(record)
    if reason is not None:
        raise ValueError(f"{again}. {run_dir}/trainer.json names {module}.{name}, and code that a directory names is not run: {reason}")
    found = _named_function.find(module, name, record.get("program"))
    if found is None:
        raise ValueError(f"{again}. That of the run, {module}.{name} ({record.get('program') or 'in no file'}), is neither in this script nor in a "
                         f"module that it has imported from its own folder")
    return found
