"""Comet: `[sink.NAME] program = python3 -m trainrt.sinks.comet`.

Environment variables of Comet: COMET_API_KEY, COMET_WORKSPACE, COMET_PROJECT_NAME (default: trainrt). Without a key, or with COMET_MODE=offline, a
ZIP file for `comet upload` is written into RUN_DIR/comet at the end of each attempt. Restarts continue the same experiment."""

from __future__ import annotations

import hashlib
import os
from typing import Any

from ._serve import Begin, serve


class CometTracker:
    def __init__(self, begin: Begin) -> None:
        import comet_ml

        folder = os.environ.get("COMET_OFFLINE_DIRECTORY", os.path.join(begin.run_dir, "comet"))
        is_online = "COMET_API_KEY" in os.environ and os.environ.get("COMET_MODE") != "offline"
        key = hashlib.sha256(begin.run_id.encode()).hexdigest()[:40]
        config = comet_ml.ExperimentConfig(name=begin.run, offline_directory=folder, log_code=False, parse_args=False,
                                           auto_output_logging=False)
        self.experiment = comet_ml.start(experiment_key=key, online=is_online, mode="get_or_create", experiment_config=config,
                                         project_name=os.environ.get("COMET_PROJECT_NAME", "trainrt"))
        self.experiment.log_parameters(begin.config)

    def log(self, iteration: int, metrics: dict[str, Any], time: float | None) -> None:
        self.experiment.log_metrics(metrics, step=iteration)

    def finish(self, complete: bool) -> None:
        self.experiment.log_other("trainrt attempt", "ended in order" if complete else "broken off")
        self.experiment.end()


if __name__ == "__main__":
    serve(CometTracker)
