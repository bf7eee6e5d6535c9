"""`Trainer.restore()`: makes a Trainer that continues the run in a directory."""

import os
from dataclasses import fields, replace

from .._config import _paths
from .._config._run import RunConfig
from .._config._scaling import ScalingConfig
from .._results import _run_directory, _trainer_record
from . import _named_function


def can_restore(path):
    """Returns whether `path` is a run directory."""
    return _run_directory.run_record(_absolute(path)) is not None


def restored(kind, path, function, config, arguments):
    """Returns a Trainer of class `kind` for the run in `path`.

    `function`, `config` and `arguments` replace the recorded ones, if they are given. Raises ValueError if `path` is not a run directory, or an argument is
    needed that the record lacks.
    """
    run_dir = _absolute(path)
    if not can_restore(run_dir):
        raise ValueError(f"{kind.__name__}.restore({run_dir!r}): no run found{_run_directory.similar_run(run_dir)}; give a run "
                         "directory, storage_path/name")
    record = _trainer_record.read(run_dir)
    given = arguments.pop("run_config", None) or RunConfig()
    run_config = replace(given, stop=given.stop if given.stop is not None else _recorded_stop(run_dir), name=os.path.basename(run_dir),
                         storage_path=_paths.ExpandedPath(os.path.dirname(run_dir)))
    given = {"scaling_config": _recorded_scaling(record), "metadata": record.get("metadata") or None}
    given.update((name, value) for name, value in arguments.items() if value is not None)
    trainer = kind(function or _recorded_function(kind, run_dir, record), run_config=run_config,
                   train_loop_config=config if config is not None else _recorded_config(kind, run_dir, record), **given)
    trainer._config_is_unknown = trainer.train_loop_config is None
    return trainer


def _absolute(path):
    text = os.fspath(path)
    return os.path.abspath(os.path.expanduser(text[len("file://"):] if text.startswith("file://") else text))


def _recorded_config(kind, run_dir, record):
    config, reason = _trainer_record.config_in(record)
    if reason is not None:
        raise ValueError(f"{kind.__name__}.restore({run_dir!r}): the train_loop_config is not in the run's record: {reason}. Give it again: "
                         f"restore(..., train_loop_config=...)")
    return config


def _recorded_stop(run_dir):
    """Returns the stop rules of the run as RunConfig takes them: those with >=, or `None`."""
    rules = {key[len("stop."):]: text[3:] for key, text in _run_directory.stop_rules(run_dir).items() if text.startswith(">= ")}
    return {name: int(number) if number.lstrip("-").isdigit() else float(number) for name, number in rules.items()} or None


def _recorded_scaling(record):
    recorded = record.get("scaling_config")
    if not recorded:
        return None
    known = {each.name for each in fields(ScalingConfig)}
    return ScalingConfig(**{name: value for name, value in recorded.items() if name in known})


def _recorded_function(kind, run_dir, record):
    """Returns the recorded train function. Raises ValueError if the record has no valid code, or this process has not loaded the function."""
    failed, advice = f"{kind.__name__}.restore({run_dir!r}): ", "Give the train function again: restore(..., train_loop_per_worker=...)"
    place = record.get("function")
    module, name = (place.get("module"), place.get("qualname")) if isinstance(place, dict) else (None, None)
    if not isinstance(module, str) or not isinstance(name, str):
        raise ValueError(f"{failed}the run's record has no train function. {advice}")
    reason = _trainer_record.reason_against(record)
    if reason is not None:
        raise ValueError(f"{failed}{run_dir}/trainer.json names the train function {module}.{name}, and is not trusted: {reason}. {advice}")
    found = _named_function.find(module, name, record.get("program"))
    if found is None:
        raise ValueError(f"{failed}the train function {module}.{name} of the run ({record.get('program') or 'without a file'}) is not in this script, nor in "
                         f"a module that it has imported from its own folder. {advice}")
    return found
