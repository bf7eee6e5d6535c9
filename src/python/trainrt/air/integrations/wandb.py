"""Weights & Biases: setup_wandb() for train functions, and WandbLoggerCallback for `RunConfig(callbacks=[...])`."""

from __future__ import annotations

import importlib
import json
import os
import warnings
from typing import Any

from ...train._results import _run_directory
from ...train._sessions._sink_callback import SinkCallback
from ._common import is_silent, session_of_run

__all__ = ["WandbLoggerCallback", "setup_wandb"]


def setup_wandb(config: dict[str, Any] | None = None, api_key: str | None = None, api_key_file: str | None = None, rank_zero_only: bool = True,
                **kwargs: Any) -> Any:
    """Opens the run of Weights & Biases of this train function or trial. A restarted run continues the same run of W&B.

    Parameters
    ----------
    config : dict, optional
        Config to log.
    api_key, api_key_file : str, optional
        Key of W&B, or a file with it. Default: the variable WANDB_API_KEY, or the login of `wandb login`. WANDB_MODE=offline needs no key.
    rank_zero_only : bool, default True
        If True, only rank 0 logs, and the other ranks get a disabled run. If False, each rank has its own run of W&B.
    **kwargs
        Arguments of `wandb.init()`. Defaults: the id and name of the trial, the name of the run or sweep as group, and files in the run directory.

    Returns
    -------
    wandb.Run

    Raises
    ------
    RuntimeError
        If wandb is not installed.
    ValueError
        If both `api_key` and `api_key_file` are given.

    Examples
    --------
    >>> from trainrt import train
    >>> from trainrt.air.integrations.wandb import setup_wandb
    >>> def train_func(config):
    ...     wandb = setup_wandb(config, project="first")
    ...     for epoch in range(3):
    ...         wandb.log({"loss": 1 / (epoch + 1)})
    """
    try:
        wandb = kwargs.pop("_wandb", None) or importlib.import_module("wandb")
    except ImportError:
        raise RuntimeError("Wandb was not found - please install with `pip install wandb`") from None
    if is_silent(rank_zero_only):
        return wandb.init(mode="disabled")
    key = _key_of(api_key, api_key_file)
    if key is not None:
        os.environ["WANDB_API_KEY"] = key
    given = {name: kwargs.pop(f"trial_{name}") for name in ("id", "name") if f"trial_{name}" in kwargs}  # Ray's names of these arguments
    project = kwargs.pop("project", None) or os.environ.get("WANDB_PROJECT_NAME")
    group = kwargs.pop("group", None) or os.environ.get("WANDB_GROUP_NAME")
    options = {"resume": "allow", "reinit": "finish_previous", "allow_val_change": True, **_defaults(rank_zero_only), **given,
               "config": _plain(config or {}), "project": project, **({"group": group} if group else {}), **kwargs}
    return wandb.init(**options)


class WandbLoggerCallback(SinkCallback):
    """Sends the reports of the run to Weights & Biases, by the program `trainrt.sinks.wandb`. A restarted run continues the same run of W&B.

    Parameters
    ----------
    project : str, optional
        Default: the variable WANDB_PROJECT_NAME or WANDB_PROJECT, else "trainrt".
    group : str, optional
        Default: the variable WANDB_GROUP_NAME, else the name of the run, or of the sweep.
    api_key_file, api_key : str, optional
        File with the key of W&B, or the key. Default: the variable WANDB_API_KEY, or the login of `wandb login`.
    excludes : list of str, optional
        Metrics and values of the config that are not logged.
    log_config : bool, default False
        Also log the config of the train function with each report, as metrics `config/NAME`, for configs that change during the training. The config
        of the run always has it.
    upload_checkpoints : bool, default False
        Upload checkpoints as artifacts. `save_checkpoints` is its deprecated name.
    upload_timeout : int, default 120
        Maximum number of seconds that the end of the run waits for W&B.
    video_kwargs, image_kwargs : dict, optional
        Without effect: metrics are numbers and strings. Log images by `setup_wandb()`.
    **kwargs
        Arguments of `wandb.init()` that JSON can hold.

    Raises
    ------
    RuntimeError
        If wandb is not installed.
    ValueError
        If both `api_key` and `api_key_file` are given.

    Examples
    --------
    >>> from trainrt.air.integrations.wandb import WandbLoggerCallback
    >>> from trainrt.train import RunConfig
    >>> run_config = RunConfig(callbacks=[WandbLoggerCallback(project="first")])
    """

    sink, package, key_variable = "wandb", "wandb", "WANDB_API_KEY"

    def __init__(self, project: str | None = None, group: str | None = None, api_key_file: str | None = None, api_key: str | None = None,
                 excludes: list[str] | None = None, log_config: bool = False, upload_checkpoints: bool = False, save_checkpoints: bool = False,
                 upload_timeout: int = 120, video_kwargs: dict[str, Any] | None = None, image_kwargs: dict[str, Any] | None = None, **kwargs: Any):
        if api_key and api_key_file:
            raise ValueError("Both WandB `api_key_file` and `api_key` set: give one of them to WandbLoggerCallback()")
        if save_checkpoints:
            warnings.warn("`save_checkpoints` is deprecated. Use `upload_checkpoints` instead.", DeprecationWarning, stacklevel=2)
        super().__init__(api_key, upload_timeout)
        self.project, self.group, self.excludes, self.kwargs = project, group, list(excludes or ()), kwargs
        self.api_key_file, self.upload_checkpoints, self.log_config = api_key_file, upload_checkpoints or save_checkpoints, log_config

    def program_options(self) -> dict[str, Any]:
        key_file = os.path.abspath(os.path.expanduser(self.api_key_file)) if self.api_key_file else None
        return {"project": self.project or os.environ.get("WANDB_PROJECT_NAME"), "group": self.group or os.environ.get("WANDB_GROUP_NAME"),
                "api_key_file": key_file, "excludes": self.excludes, "log_config": self.log_config, "upload_checkpoints": self.upload_checkpoints,
                "init": self.kwargs}


def _key_of(api_key: str | None, api_key_file: str | None) -> str | None:
    if api_key and api_key_file:
        raise ValueError("Both WandB `api_key_file` and `api_key` set: give one of them to setup_wandb()")
    if api_key_file:
        with open(os.path.expanduser(api_key_file), encoding="utf-8") as file:
            return file.readline().strip()
    return api_key


def _defaults(rank_zero_only: bool) -> dict[str, Any]:
    """Returns default arguments of wandb.init() that identify this run: name, id, directory and group. If all ranks log, each rank has its own name
    and id. Returns {} outside a run."""
    session = session_of_run()
    if session is None:
        return {}
    suffix = f"-{session.world_rank}" if not rank_zero_only and session.world_rank else ""
    found = {"name": f"{session.run_name}{suffix}"}
    if session.run_dir is not None:
        found.update(id=f"{session.run_id}{suffix}", dir=session.run_dir, group=_run_directory.experiment_name(session.run_dir))
    return found


def _plain(value: Any) -> Any:
    """Returns the config with values that JSON can hold; other objects are replaced by their text."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple, set)):
        return [_plain(each) for each in value]
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return value.item() if getattr(value, "size", None) == 1 and hasattr(value, "item") else str(value)
    return value
