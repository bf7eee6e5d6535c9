"""The configs of a Trainer in the run's record trainer.json, and the configs that `restore()` takes from the record."""

from dataclasses import fields, is_dataclass, replace

from ..._support import _value_json
from . import _filesystem, _settings, _storage
from ._checkpoint import CheckpointConfig
from ._data import DataConfig
from ._failure import FailureConfig
from ._run import RunConfig
from ._sync import SyncConfig

_KINDS = {"checkpoint_config": CheckpointConfig, "failure_config": FailureConfig, "sync_config": SyncConfig}
_NOT_FROM_RECORD = ("name", "storage_path", "storage_filesystem", "local_dir", "stop")  # known from the run directory and from run.json
_SECRET = ("worker_runtime_env",)  # environment variables may hold passwords, which no file of the run may hold


def record_of(trainer):
    """Returns the configs of `trainer` as fields of trainer.json. The field `not_recorded` names the arguments that the record cannot hold."""
    missing = [f"{name}=..." for name in ("datasets", "validation_config") if getattr(trainer, name)]
    run = trainer.run_config or RunConfig()
    if trainer._has_store_keys or trainer._copies_to() or _filesystem.keys_of(run.storage_filesystem) is not None:
        missing.append("run_config=RunConfig(storage_filesystem=...)")
    return {"config_argument": trainer.config_argument, "run_config": _run_fields(run, missing), "mirror": mirror_of(run) or trainer._mirror or None,
            "dataset_config": None if trainer.dataset_config is None else {"datasets_to_split": trainer.dataset_config.datasets_to_split},
            "backend_config": _backend_fields(trainer.backend_config, missing), "own_form": _form_fields(trainer._own_form, missing),
            "not_recorded": missing}


def merged_run_config(given, record, run_texts):
    """Returns the RunConfig of a restored Trainer: options that `given` lacks are taken from `record`, the content of trainer.json. A record of an older
    version has no options; they are then taken from `run_texts`, the keys of the run's last start. Raises ValueError if a recorded value is invalid."""
    recorded = record.get("run_config")
    if not isinstance(recorded, dict):
        found = _from_keys(run_texts)
    else:
        found = {name: _decoded_option(name, value) for name, value in recorded.items()}
    return replace(given, **{each.name: found[each.name] for each in fields(RunConfig)
                             if each.name not in _NOT_FROM_RECORD + _SECRET and given.given(each.name) == each.default and found.get(each.name) is not None})


def without_options(record):
    """Returns `record` without the options of RunConfig and backend, and a list with the names of the removed arguments."""
    run, backend = record.get("run_config"), record.get("backend_config")
    values = backend.get("values") if isinstance(backend, dict) else None
    found = ["run_config=RunConfig(...)"] if run else []
    found += ["backend_config=..."] if values else []
    found += [f"{name}=..." for name in ("params", *record["own_form"])] if isinstance(record.get("own_form"), dict) else []
    return {**record, "run_config": None, "own_form": None, "backend_config": {**backend, "values": None} if values else backend}, found


def mirror_of(run):
    """Returns the keys of the mirror that a RunConfig sets, or `None`."""
    if not _storage.is_object_store(run.storage_path):
        return None
    return {"checkpoint.mirror": str(run.storage_path)}


def recorded_dataset_config(record):
    """Returns the recorded DataConfig, or `None`."""
    recorded = record.get("dataset_config")
    return DataConfig(recorded["datasets_to_split"]) if isinstance(recorded, dict) else None


def own_form(record, given):
    """Returns the recorded arguments of a trainer of boosted trees without a train function; {} if `given` has them, and `None` for other trainers."""
    recorded = record.get("own_form")
    if isinstance(recorded, dict):
        return {name: _value_json.decoded(value) for name, value in recorded.items()}
    return {} if "label_column" in given else None


def with_recorded_backend(config, record):
    """Returns the default config of a backend with the recorded values, or `None` if the record has a config of another class."""
    recorded = record.get("backend_config")
    if not isinstance(recorded, dict):
        return config
    if recorded.get("class") != type(config).__name__:
        return None
    values = recorded.get("values") or {}
    return replace(config, **{each.name: _value_json.decoded(values[each.name]) for each in fields(config) if each.init and each.name in values}) \
        if values else config


def missing_arguments(record, given, run_config):
    """Returns texts that name arguments of the run which the record cannot hold. Omits arguments that are in `given` or in `run_config`."""
    texts = record.get("not_recorded")
    names = {*given, *(f"run_config=RunConfig({each.name}" for each in fields(RunConfig) if run_config.given(each.name) != each.default)}
    return [text for text in texts if text.rpartition("=...")[0] not in names] if isinstance(texts, list) else []


def _run_fields(run, missing):
    found = {}
    for each in fields(RunConfig):
        value = run.given(each.name)
        if each.name in _NOT_FROM_RECORD or value == each.default:
            continue
        try:
            if each.name in _SECRET:
                raise _value_json.NotRecordable
            found[each.name] = _encoded(value) if each.name in _KINDS else _value_json.encoded(value)
        except _value_json.NotRecordable:
            missing.append(f"run_config=RunConfig({each.name}=...)")
    return found


def _form_fields(form, missing):
    if form is None:
        return None
    found = {}
    for name, value in form.items():
        try:
            found[name] = _value_json.encoded(value)
        except _value_json.NotRecordable:
            missing.append(f"{name}=...")
    return found


def _backend_fields(config, missing):
    name = type(config).__name__
    try:
        return {"class": name, "values": _encoded(config) if is_dataclass(config) else None}
    except _value_json.NotRecordable:
        missing.append("backend_config=...")
        return {"class": name, "values": None}


def _encoded(config):
    return {each.name: _value_json.encoded(getattr(config, each.name)) for each in fields(config) if each.init}


def _decoded_option(name, value):
    plain = _value_json.decoded(value)
    if name not in _KINDS or not isinstance(plain, dict):
        return plain
    known = {each.name for each in fields(_KINDS[name])}
    return _KINDS[name](**{key: inner for key, inner in plain.items() if key in known})


def _from_keys(texts):
    """Returns the options checkpoint_config and failure_config of a RunConfig, from the config keys `texts` of a run."""
    kept, attribute, failures = (texts.get(key) for key in ("checkpoint.num_to_keep", "checkpoint.score_attribute", "failure.max_failures"))
    checkpoints = CheckpointConfig(num_to_keep=int(kept) if kept and int(kept) > 0 else None, checkpoint_score_attribute=attribute or None,
                                   checkpoint_score_order=texts.get("checkpoint.score_order") or "max")
    limit = int(failures) if failures else None
    return {"checkpoint_config": checkpoints,
            "failure_config": None if limit is None else FailureConfig(max_failures=-1 if limit == _settings.NO_LIMIT else limit)}
