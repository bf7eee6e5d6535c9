"""Comet: CometLoggerCallback for `RunConfig(callbacks=[...])`."""

from __future__ import annotations

from typing import Any

from ...train._sessions._sink_callback import SinkCallback

__all__ = ["CometLoggerCallback"]

_OF_START = ("workspace", "project_name", "project")  # arguments of comet_ml.start(); all others are arguments of ExperimentConfig


class CometLoggerCallback(SinkCallback):
    """Sends the reports of the run to Comet, by the program `trainrt.sinks.comet`. A restarted run continues the same experiment.

    Parameters
    ----------
    online : bool, default True
        False writes a ZIP file into the folder `comet` of the run directory, for `comet upload`. A run without a key does so, too.
    tags : list of str, optional
        Tags of the experiment.
    save_checkpoints : bool, default False
        Upload checkpoints as artifacts.
    **experiment_kwargs
        `api_key`, `workspace`, `project_name`, and arguments of `comet_ml.ExperimentConfig` that JSON can hold.

    Raises
    ------
    RuntimeError
        If comet_ml is not installed.

    Examples
    --------
    >>> from trainrt.air.integrations.comet import CometLoggerCallback
    >>> from trainrt.train import RunConfig
    >>> run_config = RunConfig(callbacks=[CometLoggerCallback(tags=["first"], project_name="trainrt")])
    """

    sink, package, key_variable = "comet", "comet_ml", "COMET_API_KEY"

    def __init__(self, online: bool = True, tags: list[str] | None = None, save_checkpoints: bool = False, **experiment_kwargs: Any):
        super().__init__(experiment_kwargs.pop("api_key", None))
        self.online, self.tags, self.save_checkpoints, self.experiment_kwargs = online, tags, save_checkpoints, experiment_kwargs

    def program_options(self) -> dict[str, Any]:
        of_start = {name: value for name, value in self.experiment_kwargs.items() if name in _OF_START}
        return {"online": self.online, "tags": self.tags, "save_checkpoints": self.save_checkpoints, "start": of_start,
                "experiment": {name: value for name, value in self.experiment_kwargs.items() if name not in of_start}}
