"""`Trainer.restore()`: makes a Trainer that continues the run in a directory."""

import os
from dataclasses import fields, replace

from ..._support import _notes
from .._config import _config_record, _paths
from .._config._run import RunConfig
from .._config._scaling import ScalingConfig
from .._config._storage import PathInFilesystem
from .._results import _run_directory, _trainer_record
from . import _named_function


def can_restore(path):
    """Returns whether `path` is a run directory."""
    return _run_directory.run_record(_absolute(path)) is not None


def restored(kind, path, function, config, arguments):
    """Returns a Trainer of class `kind` for the run in `path`.

    `function`, `config` and `arguments` replace the recorded ones, if they are given; a RunConfig replaces the options that it has. Prints a note for each
    argument of the run that its record cannot hold. Raises ValueError if `path` is not a run directory, or an argument is needed that the record lacks.
    """
    run_dir = _absolute(path)
    if not can_restore(run_dir):
        raise ValueError(f"{kind.__name__}.restore({run_dir!r}): no run found{_run_directory.similar_run(run_dir)}; give a run "
                         "directory, storage_path/name")
    record = _trainer_record.read(run_dir)
    run_config = arguments.pop("run_config", None) or RunConfig()
    given = {"scaling_config": _recorded_scaling(record), "metadata": record.get("metadata") or None,
             "dataset_config": _config_record.recorded_dataset_config(record)}
    trusted = _trusted_options(kind, run_dir, record)
    passed = {name: value for name, value in arguments.items() if value is not None}
    trainer = kind(function or _recorded_function(kind, run_dir, record), run_config=_restored_run_config(run_dir, run_config, trusted),
                   train_loop_config=config if config is not None else _recorded_config(kind, run_dir, record), **{**given, **passed})
    trainer._config_is_unknown = trainer.train_loop_config is None
    missing = _config_record.missing_arguments(record, passed, run_config)
    if not any(name.endswith("_config") and name not in (*given, "validation_config") for name in passed):  # torch_config=..., for example
        backend_config = _config_record.with_recorded_backend(trainer.backend_config, trusted)
        missing += ["backend_config=..."] if backend_config is None else []
        trainer.backend_config = backend_config or trainer.backend_config
    if isinstance(run_config.storage_path, PathInFilesystem):
        trainer._restored_copies_to = (run_config.storage_filesystem, str(run_config.storage_path))
    trainer._mirror = _recorded_mirror(run_dir, run_config, record, missing)
    for text in missing:
        _notes.say(f"{kind.__name__}.restore({run_dir!r}): the run was started with {text}, which its record cannot hold. If the run needs it, give it again: "
                   f"restore(..., {text})")
    return trainer


def _trusted_options(kind, run_dir, record):
    """Returns the record. If its authentication code is not valid, removes the options that decide how ranks start, and prints a note that names them."""
    reason = _trainer_record.reason_against(record)
    if reason is None:
        return record
    trusted, names = _config_record.without_options(record)
    if names:
        _notes.say(f"{kind.__name__}.restore({run_dir!r}): {run_dir}/trainer.json is not trusted: {reason}. Of its options, num_to_keep, the score and "
                   f"max_failures are taken from the run's last start; give the others again, if the run needs them: restore(..., {', '.join(names)})")
    return trusted


def _absolute(path):
    text = os.fspath(path)
    return os.path.abspath(os.path.expanduser(text[len("file://"):] if text.startswith("file://") else text))


def _recorded_config(kind, run_dir, record):
    config, reason = _trainer_record.config_in(record)
    if reason is not None:
        raise ValueError(f"{kind.__name__}.restore({run_dir!r}): the train_loop_config is not in the run's record: {reason}. Give it again: "
                         f"restore(..., train_loop_config=...)")
    return config


def _restored_run_config(run_dir, given, record):
    try:
        merged = _config_record.merged_run_config(given, record, _run_texts(run_dir))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{run_dir}: the recorded options of the run are invalid: {error}. Give them again: restore(..., run_config=RunConfig(...))") from None
    return replace(merged, stop=given.stop if given.stop is not None else _recorded_stop(run_dir), name=os.path.basename(run_dir),
                   storage_path=_paths.ExpandedPath(os.path.dirname(run_dir)), storage_filesystem=given.storage_filesystem)


def _recorded_mirror(run_dir, given, record, missing):
    """Returns the run's keys of the mirror. If the record does not prove that this user chose the mirror, appends the argument to `missing`."""
    settings = _config_record.mirror_of(given)
    if settings:
        return settings
    url = _run_texts(run_dir).get("checkpoint.mirror")
    if record.get("mirror") and _trainer_record.reason_against(record) is None:
        return record["mirror"]
    if url and ("run_config" not in record or record.get("mirror")):
        missing.append(f"run_config=RunConfig(storage_path={url!r})")
    return {}


def _run_texts(run_dir):
    """Returns the keys of the run's last start, as texts."""
    return (_run_directory.run_record(run_dir) or {}).get("config", {})


def _recorded_stop(run_dir):
    """Returns the stop rules with >= as the argument `stop` of RunConfig; `None` if the run has no such rules."""
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
