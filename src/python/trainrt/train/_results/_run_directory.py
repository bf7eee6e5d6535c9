"""Reads a run directory: run.json, result.json, checkpoint manifests and attempts. Writes nothing."""

import difflib
import json
import os
import re

from ..._support import _metric_json
from . import _run_state, _validation_file

# Patterns of the files that describe a run, without the files of its checkpoints.
RECORDS = ("run.json", "result.json", "trainer.json", "params.json", "attempts/*.json", "checkpoint_*/manifest.json", "checkpoint_*/validation.json")
_MAX_MORE_LINES = 12
_CHECKPOINT_NAME = re.compile(r"checkpoint_(\d{6,})$")


def _json(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


# ---- state and record of the run ---------------------------------------------------------------------------------------------------------------


def run_record(run_dir):
    """Returns run.json as a dict, or `None` if `run_dir` is not a run directory."""
    try:
        record = _json(os.path.join(run_dir, "run.json"))
    except (OSError, ValueError):
        return None
    return record if str(record.get("format", "")).startswith("trainrt run") else None


def experiment_name(run_dir):
    """Returns the name of the sweep that the run is a trial of, or the name of the run."""
    folder, name = os.path.split(os.path.abspath(run_dir))
    return os.path.basename(folder) if os.path.exists(os.path.join(folder, "sweep.json")) else name


def similar_run(run_dir):
    """Returns text that suggests the run with the most similar name beside `run_dir`, such as ` (did you mean '/runs/first'?)`, or '' if no run is similar."""
    folder, name = os.path.split(os.path.normpath(run_dir))
    try:
        names = [entry.name for entry in os.scandir(folder) if os.path.exists(os.path.join(entry.path, "run.json"))]
    except OSError:
        return ""
    near = difflib.get_close_matches(name, names, n=1)
    return f" (did you mean {os.path.join(folder, near[0])!r}?)" if near else ""


def is_finished(run_dir):
    """Returns whether the run has finished and all files of its final checkpoint exist. Does not check their bytes."""
    record = run_record(run_dir) or {}
    final = record.get("completed_by")
    return record.get("state") == _run_state.FINISHED and (final is None or _has_all_files(os.path.join(run_dir, f"checkpoint_{final['checkpoint']:06d}")))


def has_values(run_dir, settings):
    """Returns whether the run's last start had the values of [loop], [data] and [stop] in `settings`, such as
    {'loop.train_loop_config.lr': '0.1'}. Values that a record of an older version lacks are not compared."""
    record = run_record(run_dir) or {}
    config = record.get("config", {})
    loop = {f"loop.{key}": text for key, text in record.get("loop", {}).items() if key.startswith("train_loop_")}
    given = {key: text for key, text in settings.items() if key.startswith("loop.train_loop_")}
    if loop and given and loop != given:
        return False
    return all(_with_prefix(settings, prefix) == _with_prefix(config, prefix) for prefix in ("data.", "stop."))


def _with_prefix(texts, prefix):
    return {key: text for key, text in texts.items() if key.startswith(prefix)}


def attempts(run_dir):
    """Returns the records of the attempts that can be read, oldest first."""
    folder, found = os.path.join(run_dir, "attempts"), []
    try:
        names = sorted(name for name in os.listdir(folder) if re.fullmatch(r"\d+\.json", name))
    except OSError:
        return []
    for name in names:
        try:
            found.append(_json(os.path.join(folder, name)))
        except (OSError, ValueError):
            continue
    return [each for each in found if isinstance(each, dict)]


def last_attempt(run_dir):
    """Returns the record of the newest attempt, or {}."""
    return next(reversed(attempts(run_dir)), {})


def error_text(run_dir):
    """Returns the content of error.txt, or ''."""
    try:
        with open(os.path.join(run_dir, "error.txt"), encoding="utf-8", errors="replace") as file:
            return file.read().strip()
    except OSError:
        return ""


def error_without_trace(run_dir):
    """Returns the message in error.txt without the stack trace of the C++ runtime. If the message has many lines, returns the first lines, and how many
    lines are left out."""
    first, _, details = error_text(run_dir).partition("\nthrown as ")
    lines = details.partition("\nfull message\n")[2].splitlines()[1:]
    more = [f"and {len(lines) - _MAX_MORE_LINES} more lines in error.txt"] if len(lines) > _MAX_MORE_LINES else []
    return "\n".join([first, *lines[:_MAX_MORE_LINES], *more])


# ---- reports ---------------------------------------------------------------------------------------------------------------


def reports(run_dir):
    """Returns all reports in order, with NaN and infinities as floats. Ignores an incomplete last line. Raises ValueError if result.json
    is damaged."""
    path = os.path.join(run_dir, "result.json")
    try:
        with open(path, encoding="utf-8", newline="\n", errors="replace") as file:
            *lines, _incomplete = file.read().split("\n")  # splitlines() would also split at U+2028
    except FileNotFoundError:
        return []
    try:
        return [_metric_json.decoded(json.loads(line)) for line in lines]
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}. Run `trainrt verify {run_dir}` to find the damaged line") from None


def own_metrics(run_dir):
    """Returns the metrics of the reports, as {iteration: metrics}, without those that the runtime adds."""
    return {report.get("_training_iteration"): {name: value for name, value in report.items() if not name.startswith("_")}
            for report in reports(run_dir)}


# ---- checkpoints -----------------------------------------------------------------------------------------------------------


def manifest_of(path):
    """Returns the manifest of a checkpoint of trainrt, or `None` if manifest.json has another format. Raises OSError or ValueError if it
    cannot be read."""
    manifest = _json(os.path.join(path, "manifest.json"))
    return manifest if isinstance(manifest, dict) and manifest.get("format") == "trainrt checkpoint" else None


def is_checkpoint(path):
    try:
        return manifest_of(path) is not None
    except (OSError, ValueError):
        return False


def metrics_in(manifest):
    """Returns the numbers that were reported with the checkpoint."""
    return _metric_json.decoded(manifest.get("metrics") or {})


def number_of(path):
    """Returns 12 for RUN/checkpoint_000012."""
    return int(os.path.basename(path).removeprefix("checkpoint_"))


def checkpoints(run_dir):
    """Returns [(path, manifest)] of the committed checkpoints, oldest first."""
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
        except (OSError, ValueError):  # removed after listdir()
            continue
    return sorted(found, key=lambda each: number_of(each[0]))


def with_directories(run_dir):
    """Returns [(path, manifest)] of the checkpoints with files of a reported directory, oldest first. A checkpoint may share the files of
    an earlier one."""
    return [(path, manifest) for path, manifest in checkpoints(run_dir)
            if manifest.get("directory") is True and os.path.isdir(os.path.join(path, "files"))]


def reported(run_dir):
    """Returns the checkpoints of with_directories() with which a directory was reported. Other checkpoints share all files of an earlier one."""
    first = {}
    for path, manifest in with_directories(run_dir):
        first.setdefault(_identity_of_files(path, manifest), (path, manifest))
    return list(first.values())


def reported_by_digests(run_dir):
    """Returns the same as reported(), for a run directory that has only the manifests. The digests in the manifests identify the files."""
    first = {}
    for path, manifest in checkpoints(run_dir):
        if manifest.get("directory") is True:
            digests = tuple(sorted((each["name"], each["xxh3_128"]) for each in manifest.get("files", []) if each["name"].startswith("files/")))
            first.setdefault(digests or path, (path, manifest))
    return list(first.values())


def native(run_dir):
    """Returns [(path, manifest)] of the checkpoints of a State, which have tensors and values and no directory, oldest first."""
    return [(path, manifest) for path, manifest in checkpoints(run_dir) if manifest.get("directory") is not True]


def awaiting_validation(run_dir):
    """Returns [(path, request)] of the checkpoints that are still to be validated, oldest first."""
    return [(path, manifest["validation"]) for path, manifest in checkpoints(run_dir)
            if isinstance(manifest.get("validation"), dict) and _validation_file.read(path) is None]


def validated_metrics(path, manifest):
    """Returns the metrics that a validation computed; {} if the checkpoint was not validated."""
    return (_validation_file.read(path) or {}) if manifest.get("validation") is not None else {}


def status(path, manifest):
    """Returns the state of a reported checkpoint, a name of ReportedCheckpointStatus."""
    return "COMMITTED" if manifest.get("validation") is None else _validation_file.status(path)


def _has_all_files(checkpoint):
    try:
        manifest = manifest_of(checkpoint)
        return manifest is not None and all(os.path.isfile(os.path.join(checkpoint, each["name"]))
                                            for each in (*manifest.get("shards", ()), *manifest.get("files", ())))
    except (OSError, ValueError):
        return False


def _identity_of_files(path, manifest):
    """Returns a key that is equal for checkpoints that share their files (hard links), and otherwise unique."""
    files = []
    for record in manifest.get("files", []):
        try:
            status = os.stat(os.path.join(path, record["name"]))
        except OSError:  # a missing file: the checkpoint is damaged
            return path
        if record["name"].startswith("files/"):
            files.append((record["name"], record["xxh3_128"], status.st_dev, status.st_ino))
    return tuple(sorted(files)) or path
