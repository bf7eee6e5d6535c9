"""The contents of a Result, also of a run of another script: Result.from_path()."""

import os
import tempfile

from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, Result, RunConfig, ScalingConfig
from trainrt.train.data_parallel_trainer import DataParallelTrainer


def train_func(config):
    for step, accuracy in enumerate(config["accuracies"]):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "model.txt"), "w") as file:
                file.write(f"model {step}")
            checkpoint = Checkpoint.from_directory(folder) if train.get_context().get_world_rank() == 0 else None
            train.report({"accuracy": accuracy, "nested": {"step": step}}, checkpoint=checkpoint)
    return "the value of rank 0"


if __name__ == "__main__":
    trainer = DataParallelTrainer(
        train_func,
        train_loop_config={"accuracies": [0.1, 0.7, 0.4]},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(name="results", storage_path=os.environ.get("STORAGE", "runs"),
                             checkpoint_config=CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="accuracy")),
    )
    result = trainer.fit()
    print("metrics", result.metrics["accuracy"], result.metrics["training_iteration"])
    print("all of them", [report["accuracy"] for report in result.reports])  # with pandas, also result.metrics_dataframe
    print("returned", result.return_value)
    print("error", result.error)
    best = result.get_best_checkpoint("accuracy", mode="max")
    with best.as_directory() as folder, open(os.path.join(folder, "model.txt")) as file:
        print("best", file.read())
    print("kept", [metrics["accuracy"] for _, metrics in result.best_checkpoints])
    again = Result.from_path(result.path)
    print("again", again.metrics["accuracy"], again.checkpoint == result.checkpoint)
