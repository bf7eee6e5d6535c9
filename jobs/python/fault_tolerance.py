"""A rank fails once. The ranks restart from the newest checkpoint, and the run ends like an undisturbed one."""

import json
import os
import tempfile

from trainrt import train
from trainrt.train import Checkpoint, FailureConfig, RunConfig, ScalingConfig, WorkerGroupError
from trainrt.train.data_parallel_trainer import DataParallelTrainer


def train_func(config):
    rank, epoch, model = train.get_context().get_world_rank(), -1, 0
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as folder, open(os.path.join(folder, "state.json")) as file:
            epoch, model = json.load(file)
        print(f"rank {rank} continues after epoch {epoch}", flush=True)
    for epoch in range(epoch + 1, 5):
        model += epoch
        if epoch == config["fails_at"] and rank == 1 and not checkpoint:
            raise RuntimeError("this node has had enough")
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "state.json"), "w") as file:
                json.dump([epoch, model], file)
            train.report({"model": model}, checkpoint=Checkpoint.from_directory(folder) if rank == 0 else None)


def fit(name, **config):
    trainer = DataParallelTrainer(train_func, train_loop_config=config, scaling_config=ScalingConfig(num_workers=2),
                                  run_config=RunConfig(name=name, storage_path=os.environ.get("STORAGE", "runs"),
                                                       failure_config=FailureConfig(max_failures=1)))
    return trainer.fit()


if __name__ == "__main__":
    print("model", fit("recovers", fails_at=3).metrics["model"])
    try:
        fit("fails", fails_at=0)  # fails at every start, since no checkpoint is saved before
    except WorkerGroupError as error:
        for rank, failure in error.worker_failures.items():
            print(f"rank {rank} failed: {failure!r}")
