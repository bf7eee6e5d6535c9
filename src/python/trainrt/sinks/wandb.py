"""Weights & Biases: `[sink.NAME] program = python3 -m trainrt.sinks.wandb`.

wandb's own variables count: WANDB_MODE=offline on nodes without a network (`wandb sync RUN_DIR/wandb/offline-run-*` later), WANDB_PROJECT
(trainrt if it is not given), WANDB_API_KEY, WANDB_ENTITY. Restarts continue the same run of W&B."""
import os

from ._serve import CannotServe, serve


class WandbTracker:
    def __init__(self, begin):
        import wandb

        try:
            self.run = wandb.init(id=begin.run_id, name=begin.run, config=begin.config, resume="allow",
                                  project=os.environ.get("WANDB_PROJECT", "trainrt"), dir=os.environ.get("WANDB_DIR", begin.run_dir))
        except wandb.errors.UsageError as error:  # no key, above all
            raise CannotServe(f"{str(error).rstrip('.')}; WANDB_MODE=offline needs none") from None
        self.last = self.run.step - 1 if self.run.resumed else 0

    def log(self, iteration, metrics, time):
        self.run.log({**metrics, **({"_timestamp": time} if time else {})}, step=iteration)

    def finish(self, complete):
        self.run.finish(exit_code=0 if complete else 1)


if __name__ == "__main__":
    serve(WandbTracker)
