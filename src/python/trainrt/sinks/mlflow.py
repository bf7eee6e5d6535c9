"""MLflow: `[sink.NAME] program = python3 -m trainrt.sinks.mlflow`.

Names in MLflow consist of letters and digits of any script, _ - . / and spaces. Other characters are replaced with their code: `acc@1` becomes
`acc_u0040_1`; original_name() reverses this. Names of more than 250 characters are cut, and end with a digest.

MLFLOW_TRACKING_URI names a server or a database (default: sqlite:///RUN_DIR/mlflow.db), MLFLOW_EXPERIMENT_NAME the experiment (default: trainrt).
Restarts continue the same run of MLflow, and each report is stored once. The options of MLflowLoggerCallback are an argument in JSON."""

from __future__ import annotations

import functools
import hashlib
import os
import re
from typing import Any

from .._support._flat_config import flat_config
from . import _program
from ._serve import Begin, serve

MAX_PARAMS = 100  # per call
MAX_METRICS = 1000  # per call
MAX_PARAM_LENGTH = 6000
MAX_NAME_LENGTH = 250
_ESCAPED = re.compile(r"_u([0-9a-f]{4,6})_")
_NOT_PLAIN = re.compile(r"[^\w\-. /]|_(?=u[0-9a-f]{4})|^$")  # characters to replace, and underscores that look like the start of a code
_FOLDERS = re.compile(r"(?<![^/])\.{1,2}(?![^/])|^\.(?=\.)|^/|/$|(?<=/)/|/(?=/)")  # parts of names that a path would change


def name_of(key: str) -> str:
    """Returns the name that the metric `key` has in MLflow. Different keys have different names."""
    coded = _NOT_PLAIN.sub(_code, key)
    coded = _FOLDERS.sub(_code, coded)
    if len(coded) <= MAX_NAME_LENGTH:
        return coded
    digest = hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return f"{coded[:MAX_NAME_LENGTH - 33]}_{digest}"


def original_name(name: str) -> str:
    """Returns the key for a result of name_of(), unless the name was cut."""
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)) if found[1] != "0000" else "", name)


def _code(found: re.Match[str]) -> str:
    return "".join(f"_u{ord(each):04x}_" for each in found[0]) or "_u0000_"


class MlflowTracker(_program.Tracker):
    def __init__(self, begin: Begin, options: dict[str, Any] | None = None) -> None:
        from mlflow import MlflowClient, entities

        super().__init__(begin, options)
        self.entities = entities
        uri = self._options.get("tracking_uri") or os.environ.get("MLFLOW_TRACKING_URI") or f"sqlite:///{os.path.abspath(begin.run_dir)}/mlflow.db"
        self.client = MlflowClient(uri, self._options.get("registry_uri"))
        run = self._run_of(begin, self._options.get("experiment_name") or os.environ.get("MLFLOW_EXPERIMENT_NAME", "trainrt"))
        self.id = run.info.run_id
        self.last = int(run.data.metrics.get("runtime/iteration", 0))
        self._stored_params = set(run.data.params)
        if options is None:
            self._log_params(begin.config)

    def _run_of(self, begin: Begin, name: str) -> Any:
        experiment = self.client.get_experiment_by_name(name)
        folder = experiment.experiment_id if experiment else self.client.create_experiment(name)
        found = self.client.search_runs([folder], f"tags.`trainrt.run_id` = '{begin.run_id}'")
        if found:
            self.client.update_run(found[0].info.run_id, status="RUNNING")
            return found[0]
        tags = {**self._options.get("tags", {}), "trainrt.run_id": begin.run_id, "trainrt.run_dir": begin.run_dir}
        return self.client.create_run(folder, run_name=begin.run, tags=tags)

    def _log_params(self, params: dict[str, Any]) -> None:
        """Stores the params that the run of MLflow lacks. MLflow does not allow to change the value of a stored param."""
        new = [self.entities.Param(name_of(key), str(value)[:MAX_PARAM_LENGTH]) for key, value in params.items() if name_of(key) not in self._stored_params]
        self._stored_params.update(each.key for each in new)
        for start in range(0, len(new), MAX_PARAMS):
            self.client.log_batch(self.id, params=new[start:start + MAX_PARAMS])

    def log(self, iteration: int, metrics: dict[str, Any], time: float | None) -> None:
        if self._awaits_config and not self._options.get("log_params_on_trial_end"):
            self._log_params(flat_config(self._config()))
        milliseconds = int((time or 0) * 1000)
        named = {**{name_of(key): value for key, value in metrics.items()}, "runtime/iteration": iteration}  # stored last: marks a complete report
        entries = [self.entities.Metric(key, float(value), milliseconds, iteration) for key, value in named.items()]
        for start in range(0, len(entries), MAX_METRICS):
            self.client.log_batch(self.id, entries[start:start + MAX_METRICS])

    def finish(self, complete: bool) -> None:
        if self._awaits_config:
            self._log_params(flat_config(self._config()))
        if self._options.get("save_artifact"):
            self._save_run_directory()
        self.client.set_terminated(self.id, "FINISHED" if complete else "KILLED")

    def _save_run_directory(self) -> None:
        """Copies the run directory to the artifacts of the run, except MLflow's own files in it."""
        for entry in sorted(os.scandir(self._begin.run_dir), key=lambda each: each.name):
            if entry.is_dir(follow_symlinks=False) and entry.name != "mlruns":
                self.client.log_artifacts(self.id, entry.path, entry.name)
            elif entry.is_file(follow_symlinks=False) and not entry.name.startswith("mlflow.db"):
                self.client.log_artifact(self.id, entry.path)


if __name__ == "__main__":
    serve(functools.partial(MlflowTracker, options=_program.options()))
