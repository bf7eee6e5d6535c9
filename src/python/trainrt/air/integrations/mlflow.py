"""MLflow: setup_mlflow() for train functions, and MLflowLoggerCallback for `RunConfig(callbacks=[...])`."""

from __future__ import annotations

import importlib
import os
from typing import Any

from ..._support._flat_config import flat_config
from ...train._sessions._sink_callback import SinkCallback
from ._common import NoTracker, is_silent, session_of_run

__all__ = ["MLflowLoggerCallback", "setup_mlflow"]

_RUN_ID = "trainrt.run_id"  # tag of a run of MLflow, by which a restart finds this run


def setup_mlflow(config: dict[str, Any] | None = None, tracking_uri: str | None = None, registry_uri: str | None = None,
                 experiment_id: str | None = None, experiment_name: str | None = None, tracking_token: str | None = None,
                 artifact_location: str | None = None, run_name: str | None = None, create_experiment_if_not_exists: bool = False,
                 tags: dict[str, Any] | None = None, rank_zero_only: bool = True) -> Any:
    """Starts the run of MLflow of this train function or trial, and logs the config as parameters. A restarted run continues the same run of MLflow.

    Parameters
    ----------
    config : dict, optional
        Config to log. Nested dicts give parameters such as `model/width`.
    tracking_uri, registry_uri : str, optional
        Servers of MLflow. Default: MLflow's variables, such as MLFLOW_TRACKING_URI.
    experiment_id, experiment_name : str, optional
        An experiment that exists; the id takes precedence. Default: MLFLOW_EXPERIMENT_ID, MLFLOW_EXPERIMENT_NAME, or the name of the trial.
    tracking_token : str, optional
        Token of the server, as in MLFLOW_TRACKING_TOKEN.
    artifact_location : str, optional
        Location of artifacts of a new experiment.
    run_name : str, optional
        Name of a new run of MLflow. Default: `experiment_name`, or the name of the trial.
    create_experiment_if_not_exists : bool, default False
        Create the experiment `experiment_name` if it does not exist.
    tags : dict, optional
        Tags of a new run of MLflow.
    rank_zero_only : bool, default True
        If True, only rank 0 logs, and the other ranks get a NoTracker, which does nothing. If False, each rank has its own run of MLflow.

    Returns
    -------
    module
        The module mlflow.

    Raises
    ------
    RuntimeError
        If mlflow is not installed.
    ValueError
        If the experiment does not exist.

    Examples
    --------
    >>> from trainrt import train
    >>> from trainrt.air.integrations.mlflow import setup_mlflow
    >>> def train_func(config):
    ...     mlflow = setup_mlflow(config, experiment_name="first", create_experiment_if_not_exists=True)
    ...     for epoch in range(3):
    ...         mlflow.log_metric("loss", 1 / (epoch + 1), step=epoch)
    """
    try:
        mlflow = importlib.import_module("mlflow")
    except ImportError:
        raise RuntimeError("mlflow was not found - please install with `pip install mlflow`") from None
    if is_silent(rank_zero_only):
        return NoTracker()
    if tracking_token:
        os.environ["MLFLOW_TRACKING_TOKEN"] = tracking_token
    mlflow.set_tracking_uri(tracking_uri)
    mlflow.set_registry_uri(registry_uri)
    session = session_of_run()
    name = experiment_name or os.environ.get("MLFLOW_EXPERIMENT_NAME") or (session.run_name if session is not None else None)
    experiment = _experiment(mlflow, experiment_id or os.environ.get("MLFLOW_EXPERIMENT_ID"), name, artifact_location, create_experiment_if_not_exists)
    if mlflow.active_run() is None:
        _start_run(mlflow, experiment, run_name or experiment_name or name, tags, _identity(session, rank_zero_only))
    for key, value in flat_config(config or {}).items():
        mlflow.log_param(key, value)
    return mlflow


class MLflowLoggerCallback(SinkCallback):
    """Sends the reports of the run to MLflow, by the program `trainrt.sinks.mlflow`. A restarted run continues the same run of MLflow.

    Parameters
    ----------
    tracking_uri : str, optional
        Server or database. Default: MLFLOW_TRACKING_URI, else the file mlflow.db in the run directory.
    registry_uri : str, optional
        Registry of models.
    experiment_name : str, optional
        Experiment, which is created if it does not exist. Default: MLFLOW_EXPERIMENT_NAME, else "trainrt".
    tags : dict, optional
        Tags of the run of MLflow.
    tracking_token : str, optional
        Token of the server, as in MLFLOW_TRACKING_TOKEN.
    save_artifact : bool, default False
        Copy the run directory to the artifacts at the end of the run.
    log_params_on_trial_end : bool, default False
        Log the config at the end of the run instead of at the first report.

    Raises
    ------
    RuntimeError
        If mlflow is not installed.

    Examples
    --------
    >>> from trainrt.air.integrations.mlflow import MLflowLoggerCallback
    >>> from trainrt.train import RunConfig
    >>> run_config = RunConfig(callbacks=[MLflowLoggerCallback(experiment_name="first")])
    """

    sink, package, key_variable = "mlflow", "mlflow", "MLFLOW_TRACKING_TOKEN"

    def __init__(self, tracking_uri: str | None = None, *, registry_uri: str | None = None, experiment_name: str | None = None,
                 tags: dict[str, Any] | None = None, tracking_token: str | None = None, save_artifact: bool = False,
                 log_params_on_trial_end: bool = False):
        super().__init__(tracking_token)
        self.tracking_uri, self.registry_uri, self.experiment_name, self.tags = tracking_uri, registry_uri, experiment_name, tags
        self.should_save_artifact, self.log_params_on_trial_end = save_artifact, log_params_on_trial_end

    def program_options(self) -> dict[str, Any]:
        return {"tracking_uri": self.tracking_uri, "registry_uri": self.registry_uri, "experiment_name": self.experiment_name,
                "tags": {str(name): str(value) for name, value in (self.tags or {}).items()}, "save_artifact": self.should_save_artifact,
                "log_params_on_trial_end": self.log_params_on_trial_end}


def _experiment(mlflow: Any, given_id: str | None, name: str | None, artifact_location: str | None, creates: bool) -> str:
    """Returns the id of the experiment. Raises ValueError if it does not exist."""
    if given_id is not None:
        try:
            return mlflow.get_experiment(given_id).experiment_id
        except mlflow.exceptions.MlflowException:
            pass
    found = mlflow.get_experiment_by_name(name) if name else None
    if found is not None:
        return found.experiment_id
    if creates and name:
        return mlflow.create_experiment(name, artifact_location=artifact_location)
    raise ValueError(f"Experiment with the provided experiment_id: {given_id} or experiment_name: {name} does not exist. Please create an MLflow "
                     f"experiment and provide either its id or name, or set create_experiment_if_not_exists=True")


def _identity(session: Any, rank_zero_only: bool) -> str | None:
    """Returns the value of the tag by which a restart finds the run of MLflow, or `None` outside of a run."""
    if session is None or session.run_dir is None:
        return None
    return session.run_id if rank_zero_only else f"{session.run_id}-{session.world_rank}"


def _start_run(mlflow: Any, experiment: str, name: str | None, tags: dict[str, Any] | None, identity: str | None) -> None:
    found = mlflow.MlflowClient().search_runs([experiment], f"tags.`{_RUN_ID}` = '{identity}'") if identity else ()
    if found:
        mlflow.start_run(run_id=found[0].info.run_id)
    else:
        mlflow.start_run(run_name=name, experiment_id=experiment, tags={**(tags or {}), **({_RUN_ID: identity} if identity else {})})
