"""Weights & Biases: `[sink.NAME] program = python3 -m trainrt.sinks.wandb`.

Environment variables of wandb: WANDB_MODE=offline on nodes without a network (run `wandb sync RUN_DIR/wandb/offline-run-*` later), WANDB_PROJECT
(default: trainrt), WANDB_API_KEY, WANDB_ENTITY. Restarts continue the same run of W&B. The options of WandbLoggerCallback are an argument in JSON."""

from __future__ import annotations

import functools
import os
from typing import Any

from .._support._flat_config import flat_config
from ..train._results import _run_directory
from . import _program
from ._serve import Begin, CannotServe, serve


class WandbTracker(_program.Tracker):
    def __init__(self, begin: Begin, options: dict[str, Any] | None = None) -> None:
        import wandb

        super().__init__(begin, options, "upload_checkpoints")
        self._wandb, self._excludes = wandb, self._options.get("excludes", [])
        _set_key(self._options.get("api_key_file"))
        try:
            self.run = wandb.init(**{**self._defaults(options is None), **self._options.get("init", {})})
        except wandb.errors.UsageError as error:  # usually, the key of W&B is missing
            raise CannotServe(f"{str(error).rstrip('.')}; WANDB_MODE=offline needs no key") from None
        self.last = self.run.step - 1 if self.run.resumed else 0

    def _defaults(self, is_plain: bool) -> dict[str, Any]:
        """Returns the arguments of wandb.init(). `is_plain`: without options of a callback, which logs the config of the train function instead of
        the config of the run."""
        begin = self._begin
        project = self._options.get("project") or os.environ.get("WANDB_PROJECT", "trainrt")
        group = self._options.get("group") or (None if is_plain else _run_directory.experiment_name(begin.run_dir))
        return {"id": begin.run_id, "name": begin.run, "config": begin.config if is_plain else {}, "resume": "allow", "project": project,
                "group": group, "dir": os.environ.get("WANDB_DIR", begin.run_dir)}

    def log(self, iteration: int, metrics: dict[str, Any], time: float | None) -> None:
        if self._awaits_config:
            self.run.config.update(self._config(), allow_val_change=True)
        if self._options.get("log_config"):
            metrics = {**metrics, **flat_config(self._config(), "config/")}
        kept = {name: value for name, value in metrics.items() if not _program.is_excluded(name, self._excludes)}
        self.run.log({**kept, **({"_timestamp": time} if time else {})}, step=iteration)
        self._upload()

    def finish(self, complete: bool) -> None:
        self._upload()
        self.run.finish(exit_code=0 if complete else 1)

    def _config(self) -> dict[str, Any]:
        return _program.without(super()._config(), self._excludes)

    def _upload(self) -> None:
        for iteration, folder in self._new_checkpoints():
            artifact = self._wandb.Artifact(name=f"checkpoint_{self._begin.run}", type="model", metadata={"training_iteration": iteration})
            try:
                artifact.add_dir(folder)
            except (OSError, ValueError):  # the checkpoint was deleted by its retention rule
                continue
            self.run.log_artifact(artifact)


def _set_key(path: str | None) -> None:
    if path:
        try:
            with open(os.path.expanduser(path), encoding="utf-8") as file:
                os.environ["WANDB_API_KEY"] = file.readline().strip()
        except OSError as error:
            raise CannotServe(f"api_key_file={path!r} cannot be read: {error.strerror}") from None


if __name__ == "__main__":
    serve(functools.partial(WandbTracker, options=_program.options()))
