"""The storage of a run: reports, checkpoints, and artifacts that the workers write themselves."""

import os
import tempfile

import torch

from trainrt import train
from trainrt.train import Checkpoint
from trainrt.train.torch import TorchTrainer


def train_fn(config):
    # Workers stay in the folder in which the script was started, as in Ray Train with RAY_CHDIR_TO_TRIAL_DIR=0
    assert os.path.exists("./data.txt"), os.getcwd()

    context = train.get_context()
    rank = context.get_world_rank()
    artifacts = os.path.join(context.get_trial_dir(), "artifacts")  # in the run directory, so no copy is needed
    os.makedirs(artifacts, exist_ok=True)
    for i in range(config["iterations"]):
        model = {"weights": torch.full((4,), float(i))}  # training logic here
        metrics = {"loss": 1 / (i + 1)}

        # Save arbitrary artifacts; each worker uses its own names
        with open(os.path.join(artifacts, f"artifact-rank={rank}-iter={i}.txt"), "w") as f:
            f.write("data")
        if context.get_local_rank() == 0:  # one worker of each node
            with open(os.path.join(artifacts, f"node-{context.get_node_rank()}.txt"), "w") as f:
                f.write(os.uname().nodename)

        with tempfile.TemporaryDirectory() as temp_checkpoint_dir:
            torch.save(model, os.path.join(temp_checkpoint_dir, "checkpoint.pt"))  # the same bytes on all workers, stored once
            train.report(metrics, checkpoint=Checkpoint.from_directory(temp_checkpoint_dir))


if __name__ == "__main__":
    with open("./data.txt", "w") as f:
        f.write("some data")
    trainer = TorchTrainer(
        train_fn,
        train_loop_config={"iterations": 3},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(
            storage_path=os.environ.get("STORAGE", "runs"),  # a path that all nodes share: Lustre, NFS
            name="experiment_name",
            sync_config=train.SyncConfig(sync_artifacts=True),  # keeps new files of the working directory in the folder artifacts of the run
        ),
    )
    result: train.Result = trainer.fit()
    last_checkpoint: Checkpoint = result.checkpoint
    print("run", os.path.basename(result.path), "checkpoint", os.path.relpath(last_checkpoint.path, result.path))
    print("files", [name for name in ("progress.csv", "result.json", "run.json") if os.path.exists(os.path.join(result.path, name))])
    print("checkpoints", sorted(name for name in os.listdir(result.path) if name.startswith("checkpoint_")))
    print("artifacts", sorted(os.listdir(os.path.join(result.path, "artifacts"))))
