"""Calls a tracker from the train function: one worker logs, and a restarted run logs under its earlier id.

Tracker stands for W&B, MLflow, Comet, or your own tracker.
"""
import json
import os
import tempfile

import trainrt
from trainrt import train
from trainrt.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig
from trainrt.train.torch import TorchTrainer


class Tracker:
    """Works offline: writes lines to a file in a folder that all nodes share."""

    def __init__(self, key, id, dir):  # noqa: A002
        assert key == "your_api_key"
        os.makedirs(dir, exist_ok=True)
        self._file = open(os.path.join(dir, f"{id}.jsonl"), "a", buffering=1, encoding="utf-8")

    def log(self, metrics):
        self._file.write(json.dumps(metrics) + "\n")

    def finish(self):
        self._file.close()


def optimize(epoch):
    return 1 / (epoch + 1)


def train_func(config):
    context = train.get_context()
    start = 0
    if train.get_checkpoint():
        with train.get_checkpoint().as_directory() as folder, open(os.path.join(folder, "epoch.json")) as file:
            start = json.load(file) + 1

    # Steps 1 and 2: connect, and start or resume the tracker's run
    if context.get_world_rank() == 0:
        tracker = Tracker(key=os.environ["TRACKER_API_KEY"], id=context.get_trial_id(), dir=os.path.join(context.get_trial_dir(), "tracker"))
        tracker.log({"starts_at": start})

    for epoch in range(start, 4):
        metrics = {"epoch": epoch, "loss": optimize(epoch)}
        if context.get_world_rank() == 0:  # Step 3: log
            tracker.log(metrics)
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "epoch.json"), "w") as file:
                json.dump(epoch, file)
            train.report(metrics, checkpoint=Checkpoint.from_directory(folder))
        if epoch == config["fails_after"] and start == 0 and context.get_world_rank() == 0:
            raise RuntimeError("this node has had enough")

    if context.get_world_rank() == 0:  # Step 4: finish the tracker's run
        tracker.finish()


if __name__ == "__main__":
    trainrt.init(runtime_env={"env_vars": {"TRACKER_API_KEY": "your_api_key"}})  # set on all workers
    trainer = TorchTrainer(train_func, train_loop_config={"fails_after": 1}, scaling_config=ScalingConfig(num_workers=2),
                           run_config=RunConfig(name="experiment_tracking", storage_path=os.environ.get("STORAGE", "runs"),
                                                failure_config=FailureConfig(max_failures=3)))
    result = trainer.fit()
    folder = os.path.join(result.path, "tracker")
    for name in os.listdir(folder):
        with open(os.path.join(folder, name)) as file:
            print("tracked", [list(json.loads(line).values())[0] for line in file])
