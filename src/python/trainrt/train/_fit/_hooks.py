"""Runs the train function between the hooks of its backend."""

import os
from contextlib import contextmanager

from ... import _cluster
from .._sessions import _artifacts
from ._worker_group import WorkerGroup


def run(trainer, session):
    """Sets the environment variables of `worker_runtime_env`, then calls `on_start`, `on_training_start`, the train function and `on_shutdown`.
    Returns the value that the train function returned on this rank."""
    environment = (trainer.run_config.worker_runtime_env if trainer.run_config else None) or {}
    os.environ.update({**_cluster.env_vars(), **{name: str(value) for name, value in (environment.get("env_vars") or {}).items()}})
    config = trainer.backend_config
    backend, group = config.backend_cls(), WorkerGroup(session)
    backend.on_start(group, config)
    backend.on_training_start(group, config)
    with config.train_func_context(), _working_directory(session.run_dir):
        session.train_function_begins()
        returned = trainer.call_train_function()
    backend.on_shutdown(group, config)
    return returned


@contextmanager
def _working_directory(run_dir):
    """With the environment variable TRAINRT_CHDIR_TO_TRIAL_DIR=1, changes into the folder artifacts/ of the run until the train function has ended."""
    if run_dir is None or os.environ.get("TRAINRT_CHDIR_TO_TRIAL_DIR") != "1":
        yield
        return
    before = os.getcwd()
    os.chdir(_artifacts.folder_of(run_dir))
    try:
        yield
    finally:
        os.chdir(before)
