"""Comet: `[sink.NAME] program = python3 -m trainrt.sinks.comet`.

Environment variables of Comet: COMET_API_KEY, COMET_WORKSPACE, COMET_PROJECT_NAME (default: trainrt). Without a key, or with COMET_MODE=offline, a
ZIP file for `comet upload` is written into RUN_DIR/comet at the end of each attempt. Restarts continue the same experiment. The
options of CometLoggerCallback are an argument in JSON."""

from __future__ import annotations

import functools
import hashlib
import os
from typing import Any

from .._support._flat_config import flat_config
from . import _program
from ._serve import Begin, serve


class CometTracker(_program.Tracker):
    def __init__(self, begin: Begin, options: dict[str, Any] | None = None) -> None:
        import comet_ml

        super().__init__(begin, options, "save_checkpoints")
        self._comet = comet_ml
        folder = os.environ.get("COMET_OFFLINE_DIRECTORY", os.path.join(begin.run_dir, "comet"))
        is_online = "COMET_API_KEY" in os.environ and os.environ.get("COMET_MODE") != "offline" and self._options.get("online", True)
        key = hashlib.sha256(begin.run_id.encode()).hexdigest()[:40]
        config = comet_ml.ExperimentConfig(**{"name": begin.run, "offline_directory": folder, "log_code": False, "parse_args": False,
                                              "auto_output_logging": False, **self._options.get("experiment", {})})
        project = {"project_name": os.environ.get("COMET_PROJECT_NAME", "trainrt"), **self._options.get("start", {})}
        self.experiment = comet_ml.start(experiment_key=key, online=is_online, mode="get_or_create", experiment_config=config, **project)
        if self._options.get("tags"):
            self.experiment.add_tags(self._options["tags"])
        if options is None:
            self.experiment.log_parameters(begin.config)

    def log(self, iteration: int, metrics: dict[str, Any], time: float | None) -> None:
        if self._awaits_config:
            self.experiment.log_parameters(flat_config(self._config()))
        self.experiment.log_metrics(metrics, step=iteration)
        self._upload()

    def finish(self, complete: bool) -> None:
        self._upload()
        self.experiment.log_other("trainrt attempt", "ended in order" if complete else "broken off")
        self.experiment.end()

    def _upload(self) -> None:
        for _, folder in self._new_checkpoints():
            artifact = self._comet.Artifact(name=f"checkpoint_{self._begin.run}", artifact_type="model")
            artifact.add(folder)
            self.experiment.log_artifact(artifact)


if __name__ == "__main__":
    serve(functools.partial(CometTracker, options=_program.options()))
