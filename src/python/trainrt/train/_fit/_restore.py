"""`Trainer.restore()`: makes a Trainer that continues the run in a directory."""

import os
from dataclasses import fields, replace

from ..._support import _notes
from .._config import _config_record, _paths
from .._config._run import RunConfig
from .._config._scaling import ScalingConfig
from .._config._storage import PathInFilesystem, location
from .._results import _trainer_record
from . import _named_function, _restored_run


def can_restore(kind, path, filesystem=None):
    """Returns whether restore() finds a run in `path`, a directory, a URL or a path in `filesystem`. `kind`: class of the Trainer. Raises OSError, with the
    URL, if an object store cannot be read."""
    return _restored_run.exists(*location(f"{kind.__name__}.can_restore()", path, filesystem))


def restored(kind, path, function, config, arguments, filesystem=None):
    """Returns a Trainer of class `kind` for the run in `path`, a run directory, the URL of a mirrored run or a path in `filesystem`.

    `function`, `config` and `arguments` replace the recorded ones, if they are given; a RunConfig replaces the options that it has. Prints a note for each
    argument of the run that its record cannot hold. Raises ValueError if there is no run, or an argument is needed that the record lacks.
    """
    source = _restored_run.find(kind, *location(f"{kind.__name__}.restore()", path, filesystem))
    call, record = f"{kind.__name__}.restore({source.given!r})", source.record
    run_config = arguments.pop("run_config", None) or RunConfig()
    given = {"scaling_config": _recorded_scaling(record), "metadata": record.get("metadata") or None,
             "dataset_config": _config_record.recorded_dataset_config(record)}
    trusted = _trusted_options(call, source)
    passed = {name: value for name, value in arguments.items() if value is not None}
    positional, named = _function_arguments(call, source, trusted, function, config, passed)
    filesystem = run_config.storage_filesystem or filesystem
    trainer = kind(*positional, run_config=_restored_run_config(source, run_config, trusted, filesystem), **{**given, **named, **passed})
    trainer._older_directory = (source.run_dir, source.newer) if source.newer is not None else None
    trainer._config_is_unknown = trainer.train_loop_config is None and not _trainer_record.has_config(record)
    missing = [text for text in _config_record.missing_arguments(record, passed, run_config) if filesystem is None or "(storage_filesystem" not in text]
    if not any(name.endswith("_config") and name not in (*given, "validation_config") for name in passed):  # torch_config=..., for example
        backend_config = _config_record.with_recorded_backend(trainer.backend_config, trusted)
        missing += ["backend_config=..."] if backend_config is None else []
        trainer.backend_config = backend_config or trainer.backend_config
    if isinstance(run_config.storage_path, PathInFilesystem):
        trainer._restored_copies_to = (run_config.storage_filesystem, str(run_config.storage_path))
    trainer._mirror = _recorded_mirror(source, run_config, missing)
    for text in missing:
        _notes.say(f"{call}: the run was started with {text}, which its record cannot hold. If the run needs it, give it again: restore(..., {text})")
    return trainer


def _function_arguments(call, source, trusted, function, config, passed):
    """Returns the positional and the named arguments of the Trainer that are its train function and config; for boosted trees without a train function,
    the arguments of that form."""
    form = _config_record.own_form(trusted, passed) if function is None else None
    if form is not None:
        return (), {**form, "params": config if config is not None else passed.get("params") or _recorded_config(call, source.record)}
    function = function or _named_function.recorded(call, source)
    return (function,), {"train_loop_config": config if config is not None else _recorded_config(call, source.record)}


def _trusted_options(call, source):
    """Returns the record. If its authentication code is not valid, removes the options that decide how ranks start, and prints a note that names them."""
    reason = _trainer_record.reason_against(source.record)
    if reason is None:
        return source.record
    trusted, names = _config_record.without_options(source.record)
    if names:
        _notes.say(f"{call}: {source.given}/trainer.json is not trusted: {reason}. num_to_keep, the score and max_failures are taken from the run's last "
                   f"start; give its other options again, if the run needs them: restore(..., {', '.join(names)})")
    return trusted


def _recorded_config(call, record):
    config, reason = _trainer_record.config_in(record)
    if reason is not None:
        raise ValueError(f"{call}: the train_loop_config is not in the run's record: {reason}. Give it again: restore(..., train_loop_config=...)")
    return config


def _restored_run_config(source, given, record, filesystem):
    try:
        merged = _config_record.merged_run_config(given, record, source.texts())
    except (TypeError, ValueError) as error:
        raise ValueError(f"{source.given}: the recorded options of the run are invalid: {error}. Give them again: "
                         f"restore(..., run_config=RunConfig(...))") from None
    folder, name = os.path.split(source.run_dir)
    return replace(merged, stop=given.stop if given.stop is not None else _recorded_stop(source), name=name, storage_path=_paths.ExpandedPath(folder),
                   storage_filesystem=filesystem)


def _recorded_mirror(source, given, missing):
    """Returns the keys of the run's mirror. If the record does not prove that this user chose the mirror, returns {}, and appends to `missing` the
    argument of restore() that sets the mirror."""
    settings = _config_record.mirror_of(given) or source.mirror
    if settings:
        return settings
    url, record = source.texts().get("checkpoint.mirror"), source.record
    if record.get("mirror") and _trainer_record.reason_against(record) is None:
        return record["mirror"]
    if url and ("run_config" not in record or record.get("mirror")):
        missing.append(f"run_config=RunConfig(storage_path={url!r})")
    return {}


def _recorded_stop(source):
    """Returns the stop rules with >= as the argument `stop` of RunConfig; `None` if the run has no such rules."""
    rules = {key[len("stop."):]: text[3:] for key, text in source.texts().items() if key.startswith("stop.") and text.startswith(">= ")}
    return {name: int(number) if number.lstrip("-").isdigit() else float(number) for name, number in rules.items()} or None


def _recorded_scaling(record):
    recorded = record.get("scaling_config")
    if not recorded:
        return None
    known = {each.name for each in fields(ScalingConfig)}
    return ScalingConfig(**{name: value for name, value in recorded.items() if name in known})
