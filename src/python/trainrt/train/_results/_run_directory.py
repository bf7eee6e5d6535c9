"""What is read of a run directory: run.json, result.json, manifests, attempts. Nothing is written here."""

import json
import os
import re

from ..._support import _metric_json
from . import _run_state, _validation_file

_CHECKPOINT_NAME = re.compile(r"checkpoint_(\d{6,})$")


def _json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def run_record(run_dir):
    """run.json as a dict, or None if there is no run."""
    try:
        record = _json(os.path.join(run_dir, "run.json"))
    except (OSError, ValueError):
        return None
    return record if str(record.get("format", "")).startswith("trainrt run") else None


def is_finished(run_dir):
    """And the checkpoint that it finished with is there, with all its files; their bytes are checked by whoever reads them."""
    record = run_record(run_dir) or {}
    end = record.get("completed_by")
    return record.get("state") == _run_state.FINISHED and (end is None or _has_files(os.path.join(run_dir, f"checkpoint_{end['checkpoint']:06d}")))


def _has_files(checkpoint):
    try:
        manifest = manifest_of(checkpoint)
        return manifest is not None and all(os.path.isfile(os.path.join(checkpoint, each["name"]))
                                            for each in (*manifest.get("shards", ()), *manifest.get("files", ())))
    except (OSError, ValueError):
        return False


def reports(run_dir):
    """All reports, in their order, with NaN and infinities as floats; a torn last line is left out."""
    path = os.path.join(run_dir, "result.json")
    try:
        with open(path, encoding="utf-8", newline="\n", errors="replace") as file:
            *lines, _torn = file.read().split("\n")  # and not splitlines(): a text may have U+2028
    except FileNotFoundError:
        return []
    try:
        return [_metric_json.decoded(json.loads(line)) for line in lines]
    except ValueError as error:
        raise ValueError(f"{path} is damaged (trainrt verify {run_dir} says where): {error}") from None


def own_metrics(run_dir):
    """{iteration: the metrics of its report} without the runtime's own."""
    return {report.get("_training_iteration"): {name: value for name, value in report.items() if not name.startswith("_")}
            for report in reports(run_dir)}


def stop_rules(run_dir):
    """{"stop.loss": "<= 0.1"}, as the run's last start had them."""
    config = (run_record(run_dir) or {}).get("config", {})
    return {key: text for key, text in config.items() if key.startswith("stop.")}


def has_values(run_dir, settings):
    """Whether the run's last start had these values of [loop], [data] and [stop], {"loop.train_loop_config.lr": "0.1"}; of a record of an
    older version, as far as it knows them."""
    record = run_record(run_dir) or {}
    config = record.get("config", {})
    loop = {f"loop.{key}": text for key, text in record.get("loop", {}).items() if key.startswith("train_loop_")}
    given = {key: text for key, text in settings.items() if key.startswith("loop.train_loop_")}
    if loop and given and loop != given:
        return False
    of = lambda texts, section: {key: text for key, text in texts.items() if key.startswith(section)}
    return all(of(settings, section) == of(config, section) for section in ("data.", "stop."))


def manifest_of(path):
    """Of a checkpoint of trainrt's; None for a folder with a manifest.json of somebody else."""
    manifest = _json(os.path.join(path, "manifest.json"))
    return manifest if isinstance(manifest, dict) and manifest.get("format") == "trainrt checkpoint" else None


def metrics_in(manifest):
    """The numbers that were reported with a checkpoint."""
    return _metric_json.decoded(manifest.get("metrics") or {})


def is_checkpoint(path):
    try:
        return manifest_of(path) is not None
    except (OSError, ValueError):
        return False


def checkpoints(run_dir):
    """[(path, manifest)] of what is committed, oldest first."""
    found = []
    try:
        names = os.listdir(run_dir)
    except FileNotFoundError:
        return []
    for name in names:
        path = os.path.join(run_dir, name)
        try:
            manifest = manifest_of(path) if _CHECKPOINT_NAME.fullmatch(name) else None
            if manifest is not None:
                found.append((path, manifest))
        except (OSError, ValueError):  # removed meanwhile
            continue
    return sorted(found, key=lambda each: number_of(each[0]))


def number_of(path):
    """12, of RUN/checkpoint_000012."""
    return int(_CHECKPOINT_NAME.fullmatch(os.path.basename(path))[1])


def awaiting_validation(run_dir):
    """[(path, how)] of those that are to be validated and are not yet, oldest first."""
    return [(path, manifest["validation"]) for path, manifest in checkpoints(run_dir)
            if isinstance(manifest.get("validation"), dict) and _validation_file.read(path) is None]


def validated_metrics(path, manifest):
    """What a validation has found, over what was reported; {} if there was none."""
    return (_validation_file.read(path) or {}) if manifest.get("validation") is not None else {}


def with_directories(run_dir):
    """[(path, manifest)] of those that hold what a train function reported as a directory, or that carry it on, oldest first."""
    return [(path, manifest) for path, manifest in checkpoints(run_dir)
            if manifest.get("directory") is True and os.path.isdir(os.path.join(path, "files"))]


def reported(run_dir):
    """The same without those that only carry on older files: those have the metrics of a report that gave none."""
    first = {}
    for path, manifest in with_directories(run_dir):
        first.setdefault(_files_of(path, manifest), (path, manifest))
    return list(first.values())


def native(run_dir):
    """[(path, manifest)] of those of the run's State, with tensors and values and no directory, oldest first."""
    return [(path, manifest) for path, manifest in checkpoints(run_dir) if manifest.get("directory") is not True]


def _files_of(path, manifest):
    """Tells one set of files from another: what is carried on is the same file on the disk."""
    files = []
    for record in manifest.get("files", []):
        try:
            status = os.stat(os.path.join(path, record["name"]))
        except OSError:  # missing: damaged
            return path
        if record["name"].startswith("files/"):
            files.append((record["name"], record["xxh3_128"], status.st_dev, status.st_ino))
    return tuple(sorted(files)) or path


def last_attempt(run_dir):
    """The record of the newest attempt, or {}."""
    folder = os.path.join(run_dir, "attempts")
    try:
        names = sorted(name for name in os.listdir(folder) if re.fullmatch(r"\d+\.json", name))
        return _json(os.path.join(folder, names[-1])) if names else {}
    except (OSError, ValueError):
        return {}


def error_text(run_dir):
    """error.txt, or ''."""
    try:
        with open(os.path.join(run_dir, "error.txt"), encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""
