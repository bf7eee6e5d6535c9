"""The fields of a RunConfig: name and storage, stop rule, checkpoints to keep, number of restarts, and callbacks."""

import os
import tempfile

from trainrt import train
from trainrt.train import Checkpoint, CheckpointConfig, FailureConfig, RunConfig, ScalingConfig, UserCallback
from trainrt.train.data_parallel_trainer import DataParallelTrainer


class PrintingCallback(UserCallback):
    def after_report(self, run_context, metrics, checkpoint):
        print(f"{run_context.run_name}: ranks have reported {[each['score'] for each in metrics]}", flush=True)

    def after_exception(self, run_context, worker_exceptions):
        print(f"{run_context.run_name}: failed with {worker_exceptions}", flush=True)


def train_func():
    rank = train.get_context().get_world_rank()
    for score in (1, 3, 2, 5, 4, 7, 6, 8, 9):
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "score.txt"), "w") as file:
                file.write(str(score))
            train.report({"score": score + 0.5 * rank, "speed": os.environ["SPEED"]}, checkpoint=Checkpoint.from_directory(folder))


if __name__ == "__main__":
    run_config = RunConfig(
        name="my_train_run",  # a restart with this name continues the run
        storage_path=os.environ.get("STORAGE", "runs"),  # a folder that all nodes share
        stop={"training_iteration": 5},  # ends the run at a report with training_iteration >= 5
        checkpoint_config=CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="score", checkpoint_score_order="max"),
        failure_config=FailureConfig(max_failures=-1),  # no limit
        callbacks=[PrintingCallback()],
        worker_runtime_env={"env_vars": {"SPEED": "fast"}},
        verbose=2,  # shows every report
    )
    trainer = DataParallelTrainer(train_func, scaling_config=ScalingConfig(num_workers=2), run_config=run_config)
    result = trainer.fit()
    print("reports", len(result.reports), "last", result.metrics["score"], result.metrics["speed"])
    print("kept", [metrics["score"] for _, metrics in result.best_checkpoints])
