"""Weights & Biases: `[sink.NAME] program = python3 -m trainrt.sinks.wandb`.

Environment variables of wandb: WANDB_MODE=offline on nodes without a network (run `wandb sync RUN_DIR/wandb/offline-run-*` later), WANDB_PROJECT
(default: trainrt), WANDB_API_KEY, WANDB_ENTITY. Restarts continue the same run of W&B."""

from __future__ import annotations

import os
from typing import Any

from ._serve import Begin, CannotServe, serve


class WandbTracker:
    def __init__(self, begin: Begin) -> None:
        import wandb

        try:
            self.run = wandb.init(id=begin.run_id, name=begin.run, config=begin.config, resume="allow",
                                  project=os.environ.get("WANDB_PROJECT", "trainrt"), dir=os.environ.get("WANDB_DIR", begin.run_dir))
        except wandb.errors.UsageError as error:  # usually a missing key
            raise CannotServe(f"{str(error).rstrip('.')}; WANDB_MODE=offline needs no key") from None
        self.last = self.run.step - 1 if self.run.resumed else 0

    def log(self, iteration: int, metrics: dict[str, Any], time: float | None) -> None:
        self.run.log({**metrics, **({"_timestamp": time} if time else {})}, step=iteration)

    def finish(self, complete: bool) -> None:
        self.run.finish(exit_code=0 if complete else 1)


if __name__ == "__main__":
    serve(WandbTracker)
